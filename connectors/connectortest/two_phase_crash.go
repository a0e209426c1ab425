package connectortest

import (
	"math/rand/v2"

	"github.com/arkflow-go/arkflow/operator"
	"github.com/stretchr/testify/require"
)

// life is that of a job over its executions, each of which may die after any step: the next one goes on from what was sealed, as the engine
// does, and the dead one wakes up at times, not knowing that it was fenced.
type life struct {
	c   TwoPhaseCase
	b   *bench
	sys TwoPhaseSystem
	rnd *rand.Rand // nil: epochs are all sealed, and none is empty

	run    int64
	sealed sealedEpoch
	wakes  []*sleeper
}

// sealedEpoch is what is known of the last sealed epoch: the rows that were read, and what has been prepared since the commits of the one before.
type sealedEpoch struct {
	epoch    int64
	read     int
	prepared []prepared
}

type prepared struct {
	epoch int64
	task  int
	data  []byte
}

// sleeper is a task of an execution that has died, or seems to have.
type sleeper struct {
	w      operator.TwoPhaseWriter
	sealed []prepared // as far as it knows
}

// rowsPerPut is even: all rows of a put are there.
const rowsPerPut = 6

// execute runs an execution to the end of the input, or until it has done so many steps. It reports whether it came to the end.
func (l *life) execute(tasks, steps, total int) bool {
	live := func() bool { steps--; return steps >= 0 }
	l.run++
	older := l.wakes
	ws := make([]*sleeper, tasks)
	for i := range ws {
		ws[i] = &sleeper{w: l.c.open(l.b, l.sys.Sink, l.run, i, tasks)}
	}
	l.wakes = append(l.wakes, ws...)
	for _, p := range l.sealed.prepared {
		if !live() {
			return false
		}
		l.b.commit(ws[p.task%tasks].w, p.epoch, p.data)
	}
	l.seesSealed()
	if !live() {
		return false
	}
	if l.b.recover(ws[0].w) {
		l.sys.nothingLeft(l.b)
	}
	l.wake(older)
	read, unsealed := l.sealed.read, []prepared(nil)
	for epoch := l.sealed.epoch + 1; l.sealed.read < total; epoch++ {
		for i := range ws {
			if l.rnd != nil && l.rnd.IntN(3) == 0 {
				continue
			}
			if !live() {
				return false
			}
			l.c.put(l.b, ws[i].w, read, rowsPerPut)
			read += rowsPerPut
		}
		for i := range ws {
			if !live() {
				return false
			}
			unsealed = append(unsealed, prepared{epoch, i, l.b.prepare(ws[i].w, epoch)})
		}
		l.seesSealed()
		if l.rnd != nil && l.rnd.IntN(4) == 0 {
			continue // the epoch fails, the job goes on
		}
		if !live() {
			return false
		}
		l.sealed = sealedEpoch{epoch, read, unsealed}
		unsealed = nil
		for _, p := range l.sealed.prepared {
			if !live() {
				return false
			}
			l.b.commit(ws[p.task].w, p.epoch, p.data)
			ws[p.task].sealed = append(ws[p.task].sealed, p)
		}
		l.seesSealed()
	}
	return true
}

// seesSealed fails unless the rows that can be seen are those of the sealed epochs, all of which have been committed.
func (l *life) seesSealed() {
	l.b.t.Helper()
	rows := makeRows(nil, l.c.Schema, 0, l.sealed.read)
	l.b.sees(Texts(rows), l.sys.Read)
}

// wake has tasks of older executions go on until they find out.
func (l *life) wake(older []*sleeper) {
	for i, s := range older {
		if l.rnd != nil && l.rnd.IntN(2) == 0 {
			continue
		}
		for _, p := range s.sealed {
			_ = s.w.Commit(p.epoch, p.data) // as after a commit whose answer was lost; older ones may be refused
		}
		rows := makeRows(l.b.ctx.Pool, l.c.Schema, 10_000+100*i, 4)
		_ = s.w.Write(rows) // it may fail, and must not be seen
		rows.Release()
		_, _ = s.w.Prepare(l.sealed.epoch + 1)
	}
	l.seesSealed()
}

// end closes what all executions have opened. What those that died since the last start have left is given up by one more.
func (l *life) end() {
	for _, s := range l.wakes {
		_ = s.w.Close() // those of older executions may fail
	}
	l.seesSealed()
	w := l.c.open(l.b, l.sys.Sink, l.run+1, 0, 1)
	recovers := l.b.recover(w)
	l.b.close(w)
	l.seesSealed()
	if recovers {
		l.sys.nothingLeft(l.b)
	}
}

func (c TwoPhaseCase) diesAnywhere(b *bench) {
	const total = 2 * 3 * rowsPerPut // two epochs
	for steps := 0; ; steps++ {
		l := &life{c: c, b: b, sys: c.New(b.t)}
		done := l.execute(3, steps, total)
		if !done && !l.execute(1, steps%7, total) {
			require.True(b.t, l.execute(2, 1<<30, total))
		}
		l.end()
		if done {
			return
		}
	}
}

func (c TwoPhaseCase) diesAtRandom(b *bench) {
	for seed := range uint64(4) {
		rnd := rand.New(rand.NewPCG(seed, 5))
		b.t.Logf("seed %d", seed)
		l := &life{c: c, b: b, sys: c.New(b.t), rnd: rnd}
		total := 8 * rowsPerPut
		for !l.execute(1+rnd.IntN(4), rnd.IntN(60), total) {
		}
		l.end()
	}
}

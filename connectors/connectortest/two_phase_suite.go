package connectortest

import (
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/stretchr/testify/require"
)

// TwoPhaseCase is what a sink that commits in two phases is checked with.
type TwoPhaseCase struct {
	// New gives a sink over a new, empty system.
	New func(t *testing.T) TwoPhaseSystem
	// Schema is that of the rows. Defaults to that of SinkCase.
	Schema *arrow.Schema
}

// TwoPhaseSystem is a system that a sink writes to.
type TwoPhaseSystem struct {
	Sink operator.Sink
	// Read gives the rows that others can see, by Texts or ReadAll, in any order.
	Read func() []string
	// Left names what is in the system beside these rows: begun, or prepared and not committed. Nil where nobody can tell; then it is not
	// checked that nothing stays for ever.
	Left func() []string
}

// TwoPhase checks that the rows of a sink become visible with their epoch and never twice, whenever the process dies; each check is a
// subtest. It is for sinks whose writers are operator.TwoPhaseWriters; what the process may leave behind is given up by
// operator.Recoverer, where they are that too.
func TwoPhase(t *testing.T, c TwoPhaseCase) {
	t.Helper()
	if c.Schema == nil {
		c.Schema = defaultSchema()
	}
	check(t, "ends with its context", c.cancel)
	for _, one := range []struct {
		name string
		f    func(*bench)
	}{
		{"rows can be seen after Commit only", c.commit},
		{"a writer without rows prepares nothing to see", c.nothing},
		{"what was aborted is never seen", c.abort},
		{"another writer commits", c.elsewhere},
		{"Close keeps what was prepared, and no more", c.close},
		{"B96: fewer tasks commit and give up for those that are no more", c.fewer},
		{"Recover leaves alone what is not of earlier executions", c.others},
		{"dies after each step", c.diesAnywhere},
		{"dies at random", c.diesAtRandom},
	} {
		check(t, one.name, func(b *bench) {
			b.patience = longPatience
			one.f(b)
		})
	}
}

// open opens a task of an execution.
func (c TwoPhaseCase) open(b *bench, s operator.Sink, run int64, task, tasks int) operator.TwoPhaseWriter {
	two, ok := s.(operator.TwoPhaser)
	require.True(b.t, ok && two.TwoPhase(), "the sink does not say that it commits in two phases")
	ctx := *b.ctx
	ctx.Run = run
	bb := *b
	bb.ctx = &ctx
	w, ok := SinkCase{Schema: c.Schema}.open(&bb, s, task, tasks).(operator.TwoPhaseWriter)
	require.True(b.t, ok, "the writer is no TwoPhaseWriter")
	return w
}

func (c TwoPhaseCase) put(b *bench, w operator.Writer, from, n int) []string {
	return SinkCase{Schema: c.Schema}.put(b, w, from, n)
}

func (b *bench) prepare(w operator.TwoPhaseWriter, epoch int64) (prepared []byte) {
	b.t.Helper()
	b.within("Prepare", func() (err error) {
		prepared, err = w.Prepare(epoch)
		return err
	})
	return prepared
}

func (b *bench) commit(w operator.TwoPhaseWriter, epoch int64, prepared []byte) {
	b.t.Helper()
	b.within("Commit", func() error { return w.Commit(epoch, prepared) })
}

// recover gives up what earlier executions left, where the writer can; it reports whether it does.
func (b *bench) recover(w operator.Writer) bool {
	b.t.Helper()
	r, ok := w.(operator.Recoverer)
	if ok {
		b.within("Recover", r.Recover)
	}
	return ok
}

// nothingLeft fails where something waits that nobody will commit.
func (s TwoPhaseSystem) nothingLeft(b *bench) {
	b.t.Helper()
	if s.Left != nil {
		require.Empty(b.t, s.Left(), "left for ever")
	}
}

func (c TwoPhaseCase) commit(b *bench) {
	s := c.New(b.t)
	w := c.open(b, s.Sink, 1, 0, 1)
	first := c.put(b, w, 0, 100)
	b.flush(w)
	b.sees(nil, s.Read)
	one := b.prepare(w, 1)
	b.sees(nil, s.Read)
	second := c.put(b, w, 1001, 7)
	for range 2 {
		b.commit(w, 1, one)
		b.sees(first, s.Read)
	}
	two := b.prepare(w, 2)
	third := c.put(b, w, 2000, 50)
	three := b.prepare(w, 3) // epoch 2 was not sealed: its rows become visible with epoch 3
	c.put(b, w, 3000, 10)
	b.sees(first, s.Read)
	b.commit(w, 1, one)
	b.commit(w, 2, two)
	b.sees(slices.Concat(first, second), s.Read)
	for range 2 {
		b.commit(w, 3, three)
		b.commit(w, 2, two)
		b.sees(slices.Concat(first, second, third), s.Read)
	}
	b.close(w)
	b.sees(slices.Concat(first, second, third), s.Read)
	s.nothingLeft(b)
}

func (c TwoPhaseCase) nothing(b *bench) {
	s := c.New(b.t)
	w := c.open(b, s.Sink, 1, 0, 1)
	b.recover(w)
	for epoch := range int64(3) {
		p := b.prepare(w, epoch)
		b.commit(w, epoch, p)
		b.commit(w, epoch, p)
	}
	b.sees(nil, s.Read)
	b.close(w)
	b.sees(nil, s.Read)
	s.nothingLeft(b)
}

func (c TwoPhaseCase) abort(b *bench) {
	s := c.New(b.t)
	w := c.open(b, s.Sink, 1, 0, 1)
	c.put(b, w, 0, 100)
	one := b.prepare(w, 1)
	want := c.put(b, w, 1000, 10)
	for range 2 {
		b.within("Abort", func() error { return w.Abort(1, one) })
	}
	two := b.prepare(w, 2)
	b.commit(w, 2, two)
	b.sees(want, s.Read)
	b.close(w)
	b.sees(want, s.Read)
	s.nothingLeft(b)
}

func (c TwoPhaseCase) elsewhere(b *bench) {
	s := c.New(b.t)
	a := c.open(b, s.Sink, 1, 0, 2)
	want := c.put(b, a, 0, 100)
	one := b.prepare(a, 1)
	rest := c.put(b, a, 1000, 20)
	two := b.prepare(a, 2)
	c.put(b, a, 2000, 30)
	other := c.open(b, s.Sink, 2, 1, 2)
	b.commit(other, 1, one)
	b.sees(want, s.Read)
	b.commit(other, 2, two)
	want = append(want, rest...)
	b.sees(want, s.Read)
	b.recover(other)
	b.sees(want, s.Read)
	b.commit(a, 1, one) // it does not know yet that it was fenced
	b.commit(a, 2, two)
	b.sees(want, s.Read)
	for _, w := range []operator.Writer{a, other} {
		_ = w.Close() // the older one may fail
	}
	b.sees(want, s.Read)
	s.nothingLeft(b)
}

func (c TwoPhaseCase) close(b *bench) {
	s := c.New(b.t)
	w := c.open(b, s.Sink, 1, 0, 1)
	want := c.put(b, w, 0, 10)
	one := b.prepare(w, 1)
	c.put(b, w, 1000, 10)
	b.close(w)
	b.sees(nil, s.Read)
	w = c.open(b, s.Sink, 2, 0, 1)
	b.commit(w, 1, one)
	b.sees(want, s.Read)
	b.close(w)
	s.nothingLeft(b)
}

func (c TwoPhaseCase) cancel(b *bench) {
	s := c.New(b.t)
	w := c.open(b, s.Sink, 1, 0, 1)
	c.put(b, w, 0, 10)
	b.stop()
	b.within("Close after the end of the context", func() error {
		_ = w.Close() // it may fail, but not wait
		return nil
	})
	b.sees(nil, s.Read)
}

func (c TwoPhaseCase) fewer(b *bench) {
	s := c.New(b.t)
	var old []operator.TwoPhaseWriter
	var want []string
	var sealed, unsealed [][]byte
	for task := range 3 {
		w := c.open(b, s.Sink, 1, task, 3)
		old = append(old, w)
		want = append(want, c.put(b, w, 1000*task, 10)...)
		sealed = append(sealed, b.prepare(w, 5))
		c.put(b, w, 1000*task+100, 10)
		unsealed = append(unsealed, b.prepare(w, 6))
		c.put(b, w, 1000*task+200, 10)
	}
	w := c.open(b, s.Sink, 2, 0, 1)
	for _, p := range sealed {
		b.commit(w, 5, p)
	}
	b.sees(want, s.Read)
	recovers := b.recover(w)
	b.sees(want, s.Read)
	if recovers {
		s.nothingLeft(b)
		for task, w := range old {
			require.Error(b.t, w.Commit(6, unsealed[task]), "a task that wakes up commits what was given up")
		}
		b.sees(want, s.Read)
	}
	want = append(want, c.put(b, w, 9000, 5)...)
	b.commit(w, 6, b.prepare(w, 6))
	b.sees(want, s.Read)
	for _, w := range old {
		_ = w.Close() // it may fail: its work was given up
	}
	b.close(w)
	b.sees(want, s.Read)
	if recovers {
		s.nothingLeft(b)
	}
}

func (c TwoPhaseCase) others(b *bench) {
	s := c.New(b.t)
	as := func(job, op string) *bench {
		ctx := *b.ctx
		ctx.Job, ctx.Operator = job, op
		return &bench{t: b.t, ctx: &ctx, stop: b.stop, patience: b.patience}
	}
	var want []string
	var writers []operator.TwoPhaseWriter
	var prepared [][]byte
	for i, w := range []operator.TwoPhaseWriter{
		c.open(as(b.ctx.Job, "another"), s.Sink, 1, 0, 1), c.open(as("another", b.ctx.Operator), s.Sink, 1, 0, 1),
		c.open(b, s.Sink, 12, 0, 1), // a newer execution
	} {
		writers = append(writers, w)
		want = append(want, c.put(b, w, 1000*i, 10)...)
		prepared = append(prepared, b.prepare(w, 1))
		want = append(want, c.put(b, w, 1000*i+100, 10)...)
	}
	mine := c.open(b, s.Sink, 3, 0, 1)
	b.recover(mine)
	b.close(mine)
	for i, w := range writers {
		second := b.prepare(w, 2)
		b.commit(w, 1, prepared[i])
		b.commit(w, 2, second)
		b.close(w)
	}
	b.sees(want, s.Read)
	s.nothingLeft(b)
}

package checkpoint

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob/memblob"
	"pgregory.net/rapid"
)

// stage runs executions of the job on one bucket; next says which of the calls that wait goes on, or how.
func stage(t *testing.T, names []string, next func(g *gate, pending []*call)) (*world, map[string]*execution) {
	inner := memblob.OpenBucket(nil)
	defer inner.Close()
	g := &gate{inner: inner, dead: map[string]bool{}}
	w := newWorld()
	all := map[string]*execution{}
	for _, who := range names {
		x := &execution{who: who, world: w, bucket: g.bucket(who), epochs: 2, dead: func() bool { return g.killed(who) }, opts: Options{Keep: 2, Grace: time.Millisecond}}
		all[who] = x
		go x.run(t.Context())
	}
	for idle := 0; ; {
		synctest.Wait()
		done := true
		for _, x := range all {
			done = done && x.done
		}
		if done {
			break
		}
		pending := g.pending()
		if len(pending) == 0 { // somebody waits for the clock
			idle++
			require.Less(t, idle, 1000, "nothing happens any more")
			<-time.After(time.Second)
			continue
		}
		next(g, pending)
	}
	w.settle(t, inner)
	for _, x := range all {
		require.NoError(t, x.bucket.Close())
	}
	return w, all
}

// of gives the first call of an execution.
func of(who string, pending []*call) *call {
	for _, c := range pending {
		if c.who == who {
			return c
		}
	}
	return nil
}

// letTurn lets the next call through where one makes i calls, then the other j, then one the rest; who has none pending leaves the turn.
func (g *gate) letTurn(one, other string, i, j int, made map[string]int, pending []*call) {
	who := one
	if made[one] >= i && made[other] < j {
		who = other
	}
	c := of(who, pending)
	if c == nil {
		c = pending[0]
	}
	made[c.who]++
	g.let(c, verdict{})
}

// C3, C4, B37: an older and a newer execution with every pair of moments at which they take turns: the older makes i calls, the newer j, then the
// older all, and the newer the rest. After the newer one has begun the older one seals nothing, what it sealed before is what the newer one
// begins with, and nothing is committed twice.
func TestC3TwoExecutionsTakeTurnsAtEveryPairOfMoments(t *testing.T) {
	total := map[string]int{}
	fenced, both := 0, 0
	turns := func(t *testing.T, i, j int) (made map[string]int) {
		made = map[string]int{}
		_, all := stage(t, []string{"older", "newer"}, func(g *gate, pending []*call) {
			g.letTurn("older", "newer", i, j, made, pending)
		})
		for _, x := range all {
			if x.err != nil {
				require.ErrorContains(t, x.err, "a newer execution has claimed the job")
				fenced++
			}
		}
		if len(all["older"].sealed) > 0 && len(all["newer"].sealed) > 0 {
			both++
		}
		return made
	}
	synctest.Test(t, func(t *testing.T) { total = turns(t, 1<<30, 0) })
	require.Greater(t, total["older"], 20)
	runs := 0
	for i := 0; i <= total["older"]; i++ {
		for j := 1 + i%2; j <= total["newer"]; j += 2 { // a chessboard of pairs
			synctest.Test(t, func(t *testing.T) { turns(t, i, j) })
			runs++
		}
	}
	t.Logf("%d runs, %d executions were fenced, in %d both sealed", runs, fenced, both)
	require.Positive(t, fenced)
	require.Positive(t, both)
}

var errFlaky = errors.New("connection reset by peer")

// C3, C4: three executions in any order of calls, of which some fail, lose their replies or are the last of a process.
func TestC3ExecutionsInAnyOrderWithFaults(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		synctest.Test(t, func(t *testing.T) {
			faults := rapid.IntRange(0, 8).Draw(r, "faults")
			kills := rapid.IntRange(0, 2).Draw(r, "kills")
			var trace []string
			defer func() {
				if t.Failed() {
					for _, l := range trace {
						t.Log(l)
					}
				}
			}()
			stage(t, []string{"a", "b", "c"}, func(g *gate, pending []*call) {
				c := pending[rapid.IntRange(0, len(pending)-1).Draw(r, "call")]
				v := verdict{}
				how := rapid.IntRange(0, 39).Draw(r, "fault")
				switch {
				case how == 1 && faults > 0:
					v.before = errFlaky
					faults--
				case how == 2 && faults > 0:
					v.after = errFlaky
					faults--
				case how == 3 && kills > 0:
					kills--
					trace = append(trace, "kill before "+c.String())
					g.kill(c.who)
					return
				}
				trace = append(trace, fmt.Sprint(c, " ", v))
				g.let(c, v)
			})
		})
	})
}

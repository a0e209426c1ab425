package window

import (
	"errors"
	"iter"
	"slices"
	"sort"
	"sync"
	"testing"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// epochs is a store that writes of each part what changed since the last epoch, as a store of checkpoints does.
type epochs struct {
	parts   map[partName]epochPart
	sealed  []savedEpoch
	writing sync.WaitGroup
}

type partName struct {
	table string
	id    int64
}

type epochPart struct {
	view   state.View
	tables []state.Table
}

// savedEpoch is what can be restored of an epoch: a state.Saved.
type savedEpoch struct {
	*state.Snapshot // of values and whole tables
	parts           map[partName]epochPart
}

func (e savedEpoch) Tables(name string) iter.Seq2[state.Table, error] {
	return func(yield func(state.Table, error) bool) {
		for _, t := range e.Whole(name) {
			if !yield(t, nil) {
				return
			}
		}
		for p, kept := range e.parts {
			for _, t := range kept.tables {
				t.Part.ID = p.id
				if p.table == name && !yield(t, nil) {
					return
				}
			}
		}
	}
}

// seal writes an epoch beside the rows: bases where it says so.
func (e *epochs) seal(t assert.TestingT, s *state.Snapshot, base bool) {
	e.writing.Go(func() {
		next := savedEpoch{s, map[partName]epochPart{}}
		for _, name := range s.Names() {
			for _, p := range s.Parts(name) {
				key := partName{name, p.ID}
				before := e.parts[key]
				if base {
					before = epochPart{}
				}
				kept := epochPart{p.View, slices.Clone(before.tables)}
				rows := 0
				assert.NoError(t, s.Each(p, before.view, func(t state.Table) error {
					kept.tables = append(kept.tables, t.Clone())
					rows += t.Rows
					return nil
				}))
				assert.LessOrEqual(t, rows, p.View.Rows())
				next.parts[key] = kept
			}
		}
		s.Close()
		e.parts = next.parts
		e.sealed = append(e.sealed, next)
	})
}

// TestS6BasesAndDeltasAreTheStateAtTheirBarrier runs any stream with a barrier after each step, some of which are aborted, writes what
// changed beside the rows, and restores every epoch, by way of 3 and 2 tasks.
func TestS6BasesAndDeltasAreTheStateAtTheirBarrier(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool := column.NewDebugPool()
		s := drawScenario(t)
		steps := s.steps(t, pool)
		ctx := testContext(pool)
		x := newInstanceT(t, ctx, s.in, s.assigner(), s.aggs...)
		feed := func(x windowed, st step) []string {
			out := &collect{}
			if sl, ok := x.(*sliding); ok {
				sl.compactAt = 0 // as where most of very many keys are gone
			}
			if st.b == nil {
				_, err := x.OnWatermark(st.w, out)
				require.NoError(t, err)
			} else {
				require.NoError(t, x.Process(0, st.b, out))
			}
			sort.Strings(out.results)
			return out.results
		}
		e := &epochs{}
		var results [][]string
		var at []int // step before which an epoch was sealed
		for i, st := range steps {
			snapshot := state.NewSnapshot()
			require.NoError(t, x.Snapshot(snapshot))
			switch rapid.IntRange(0, 3).Draw(t, "barrier") {
			case 0: // aborted
				snapshot.Close()
			case 1:
				e.writing.Wait()
				stop := errors.New("stop")
				for _, name := range snapshot.Names() {
					for _, p := range snapshot.Parts(name) {
						if err := snapshot.Each(p, nil, func(state.Table) error { return stop }); err != nil {
							require.ErrorIs(t, err, stop)
						}
					}
				}
				snapshot.Close()
			default:
				e.writing.Wait()
				e.seal(t, snapshot, rapid.IntRange(0, 4).Draw(t, "base") == 0)
				at = append(at, i)
			}
			results = append(results, feed(x, st))
		}
		e.writing.Wait()
		for i, sealed := range e.sealed {
			y := newInstanceT(t, ctx, s.in, s.assigner(), s.aggs...)
			require.NoError(t, y.Restore(state.Merged{Tasks: rescaled(t, []state.Saved{sealed}, ctx, s, 3, 2)}))
			for k, st := range steps[at[i]:] {
				require.Equal(t, results[at[i]+k], feed(y, st), "epoch %d, step %d", i, at[i]+k)
			}
		}
		for _, st := range steps {
			if st.b != nil {
				st.b.Release()
			}
		}
		require.NoError(t, pool.Check())
	})
}

// rescaled gives the state of tasks after it went through other numbers of them.
func rescaled(t require.TestingT, tasks []state.Saved, ctx *operator.Context, s scenario, numbers ...int) []state.Saved {
	for _, n := range numbers {
		var next []state.Saved
		for i := range n {
			c := *ctx
			c.KeyGroups = state.OwnedBy(i, n, 128)
			y := newInstanceT(t, &c, s.in, s.assigner(), s.aggs...)
			require.NoError(t, y.Restore(state.Merged{Tasks: tasks, Own: c.KeyGroups, Max: 128}))
			out := state.NewSnapshot()
			require.NoError(t, y.Snapshot(out))
			next = append(next, out)
		}
		tasks = next
	}
	return tasks
}

package window

import (
	"sort"
	"sync"
	"testing"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/state"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestS6WhatIsFrozenAtABarrierStaysAsItWas goes on after each barrier while another goroutine writes its state out, and restores from each
// of them only at the end.
func TestS6WhatIsFrozenAtABarrierStaysAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool := column.NewDebugPool()
		s := drawScenario(t)
		steps := s.steps(t, pool)
		ctx := testContext(pool)
		x := newInstanceT(t, ctx, s.in, s.assigner(), s.aggs...)
		feed := func(x windowed, st step) []string {
			out := &collect{}
			if st.b == nil {
				_, err := x.OnWatermark(st.w, out)
				require.NoError(t, err)
			} else {
				require.NoError(t, x.Process(0, st.b, out))
			}
			sort.Strings(out.results)
			return out.results
		}
		var results [][]string
		var barriers []*state.Snapshot
		var writers sync.WaitGroup
		for _, st := range steps {
			barriers = append(barriers, state.NewSnapshot())
			require.NoError(t, x.Snapshot(barriers[len(barriers)-1]))
			if rapid.Bool().Draw(t, "written beside the rows") {
				saved := state.Merged{Tasks: []state.Saved{barriers[len(barriers)-1]}}
				writers.Go(func() {
					for _, name := range []string{stateWindows, stateSlices, stateStrays} {
						for _, err := range saved.Tables(name) {
							assert.NoError(t, err)
						}
					}
				})
			}
			results = append(results, feed(x, st))
		}
		writers.Wait()
		for i, b := range barriers {
			y := newInstanceT(t, ctx, s.in, s.assigner(), s.aggs...)
			require.NoError(t, y.Restore(state.Merged{Tasks: []state.Saved{b}}))
			for k, st := range steps[i:] {
				require.Equal(t, results[i+k], feed(y, st), "barrier %d, step %d", i, i+k)
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

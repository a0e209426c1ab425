package window

import (
	"sort"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/preagg"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/state"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// sender gathers rows for an operator as the sending end of an exchange does.
type sender struct {
	stage *preAggregator
	to    operator.Instance
	out   operator.Output
	rows  int64 // that have left
}

func (s *sender) process(t require.TestingT, b *column.Batch) {
	rest, err := s.stage.Add(b)
	require.NoError(t, err)
	if rest != nil {
		s.rows += int64(rest.Len())
		require.NoError(t, s.to.Process(0, rest, s.out))
		rest.Release()
	}
}

func (s *sender) flush(t require.TestingT, w int64) {
	seen := 0
	rows, _, err := s.stage.Flush(w, func(b *column.Batch) error {
		seen += s.stage.b.Weigh(b)
		return s.to.Process(0, b, s.out)
	})
	require.NoError(t, err)
	require.EqualValues(t, rows, seen)
	s.rows += rows
}

// TestW10PreAggregatedRowsGiveTheSameResults sends any stream through two stages and compares with the model that takes one row at a time.
func TestW10PreAggregatedRowsGiveTheSameResults(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool := column.NewDebugPool()
		s := drawScenario(t)
		s.late, s.limit, s.route = 0, 0, false
		steps := s.steps(t, pool)
		m := s.modelOf(steps)
		ctx := testContext(pool)
		b, err := New(s.assigner(), s.aggs...).Bind([]operator.Stream{s.in})
		require.NoError(t, err)
		inst, err := b.New(ctx)
		require.NoError(t, err)
		x := inst.(windowed)
		out := &collect{}
		var senders [2]*sender
		for i := range senders {
			// float values of the scenario are such that their sums are exact
			senders[i] = &sender{stage: b.(*bound).newPreAggregator(pool), to: x, out: out}
		}
		var rows int64
		for _, st := range steps {
			if st.b != nil {
				rows += int64(st.b.Len())
				senders[rapid.IntRange(0, 1).Draw(t, "sender")].process(t, st.b)
			} else {
				for _, sd := range senders {
					sd.flush(t, st.w)
				}
				_, err := x.OnWatermark(st.w, out)
				require.NoError(t, err)
			}
			if rapid.IntRange(0, 3).Draw(t, "barrier") == 0 {
				for _, sd := range senders {
					sd.flush(t, operator.MaxWatermark)
				}
				one := state.NewSnapshot()
				require.NoError(t, x.Snapshot(one))
				inst, err := b.New(ctx)
				require.NoError(t, err)
				x = inst.(windowed)
				require.NoError(t, x.Restore(state.Merged{Tasks: []state.Saved{one}}))
				senders[0].to, senders[1].to = x, x
			}
		}
		require.Equal(t, rows, senders[0].rows+senders[1].rows)
		sort.Strings(m.results)
		sort.Strings(out.results)
		require.Equal(t, m.results, out.results)
		dropped := ctx.Counters.Dropped()
		require.Equal(t, m.gaps, int(dropped[operator.DropGap]))
		require.Equal(t, m.late, int(ctx.Counters.Late()))
		require.Equal(t, m.nulls, int(dropped[operator.DropNullTimestamp]))
		entries, bytes, _ := senders[0].stage.Size()
		require.Zero(t, entries)
		require.Zero(t, bytes)
		for _, st := range steps {
			if st.b != nil {
				st.b.Release()
			}
		}
		require.NoError(t, pool.Check())
	})
}

// Entries that are evicted, or come late because their input was idle, are counted as the rows that they stand for.
func TestW10EntriesAreCountedAsRows(t *testing.T) {
	for _, a := range []Assigner{Tumbling(10 * time.Millisecond).MaxBufferedKeys(2), Sliding(10*time.Millisecond, 5*time.Millisecond).MaxBufferedKeys(2)} {
		g := newRig(t, a, []Aggregate{Count()}, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64)
		b, err := New(a, Count()).Bind([]operator.Stream{g.in})
		require.NoError(t, err)
		inst, err := b.New(g.ctx)
		require.NoError(t, err)
		x, out := inst.(windowed), &collect{}
		sd := &sender{stage: b.(preagg.Maker).PreAggregate(g.ctx.Pool).(*preAggregator), to: x, out: out}
		batch := g.batch([]any{1, 1, 0}, []any{1, 1, 0}, []any{2, 2, 0}, []any{11, 1, 0}, []any{12, 1, 0}, []any{12, 2, 0}, []any{13, 2, 0})
		sd.process(t, batch)
		batch.Release()
		sd.flush(t, operator.MaxWatermark)
		require.EqualValues(t, 3, g.ctx.Counters.Dropped()[operator.DropEvicted], a)
		_, err = x.OnWatermark(30, out)
		require.NoError(t, err)
		batch = g.batch([]any{14, 1, 0}, []any{14, 1, 0}, []any{16, 3, 0})
		sd.process(t, batch)
		batch.Release()
		sd.flush(t, operator.MaxWatermark)
		require.EqualValues(t, 3, g.ctx.Counters.Late(), a)
	}
}

func TestW10WhatIsNotPreAggregated(t *testing.T) {
	value := arrow.PrimitiveTypes.Float64
	in := operator.Stream{Schema: arrow.NewSchema([]arrow.Field{{Name: "k", Type: arrow.PrimitiveTypes.Int64}, {Name: "v", Type: value}}, nil), Key: []string{"k"}}
	tumbling := Tumbling(time.Second)
	processing := in
	processing.Time = operator.ProcessingTime
	for name, c := range map[string]struct {
		in   operator.Stream
		a    Assigner
		agg  Aggregate
		want bool
	}{
		"counts":                      {in, tumbling, Count(), true},
		"extremes of floats":          {in, tumbling, Max("v"), true},
		"sums of floats are rounded":  {in, tumbling, Sum("v"), false},
		"routed rows are wanted back": {in, tumbling.OnLate(Route), Count(), false},
		"windows that are corrected":  {in, tumbling.Lateness(time.Second), Count(), false},
		"processing time":             {processing, tumbling, Count(), false},
	} {
		b, err := New(c.a, c.agg).Bind([]operator.Stream{c.in})
		require.NoError(t, err, name)
		m := b.(preagg.Maker)
		require.Equal(t, c.want, m.PreAggregates(), name)
		require.Equal(t, c.want, m.PreAggregate(column.NewDebugPool()) != nil, name)
	}
}

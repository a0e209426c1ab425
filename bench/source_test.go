package main

import (
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/arkflow-go/arkflow/bench/baseline"
	"github.com/arkflow-go/arkflow/bench/events"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
)

// readAll folds keys, prices and times of the rest of a split, and checks that batches come back.
func readAll(t *testing.T, r operator.Reader) (rows, sum int64) {
	t.Helper()
	for {
		b, err := r.Poll()
		if errors.Is(err, io.EOF) {
			return rows, sum
		}
		require.NoError(t, err)
		require.NotNil(t, b)
		rows += int64(b.Rows)
		for _, c := range b.Cols {
			if c.Kind == column.Bytes {
				for i := range b.Rows {
					sum += events.ParseText(c.Bytes(i))
				}
				continue
			}
			for _, v := range column.Values[int64](&c) {
				sum += v
			}
		}
		b.Release()
	}
}

func expected(g *events.Generator, n int64) (sum int64) {
	b := events.NewBatch(int(n))
	g.Fill(b, 0, int(n))
	for i := range b.Key {
		sum += b.Key[i] + b.Price[i] + b.Time[i]
	}
	return sum
}

func TestReplayGivesAllEventsOverItsSplits(t *testing.T) {
	const n = 100_001
	for _, text := range []bool{false, true} {
		for _, splits := range []int{1, 2, 5, 50} {
			pool := column.NewDebugPool()
			g := events.NewGenerator(1000)
			if text {
				g.WithText()
			}
			s := &replay{events: g, text: text, n: n, splits: splits}
			ctx := &operator.Context{Context: t.Context(), Pool: pool}
			list, err := s.Splits(t.Context())
			require.NoError(t, err)
			require.Len(t, list, splits)
			var rows, sum int64
			for _, split := range list {
				r, err := s.Open(ctx, split, nil)
				require.NoError(t, err)
				a, b := readAll(t, r)
				rows, sum = rows+a, sum+b
				require.NoError(t, r.Close())
			}
			assert.EqualValues(t, n, rows)
			assert.Equal(t, expected(events.NewGenerator(1000), n), sum)
			assert.Positive(t, s.fillCPU())
			require.NoError(t, pool.Check())
		}
	}
}

func TestReplayWaitsForItsBatches(t *testing.T) {
	s := &replay{events: events.NewGenerator(1000), n: 100 * events.Rows, splits: 1}
	r, err := s.Open(&operator.Context{Context: t.Context(), Pool: column.NewPool()}, operator.Split{ID: "0"}, nil)
	require.NoError(t, err)
	var held []*column.Batch
	for range ringBatches {
		b, err := r.Poll()
		require.NoError(t, err)
		require.NotNil(t, b)
		held = append(held, b)
	}
	b, err := r.Poll()
	require.NoError(t, err)
	require.Nil(t, b, "all batches are under way")
	first := column.Values[int64](&held[0].Cols[1])[0]
	held[0].Release()
	<-r.Ready()
	b, err = r.Poll()
	require.NoError(t, err)
	require.NotNil(t, b)
	assert.NotEqual(t, first, column.Values[int64](&b.Cols[1])[0], "it holds the next events")
	assert.Equal(t, int64(4*events.Rows/events.PerMilli), column.Values[int64](&b.Cols[2])[0])
}

func TestReplayInPartsAndWide(t *testing.T) {
	const n = 3*events.Rows + 5
	for _, cut := range []int{0, 1, 3000} {
		pool := column.NewDebugPool()
		s := &replay{events: events.NewGenerator(1000), wide: true, cut: cut, n: n, splits: 2}
		require.Len(t, s.Schema().Fields(), 40)
		ctx := &operator.Context{Context: t.Context(), Pool: pool}
		rows := int64(0)
		for _, id := range []string{"0", "1"} {
			r, err := s.Open(ctx, operator.Split{ID: id}, nil)
			require.NoError(t, err)
			for {
				b, err := r.Poll()
				if errors.Is(err, io.EOF) {
					break
				}
				require.NoError(t, err)
				if cut > 0 {
					assert.LessOrEqual(t, b.Rows, cut)
				}
				for _, i := range []int{0, b.Rows - 1} {
					assert.Equal(t, column.Values[int64](&b.Cols[1])[i]+26, column.Values[int64](&b.Cols[29])[i])
					for c := 30; c < 40; c++ {
						assert.Equal(t, column.Values[int64](&b.Cols[0])[i], events.ParseText(b.Cols[c].Bytes(i)))
					}
				}
				rows += int64(b.Rows)
				b.Release()
				if rows == 4000 {
					at, err := r.Position()
					require.NoError(t, err)
					left, _ := readAll(t, mustOpen(t, s, ctx, id, at))
					assert.EqualValues(t, 2*events.Rows-4000, left, "split 0 has two whole batches")
				}
			}
		}
		assert.EqualValues(t, n, rows)
		require.NoError(t, pool.Check())
	}
}

func mustOpen(t *testing.T, s *replay, ctx *operator.Context, id string, at []byte) operator.Reader {
	t.Helper()
	r, err := s.Open(ctx, operator.Split{ID: id}, at)
	require.NoError(t, err)
	return r
}

func TestReplayGoesOnAtAPosition(t *testing.T) {
	const n = 50_000
	s := &replay{events: events.NewGenerator(1000), n: n, splits: 2}
	ctx := &operator.Context{Context: t.Context(), Pool: column.NewPool()}
	r, err := s.Open(ctx, operator.Split{ID: "1"}, nil)
	require.NoError(t, err)
	b, err := r.Poll()
	require.NoError(t, err)
	b.Release()
	at, err := r.Position()
	require.NoError(t, err)
	restRows, restSum := readAll(t, r)
	again, err := s.Open(ctx, operator.Split{ID: "1"}, at)
	require.NoError(t, err)
	rows, sum := readAll(t, again)
	assert.Equal(t, restRows, rows)
	assert.Equal(t, restSum, sum)
	assert.Positive(t, rows)
}

func TestPacedEventsComeWhenTheyAreDue(t *testing.T) {
	for _, perMilli := range []int64{1, 7} {
		pacedEventsComeWhenDue(t, perMilli)
	}
}

func pacedEventsComeWhenDue(t *testing.T, perMilli int64) {
	s := newPaced(10, 20*perMilli-2, perMilli)
	r, err := s.Open(&operator.Context{Context: t.Context(), Pool: column.NewPool()}, operator.Split{}, nil)
	require.NoError(t, err)
	rows := int64(0)
	for {
		b, err := r.Poll()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		if b == nil {
			<-r.Ready()
			continue
		}
		for _, ts := range column.Values[int64](&b.Cols[2]) {
			assert.False(t, time.Now().Before(s.due(ts)), "event %d is early", ts)
			assert.Equal(t, rows/perMilli, ts)
			rows++
		}
		b.Release()
	}
	assert.Equal(t, s.n, rows)
	require.NoError(t, r.Close())
	assert.False(t, time.Now().Before(s.due((s.n-1)/perMilli)), "the last event is early")
}

func TestFoldSinkFoldsWhatIsThere(t *testing.T) {
	pool := column.NewDebugPool()
	for _, text := range []bool{false, true} {
		schema := (&replay{text: text}).Schema()
		s := &fold{columns: []string{"key", "ts", "price", "price"}}
		require.NoError(t, s.Check(operator.Stream{Schema: schema}))
		w, err := s.Open(nil, operator.Stream{Schema: schema})
		require.NoError(t, err)
		bld := column.NewBuilder(pool, schema)
		for i := range int64(3) {
			if text {
				bld.String(0, string(events.AppendText(nil, i)))
			} else {
				bld.Int64(0, i)
			}
			bld.Int64(1, 10*i)
			bld.Int64(2, 20*i)
			bld.EndRow()
		}
		b := bld.Finish()
		require.NoError(t, w.Write(b))
		d := b.Derive()
		d.Sel = []uint32{1}
		require.NoError(t, w.Write(d))
		d.Release()
		b.Release()
		require.NoError(t, w.Flush())
		require.NoError(t, w.Close())
		one := events.WindowTerm(1, 20, 10, 10)
		assert.Equal(t, baseline.Result{Rows: 4, Checksum: events.WindowTerm(0, 0, 0, 0) + 2*one + events.WindowTerm(2, 40, 20, 20)}, s.total())
	}
	require.NoError(t, pool.Check())
	require.ErrorContains(t, foldWindows().Check(operator.Stream{Schema: (&replay{}).Schema()}), `column "window_end"`)
}

func TestRatesFallBackOnTheWholeRunWhereNoiseWins(t *testing.T) {
	assert.InDelta(t, 1e6, rate(1e6, time.Second, 2*time.Second), 1)
	assert.InDelta(t, 1e6, rate(1e6, -time.Second, 2*time.Second), 1)
	assert.InDelta(t, 2.0, median([]float64{9, 1, 2}), 0)
	var f figure
	d := newDelays()
	for i := range 1000 {
		d.add(time.Duration(1000-i) * time.Millisecond)
	}
	d.add(-time.Second)
	d.add(2 * greatestDelay)
	f.quantiles(d)
	assert.InEpsilon(t, 500, f.P50, 0.002)
	assert.InEpsilon(t, 990, f.P99, 0.002)
	assert.InEpsilon(t, 999, f.P999, 0.002)
	assert.InEpsilon(t, float64(greatestDelay.Milliseconds()), f.Max, 0.002)
	f = figure{}
	f.quantiles(newDelays())
	assert.Equal(t, figure{}, f)
}

package baseline

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/arkflow-go/arkflow/bench/events"
)

func run(job Job, g *events.Generator, n int64, rows int) Result {
	b := events.NewBatch(rows)
	for at := int64(0); at < n; at += int64(rows) {
		g.Fill(b, at, int(min(int64(rows), n-at)))
		job.Batch(b)
	}
	return job.Finish()
}

// model is the job row by row: window and key to count and sum, late by the greatest time before.
func model(g *events.Generator, n int64) (r Result) {
	type cell struct{ end, key int64 }
	groups := map[cell]*tally{}
	b := events.NewBatch(int(n))
	g.Fill(b, 0, int(n))
	w, some := int64(0), false
	for i, t := range b.Time {
		start := t - ((t%WindowMilli)+WindowMilli)%WindowMilli
		if end := start + WindowMilli; some && end <= w {
			r.Late++
		} else {
			c := groups[cell{end, b.Key[i]}]
			if c == nil {
				c = &tally{}
				groups[cell{end, b.Key[i]}] = c
			}
			c.count++
			c.sum += b.Price[i]
		}
		if !some || t > w {
			w, some = t, true
		}
	}
	for c, t := range groups {
		r.Rows++
		r.Checksum += events.WindowTerm(c.key, c.end, t.count, t.sum)
	}
	return r
}

// The windows hold 10,000 rows here, so that there are several.
func generator(keys int64) *events.Generator {
	g := events.NewGenerator(keys).WithText()
	g.PerMilli = 1
	return g
}

func TestTumblingDesignsAgreeWithTheModel(t *testing.T) {
	const n = 43_210
	for _, keys := range []int64{2, 1_000, 50_000} {
		want := model(generator(keys), n)
		for name, g := range map[string]func() grouper{
			"columns":      func() grouper { return NewColumns(keys) },
			"slots":        func() grouper { return NewSlots(keys) },
			"go map":       func() grouper { return NewGoMap() },
			"text columns": func() grouper { return NewTextColumns(keys) },
			"text map":     func() grouper { return NewTextMap() },
		} {
			for _, rows := range []int{1, 7, 1000, events.Rows} {
				assert.Equal(t, want, run(Tumbling(g(), true), generator(keys), n, rows), "%s, %d keys, batches of %d", name, keys, rows)
				assert.Equal(t, want, run(Disordered(g()), generator(keys), n, rows), "%s, %d keys, batches of %d, any order", name, keys, rows)
			}
		}
	}
	keys := int64(200_000)
	want := model(generator(keys), n)
	for _, rows := range []int{7, events.Rows} {
		assert.Equal(t, want, run(Tumbling(NewParts(20_000), false), generator(keys), n, rows), "parts")
	}
}

func TestDisorderedDropsWhatIsLate(t *testing.T) {
	const n = 43_210
	g := func() *events.Generator {
		g := generator(1_000)
		g.Behind = 50
		return g
	}
	want := model(g(), n)
	assert.Positive(t, want.Late)
	for _, rows := range []int{1, 7, 1000, events.Rows} {
		assert.Equal(t, want, run(Disordered(NewColumns(1_000)), g(), n, rows))
		assert.Equal(t, want, run(Disordered(NewGoMap()), g(), n, rows))
	}
	assert.PanicsWithValue(t, "baseline: rows out of order: use Disordered", func() { run(Tumbling(NewGoMap(), true), g(), n, 1000) })
}

func TestWindowsWithoutRowsGiveNothing(t *testing.T) {
	b := &events.Batch{Key: []int64{1, 1}, Price: []int64{5, 6}, Time: []int64{3, 35_000}}
	want := Result{Rows: 2, Checksum: events.WindowTerm(1, 10_000, 1, 5) + events.WindowTerm(1, 40_000, 1, 6)}
	for _, j := range []Job{Tumbling(NewColumns(2), true), Disordered(NewSlots(2))} {
		j.Batch(b)
		assert.Equal(t, want, j.Finish())
	}
}

func TestMapDesignsAgree(t *testing.T) {
	const n = 50_000
	want := run(MapBranch(), events.NewGenerator(1000), n, events.Rows)
	assert.InDelta(t, n*3/4, want.Rows, n/100)
	assert.Equal(t, want, run(Map(), events.NewGenerator(1000), n, events.Rows))
	assert.Equal(t, want, run(Map(), events.NewGenerator(1000), n, 7))
}

func TestMappedAndCheapRowsAgreeWithThePlainForm(t *testing.T) {
	const n = 43_210
	b := events.NewBatch(n)
	generator(1_000).Fill(b, 0, n)
	dear, few := events.NewBatch(n), events.NewBatch(n)
	for i, price := range b.Price {
		dear.Key, dear.Time, dear.Price = append(dear.Key, b.Key[i]), append(dear.Time, b.Time[i]), append(dear.Price, price*908/1000)
		if price < 32_768 {
			few.Key, few.Time, few.Price = append(few.Key, b.Key[i]), append(few.Time, b.Time[i]), append(few.Price, price)
		}
	}
	over := func(b *events.Batch) Result {
		job := Tumbling(NewGoMap(), false)
		job.Batch(b)
		return job.Finish()
	}
	assert.Less(t, len(few.Key), n)
	for _, rows := range []int{1, 1000, events.Rows} {
		assert.Equal(t, over(dear), run(Mapped(Tumbling(NewColumns(1_000), true)), generator(1_000), n, rows))
		assert.Equal(t, over(few), run(Cheap(Tumbling(NewColumns(1_000), true)), generator(1_000), n, rows))
	}
}

func TestJSONAgreesWithTheColumns(t *testing.T) {
	const n = 43_210
	var in bytes.Buffer
	b := events.NewBatch(n)
	generator(1_000).Fill(b, 0, n)
	enc := json.NewEncoder(&in)
	for i := range b.Key {
		require.NoError(t, enc.Encode(Line{b.Key[i], b.Price[i], b.Time[i]}))
	}
	var out bytes.Buffer
	got, err := JSON(&in, &out)
	require.NoError(t, err)
	assert.Equal(t, run(Tumbling(NewColumns(1_000), true), generator(1_000), n, events.Rows), got)
	assert.EqualValues(t, got.Rows, strings.Count(out.String(), "\n"))

	_, err = JSON(strings.NewReader("{\"key\":1}\n{\n"), &out)
	require.ErrorContains(t, err, `parse line "{\n"`)
}

// Each design once over a window of 1 M rows: go test -bench . ./bench/baseline
func BenchmarkDesigns(b *testing.B) {
	for _, c := range []struct {
		name string
		keys int64
		job  func() Job
	}{
		{"map/branchless", 1_000, Map},
		{"map/branch", 1_000, MapBranch},
		{"tumble_1k/columns", 1_000, func() Job { return Tumbling(NewColumns(1_000), true) }},
		{"tumble_1k/slots", 1_000, func() Job { return Tumbling(NewSlots(1_000), true) }},
		{"tumble_1k/gomap", 1_000, func() Job { return Tumbling(NewGoMap(), true) }},
		{"tumble_100k/columns", 100_000, func() Job { return Tumbling(NewColumns(100_000), true) }},
		{"tumble_100k/slots", 100_000, func() Job { return Tumbling(NewSlots(100_000), true) }},
		{"tumble_1m/columns", 1_000_000, func() Job { return Tumbling(NewColumns(1_000_000), false) }},
		{"tumble_1m/parts", 1_000_000, func() Job { return Tumbling(NewParts(1_000_000), false) }},
		{"tumble_str_100k/columns", 100_000, func() Job { return Tumbling(NewTextColumns(100_000), true) }},
		{"tumble_str_100k/gomap", 100_000, func() Job { return Tumbling(NewTextMap(), true) }},
		{"disorder/columns", 100_000, func() Job { return Disordered(NewColumns(100_000)) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			g := events.NewGenerator(c.keys)
			if strings.Contains(c.name, "_str_") {
				g.WithText()
			}
			ring := [4]*events.Batch{}
			for i := range ring {
				ring[i] = events.NewBatch(events.Rows)
			}
			job, at := c.job(), int64(0)
			b.ResetTimer()
			for b.Loop() {
				b.StopTimer()
				for _, r := range ring {
					g.Fill(r, at, events.Rows)
					at += events.Rows
				}
				b.StartTimer()
				for _, r := range ring {
					job.Batch(r)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(at), "ns/row")
			job.Finish()
		})
	}
}

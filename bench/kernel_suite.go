package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/bench/baseline"
	"github.com/arkflow-go/arkflow/bench/events"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/internal/aggregate"
	"github.com/arkflow-go/arkflow/internal/kernel"
	"github.com/arkflow-go/arkflow/internal/keys"
	"github.com/arkflow-go/arkflow/internal/layout"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/shuffle"
	"github.com/zeebo/xxh3"
)

// kernelJob is one column loop of the library beside its plain Go form. Both take a batch and give what they computed as a
// sum, which must be the same.
type kernelJob struct {
	name string
	keys int64
	text bool
	make func(b *column.Batch) (ours, plain func(b *column.Batch) (uint64, error), err error)
}

// kernelSuite is the single loops of the engine.
func kernelSuite() []benchmark {
	var out []benchmark
	for _, j := range []kernelJob{
		{name: "hash_int64", keys: 1_000, make: hashInts},
		{name: "hash_string", keys: 1_000, text: true, make: hashTexts},
		{name: "filter", keys: 1_000, make: filterRows},
		{name: "arithmetic", keys: 1_000, make: arithmetic},
		{name: "take_half", keys: 1_000, make: takeHalf},
		{name: "scatter_4", keys: 1_000, make: scatter},
		{name: "group_1k", keys: 1_000, make: groupRows(1_000)},
		{name: "group_100k", keys: 100_000, make: groupRows(100_000)},
	} {
		out = append(out, benchmark{name: j.name, n: 10_000_000, run: j.measure})
	}
	return out
}

func (j kernelJob) measure(_ context.Context, o options, n int64) (figure, error) {
	g := events.NewGenerator(j.keys)
	if j.text {
		g.WithText()
	}
	ring, err := kernelBatches(g, j.text)
	if err != nil {
		return figure{}, err
	}
	// Each run makes its loop anew: what it allocates falls out of the difference of n and 2n.
	loop := func(plain bool) func(n int64) (measured, error) {
		return func(n int64) (measured, error) {
			m := measured{n: n}
			f, other, err := j.make(ring[0])
			if plain {
				f = other
			}
			if err != nil {
				return m, err
			}
			watch := startWatch()
			for i := int64(0); i < n; i += events.Rows {
				sum, err := f(ring[i/events.Rows%ringBatches])
				if err != nil {
					return m, err
				}
				m.result.Checksum += sum
			}
			watch.read(&m, 0)
			return m, nil
		}
	}
	pairs, err := repeat(o.times, n, loop(false), loop(true))
	if err != nil {
		return figure{}, err
	}
	if err := sameResults(pairs); err != nil {
		return figure{}, err
	}
	f := summarize(pairs[0])
	f.RowsOut = n
	f.Checksum = fmt.Sprint(pairs[0][0].once.result.Checksum)
	_, f.Baseline = medians(pairs[1])
	f.Ratio = f.RowsPerCPUS / f.Baseline
	for _, b := range ring {
		b.Release()
	}
	return f, nil
}

// kernelBatches are some full batches that stay.
func kernelBatches(g *events.Generator, text bool) (ring [ringBatches]*column.Batch, err error) {
	s := &replay{events: g, text: text, n: ringBatches * events.Rows, splits: 1, live: true}
	r, err := s.Open(&operator.Context{Pool: column.NewPool()}, operator.Split{ID: "0"}, nil)
	if err != nil {
		return ring, err
	}
	for i := range ring {
		if ring[i], err = r.Poll(); err != nil {
			return ring, err
		}
	}
	if _, err := r.Poll(); !errors.Is(err, io.EOF) {
		return ring, fmt.Errorf("the source has more than the ring: %w", err)
	}
	return ring, nil
}

type columnLoop = func(b *column.Batch) (uint64, error)

// hashInts is the stable hash of a column of integers.
func hashInts(b *column.Batch) (ours, plain columnLoop, err error) {
	ours, dst := hashLoop()
	seed := uint64(keys.TypeOf(b.Cols[0].Type).Tag) * 0x9E3779B97F4A7C15
	plain = func(b *column.Batch) (uint64, error) {
		out := dst[:b.Rows]
		for i, k := range column.Values[int64](&b.Cols[0]) {
			out[i] = keys.Mix64(uint64(k) ^ seed)
		}
		return out[0] ^ out[len(out)-1], nil
	}
	return ours, plain, nil
}

// hashTexts is the stable hash of a column of strings.
func hashTexts(b *column.Batch) (ours, plain columnLoop, err error) {
	ours, dst := hashLoop()
	seed := uint64(keys.TypeOf(b.Cols[0].Type).Tag) * 0x9E3779B97F4A7C15
	plain = func(b *column.Batch) (uint64, error) {
		out, c := dst[:b.Rows], &b.Cols[0]
		for i := range out {
			out[i] = keys.Mix64(xxh3.Hash(c.Data[c.Offsets[i]:c.Offsets[i+1]]) ^ seed)
		}
		return out[0] ^ out[len(out)-1], nil
	}
	return ours, plain, nil
}

func hashLoop() (ours columnLoop, dst []uint64) {
	dst = make([]uint64, events.Rows)
	cols := []int{0}
	return func(b *column.Batch) (uint64, error) {
		out := keys.Hash(dst, b, cols)
		return out[0] ^ out[len(out)-1], nil
	}, dst
}

// filterRows finds the rows of a condition.
func filterRows(b *column.Batch) (ours, plain columnLoop, err error) {
	prog, err := expr.Col("price").Mod(4).Ne(0).Bind(b.Schema)
	if err != nil {
		return nil, nil, err
	}
	ev, dst := prog.New(), make([]uint32, 0, events.Rows)
	var errs expr.Errors
	ours = func(b *column.Batch) (uint64, error) {
		errs.Reset()
		rows, err := ev.Rows(dst, b, &errs)
		return uint64(len(rows)) + uint64(rows[len(rows)-1]), err
	}
	plain = func(b *column.Batch) (uint64, error) {
		rows, kept := dst[:events.Rows], 0
		for i, price := range column.Values[int64](&b.Cols[1]) {
			rows[kept] = uint32(i)
			if price%4 != 0 {
				kept++
			}
		}
		return uint64(kept) + uint64(rows[kept-1]), nil
	}
	return ours, plain, nil
}

// arithmetic multiplies and divides; ours checks for overflow.
func arithmetic(b *column.Batch) (ours, plain columnLoop, err error) {
	prog, err := expr.Col("price").Mul(908).Div(1000).Bind(b.Schema)
	if err != nil {
		return nil, nil, err
	}
	ev := prog.New()
	var errs expr.Errors
	ours = func(b *column.Batch) (uint64, error) {
		errs.Reset()
		out := b.Derive()
		defer out.Release()
		c := column.Column{Type: prog.Type(), Kind: column.KindOf(prog.Type())}
		if err := ev.Eval(out, &c, b, &errs); err != nil {
			return 0, err
		}
		v := column.Values[int64](&c)
		return uint64(v[0]) ^ uint64(v[len(v)-1]), nil
	}
	plain = func(b *column.Batch) (uint64, error) {
		out := b.Derive()
		defer out.Release()
		v := column.Alloc[int64](out, b.Rows)
		for i, price := range column.Values[int64](&b.Cols[1]) {
			v[i] = price * 908 / 1000
		}
		return uint64(v[0]) ^ uint64(v[len(v)-1]), nil
	}
	return ours, plain, nil
}

// takeHalf gathers every second row of all columns.
func takeHalf(b *column.Batch) (ours, plain columnLoop, err error) {
	rows := make([]uint32, b.Rows/2)
	for i := range rows {
		rows[i] = uint32(2 * i)
	}
	last := len(rows) - 1
	ours = func(b *column.Batch) (uint64, error) {
		out := b.Take(rows)
		defer out.Release()
		return uint64(column.Values[int64](&out.Cols[1])[last]), nil
	}
	plain = func(b *column.Batch) (uint64, error) {
		out := column.NewBatch(b.Pool(), b.Schema, len(rows))
		defer out.Release()
		var v []int64
		for i := range b.Cols {
			src := column.Values[int64](&b.Cols[i])
			dst := column.Alloc[int64](out, len(rows))
			for k, r := range rows {
				dst[k] = src[r]
			}
			if i == 1 {
				v = dst
			}
		}
		return uint64(v[last]), nil
	}
	return ours, plain, nil
}

// scatter deals rows to four tasks by the hash of their key.
func scatter(*column.Batch) (ours, plain columnLoop, err error) {
	const tasks, groups = 4, 128
	p, hash, cols := shuffle.NewPartitioner(groups, tasks), make([]uint64, events.Rows), []int{0}
	fold := func(lists [][]uint32) (sum uint64) {
		for i, rows := range lists {
			sum += uint64(i+1) * uint64(len(rows))
		}
		return sum
	}
	ours = func(b *column.Batch) (uint64, error) {
		d := b.Derive()
		defer d.Release()
		d.Hash = keys.Hash(hash, b, cols)
		return fold(p.Split(d)), nil
	}
	lists := make([][]uint32, tasks)
	plain = func(b *column.Batch) (uint64, error) {
		for i := range lists {
			lists[i] = lists[i][:0]
		}
		for i, h := range keys.Hash(hash, b, cols) {
			to := h >> 62 // of 128 groups each task has 32, the highest bits say which
			lists[to] = append(lists[to], uint32(i))
		}
		return fold(lists), nil
	}
	return ours, plain, nil
}

// groupRows counts and sums by key and gives the results every 16 batches: a pane of the library beside an index and
// columns.
func groupRows(keys int64) func(b *column.Batch) (ours, plain columnLoop, err error) {
	const every = 16
	return func(b *column.Batch) (ours, plain columnLoop, err error) {
		l, err := layout.New(b.Schema, []int{0}, []aggregate.Agg{{Func: aggregate.CountRows, Names: []string{"count"}}, {Func: aggregate.Sum, Col: 1, Names: []string{"sum"}}})
		if err != nil {
			return nil, nil, err
		}
		schema := arrow.NewSchema([]arrow.Field{b.Schema.Field(0),
			{Name: "window_start", Type: arrow.FixedWidthTypes.Timestamp_ms}, {Name: "window_end", Type: arrow.FixedWidthTypes.Timestamp_ms},
			{Name: "count", Type: arrow.PrimitiveTypes.Int64}, {Name: "sum", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
		agg := kernel.NewAggregator(l)
		results := kernel.NewResults(l, schema, b.Pool(), func(column, value, problem string) error {
			return fmt.Errorf("%s: %s: %s", column, value, problem)
		})
		sink, err := foldWindows().Open(nil, operator.Stream{Schema: schema})
		if err != nil {
			return nil, nil, err
		}
		pane, turn := agg.Open(), 0
		ours = func(b *column.Batch) (uint64, error) {
			if err := pane.AddRange(b, 0, b.Rows); err != nil {
				return 0, err
			}
			if turn++; turn%every != 0 {
				return 0, nil
			}
			err := results.Write(pane, 0, baseline.WindowMilli, false, sink.Write)
			pane.Close()
			pane = agg.Open()
			w := sink.(*foldWriter)
			sum := w.result.Checksum
			w.result = baseline.Result{}
			return sum, err
		}
		loop, e, turns, before := baseline.Tumbling(baseline.NewColumns(keys), false), events.NewBatch(0), 0, uint64(0)
		e.Time = make([]int64, events.Rows)
		plain = func(b *column.Batch) (uint64, error) {
			e.Key, e.Price = column.Values[int64](&b.Cols[0]), column.Values[int64](&b.Cols[1])
			loop.Batch(e)
			if turns++; turns%every != 0 {
				return 0, nil
			}
			sum := loop.Finish().Checksum
			before, sum = sum, sum-before
			return sum, nil
		}
		return ours, plain, nil
	}
}

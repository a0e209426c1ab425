package column

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// modelSchema has a column of each width, bits, bytes, and one that is never null.
var modelSchema = arrow.NewSchema([]arrow.Field{
	{Name: "id", Type: arrow.PrimitiveTypes.Int64},
	{Name: "i8", Type: arrow.PrimitiveTypes.Int8, Nullable: true},
	{Name: "u16", Type: arrow.PrimitiveTypes.Uint16, Nullable: true},
	{Name: "f32", Type: arrow.PrimitiveTypes.Float32, Nullable: true},
	{Name: "dec", Type: &arrow.Decimal128Type{Precision: 38}, Nullable: true},
	{Name: "b", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
	{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
}, nil)

// row is what a batch says of a row: nil for nulls, and its hidden values.
type row struct {
	values [7]any
	time   any // int64, nil: null
	late   any // int64, nil: none
	hash   uint64
}

func drawRow(t *rapid.T) row {
	r := row{hash: rapid.Uint64().Draw(t, "hash")}
	opt := func(v any) any {
		if rapid.IntRange(0, 3).Draw(t, "null") == 0 {
			return nil
		}
		return v
	}
	r.values = [7]any{
		rapid.Int64().Draw(t, "id"), opt(rapid.Int8().Draw(t, "i8")), opt(rapid.Uint16().Draw(t, "u16")), opt(rapid.Float32Range(-9, 9).Draw(t, "f32")),
		opt([2]uint64{rapid.Uint64().Draw(t, "lo"), rapid.Uint64().Draw(t, "hi")}), opt(rapid.Bool().Draw(t, "b")), opt(rapid.String().Draw(t, "s")),
	}
	r.time = opt(rapid.Int64().Draw(t, "time"))
	if rapid.IntRange(0, 3).Draw(t, "late?") == 0 {
		r.late = rapid.Int64().Draw(t, "late")
	}
	return r
}

func appendRow(b *Builder, r row) {
	for i, v := range r.values {
		a := b.Col(i)
		switch x := v.(type) {
		case nil:
			if i%2 == 0 { // elsewhere EndRow makes the null
				a.Null()
			}
		case int64:
			a.Int64(x)
		case int8:
			a.Int64(int64(x))
		case uint16:
			a.Uint64(uint64(x))
		case float32:
			a.Float64(float64(x))
		case [2]uint64:
			a.Decimal(x[0], int64(x[1]))
		case bool:
			a.Bool(x)
		case string:
			if len(x)%2 == 0 {
				a.String(x)
			} else {
				a.Bytes([]byte(x))
			}
		}
	}
	if t, ok := r.time.(int64); ok {
		b.Time(t, true)
	} else {
		b.Time(99, false)
	}
}

// makeBatch builds rows one by one, with rows between them that are given up.
func makeBatch(t *rapid.T, p *Pool, rows []row) *Batch {
	bld := NewBuilder(p, modelSchema)
	for _, r := range rows {
		for rapid.IntRange(0, 4).Draw(t, "give up") == 0 {
			appendRow(bld, drawRow(t))
			bld.DropRow()
		}
		appendRow(bld, r)
		bld.EndRow()
	}
	if rapid.Bool().Draw(t, "give up the last") {
		appendRow(bld, drawRow(t))
		bld.DropRow()
	}
	require.Equal(t, len(rows), bld.Len())
	b := bld.Finish()
	b.Hash = Alloc[uint64](b, len(rows))
	for i, r := range rows {
		b.Hash[i] = r.hash
		if j, ok := r.late.(int64); ok {
			b.Late = append(b.Late, LatePair{int32(i), j})
		}
	}
	return b
}

// rowsOf reads the rows that are there.
func rowsOf(t *rapid.T, b *Batch) []row {
	checkNulls(t, b)
	require.Len(t, b.Cols, 7)
	out := make([]row, b.Len())
	for i := range out {
		p := b.Row(i)
		r := &out[i]
		for k := range b.Cols {
			c := &b.Cols[k]
			if c.IsNull(p) {
				continue
			}
			switch c.Kind {
			case Int64:
				r.values[k] = Values[int64](c)[p]
			case Int8:
				r.values[k] = Values[int8](c)[p]
			case Uint16:
				r.values[k] = Values[uint16](c)[p]
			case Float32:
				r.values[k] = Values[float32](c)[p]
			case Decimal:
				r.values[k] = View[[2]uint64](c.Data)[p]
			case Bool:
				r.values[k] = c.Bool(p)
			case Bytes:
				r.values[k] = strings.Clone(c.String(p))
			}
		}
		if b.Times != nil && (b.TimeValid == nil || Bit(b.TimeValid, p)) {
			r.time = b.Times[p]
		}
		if b.Hash != nil {
			r.hash = b.Hash[p]
		}
		for _, l := range b.Late {
			if int(l.Row) == p {
				r.late = l.J
			}
		}
	}
	for i := 1; i < len(b.Late); i++ {
		require.Less(t, b.Late[i-1].Row, b.Late[i].Row)
	}
	return out
}

// drawRows gives ascending numbers below n.
func drawRows(t *rapid.T, n int) []uint32 {
	rows := []uint32{}
	run := rapid.Bool().Draw(t, "run")
	from := rapid.IntRange(0, n).Draw(t, "from")
	for i := range n {
		if run && i >= from || !run && rapid.Bool().Draw(t, "take") {
			rows = append(rows, uint32(i))
		}
	}
	return rows
}

func pick(rows []row, sel []uint32) []row {
	out := make([]row, len(sel))
	for i, r := range sel {
		out[i] = rows[r]
	}
	return out
}

// TestBatchesAgreeWithAModel drives batches through all operations that keep rows.
func TestBatchesAgreeWithAModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool := NewDebugPool()
		want := rapid.SliceOfN(rapid.Custom(drawRow), 0, 30).Draw(t, "rows")
		b := makeBatch(t, pool, want)
		for range rapid.IntRange(0, 5).Draw(t, "steps") {
			b, want = step(t, b, want)
			require.Equal(t, want, rowsOf(t, b))
		}
		b.Release()
		require.NoError(t, pool.Check())
	})
}

// step applies one operation; the batch that is given is released.
func step(t *rapid.T, b *Batch, rows []row) (*Batch, []row) {
	defer b.Release()
	switch rapid.SampledFrom([]string{"select", "compact", "take", "slice", "build"}).Draw(t, "op") {
	case "select":
		d := b.Derive()
		keep := drawRows(t, b.Len())
		d.Sel = Alloc[uint32](d, len(keep))
		for i, k := range keep {
			d.Sel[i] = uint32(b.Row(int(k)))
		}
		if len(keep) == 0 {
			d.Sel = []uint32{}
		}
		return d, pick(rows, keep)
	case "compact":
		return b.Compact(), rows
	case "take":
		c := b.Compact()
		defer c.Release()
		keep := drawRows(t, c.Rows)
		return c.Take(keep), pick(rows, keep)
	case "slice":
		c := b.Compact()
		defer c.Release()
		from := rapid.IntRange(0, c.Rows).Draw(t, "from")
		to := rapid.IntRange(from, c.Rows).Draw(t, "to")
		return c.Slice(from, to), rows[from:to:to]
	}
	bld := NewBuilder(b.Pool(), b.Schema)
	out := []row{}
	for range rapid.IntRange(1, 3).Draw(t, "times") {
		if rapid.Bool().Draw(t, "all") {
			bld.AppendRows(b, nil)
			out = append(out, rows...)
			continue
		}
		c := b.Compact()
		keep := drawRows(t, c.Rows)
		bld.AppendRows(c, keep)
		out = append(out, pick(rows, keep)...)
		c.Release()
	}
	require.NoError(t, bld.Err())
	return bld.Finish(), out
}

func TestTakeTimesLeavesHashesBehind(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pool := NewDebugPool()
		rows := rapid.SliceOfN(rapid.Custom(drawRow), 1, 20).Draw(t, "rows")
		b := makeBatch(t, pool, rows)
		keep := drawRows(t, len(rows))
		if rapid.Bool().Draw(t, "all") {
			keep = nil
		}
		n := len(keep)
		if keep == nil {
			n = len(rows)
		}
		none := arrow.NewSchema([]arrow.Field{{Name: "x", Type: arrow.PrimitiveTypes.Int64}}, nil)
		out := NewBatch(pool, none, n)
		out.TakeTimes(b, keep)
		require.Nil(t, out.Hash)
		for i := range n {
			r := i
			if keep != nil {
				r = int(keep[i])
			}
			var time, late any
			if out.TimeValid == nil || Bit(out.TimeValid, i) {
				time = out.Times[i]
			}
			for _, l := range out.Late {
				if int(l.Row) == i {
					late = l.J
				}
			}
			require.Equal(t, rows[r].time, time)
			require.Equal(t, rows[r].late, late)
		}
		out.Release()
		b.Release()
		require.NoError(t, pool.Check())
	})
}

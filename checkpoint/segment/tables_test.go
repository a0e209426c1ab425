package segment

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/state"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// flatTypes are the types that are not nested.
func flatTypes() []arrow.DataType {
	out := []arrow.DataType{
		arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64,
		arrow.PrimitiveTypes.Uint8, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint32, arrow.PrimitiveTypes.Uint64,
		arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, arrow.BinaryTypes.String, arrow.BinaryTypes.LargeString, arrow.BinaryTypes.StringView,
		arrow.BinaryTypes.Binary, arrow.BinaryTypes.LargeBinary, arrow.BinaryTypes.BinaryView, arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date64,
		arrow.FixedWidthTypes.Time32s, arrow.FixedWidthTypes.Time32ms, arrow.FixedWidthTypes.Time64us, arrow.FixedWidthTypes.Time64ns,
		&arrow.Decimal128Type{Precision: 38, Scale: 10}, &arrow.Decimal128Type{Precision: 7, Scale: -3},
	}
	for u := arrow.Second; u <= arrow.Nanosecond; u++ {
		out = append(out, &arrow.DurationType{Unit: u})
		for _, zone := range []string{"", "UTC", "Europe/Berlin", "+01:30"} {
			out = append(out, &arrow.TimestampType{Unit: u, TimeZone: zone})
		}
	}
	return out
}

// topTypes are those that only a column itself can have.
func topTypes() []arrow.DataType {
	return []arrow.DataType{
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String},
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Uint32, ValueType: arrow.BinaryTypes.LargeBinary, Ordered: true},
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int64, ValueType: &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"}},
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int16, ValueType: arrow.FixedWidthTypes.Boolean},
	}
}

func drawMetadata(t *rapid.T) arrow.Metadata {
	m := rapid.MapOfN(rapid.SampledFrom([]string{"unit", "", "größe", metaSchema}), rapid.StringN(0, 5, 20), 0, 2).Draw(t, "metadata")
	return arrow.MetadataFrom(m)
}

func drawField(t *rapid.T, name string, depth int) arrow.Field {
	return arrow.Field{Name: name, Type: drawType(t, depth), Nullable: rapid.Bool().Draw(t, "nullable"), Metadata: drawMetadata(t)}
}

func drawType(t *rapid.T, depth int) arrow.DataType {
	kind := rapid.IntRange(0, 7).Draw(t, "kind")
	if depth == 0 {
		kind = 0
	}
	switch kind {
	case 4:
		return arrow.ListOfField(drawField(t, rapid.SampledFrom([]string{"item", "element"}).Draw(t, "name"), depth-1))
	case 5:
		return arrow.LargeListOfField(drawField(t, "item", depth-1))
	case 6:
		m := arrow.MapOfFields(arrow.Field{Name: "key", Type: drawType(t, 0)}, drawField(t, "value", depth-1))
		m.KeysSorted = rapid.Bool().Draw(t, "sorted")
		return m
	case 7:
		fields := make([]arrow.Field, rapid.IntRange(1, 3).Draw(t, "fields"))
		for i := range fields {
			fields[i] = drawField(t, fmt.Sprint("f", i), depth-1)
		}
		return arrow.StructOf(fields...)
	}
	return rapid.SampledFrom(flatTypes()).Draw(t, "type")
}

func drawSchema(t *rapid.T) *arrow.Schema {
	fields := make([]arrow.Field, rapid.IntRange(0, 4).Draw(t, "columns"))
	for i := range fields {
		fields[i] = drawField(t, rapid.SampledFrom([]string{"a", "b", "", "#group", "##group", "größe"}).Draw(t, "name"), 2)
		if rapid.IntRange(0, 5).Draw(t, "dictionary") == 0 {
			fields[i].Type = rapid.SampledFrom(topTypes()).Draw(t, "type")
		}
	}
	meta := drawMetadata(t)
	return arrow.NewSchema(fields, &meta)
}

// fill appends a value that follows from v: a null where v%5 == 4.
func fill(a *column.Appender, v int) {
	if v%5 == 4 {
		a.Null()
		return
	}
	switch a.Kind() {
	case column.Bool:
		a.Bool(v%3 == 0)
	case column.Bytes:
		a.String(strings.Repeat(fmt.Sprint(v), v%4))
	case column.Float32, column.Float64:
		a.Float64(float64(v) / 8)
	case column.Decimal:
		a.Decimal(uint64(v)*0x9E3779B97F4A7C15, int64(-v))
	case column.List:
		for k := range v % 3 {
			if entries := a.Child(0); a.Type().ID() == arrow.MAP {
				fill(entries.Child(0), 5*(v+k))
				fill(entries.Child(1), v+k)
				entries.EndStruct()
			} else {
				fill(entries, v+k)
			}
		}
		a.EndList()
	case column.Struct:
		for i := range childTypes(a.Type()) {
			fill(a.Child(i), v+i)
		}
		a.EndStruct()
	default:
		a.Int64(int64(v)*0x1E3779B97F4A7C1 - 7)
	}
}

// tableOf gives rows numbered from lo to hi, of which the memory begins some rows before.
func tableOf(s *arrow.Schema, before, lo, hi int) state.Table {
	b := column.NewBuilder(nil, s)
	for v := lo - before; v < hi; v++ {
		for i := range s.NumFields() {
			fill(b.Col(i), 3*(v+10)+i)
		}
		b.EndRow()
	}
	batch := b.Finish().Slice(before, before+hi-lo)
	t := state.Table{Schema: s, Rows: hi - lo, Cols: batch.Cols, Groups: make([]uint16, hi-lo)}
	for i := range t.Groups {
		t.Groups[i] = uint16((lo + i) * 7919)
	}
	return t
}

// texts gives the rows of a table as text.
func texts(t state.Table) []string {
	out := make([]string, t.Rows)
	for r := range out {
		var s strings.Builder
		fmt.Fprint(&s, t.Groups[r])
		for i := range t.Cols {
			fmt.Fprintf(&s, "|%v", t.Cols[i].Cell(r, func(c *column.Column, i int) any {
				switch w := c.Kind.Width(); c.Kind {
				case column.Bool:
					return c.Bool(i)
				case column.Bytes:
					return "'" + c.String(i) + "'"
				default:
					return c.Data[i*w : (i+1)*w]
				}
			}))
		}
		out[r] = s.String()
	}
	return out
}

// saved is a block and its table.
type saved struct {
	Block
	state.Table
}

// pack writes blocks and gives the objects.
func pack(t require.TestingT, target, unit int, blocks ...saved) (objects []Object) {
	w, err := NewWriter(Options{TargetBytes: target}, func(o Object) error {
		objects = append(objects, o)
		return nil
	})
	require.NoError(t, err)
	if unit > 0 {
		w.unit = unit
	}
	w.pool = column.NewDebugPool()
	for _, b := range blocks {
		require.NoError(t, w.Add(b.Block, b.Table))
	}
	pool := w.pool
	require.NoError(t, w.Close())
	require.NoError(t, pool.Check())
	return objects
}

// unpackAll reads all blocks of an object.
func unpackAll(data []byte) (out []saved, err error) {
	r, err := Open(data)
	if err != nil {
		return nil, err
	}
	for i, e := range r.Blocks() {
		t, err := r.Read(i)
		if err != nil {
			return nil, err
		}
		out = append(out, saved{e.Block, t})
	}
	return out, nil
}

func requireType(t require.TestingT, typ arrow.DataType, c *column.Column) {
	require.True(t, sameType(typ, c.Type), "%s and %s", typ, c.Type)
	for i, child := range childTypes(typ) {
		requireType(t, child, &c.Children[i])
	}
}

func TestTablesAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		schemas := make([]*arrow.Schema, rapid.IntRange(1, 3).Draw(t, "schemas"))
		for i := range schemas {
			schemas[i] = drawSchema(t)
		}
		var blocks []saved
		for i := range rapid.IntRange(0, 12).Draw(t, "blocks") {
			b := Block{Table: rapid.SampledFrom([]string{"windows", "", "größe"}).Draw(t, "table"), Part: rapid.Int64Range(0, 3).Draw(t, "part"), Full: rapid.Bool().Draw(t, "full")}
			if rapid.IntRange(0, 9).Draw(t, "large") == 0 {
				b.Part = 1<<63 - 1
			}
			rows := rapid.IntRange(0, 40).Draw(t, "rows")
			blocks = append(blocks, saved{b, tableOf(rapid.SampledFrom(schemas).Draw(t, "schema"), rapid.IntRange(0, 9).Draw(t, "before"), 100*i, 100*i+rows)})
		}
		objects := pack(t, rapid.SampledFrom([]int{1, 1000, 1 << 20}).Draw(t, "target"), rapid.SampledFrom([]int{1, 100, 2000, unitBytes}).Draw(t, "unit"), blocks...)
		var got []saved
		for _, o := range objects {
			r, err := Open(o.Data)
			require.NoError(t, err)
			require.Equal(t, r.Blocks(), o.Blocks)
			all, err := unpackAll(o.Data)
			require.NoError(t, err)
			got = append(got, all...)
			for _, i := range rapid.SliceOfN(rapid.IntRange(0, len(all)-1), 0, 3).Draw(t, "again") { // in any order
				one, err := r.Read(i)
				require.NoError(t, err)
				require.Equal(t, texts(all[i].Table), texts(one))
			}
		}
		for _, want := range blocks {
			if want.Rows == 0 && !want.Full {
				continue
			}
			rows := texts(want.Table)
			for first := true; first || len(rows) > 0; first = false {
				require.NotEmpty(t, got)
				piece := got[0]
				got = got[1:]
				require.Equal(t, Block{want.Block.Table, want.Block.Part, want.Full && first}, piece.Block)
				require.Equal(t, state.PartID{ID: want.Block.Part}, piece.Table.Part)
				require.True(t, sameSchema(want.Schema, piece.Schema), "%s and %s", want.Schema, piece.Schema)
				for i, f := range want.Schema.Fields() {
					requireType(t, f.Type, &piece.Cols[i])
				}
				require.Equal(t, rows[:piece.Rows], texts(piece.Table))
				rows = rows[piece.Rows:]
			}
		}
		require.Empty(t, got)
	})
}

package segment

import (
	"bytes"
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/state"
	"github.com/klauspost/compress/s2"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// words is a table of a signed and an unsigned column.
func words(ints []int64, words []uint64) state.Table {
	s := arrow.NewSchema([]arrow.Field{{Name: "i", Type: arrow.PrimitiveTypes.Int64}, {Name: "u", Type: arrow.PrimitiveTypes.Uint64}}, nil)
	b := column.NewBatch(nil, s, len(ints))
	b.Cols[0].Data, b.Cols[1].Data = column.BytesOf(ints), column.BytesOf(words)
	return state.Table{Schema: s, Rows: len(ints), Cols: b.Cols, Groups: make([]uint16, len(ints))}
}

func readWords(t require.TestingT, data []byte) ([]int64, []uint64, *arrow.Schema) {
	r, err := Open(data)
	require.NoError(t, err)
	var ints []int64
	var us []uint64
	var s *arrow.Schema
	for i := range r.Blocks() {
		table, err := r.Read(i)
		require.NoError(t, err)
		require.Equal(t, arrow.INT64, table.Cols[0].Type.ID())
		ints = append(ints, column.Values[int64](&table.Cols[0])...)
		us = append(us, column.View[uint64](table.Cols[1].Data)...)
		s = table.Schema
	}
	return ints, us, s
}

func TestIntegersAreStoredByTheNarrowestThatHoldThem(t *testing.T) {
	for name, c := range map[string]struct {
		ints      []int64
		words     []uint64
		wantI     arrow.DataType
		wantU     arrow.DataType
		wantSaved bool
	}{
		"8 bits":  {[]int64{-128, 127, 0}, []uint64{0, 255, 1}, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Uint8, true},
		"16 bits": {[]int64{-129, 127}, []uint64{256, 0}, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Uint16, true},
		"just 16": {[]int64{-32768, 32767}, []uint64{65535, 0}, arrow.PrimitiveTypes.Int16, arrow.PrimitiveTypes.Uint16, true},
		"32 bits": {[]int64{32768, 0}, []uint64{65536, 0}, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint32, true},
		"just 32": {[]int64{math.MinInt32, math.MaxInt32}, []uint64{math.MaxUint32, 0}, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Uint32, true},
		"mixed":   {[]int64{math.MaxInt32 + 1, 0}, []uint64{1, 0}, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint8, true},
		"64 bits": {[]int64{math.MinInt64, math.MaxInt64}, []uint64{math.MaxUint64, 0}, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint64, false},
	} {
		t.Run(name, func(t *testing.T) {
			objects := pack(t, 0, 0, saved{Block{Table: "t"}, words(c.ints, c.words)})
			ints, us, s := readWords(t, objects[0].Data)
			require.Equal(t, c.ints, ints)
			require.Equal(t, c.words, us)
			require.True(t, s.Equal(words(nil, nil).Schema))
			r, err := Open(objects[0].Data)
			require.NoError(t, err)
			raw, err := s2.Decode(nil, objects[0].Data[r.units[0].at:r.units[0].at+r.units[0].stored])
			require.NoError(t, err)
			stream, err := ipc.NewReader(bytes.NewReader(raw))
			require.NoError(t, err)
			defer stream.Release()
			require.Equal(t, c.wantI, stream.Schema().Field(1).Type)
			require.Equal(t, c.wantU, stream.Schema().Field(2).Type)
			require.Equal(t, c.wantSaved, stream.Schema().Metadata().FindKey(metaSchema) >= 0)
		})
	}
}

func TestNarrowUnitsOfAnyValues(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var ints []int64
		var us []uint64
		var blocks []saved
		for range rapid.IntRange(1, 4).Draw(t, "tables") {
			n := rapid.IntRange(0, 50).Draw(t, "rows")
			shift := rapid.IntRange(0, 63).Draw(t, "shift")
			i, u := make([]int64, n), make([]uint64, n)
			for k := range n {
				i[k] = rapid.Int64().Draw(t, "i") >> shift
				u[k] = rapid.Uint64().Draw(t, "u") >> shift
			}
			ints, us = append(ints, i...), append(us, u...)
			blocks = append(blocks, saved{Block{Table: "t", Full: true}, words(i, u)})
		}
		gotI, gotU := []int64(nil), []uint64(nil)
		for _, o := range pack(t, 0, rapid.SampledFrom([]int{0, 200}).Draw(t, "unit"), blocks...) {
			i, u, _ := readWords(t, o.Data)
			gotI, gotU = append(gotI, i...), append(gotU, u...)
		}
		require.Equal(t, len(ints), len(gotI))
		for k := range ints {
			require.Equal(t, ints[k], gotI[k])
			require.Equal(t, us[k], gotU[k])
		}
	})
}

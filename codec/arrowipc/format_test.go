package arrowipc

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/codec/internal/blocktest"
	"github.com/arkflow-go/arkflow/column"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRoundTrip_everyTypeFormAndPlace(t *testing.T) {
	for _, f := range []Format{
		New(nil), New(nil).BlockRows(1), New(nil).BlockRows(7), New(nil).BlockRows(10).Stream(), New(nil).BlockRows(20).Compress(LZ4),
		New(nil).BlockRows(20).Compress(Zstd).Stream(),
	} {
		blocktest.RoundTrip(t, f, blocktest.Schema(t, blocktest.Types...))
	}
}

func TestDamage_isAnErrorAndNoPanic(t *testing.T) {
	for _, f := range []Format{New(nil).BlockRows(16), New(nil).BlockRows(16).Stream(), New(nil).BlockRows(16).Compress(Zstd)} {
		blocktest.Damage(t, f)
	}
}

func TestOpen_sizesThatAreClaimedCostNothing(t *testing.T) {
	s := blocktest.Schema(t, "int64")
	b := column.NewBuilder(nil, s)
	for range 100_000 {
		b.Int64(0, 7)
		b.EndRow()
	}
	file := blocktest.Write(t, New(nil).BlockRows(100_000).Compress(Zstd), s, b.Finish())
	require.Less(t, len(file), 4000, "a bomb")
	r, err := blocktest.Open(New(nil), nil, file, 10, 100_000)
	require.NoError(t, err)
	_, err = r.Next()
	assert.ErrorContains(t, err, "arrow ipc: batch 0: damaged: arrow/ipc: unknown error while reading: needs more than 100000 bytes of memory for one block")
	require.NoError(t, r.Close())
	r, err = blocktest.Open(New(nil), nil, file, 10, 10_000_000)
	require.NoError(t, err)
	rows, err := blocktest.ReadAll(r)
	require.NoError(t, err)
	assert.Len(t, rows, 100_000)
	require.NoError(t, r.Close())
}

func TestOpen_filesThatAreNone(t *testing.T) {
	s := blocktest.Schema(t, "int64")
	stream := blocktest.Write(t, New(nil).Stream(), s, blocktest.Rows(nil, s, 0, 3))
	for in, want := range map[string]string{
		"":                       "arrow ipc: truncated: 0 bytes are no file of this format",
		"{\"a\":1}\n{\"a\":2}\n": "arrow ipc: not Arrow IPC, or damaged: metadata of 576791163 bytes",
		"ARROW1\x00\x00":         "arrow ipc: truncated",
		"ARROW1\x00\x00\xFF\xFF\xFF\xFF\x10\x00\x00\x00": "arrow ipc: truncated: the file does not end with the table of its batches",
		string(stream[:len(stream)/3]):                   "arrow ipc: truncated, or not Arrow IPC: metadata of 128 bytes, 96 are left",
		"\xFF\xFF\xFF\xFF\x00\x00\x00\x00":               "arrow ipc: damaged: the stream ends too early",
		"\xFF\xFF\xFF\xFF\x00\x00\x00\x00more":           "arrow ipc: damaged: 4 bytes behind the mark of the end of the stream",
	} {
		_, err := blocktest.Open(New(nil), nil, []byte(in), 10, 1<<20)
		assert.ErrorContains(t, err, want)
		assert.NotErrorIs(t, err, io.EOF)
	}
	require.Equal(t, uint64(0xFFFFFFFF), binary.LittleEndian.Uint64(stream[len(stream)-8:]))
	r, err := blocktest.Open(New(nil), nil, stream[:len(stream)-8], 10, 1<<20)
	require.NoError(t, err)
	rows, err := blocktest.ReadAll(r)
	assert.Len(t, rows, 3)
	assert.EqualError(t, err, "arrow ipc: batch 1: truncated: the stream has no mark of its end")
	require.NoError(t, r.Close())
}

func TestOpen_readsColumnsByName(t *testing.T) {
	file := arrow.NewSchema([]arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int16, Nullable: true}, {Name: "unused", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "s", Type: arrow.BinaryTypes.LargeString, Nullable: true}, {Name: "at", Type: &arrow.TimestampType{Unit: arrow.Nanosecond}, Nullable: true},
		{Name: "f", Type: arrow.PrimitiveTypes.Float32, Nullable: true}, {Name: "u", Type: arrow.PrimitiveTypes.Uint8, Nullable: true},
		{Name: "d", Type: &arrow.Decimal128Type{Precision: 5, Scale: 2}, Nullable: true},
	}, nil)
	b := column.NewBuilder(nil, file)
	b.Col(0).Int64(-5)
	b.String(1, "x")
	b.String(2, "text")
	b.Col(3).Int64(-1)
	b.Col(4).Float64(1.5)
	b.Col(5).Int64(200)
	b.Col(6).Decimal(125, 0)
	b.EndRow()
	data := blocktest.Write(t, New(nil), file, b.Finish())
	want := blocktest.Schema(t, "string")
	open := func(fields ...arrow.Field) (*column.Batch, error) {
		r, err := blocktest.Open(New(arrow.NewSchema(fields, nil)), nil, data, 10, 1<<20)
		if err != nil {
			return nil, err
		}
		defer func() { require.NoError(t, r.Close()) }()
		return r.Next()
	}
	got, err := open(arrow.Field{Name: "s", Type: want.Field(0).Type}, arrow.Field{Name: "n", Type: arrow.PrimitiveTypes.Int64},
		arrow.Field{Name: "at", Type: &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"}}, arrow.Field{Name: "f", Type: arrow.PrimitiveTypes.Float64},
		arrow.Field{Name: "u", Type: arrow.PrimitiveTypes.Uint32}, arrow.Field{Name: "d", Type: &arrow.Decimal128Type{Precision: 38, Scale: 2}},
		arrow.Field{Name: "none", Type: arrow.PrimitiveTypes.Int64, Nullable: true})
	require.NoError(t, err)
	assert.Equal(t, "text", got.Column("s").String(0))
	assert.Equal(t, []any{int64(-5), int64(-1), 1.5, uint32(200)}, []any{column.Values[int64](got.Column("n"))[0], column.Values[int64](got.Column("at"))[0],
		column.Values[float64](got.Column("f"))[0], column.Values[uint32](got.Column("u"))[0]})
	assert.True(t, got.Column("none").IsNull(0))
	got.Release()

	for _, c := range []struct {
		field arrow.Field
		want  string
	}{
		{arrow.Field{Name: "nn", Type: arrow.PrimitiveTypes.Int64}, `the file has no column "nn", and it is not nullable; did you mean "n"?`},
		{arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, "the file has none of the columns of the schema"},
		{arrow.Field{Name: "n", Type: arrow.PrimitiveTypes.Int8}, `column "n" is int16 in the file, the schema has int8`},
		{arrow.Field{Name: "n", Type: arrow.PrimitiveTypes.Uint64}, `column "n" is int16 in the file, the schema has uint64`},
		{arrow.Field{Name: "s", Type: arrow.PrimitiveTypes.Int64}, `column "s" is large_string in the file, the schema has int64`},
		{arrow.Field{Name: "d", Type: &arrow.Decimal128Type{Precision: 38, Scale: 3}}, `column "d" is decimal(5,2) in the file, the schema has decimal(38,3)`},
	} {
		_, err := open(c.field)
		assert.ErrorContains(t, err, c.want)
	}
	nulls := blocktest.Write(t, New(nil), want, blocktest.Rows(nil, want, 0, 10))
	r, err := blocktest.Open(New(arrow.NewSchema([]arrow.Field{{Name: "string", Type: arrow.BinaryTypes.String}}, nil)), nil, nulls, 10, 1<<20)
	require.NoError(t, err)
	_, err = r.Next()
	assert.ErrorContains(t, err, `column "string": 1 nulls, and the column is not nullable`)
	require.NoError(t, r.Close())
}

func TestConfig_readsBack(t *testing.T) {
	for _, f := range []Format{New(nil), New(blocktest.Schema(t, "int64")).Stream().Compress(Zstd).BlockRows(10)} {
		c, err := f.Config()
		require.NoError(t, err)
		back, err := FromConfig("codec", c)
		require.NoError(t, err)
		assert.Equal(t, f, back)
	}
	_, err := FromConfig("codec", map[string]any{"type": "arrow_ipc", "stream": 1, "compression": true, "block_rows": "many", "colums": 1, "schema": 3})
	for _, want := range []string{"codec.stream: want true or false, not 1", "codec.compression: want a string, not true", "codec.block_rows: want an integer above 0, not many",
		`codec.colums: unknown field "colums"`, "codec.schema: want a list"} {
		assert.ErrorContains(t, err, want)
	}
	_, err = FromConfig("codec", map[string]any{"type": "arrow_ipc", "compression": "gzip", "block_rows": 1 << 30, "schema": []any{}})
	for _, want := range []string{`codec.compression: "gzip" is none of none, lz4, zstd`, "codec.block_rows: 1073741824 is not within 1 and 16777216", "codec.schema: no column"} {
		assert.ErrorContains(t, err, want)
	}
	type row struct {
		ID int64 `arkflow:"id"`
	}
	assert.Equal(t, "id", Of[row]().Schema().Field(0).Name)
	assert.ErrorContains(t, Of[int]().Check(), "is not a struct")
	_, err = Of[int]().OpenBlocks(context.Background(), strings.NewReader(""), 0, codec.BlockOptions{})
	assert.Error(t, err)
	_, err = Of[int]().CreateBlocks(nil, nil)
	assert.Error(t, err)
}

func TestSchema_whatNoBatchCanHoldIsLeftOut(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{{Name: "l", Type: arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int64)}}, nil)
	assert.ErrorContains(t, New(nil).CheckRows(s), "schema.l: type fixed_size_list<item: int64, nullable>[2] is not supported")
	_, err := New(nil).CreateBlocks(nil, s)
	assert.Error(t, err)
}

func FuzzOpen(f *testing.F) {
	s := blocktest.Schema(f, "int64", "string", "dictionary[int32,string]")
	for _, form := range []Format{New(nil).BlockRows(4), New(nil).BlockRows(4).Stream(), New(nil).BlockRows(4).Compress(LZ4)} {
		f.Add(blocktest.Write(f, form, s, blocktest.Rows(nil, s, 0, 9)))
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		pool := column.NewDebugPool()
		r, err := blocktest.Open(New(nil), pool, file, 3, 1<<20)
		if err != nil {
			return
		}
		_, err = blocktest.ReadAll(r)
		_ = fmt.Sprint(err)
		require.NoError(t, r.Close())
		require.NoError(t, pool.Check())
	})
}

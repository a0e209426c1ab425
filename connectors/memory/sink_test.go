package memory

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
)

// batchOf reads the only batch of rows.
func batchOf[T any](t testing.TB, pool *column.Pool, rows []T) *column.Batch {
	r, err := Of(rows).Open(newContext(pool), operator.Split{ID: "0"}, nil)
	require.NoError(t, err)
	b, err := r.Poll()
	require.NoError(t, err)
	require.NoError(t, r.Close())
	return b
}

func TestSinkKeepsCopiesOfTheRowsThatAreThere(t *testing.T) {
	pool := column.NewDebugPool()
	rows := items(0, 5)
	b := batchOf(t, pool, rows)
	sink := NewSink()
	require.Equal(t, "memory", sink.Kind())
	require.NoError(t, sink.Check(operator.Stream{Schema: b.Schema}))
	w, err := sink.Open(nil, operator.Stream{Schema: b.Schema})
	require.NoError(t, err)
	require.NoError(t, w.Write(b))
	b.Sel = []uint32{1, 4}
	require.NoError(t, w.Write(b))
	b.Release()
	require.NoError(t, pool.Check(), "the sink holds no memory of the job")
	require.NoError(t, w.Flush())
	require.NoError(t, w.Close())
	require.Equal(t, 7, sink.Len())
	got, err := Collect[item](sink)
	require.NoError(t, err)
	require.Equal(t, append(append([]item{}, rows...), rows[1], rows[4]), got)
	recs := sink.Records()
	require.Len(t, recs, 2)
	require.Equal(t, int64(2), recs[1].NumRows())
	sink.Reset()
	require.Zero(t, sink.Len())
	require.Empty(t, sink.Rows())
	got, err = Collect[item](sink)
	require.NoError(t, err)
	require.Empty(t, got)
}

func TestSinkMaxRows(t *testing.T) {
	sink := &Sink{MaxRows: 7}
	b := batchOf(t, column.NewPool(), items(0, 5))
	defer b.Release()
	w, err := sink.Open(nil, operator.Stream{})
	require.NoError(t, err)
	require.NoError(t, w.Write(b))
	require.EqualError(t, w.Write(b), "memory sink: 5 rows and 5 more are over MaxRows, 7")
	require.Equal(t, 5, sink.Len())
	sink.MaxRows = -1
	require.ErrorContains(t, sink.Check(operator.Stream{Schema: b.Schema}), "max_rows: -1 is negative")
}

func TestCollectTellsWhatDoesNotFit(t *testing.T) {
	sink := NewSink()
	b := batchOf(t, column.NewPool(), items(0, 2))
	defer b.Release()
	w, _ := sink.Open(nil, operator.Stream{})
	require.NoError(t, w.Write(b))
	_, err := Collect[struct{ Nmae string }](sink)
	require.ErrorContains(t, err, `no column "Nmae"; did you mean "Name"?`)
	_, err = Collect[struct{ Name string }](sink)
	require.ErrorContains(t, err, `row 1: column "Name": field "Name": is null`)
}

func TestSinkIsSafeForConcurrentUse(t *testing.T) {
	sink := NewSink()
	b := batchOf(t, column.NewPool(), items(0, 10))
	defer b.Release()
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			w, _ := sink.Open(nil, operator.Stream{})
			for range 50 {
				if err := w.Write(b); err != nil {
					t.Error(err)
				}
				_ = sink.Len()
			}
		})
	}
	wg.Wait()
	got, err := Collect[item](sink)
	require.NoError(t, err)
	require.Len(t, got, 2000)
}

func TestRowsGivesEveryTypeAsAGoValue(t *testing.T) {
	dict := &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}
	fields := []arrow.Field{
		{Name: "b", Type: arrow.FixedWidthTypes.Boolean}, {Name: "i8", Type: arrow.PrimitiveTypes.Int8}, {Name: "i16", Type: arrow.PrimitiveTypes.Int16},
		{Name: "i32", Type: arrow.PrimitiveTypes.Int32}, {Name: "i64", Type: arrow.PrimitiveTypes.Int64}, {Name: "u8", Type: arrow.PrimitiveTypes.Uint8},
		{Name: "u16", Type: arrow.PrimitiveTypes.Uint16}, {Name: "u32", Type: arrow.PrimitiveTypes.Uint32}, {Name: "u64", Type: arrow.PrimitiveTypes.Uint64},
		{Name: "f32", Type: arrow.PrimitiveTypes.Float32}, {Name: "f64", Type: arrow.PrimitiveTypes.Float64}, {Name: "s", Type: arrow.BinaryTypes.String},
		{Name: "ls", Type: arrow.BinaryTypes.LargeString}, {Name: "sv", Type: arrow.BinaryTypes.StringView}, {Name: "bin", Type: arrow.BinaryTypes.Binary},
		{Name: "lbin", Type: arrow.BinaryTypes.LargeBinary}, {Name: "vbin", Type: arrow.BinaryTypes.BinaryView}, {Name: "d32", Type: arrow.FixedWidthTypes.Date32},
		{Name: "d64", Type: arrow.FixedWidthTypes.Date64}, {Name: "ts", Type: arrow.FixedWidthTypes.Timestamp_ms}, {Name: "t32", Type: arrow.FixedWidthTypes.Time32s},
		{Name: "t64", Type: arrow.FixedWidthTypes.Time64us}, {Name: "dict", Type: dict},
		{Name: "dec", Type: &arrow.Decimal128Type{Precision: 9, Scale: 2}}, {Name: "none", Type: arrow.PrimitiveTypes.Int8, Nullable: true},
	}
	s := arrow.NewSchema(fields, nil)
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, s, strings.NewReader(`[{"b":true,"i8":-1,"i16":-2,"i32":-3,"i64":-4,"u8":1,"u16":2,"u32":3,"u64":4,
		"f32":0.5,"f64":1.5,"s":"s","ls":"ls","sv":"sv","bin":"YQ==","lbin":"Yg==","vbin":"Yw==","d32":"1970-01-02","d64":"1969-12-31",
		"ts":"1970-01-01T00:00:00.001Z","t32":"00:00:01","t64":"00:00:00.000001","dict":"x","dec":"12.34","none":null}]`))
	require.NoError(t, err)
	src := Records(s, rec)
	r, err := src.Open(newContext(column.NewPool()), operator.Split{ID: "0"}, nil)
	require.NoError(t, err)
	b, err := r.Poll()
	require.NoError(t, err)
	sink := NewSink()
	w, _ := sink.Open(nil, operator.Stream{})
	require.NoError(t, w.Write(b))
	require.Equal(t, []map[string]any{{"b": true, "i8": int64(-1), "i16": int64(-2), "i32": int64(-3), "i64": int64(-4), "u8": uint64(1), "u16": uint64(2),
		"u32": uint64(3), "u64": uint64(4), "f32": 0.5, "f64": 1.5, "s": "s", "ls": "ls", "sv": "sv", "bin": []byte("a"), "lbin": []byte("b"), "vbin": []byte("c"),
		"d32": time.Date(1970, 1, 2, 0, 0, 0, 0, time.UTC), "d64": time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC), "ts": time.UnixMilli(1).UTC(),
		"t32": time.Second, "t64": time.Microsecond, "dict": "x", "dec": "12.34", "none": nil}}, sink.Rows())
	for text, typ := range map[string]*arrow.Decimal128Type{
		"0.0000000001": {Precision: 38, Scale: 10}, "-1.50": {Precision: 9, Scale: 2}, "1234567890123456789012345678.0123456789": {Precision: 38, Scale: 10},
	} {
		n, err := decimal128.FromString(text, typ.Precision, typ.Scale)
		require.NoError(t, err)
		bld := array.NewDecimal128Builder(memory.DefaultAllocator, typ)
		bld.Append(n)
		require.Equal(t, text, valueOf(bld.NewArray(), 0))
	}
	type span struct{ D time.Duration }
	sink.Reset()
	require.NoError(t, w.Write(batchOf(t, column.NewPool(), []span{{5}})))
	require.Equal(t, []map[string]any{{"D": time.Duration(5)}}, sink.Rows())
}

func TestSinkInSpecs(t *testing.T) {
	sink, err := SinkFromParams(params(map[string]any{"max_rows": 5}))
	require.NoError(t, err)
	config, codec, err := sink.(*Sink).Config()
	require.NoError(t, err)
	require.Equal(t, map[string]any{"max_rows": 5}, config)
	require.Nil(t, codec)
	config, _, err = NewSink().Config()
	require.NoError(t, err)
	require.Empty(t, config)
	_, err = SinkFromParams(params(map[string]any{"max_rows": -5}))
	require.ErrorContains(t, err, "config.max_rows: -5 is negative")
}

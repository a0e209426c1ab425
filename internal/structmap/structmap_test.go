package structmap

import (
	"math"
	"reflect"
	"strings"
	"testing"
	"time"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/arkflow-go/arkflow/column"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

type (
	status string
	base   struct {
		ID   int64 `arkflow:"id"`
		Note *string
	}
	every struct {
		base
		I    int
		I8   int8 `json:"i_8,omitempty"`
		I16  int16
		I32  int32
		U    uint
		U8   uint8
		U16  uint16
		U32  uint32
		U64  uint64
		F32  float32
		F64  float64
		B    bool
		S    status
		Raw  []byte
		At   time.Time
		Took time.Duration
		PI   *int32
		PB   *bool
		PT   *time.Time
		PRaw *[]byte
		PF   *float64
		Out  map[string]int `arkflow:"-"`
		JOut func()         `json:"-"`
		priv int            // unexported fields are left out
	}
)

func TestB4SchemaOfNamesAndTypes(t *testing.T) {
	require.Zero(t, every{}.priv, "an unexported field is there and left out")
	s, err := SchemaOf[every]()
	require.NoError(t, err)
	var got []string
	for _, f := range s.Fields() {
		n := ""
		if f.Nullable {
			n = "?"
		}
		got = append(got, f.Name+n+" "+f.Type.String())
	}
	require.Equal(t, []string{"id int64", "Note? utf8", "I int64", "i_8 int8", "I16 int16", "I32 int32", "U uint64", "U8 uint8", "U16 uint16",
		"U32 uint32", "U64 uint64", "F32 float32", "F64 float64", "B bool", "S utf8", "Raw binary", "At timestamp[us, tz=UTC]", "Took duration[ns]",
		"PI? int32", "PB? bool", "PT? timestamp[us, tz=UTC]", "PRaw? binary", "PF? float64"}, got)
}

func TestSchemaOfTellsAllFaults(t *testing.T) {
	type inner struct{ X chan int }
	type loop struct{ Next []*loop }
	type bad struct {
		M    map[float64]int
		M2   map[string]any
		L    []func()
		N    inner
		P    *inner
		R    loop
		PP   **int
		A    any
		C    chan int
		F    func()
		Arr  [3]int
		Cx   complex128
		Ok   int
		Ok2  int    `arkflow:"Ok"`
		Tag  string `arkflow:"a,b"`
		None string `arkflow:""`
		priv int    `arkflow:"p"`
	}
	require.Empty(t, bad{}.priv)
	_, err := SchemaOf[bad]()
	require.Error(t, err)
	for _, want := range []string{
		`field "M"`, "the keys of a map are texts, integers or booleans, not float64", `field "M2"`, `field "L"`, "a func is not supported", `field "N"`,
		`field "X" of structmap.inner: type chan int is no column`, `field "P"`, `field "R"`, "structmap.loop contains itself", `field "PP"`, "a pointer to a pointer", `field "A"`, "a interface", `field "C"`, `field "F"`, `field "Arr"`, `field "Cx"`,
		`fields "Ok" and "Ok2"`, `are both column "Ok"`, `field "Tag"`, `field "None"`, `field "priv"`, "not exported",
	} {
		require.ErrorContains(t, err, want)
	}
}

func TestSchemaOfRefusesWhatIsNoRow(t *testing.T) {
	_, err := SchemaOf[int]()
	require.ErrorContains(t, err, "type int is not a struct")
	_, err = SchemaOf[time.Time]()
	require.ErrorContains(t, err, "is not a struct")
	_, err = SchemaOf[*every]()
	require.ErrorContains(t, err, "is not a struct")
	_, err = SchemaOf[struct{ a int }]()
	require.ErrorContains(t, err, "no exported field")
}

func TestNameAtFindsEmbeddedFields(t *testing.T) {
	typ := reflect.TypeFor[every]()
	name, ok := NameAt(typ, unsafe.Offsetof(every{}.base)+unsafe.Offsetof(base{}.Note))
	require.True(t, ok)
	require.Equal(t, "Note", name)
	name, ok = NameAt(typ, unsafe.Offsetof(every{}.I8))
	require.True(t, ok)
	require.Equal(t, "i_8", name)
	_, ok = NameAt(typ, unsafe.Offsetof(every{}.Out))
	require.False(t, ok)
	_, ok = NameAt(reflect.TypeFor[int](), 0)
	require.False(t, ok)
}

func genEvery(t *rapid.T) every {
	str := rapid.String()
	e := every{
		base: base{ID: rapid.Int64().Draw(t, "id"), Note: rapid.Ptr(str, true).Draw(t, "note")},
		I:    rapid.Int().Draw(t, "i"), I8: rapid.Int8().Draw(t, "i8"), I16: rapid.Int16().Draw(t, "i16"), I32: rapid.Int32().Draw(t, "i32"),
		U: rapid.Uint().Draw(t, "u"), U8: rapid.Uint8().Draw(t, "u8"), U16: rapid.Uint16().Draw(t, "u16"), U32: rapid.Uint32().Draw(t, "u32"),
		U64: rapid.Uint64().Draw(t, "u64"), F32: rapid.Float32().Draw(t, "f32"), F64: rapid.Float64().Draw(t, "f64"), B: rapid.Bool().Draw(t, "b"),
		S: status(str.Draw(t, "s")), Raw: []byte(str.Draw(t, "raw")),
		At:   time.UnixMicro(rapid.Int64Range(-1<<55, 1<<55).Draw(t, "at")).UTC(),
		Took: time.Duration(rapid.Int64().Draw(t, "took")),
		PI:   rapid.Ptr(rapid.Int32(), true).Draw(t, "pi"), PB: rapid.Ptr(rapid.Bool(), true).Draw(t, "pb"),
		PF: rapid.Ptr(rapid.Float64(), true).Draw(t, "pf"),
	}
	if rapid.Bool().Draw(t, "pt?") {
		at := time.UnixMicro(rapid.Int64Range(-1<<55, 1<<55).Draw(t, "pt")).UTC()
		e.PT = &at
	}
	if rapid.Bool().Draw(t, "praw?") {
		raw := []byte(str.Draw(t, "praw"))
		e.PRaw = &raw
	}
	return e
}

func TestRoundTripOfAnyRowsAndSelections(t *testing.T) {
	w, err := NewWriter[every]()
	require.NoError(t, err)
	r, err := NewReader[every](w.Schema())
	require.NoError(t, err)
	rapid.Check(t, func(t *rapid.T) {
		pool := column.NewDebugPool()
		rows := rapid.SliceOfN(rapid.Custom(genEvery), 1, 20).Draw(t, "rows")
		bld := column.NewBuilder(pool, w.Schema())
		cut := rapid.IntRange(0, len(rows)).Draw(t, "cut")
		for i := range rows {
			require.NoError(t, w.Check(&rows[i]))
		}
		w.Append(bld, rows[:cut])
		w.Append(bld, rows[cut:])
		b := bld.Finish()
		var want []every
		if rapid.Bool().Draw(t, "select") {
			b.Sel = []uint32{}
			for i := range rows {
				if rapid.Bool().Draw(t, "keep") {
					b.Sel = append(b.Sel, uint32(i))
					want = append(want, rows[i])
				}
			}
		} else {
			want = rows
		}
		r.Begin(b)
		got := make([]every, len(want))
		for from := 0; from < len(got); {
			n := rapid.IntRange(1, len(got)-from).Draw(t, "chunk")
			require.Nil(t, r.Read(from, got[from:from+n]))
			from += n
		}
		r.End()
		b.Release() // poisons: what was read must not point into the batch
		for i := range got {
			requireSame(t, want[i], got[i])
		}
		require.NoError(t, pool.Check())
	})
}

// requireSame compares rows where NaN equals NaN.
func requireSame(t require.TestingT, want, got every) {
	for _, e := range []*every{&want, &got} {
		if math.IsNaN(e.F64) {
			e.F64 = 0
		}
		if e.PF != nil && math.IsNaN(*e.PF) {
			e.PF = nil
		}
		if e.F32 != e.F32 {
			e.F32 = 0
		}
		if len(e.Raw) == 0 {
			e.Raw = nil
		}
		if e.PRaw != nil && len(*e.PRaw) == 0 {
			e.PRaw = &[]byte{}
		}
	}
	require.Equal(t, want, got)
}

func record(t *testing.T, s *arrow.Schema, json string) *column.Batch {
	rec, _, err := array.RecordFromJSON(memory.DefaultAllocator, s, strings.NewReader(json))
	require.NoError(t, err)
	b, err := column.FromRecord(column.NewPool(), rec)
	require.NoError(t, err)
	return b
}

func TestReaderWidensWhereExact(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{
		{Name: "A", Type: arrow.PrimitiveTypes.Int32}, {Name: "B", Type: arrow.PrimitiveTypes.Uint32}, {Name: "C", Type: arrow.PrimitiveTypes.Uint8},
		{Name: "D", Type: arrow.PrimitiveTypes.Int64}, {Name: "E", Type: arrow.PrimitiveTypes.Float32}, {Name: "F", Type: arrow.FixedWidthTypes.Timestamp_ns},
		{Name: "G", Type: arrow.FixedWidthTypes.Date32}, {Name: "H", Type: arrow.FixedWidthTypes.Duration_s}, {Name: "I", Type: arrow.BinaryTypes.LargeString},
		{Name: "J", Type: arrow.BinaryTypes.String}, {Name: "K", Type: arrow.FixedWidthTypes.Time32ms},
		{Name: "L", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}}, {Name: "M", Type: arrow.PrimitiveTypes.Int8},
	}, nil)
	type row struct {
		A int64
		B int64
		C uint16
		D float64
		E float64
		F time.Time
		G time.Time
		H time.Duration
		I string
		J []byte
		K time.Duration
		L string
		M float32
	}
	r, err := NewReader[row](s)
	require.NoError(t, err)
	b := record(t, s, `[{"A":-5,"B":4294967295,"C":255,"D":9007199254740992,"E":0.5,"F":"1969-12-31T23:59:59.999999999Z","G":"1969-12-31","H":"-3s","I":"x","J":"yz","K":"00:00:01.5","L":"d","M":-128}]`)
	defer b.Release()
	r.Begin(b)
	got := make([]row, 1)
	require.Nil(t, r.Read(0, got))
	require.Equal(t, row{-5, 4294967295, 255, 9007199254740992, 0.5, time.Unix(0, -1).UTC(), time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC), -3 * time.Second,
		"x", []byte("yz"), 1500 * time.Millisecond, "d", -128}, got[0])
}

func TestB4ReaderBindTellsAllFaults(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{
		{Name: "amount", Type: arrow.BinaryTypes.String}, {Name: "n", Type: arrow.PrimitiveTypes.Int64}, {Name: "u", Type: arrow.PrimitiveTypes.Uint64},
		{Name: "ts", Type: arrow.FixedWidthTypes.Timestamp_ms}, {Name: "d", Type: &arrow.Decimal128Type{Precision: 10, Scale: 2}},
		{Name: "raw", Type: arrow.BinaryTypes.Binary}, {Name: "f", Type: arrow.PrimitiveTypes.Float64},
	}, nil)
	type row struct {
		Amount float64 `arkflow:"amount"`
		Amuont string  `arkflow:"amuont"`
		N      int32   `arkflow:"n"`
		U      int64   `arkflow:"u"`
		TS     int64   `arkflow:"ts"`
		D      float64 `arkflow:"d"`
		Raw    string  `arkflow:"raw"`
		F      float32 `arkflow:"f"`
		FI     int64   `arkflow:"f2"`
	}
	_, err := NewReader[row](s)
	require.Error(t, err)
	for _, want := range []string{
		`field "Amount" of structmap.row: column "amount" has type utf8, the field has type float64: the one is never the other; make the field a string`,
		`field "Amuont" of structmap.row: no column "amuont"; did you mean "amount"?`,
		`column "n" has type int64, the field has type int32: not every value fits; make the field an int64`,
		`column "u" has type uint64, the field has type int64: not every value fits; make the field a uint64`,
		`column "ts" has type timestamp[ms, tz=UTC], the field has type int64: the one is never the other; make the field a time.Time`,
		`column "d" has type decimal(10, 2)`,
		`column "raw" has type binary, the field has type string: bytes need not be text; make the field a []byte`,
		`column "f" has type float64, the field has type float32`,
		`no column "f2"`,
	} {
		require.ErrorContains(t, err, want)
	}
}

func TestReaderReportsRowsThatFieldsCannotHold(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{
		{Name: "N", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "S", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "D", Type: arrow.FixedWidthTypes.Duration_s, Nullable: true}, {Name: "F", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "T", Type: arrow.FixedWidthTypes.Timestamp_s, Nullable: true}, {Name: "U", Type: arrow.PrimitiveTypes.Uint64},
	}, nil)
	type row struct {
		N int64
		S string
		D *time.Duration
		F *float64
		T *time.Time
		U float64
	}
	bld := column.NewBuilder(column.NewPool(), s)
	add := func(n, sNull bool, d, f, ts int64, u uint64) {
		if !n {
			bld.Int64(0, 1)
		}
		if !sNull {
			bld.String(1, "s")
		}
		bld.Int64(2, d)
		bld.Int64(3, f)
		bld.Int64(4, ts)
		bld.Col(5).Uint64(u)
		bld.EndRow()
	}
	add(false, false, 1, 1, 1, 1)
	add(true, true, 1, 1, 1, 1)
	add(false, false, math.MaxInt64, 1, 1, 1)
	add(false, false, 1, 1<<53+1, 1, 1)
	add(false, false, 1, 1, math.MaxInt64, 1)
	add(false, false, 1, 1, 1, math.MaxUint64)
	add(false, true, 1, math.MaxInt64, 1, 1<<63)
	b := bld.Finish()
	defer b.Release()
	r, err := NewReader[row](s)
	require.NoError(t, err)
	r.Begin(b)
	errs := r.Read(0, make([]row, 7))
	require.Len(t, errs, 7)
	require.NoError(t, errs[0])
	require.EqualError(t, errs[1], `column "N": field "N": is null; make the field a pointer to take nulls`)
	require.EqualError(t, errs[2], `column "D": field "D": is longer than a time.Duration (292 years) (value 9223372036854775807)`)
	require.EqualError(t, errs[3], `column "F": field "F": has no exact float64 (value 9007199254740993)`)
	require.EqualError(t, errs[4], `column "T": field "T": is no instant of time.Time (value 9223372036854775807)`)
	require.EqualError(t, errs[5], `column "U": field "U": has no exact float64 (value 18446744073709551615)`)
	require.ErrorContains(t, errs[6], `column "S": field "S": is null`)
	b.Sel = []uint32{0}
	r.Begin(b)
	require.Nil(t, r.Read(0, make([]row, 1)), "errors of an earlier Read are gone")
}

func TestWriterChecksInstants(t *testing.T) {
	type row struct {
		T time.Time
		P *time.Time
	}
	w, err := NewWriter[row]()
	require.NoError(t, err)
	far := time.Unix(1<<50, 0)
	require.NoError(t, w.Check(&row{}), "the zero time fits")
	require.ErrorContains(t, w.Check(&row{T: far}), `column "T": field "T": does not fit a Timestamp(µs)`)
	require.ErrorContains(t, w.Check(&row{P: &far}), `column "P"`)
}

func TestReaderAndWriterAllocatePerBatchOnly(t *testing.T) {
	type row struct {
		ID   int64
		Name string
		F    *float64
		At   time.Time
	}
	w, err := NewWriter[row]()
	require.NoError(t, err)
	r, err := NewReader[row](w.Schema())
	require.NoError(t, err)
	pool := column.NewPool()
	rows := make([]row, 4096)
	f := 1.5
	for i := range rows {
		rows[i] = row{int64(i), "some name", &f, time.Now()}
	}
	bld := column.NewBuilder(pool, w.Schema())
	back := make([]row, len(rows))
	n := testing.AllocsPerRun(10, func() {
		w.Append(bld, rows)
		b := bld.Finish()
		r.Begin(b)
		if r.Read(0, back) != nil {
			t.Error("row in error")
		}
		b.Release()
	})
	require.Less(t, n, 40.0)
}

func TestOneRowIsABatchOrAnError(t *testing.T) {
	type row struct {
		Name string    `arkflow:"name"`
		At   time.Time `arkflow:"at"`
	}
	pool := column.NewDebugPool()
	b, err := OneRow(pool, row{"ada", time.UnixMilli(5)})
	require.NoError(t, err)
	require.Equal(t, 1, b.Len())
	require.Equal(t, "ada", b.Column("name").String(0))
	b.Release()
	_, err = OneRow(pool, row{"ada", time.Date(1_000_000, 1, 1, 0, 0, 0, 0, time.UTC)})
	require.Error(t, err, "µs of that year do not fit")
	_, err = OneRow(pool, struct{ F func() }{})
	require.Error(t, err)
	require.NoError(t, pool.Check())
}

package codec

import (
	"encoding/json"
	"fmt"
	"github.com/arkflow-go/arkflow/codec/internal/plain"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// allTypes names every type that a column may have.
var allTypes = []string{
	"bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64",
	"string", "large_string", "string_view", "binary", "large_binary", "binary_view", "date32", "date64",
	"time32[s]", "time32[ms]", "time64[us]", "time64[ns]",
	"timestamp[s]", "timestamp[ms]", "timestamp[us]", "timestamp[ns]", "timestamp[s,UTC]", "timestamp[ms,UTC]", "timestamp[us,Europe/Berlin]", "timestamp[ns,UTC]",
	"duration[s]", "duration[ms]", "duration[us]", "duration[ns]", "decimal(10,2)", "decimal(38,0)", "decimal(38,38)", "decimal(7,-3)",
	"dictionary[int32,string]", "dictionary[int8,int64]",
}

func allTypesSchema(t testing.TB) *arrow.Schema {
	var fields []arrow.Field
	for _, n := range allTypes {
		fields = append(fields, arrow.Field{Name: n, Type: mustType(t, n), Nullable: true})
	}
	return arrow.NewSchema(fields, nil)
}

// drawValue appends any value of the column's type.
func drawValue(t *rapid.T, a *column.Appender) {
	if rapid.IntRange(0, 5).Draw(t, "null") == 0 {
		a.Null()
		return
	}
	switch a.Kind() {
	case column.Bool:
		a.Bool(rapid.Bool().Draw(t, "bool"))
	case column.Float32:
		a.Float64(float64(rapid.OneOf(rapid.Float32(), rapid.Just(float32(math.NaN())), rapid.Just(float32(math.Inf(-1)))).Draw(t, "float32")))
	case column.Float64:
		few := rapid.Map(rapid.Int64Range(-1e12, 1e12), func(v int64) float64 { return float64(v) / 1000 })
		a.Float64(rapid.OneOf(rapid.Float64(), few, rapid.Just(math.NaN()), rapid.Just(math.Inf(1)), rapid.Just(math.Copysign(0, -1))).Draw(t, "float64"))
	case column.Bytes:
		if strings.HasPrefix(TypeName(a.Type()), "string") || strings.Contains(TypeName(a.Type()), "large_string") {
			a.String(rapid.String().Draw(t, "string"))
			return
		}
		if textColumnOf(a.Type()).op == opText {
			a.String(rapid.String().Draw(t, "string"))
			return
		}
		a.Bytes(rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "bytes"))
	case column.Decimal:
		digits := textColumnOf(a.Type()).digits
		text := rapid.StringMatching(fmt.Sprintf("-?[0-9]{1,%d}", digits)).Draw(t, "decimal")
		v, _ := new(big.Int).SetString(text, 10)
		hi, lo := new(big.Int).Rsh(v, 64), new(big.Int).And(v, new(big.Int).SetUint64(math.MaxUint64))
		a.Decimal(lo.Uint64(), hi.Int64())
	case column.Uint8:
		a.Uint64(uint64(rapid.Uint8().Draw(t, "uint8")))
	case column.Uint16:
		a.Uint64(uint64(rapid.Uint16().Draw(t, "uint16")))
	case column.Uint32:
		a.Uint64(uint64(rapid.Uint32().Draw(t, "uint32")))
	case column.Uint64:
		a.Uint64(rapid.Uint64().Draw(t, "uint64"))
	case column.Int8:
		a.Int64(int64(rapid.Int8().Draw(t, "int8")))
	case column.Int16:
		a.Int64(int64(rapid.Int16().Draw(t, "int16")))
	case column.Int32:
		a.Int64(int64(rapid.Int32().Draw(t, "int32")))
	default:
		near := rapid.Int64Range(-90_000_000_000_000, 90_000_000_000_000)
		days := rapid.Map(rapid.Int64Range(-1_000_000, 5_000_000), func(d int64) int64 { return d * 86_400_000 })
		a.Int64(rapid.OneOf(rapid.Int64(), near, days, rapid.SampledFrom([]int64{math.MinInt64, math.MaxInt64, 0, -1})).Draw(t, "int64"))
	}
}

func TestEncodeDecode_roundTripOfAllTypes(t *testing.T) {
	schema := allTypesSchema(t)
	rapid.Check(t, func(t *rapid.T) {
		pool := column.NewDebugPool()
		build := column.NewBuilder(pool, schema)
		n := rapid.IntRange(0, 6).Draw(t, "rows")
		for range n {
			for i := range allTypes {
				drawValue(t, build.Col(i))
			}
			build.EndRow()
		}
		b := build.Finish()
		sel := rapid.Bool().Draw(t, "selection")
		if sel {
			for r := range n {
				if rapid.Bool().Draw(t, "selected") {
					b.Sel = append(b.Sel, uint32(r))
				}
			}
			if b.Sel == nil {
				b.Sel = []uint32{}
			}
		}
		e, err := JSON(nil).NewEncoder(schema)
		require.NoError(t, err)
		text, err := e.Encode(nil, b)
		require.NoError(t, err)
		for _, line := range strings.Split(strings.TrimSuffix(string(text), "\n"), "\n") {
			require.True(t, len(text) == 0 || json.Valid([]byte(line)), "%s", line)
		}
		d, err := JSON(schema).FailUnknown().NewDecoder(pool)
		require.NoError(t, err)
		_, err = d.DecodeLines(text, true, Limits{Rows: 100})
		require.NoError(t, err)
		back := d.Finish()
		requireEqual(t, b, back)
		b.Release()
		back.Release()
		require.NoError(t, pool.Check())
	})
}

// requireEqual compares the rows that are there, floats by their bits but for NaN.
func requireEqual(t require.TestingT, want, have *column.Batch) {
	require.Equal(t, want.Len(), have.Len())
	for i := range want.Cols {
		w, h := &want.Cols[i], &have.Cols[i]
		nulls := 0
		for r := range want.Len() {
			row := want.Row(r)
			if w.IsNull(row) {
				nulls++
			}
			require.Equal(t, text(w, row), text(h, r), "column %s row %d", want.Schema.Field(i).Name, r)
			if w.Kind == column.Float64 && !w.IsNull(row) {
				a, b := column.Values[float64](w)[row], column.Values[float64](h)[r]
				require.True(t, math.Float64bits(a) == math.Float64bits(b) || a != a && b != b, "%v %v", a, b)
			}
		}
		require.Equal(t, nulls, h.Nulls)
	}
}

func TestTimes_roundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sec := rapid.Int64Range(-62_167_219_200, 253_402_300_799).Draw(t, "sec")
		nanos := rapid.Int64Range(0, 999_999_999).Draw(t, "nanos")
		at := time.Unix(sec, nanos).UTC()
		zone := time.FixedZone("", 60*rapid.IntRange(-23*60, 23*60).Draw(t, "offset"))
		for _, s := range []string{at.Format(time.RFC3339Nano), at.Format(time.RFC3339Nano), at.In(zone).Format(time.RFC3339Nano)} {
			if y := at.In(zone).Year(); y < 0 || y > 9999 {
				continue
			}
			gotSec, gotNanos, zoned, ok := plain.ParseInstant([]byte(s))
			require.True(t, ok && zoned, s)
			require.Equal(t, []int64{sec, nanos}, []int64{gotSec, gotNanos}, s)
		}
		if v, ok := plain.InUnit(sec, nanos, plain.NanosPerSec); ok {
			require.Equal(t, strconv.Quote(at.Format(time.RFC3339Nano)), string(plain.AppendInstant(nil, v, plain.NanosPerSec)))
		}
		us, ok := plain.InUnit(sec, nanos, 1_000_000)
		require.True(t, ok)
		require.Equal(t, at.UnixMicro(), us)
		require.Equal(t, strconv.Quote(at.Truncate(time.Microsecond).Format(time.RFC3339Nano)), string(plain.AppendInstant(nil, us, 1_000_000)))
	})
}

func TestInUnit_overflow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sec := rapid.OneOf(rapid.Int64(), rapid.Int64Range(-9_223_372_040, -9_223_372_030), rapid.Int64Range(9_223_372_030, 9_223_372_040)).Draw(t, "sec")
		nanos := rapid.Int64Range(0, 999_999_999).Draw(t, "nanos")
		per := rapid.SampledFrom([]int64{1, 1e3, 1e6, 1e9}).Draw(t, "per second")
		exact := new(big.Int).Mul(big.NewInt(sec), big.NewInt(per))
		exact.Add(exact, big.NewInt(nanos/(1e9/per)))
		v, ok := plain.InUnit(sec, nanos, per)
		require.Equal(t, exact.IsInt64(), ok)
		if ok {
			require.Equal(t, exact.Int64(), v)
		}
	})
}

func TestNumbers_againstStrconv(t *testing.T) {
	number := rapid.StringMatching(`-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?`)
	rapid.Check(t, func(t *rapid.T) {
		s := number.Draw(t, "number")
		tail := rapid.SampledFrom([]string{"", ",", "}", " ", "x"}).Draw(t, "tail")
		b := []byte(s + tail)
		require.Equal(t, len(s), plain.NumberEnd(b, 0))
		want, err := strconv.ParseFloat(s, 64)
		v, end, ok := plain.ScanFloat(b, 0)
		require.Equal(t, err == nil, ok)
		require.Equal(t, len(s), end)
		if ok {
			require.Equal(t, math.Float64bits(want), math.Float64bits(v), s)
		}
		want, err = strconv.ParseFloat(s, 32)
		v32, _, ok := plain.ScanFloat32(b, 0)
		require.Equal(t, err == nil, ok)
		if ok {
			require.Equal(t, math.Float32bits(float32(want)), math.Float32bits(v32), s)
		}
		r, _ := new(big.Rat).SetString(s)
		neg, mag, w := plain.WholeNumber([]byte(s))
		switch {
		case !r.IsInt():
			require.Equal(t, plain.Fraction, w, s)
		case r.Num().BitLen() > 64:
			require.Equal(t, plain.TooLarge, w, s)
		default:
			require.Equal(t, plain.Whole, w, s)
			require.Equal(t, new(big.Int).Abs(r.Num()).Uint64(), mag, s)
			require.True(t, mag == 0 || neg == (r.Sign() < 0), s)
		}
	})
	for i := int64(1); i > 0 && i < math.MaxInt64/10; i *= 10 {
		for _, v := range []int64{i - 1, i, i + 1, -i} {
			s := strconv.FormatInt(v, 10)
			got, end, ok := plain.PlainInt([]byte(s+","), 0)
			require.Equal(t, []any{v, len(s), true}, []any{got, end, ok})
		}
	}
}

func TestFloats_againstStrconv(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		few := rapid.Map(rapid.Int64(), func(v int64) float64 { return float64(v>>10) / 10000 })
		v := rapid.OneOf(rapid.Float64Range(-1e12, 1e12), few).Draw(t, "float")
		want, err := json.Marshal(v)
		require.NoError(t, err)
		require.Equal(t, string(want), string(plain.AppendFloat64(nil, v)))
	})
}

func TestStrings_scannedAsByteByByte(t *testing.T) {
	piece := rapid.OneOf(rapid.StringMatching(`[a-z ]{0,12}`), rapid.SampledFrom([]string{"é", "日", "\xff", `\n`, `\u00e9`, `\ud83d\ude00`, `\\`, `\"`, "\x01", `\q`, `\u12`, `"`}))
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Join(rapid.SliceOf(piece).Draw(t, "pieces"), "") + `"`
		end, holds := plain.StringEnd([]byte(s), 0)
		if end < 0 {
			require.False(t, json.Valid([]byte(`"`+s)), s)
			return
		}
		inside := s[:end]
		require.Equal(t, strings.Contains(inside, `\`), holds&plain.HasEscape != 0)
		require.Equal(t, strings.ContainsFunc(inside, func(r rune) bool { return r >= utf8.RuneSelf }), holds&plain.HasHigh != 0)
		var want string
		require.NoError(t, json.Unmarshal([]byte(`"`+inside+`"`), &want))
		require.Equal(t, want, string(plain.Unescape(nil, []byte(inside))))
	})
}

func TestEncode_forms(t *testing.T) {
	for _, c := range []struct{ typ, in, want string }{
		{"timestamp[ms,UTC]", `"2024-05-01T12:00:00.250+02:00"`, `"2024-05-01T10:00:00.25Z"`},
		{"timestamp[s]", "253402300800", "253402300800"}, // the year 10000
		{"timestamp[s]", "253402300799", `"9999-12-31T23:59:59Z"`},
		{"timestamp[s]", "-62167219200", `"0000-01-01T00:00:00Z"`},
		{"timestamp[s]", "-62167219201", "-62167219201"},
		{"date32", "-719529", "-719529"},
		{"date64", "86400001", "86400001"},
		{"date64", "-86400000", `"1969-12-31"`},
		{"time32[s]", "86400", "86400"},
		{"time64[us]", "-1", "-1"},
		{"time64[us]", "3600000010", `"01:00:00.00001"`},
		{"duration[ms]", `"1.5s"`, "1500"},
		{"decimal(10,2)", "-0.05", "-0.05"},
		{"decimal(10,2)", "0", "0.00"},
		{"decimal(7,-3)", "12000", "12000"},
		{"decimal(7,-3)", "0", "0"},
		{"decimal(38,10)", "1234567890123456789012345678.0000000001", "1234567890123456789012345678.0000000001"},
		{"float64", `"NaN"`, `"NaN"`},
		{"float64", "-0.0", "-0"},
		{"float64", "1e21", "1e+21"},
		{"float64", "1e-9", "1e-9"},
		{"float32", "0.1", "0.1"},
		{"binary", `"aGk="`, `"aGk="`},
		{"string", `"\u2028<&>\u0007"`, `"\u2028<&>\u0007"`},
		{"bool", "null", "null"},
	} {
		s := oneColumn(t, c.typ, true)
		d, err := JSON(s).NewDecoder(nil)
		require.NoError(t, err)
		require.NoError(t, d.Append([]byte(`{"v":`+c.in+`}`)), c.typ)
		b := d.Finish()
		e, err := JSON(s).NewEncoder(s)
		require.NoError(t, err)
		out, err := e.AppendRow([]byte("> "), b, 0)
		require.NoError(t, err)
		assert.Equal(t, `> {"v":`+c.want+`}`, string(out), "%s %s", c.typ, c.in)
	}
}

func TestEncode_refusesOtherRows(t *testing.T) {
	s, other := oneColumn(t, "int64", true), oneColumn(t, "string", true)
	_, err := JSON(s).NewEncoder(other)
	assert.ErrorContains(t, err, `encode JSON: the rows have columns ["v string"], the format was given ["v int64"]`)
	e, err := JSON(nil).NewEncoder(s)
	require.NoError(t, err)
	b := column.NewBuilder(nil, other).Finish()
	_, err = e.Encode(nil, b)
	assert.ErrorContains(t, err, "encode: the batch has schema")
	_, err = e.AppendRow(nil, b, 0)
	assert.ErrorContains(t, err, "encode: the batch has schema")
	_, err = JSON(nil).NewEncoder(arrow.NewSchema([]arrow.Field{{Name: "l", Type: arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int64)}}, nil))
	assert.ErrorContains(t, err, "is not supported")
}

func TestEncode_rowsWithoutColumns(t *testing.T) {
	s := arrow.NewSchema(nil, nil)
	e, err := JSON(nil).NewEncoder(s)
	require.NoError(t, err)
	out, err := e.Encode(nil, column.NewBatch(nil, s, 2))
	require.NoError(t, err)
	assert.Equal(t, "{}\n{}\n", string(out))
}

func TestCodec_allocatesNothingPerRow(t *testing.T) {
	schema := allTypesSchema(t)
	build := column.NewBuilder(nil, schema)
	for r := range 500 {
		for i := range allTypes {
			a := build.Col(i)
			switch a.Kind() {
			case column.Bool:
				a.Bool(r%2 == 0)
			case column.Float32, column.Float64:
				a.Float64(float64(r) * 1.37e-3)
			case column.Bytes:
				a.String("é\n text")
			case column.Decimal:
				a.Decimal(uint64(r), 0)
			default:
				a.Int64(int64(r % 100))
			}
		}
		build.EndRow()
	}
	b := build.Finish()
	e, err := JSON(nil).NewEncoder(schema)
	require.NoError(t, err)
	text, err := e.Encode(nil, b)
	require.NoError(t, err)
	assert.Zero(t, testing.AllocsPerRun(10, func() { text, _ = e.Encode(text[:0], b) }))

	d, err := JSON(schema).NewDecoder(column.NewPool())
	require.NoError(t, err)
	decode := func() {
		if _, err := d.DecodeLines(text, true, Limits{Rows: 500}); err != nil {
			t.Error(err)
		}
		d.Finish().Release()
	}
	decode()
	assert.Less(t, testing.AllocsPerRun(10, decode), 20.0)
}

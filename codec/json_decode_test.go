package codec

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/arkflow-go/arkflow/column"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// types of which tests make one column each.
func mustType(t testing.TB, name string) arrow.DataType {
	t.Helper()
	typ, err := ParseType(name)
	require.NoError(t, err)
	return typ
}

func oneColumn(t testing.TB, typeName string, nullable bool) *arrow.Schema {
	return arrow.NewSchema([]arrow.Field{{Name: "v", Type: mustType(t, typeName), Nullable: nullable}}, nil)
}

// text gives a value of a column as a test writes it.
func text(c *column.Column, row int) string {
	if c.IsNull(row) {
		return "null"
	}
	switch c.Kind {
	case column.Bool:
		return fmt.Sprint(c.Bool(row))
	case column.Float64:
		return fmt.Sprint(column.Values[float64](c)[row])
	case column.Float32:
		return fmt.Sprint(column.Values[float32](c)[row])
	case column.Uint8, column.Uint16, column.Uint32, column.Uint64:
		return fmt.Sprint(uintAt(c, row))
	case column.Bytes:
		return fmt.Sprintf("%q", c.String(row))
	case column.Decimal:
		w := column.View[uint64](c.Data)
		return decimal128.New(int64(w[2*row+1]), w[2*row]).ToString(0)
	}
	return fmt.Sprint(intAt(c, row))
}

// decodeOne decodes a record into a single nullable column and gives the value, or the error.
func decodeOne(t testing.TB, typeName, value string) string {
	t.Helper()
	pool := column.NewDebugPool()
	d, err := JSON(oneColumn(t, typeName, true)).NewDecoder(pool)
	require.NoError(t, err)
	defer func() {
		d.Discard()
		require.NoError(t, pool.Check())
	}()
	if err := d.Append([]byte(`{"v":` + value + `}`)); err != nil {
		require.Equal(t, 0, d.Len())
		return "error: " + err.Error()
	}
	b := d.Finish()
	defer b.Release()
	require.Equal(t, 1, b.Len())
	return text(&b.Cols[0], 0)
}

func TestDecode_valuesByType(t *testing.T) {
	for _, c := range []struct{ typ, in, want string }{
		{"bool", "true", "true"},
		{"bool", "false", "false"},
		{"bool", "null", "null"},
		{"bool", `"true"`, `error: line 1: v: want bool, not a string: "true"`},
		{"bool", "1", "error: line 1: v: want bool, not a number: 1"},
		{"int64", "-9223372036854775808", "-9223372036854775808"},
		{"int64", "9223372036854775807", "9223372036854775807"},
		{"int64", "9223372036854775808", "error: line 1: v: out of the range of int64: 9223372036854775808"},
		{"int64", "1517365101235000000", "1517365101235000000"},
		{"int64", "1.0", "1"},
		{"int64", "1e3", "1000"},
		{"int64", "-1.50e1", "-15"},
		{"int64", "-0", "0"},
		{"int64", "0e99999999999999999999", "0"},
		{"int64", "1e-99999999999999999999", "error: line 1: v: not an integer, as int64 must be: 1e-99999999999999999999"},
		{"int64", "1e99999999999999999999", "error: line 1: v: out of the range of int64: 1e99999999999999999999"},
		{"int64", "1.5", "error: line 1: v: not an integer, as int64 must be: 1.5"},
		{"int64", `"12"`, `error: line 1: v: want int64, not a string: "12"`},
		{"int64", "true", "error: line 1: v: want int64, not a boolean: true"},
		{"int64", `{"a":[1]}`, `error: line 1: v: want int64, not an object: {"a":[1]}`},
		{"int64", "[1, 2]", "error: line 1: v: want int64, not an array: [1, 2]"},
		{"int64", "01", `error: line 1: not a number: {"v":01}`},
		{"int64", "-", `error: line 1: not a number: {"v":-}`},
		{"int8", "127", "127"},
		{"int8", "-128", "-128"},
		{"int8", "128", "error: line 1: v: out of the range of int8: 128"},
		{"int16", "-32769", "error: line 1: v: out of the range of int16: -32769"},
		{"int32", "2147483647.0", "2147483647"},
		{"int32", "2147483648", "error: line 1: v: out of the range of int32: 2147483648"},
		{"uint8", "255", "255"},
		{"uint8", "256", "error: line 1: v: out of the range of uint8: 256"},
		{"uint16", "-1", "error: line 1: v: out of the range of uint16: -1"},
		{"uint32", "4294967295", "4294967295"},
		{"uint64", "18446744073709551615", "18446744073709551615"},
		{"uint64", "18446744073709551616", "error: line 1: v: out of the range of uint64: 18446744073709551616"},
		{"float64", "-136.5559", "-136.5559"},
		{"float64", "1e400", "error: line 1: v: out of the range of float64: 1e400"},
		{"float64", "1e-400", "0"},
		{"float64", "5e-324", "5e-324"},
		{"float64", "12345678901234567890123", "1.2345678901234568e+22"},
		{"float64", `"NaN"`, "NaN"},
		{"float64", `"-Infinity"`, "-Inf"},
		{"float64", `"Infinite"`, `error: line 1: v: want float64, not a string: "Infinite"`},
		{"float64", "1.", `error: line 1: not a number: {"v":1.}`},
		{"float64", "NaN", `error: line 1: not a value: {"v":NaN}`},
		{"float32", "16777217", "1.6777216e+07"},
		{"float32", "1e39", "error: line 1: v: out of the range of float32: 1e39"},
		{"float32", `"Infinity"`, "+Inf"},
		{"string", `"a\"\\\/\b\f\n\r\t\u00e9\ud83d\ude00"`, `"a\"\\/\b\f\n\r\té😀"`},
		{"string", `"\ud83d"`, `"�"`},
		{"string", `"\ude00\ud83dx\ud83d\u0041"`, `"��x�A"`},
		{"string", "\"a\xffb\xe2\x82\"", `"a�b��"`},
		{"string", `"日本語 – naïve"`, `"日本語 – naïve"`},
		{"string", `5`, "error: line 1: v: want string, not a number: 5"},
		{"string", `{}`, "error: line 1: v: want string, not an object: {}"},
		{"string", `"\x"`, `error: line 1: not an escape sequence: {"v":"\x"}`},
		{"string", `"\u12g4"`, `error: line 1: not an escape sequence: {"v":"\u12g4"}`},
		{"string", "\"a\tb\"", "error: line 1: control character in a string: {\"v\":\"a\tb\"}"},
		{"large_string", `"x"`, `"x"`},
		{"string_view", `"x"`, `"x"`},
		{"dictionary[int32,string]", `"x"`, `"x"`},
		{"dictionary[int8,int64]", `7`, `7`},
		{"binary", `"aGk="`, `"hi"`},
		{"binary", `""`, `""`},
		{"binary", `"aGk"`, `error: line 1: v: not base64: "aGk"`},
		{"binary", `7`, `error: line 1: v: want binary, not a number: 7`},
		{"timestamp[ms,UTC]", `"2018-01-31T02:18:21.2359Z"`, "1517365101235"},
		{"timestamp[ms,UTC]", `"1969-12-31T23:59:59.9999Z"`, "-1"},
		{"timestamp[s]", `"2018-01-31T02:18:21"`, "1517365101"},
		{"timestamp[s]", `"2018-01-31 02:18:21"`, "1517365101"},
		{"timestamp[us,UTC]", `"2018-01-31T05:18:21+03:00"`, "1517365101000000"},
		{"timestamp[us,UTC]", `"2018-01-31T05:18:21"`, `error: line 1: v: want timestamp[us,UTC]: an instant without a zone: "2018-01-31T05:18:21"`},
		{"timestamp[ns]", `"2262-04-11T23:47:16.854775807Z"`, "9223372036854775807"},
		{"timestamp[ns]", `"2262-04-11T23:47:16.854775808Z"`, `error: line 1: v: out of the range of timestamp[ns]: "2262-04-11T23:47:16.854775808Z"`},
		{"timestamp[ns]", `"1677-09-21T00:12:43.145224192Z"`, "-9223372036854775808"},
		{"timestamp[ns]", `"1677-09-21T00:12:43.145224191Z"`, `error: line 1: v: out of the range of timestamp[ns]: "1677-09-21T00:12:43.145224191Z"`},
		{"timestamp[ms]", `1517365101235`, "1517365101235"},
		{"timestamp[ms]", `1.5`, "error: line 1: v: not an integer, as timestamp[ms] must be: 1.5"},
		{"timestamp[ms]", `"yesterday"`, `error: line 1: v: want timestamp[ms]: not an instant such as 2006-01-02T15:04:05Z: "yesterday"`},
		{"timestamp[ms]", `"2018-02-29T00:00:00Z"`, `error: line 1: v: want timestamp[ms]: not an instant such as 2006-01-02T15:04:05Z: "2018-02-29T00:00:00Z"`},
		{"timestamp[ms]", `true`, `error: line 1: v: want timestamp[ms], not a boolean: true`},
		{"date32", `"1970-01-02"`, "1"},
		{"date32", `-5`, "-5"},
		{"date32", `"1970-1-2"`, `error: line 1: v: want date32: not a date such as 2006-01-02: "1970-1-2"`},
		{"date64", `"1970-01-02"`, "86400000"},
		{"time32[ms]", `"01:00:00.0019"`, "3600001"},
		{"time32[s]", `86399`, "86399"},
		{"time32[s]", `3e9`, "error: line 1: v: out of the range of time32[s]: 3e9"},
		{"time64[ns]", `"23:59:59.999999999"`, "86399999999999"},
		{"time64[us]", `"24:00:00"`, `error: line 1: v: want time64[us]: not a time of day such as 15:04:05: "24:00:00"`},
		{"duration[ms]", `"1m30s"`, "90000"},
		{"duration[s]", `"-1500ms"`, "-2"},
		{"duration[ms]", `1500`, "1500"},
		{"duration[ms]", `"soon"`, `error: line 1: v: want duration[ms]: not a duration such as 1m30s: "soon"`},
		{"decimal(10,2)", "12.5", "1250"},
		{"decimal(10,2)", `"-12.50"`, "-1250"},
		{"decimal(10,2)", "1.25e1", "1250"},
		{"decimal(10,2)", "0.001", "error: line 1: v: more decimal places than decimal(10,2) has: 0.001"},
		{"decimal(4,2)", "99.99", "9999"},
		{"decimal(4,2)", "100", "error: line 1: v: out of the range of decimal(4,2): 100"},
		{"decimal(38,0)", "-99999999999999999999999999999999999999", "-99999999999999999999999999999999999999"},
		{"decimal(38,0)", "100000000000000000000000000000000000000", "error: line 1: v: out of the range of decimal(38,0): 100000000000000000000000000000000000000"},
		{"decimal(5,-2)", "12300", "123"},
		{"decimal(5,2)", `"x"`, `error: line 1: v: want decimal(5,2), not a string that is no number: "x"`},
		{"decimal(5,2)", `true`, "error: line 1: v: want decimal(5,2), not a boolean: true"},
	} {
		want := strings.Replace(c.want, "100000000000000000000000000000000000000", "100000000000000000000000000000000000000", 1)
		assert.Equal(t, want, decodeOne(t, c.typ, c.in), "%s %s", c.typ, c.in)
	}
}

func TestDecode_malformedRecords(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{``, "not a JSON object"},
		{`null`, "not a JSON object: null"},
		{`[1]`, "not a JSON object: [1]"},
		{`{`, "want a quoted field name: {"},
		{`{"v"`, `want : behind a field name: {"v"`},
		{`{"v":`, `the record ends within a value: {"v":`},
		{`{"v":1`, `the record ends within an object: {"v":1`},
		{`{"v":1,}`, `want a quoted field name: {"v":1,}`},
		{`{"v":1 2}`, `want , or } behind a value: {"v":1 2}`},
		{`{"v":1}}`, `text behind the record: {"v":1}}`},
		{`{v:1}`, `want a quoted field name: {v:1}`},
		{`{"v":tru}`, `not a value: {"v":tru}`},
		{`{"x":"abc`, `the record ends within a string: {"x":"abc`},
		{`{"x`, `the record ends within a string: {"x`},
		{`{"x":[1,2}`, `want , or ] in an array: {"x":[1,2}`},
		{`{"x":{"a" 1}}`, `want : behind a field name: {"x":{"a" 1}}`},
		{`{"x":{"a":1]}`, `want , or } in an object: {"x":{"a":1]}`},
		{`{"x":{1:1}}`, `want a quoted field name: {"x":{1:1}}`},
		{`{"x":[`, `the record ends within a value: {"x":[`},
		{`{"x":[1`, `the record ends within a value: {"x":[1`},
		{`{"x":{`, `the record ends within a value: {"x":{`},
		{`{"x":{"a":1`, `the record ends within a value: {"x":{"a":1`},
		{`{"x":` + strings.Repeat("[", 1001) + strings.Repeat("]", 1001) + `}`, "nested deeper than 1000 levels: " + strings.Repeat("[", 22) + strings.Repeat("]", 35) + "…"},
		{`{"x":1e}`, `not a number: {"x":1e}`},
	} {
		d, err := JSON(oneColumn(t, "int64", true)).NewDecoder(nil)
		require.NoError(t, err)
		assert.EqualError(t, d.Append([]byte(c.in)), "line 1: "+c.want, c.in)
		assert.Equal(t, 0, d.Len())
	}
}

func TestDecode_fieldsInAnyOrderWithUnknownOnesBetween(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{
		{Name: "a", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: `b"ö`, Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
	}, nil)
	pool := column.NewDebugPool()
	d, err := JSON(s).NewDecoder(pool)
	require.NoError(t, err)
	for range 3 { // the second time the order has been learned
		for _, r := range []string{
			`{"a":1,"b\"ö":"x","":true}`,
			` { "":false , "n":{"a":[1,"]}"]}, "b\u0022\u00f6" : "y" , "m":null,"a" : 2 } `,
			`{"n":1,"n":2,"a":3,"m":[]}`,
			`{}`,
			"{\"b\\\"ö\":\"z\"}\r",
		} {
			require.NoError(t, d.Append([]byte(r)), r)
		}
	}
	b := d.Finish()
	for i := range 3 {
		var rows []string
		for r := i * 5; r < i*5+5; r++ {
			rows = append(rows, text(&b.Cols[0], r)+" "+text(&b.Cols[1], r)+" "+text(&b.Cols[2], r))
		}
		assert.Equal(t, []string{`1 "x" true`, `2 "y" false`, `3 null null`, `null null null`, `null "z" null`}, rows)
	}
	assert.EqualValues(t, 3*5, d.Unknown())
	assert.Equal(t, []int{6, 6, 9}, []int{b.Cols[0].Nulls, b.Cols[1].Nulls, b.Cols[2].Nulls})
	b.Release()
	require.NoError(t, pool.Check())
}

func TestDecode_moreUnknownNamesThanAreLearned(t *testing.T) {
	d, err := JSON(oneColumn(t, "int64", false)).NewDecoder(nil)
	require.NoError(t, err)
	for i := range 2000 {
		require.NoError(t, d.Append(fmt.Appendf(nil, `{"u%d":1,"v":%d,"%s":2}`, i, i, strings.Repeat("long", 100))))
	}
	assert.EqualValues(t, 4000, d.Unknown())
	assert.LessOrEqual(t, len(d.(*jsonDecoder).fields), 1+maxLearned)
	b := d.Finish()
	assert.Equal(t, int64(1999), column.Values[int64](&b.Cols[0])[1999])
}

func TestDecode_lastOfDoubledFieldsCounts(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{
		{Name: "i", Type: arrow.PrimitiveTypes.Int32, Nullable: true},
		{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "b", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
	}, nil)
	pool := column.NewDebugPool()
	d, err := JSON(s).NewDecoder(pool)
	require.NoError(t, err)
	require.NoError(t, d.Append([]byte(`{"i":1,"s":"long text","b":true,"i":2,"s":"x","b":false}`)))
	require.NoError(t, d.Append([]byte(`{"i":1,"s":"y","b":true,"i":null,"s":null,"b":null}`)))
	require.NoError(t, d.Append([]byte(`{"i":null,"s":null,"b":null,"i":3,"s":"z","b":true}`)))
	require.Error(t, d.Append([]byte(`{"i":null,"s":"gone","b":null,"i":"x"}`)))
	require.NoError(t, d.Append([]byte(`{"i":4,"s":"","b":true}`)))
	b := d.Finish()
	var rows []string
	for r := range b.Len() {
		rows = append(rows, text(&b.Cols[0], r)+" "+text(&b.Cols[1], r)+" "+text(&b.Cols[2], r))
	}
	assert.Equal(t, []string{`2 "x" false`, `null null null`, `3 "z" true`, `4 "" true`}, rows)
	assert.Equal(t, 1, b.Cols[1].Nulls)
	b.Release()
	require.NoError(t, pool.Check())
}

func TestDecode_requiredColumns(t *testing.T) {
	d, err := JSON(oneColumn(t, "string", false)).NewDecoder(nil)
	require.NoError(t, err)
	assert.EqualError(t, d.Append([]byte(`{"w":1}`)), "line 1: v: missing, and the column is not nullable")
	assert.EqualError(t, d.Append([]byte(`{"v":null}`)), "line 1: v: null, and the column is not nullable: null")
	assert.EqualError(t, d.Append([]byte(`{"v":nil}`)), `line 1: not a value: {"v":nil}`)
	assert.Zero(t, d.Unknown(), "records in error do not count")
	require.NoError(t, d.Append([]byte(`{"v":"x"}`)))
	b := d.Finish()
	assert.Equal(t, 1, b.Len())
	assert.Nil(t, b.Cols[0].Valid)
}

func TestDecode_unknownFieldsFailOnRequest(t *testing.T) {
	d, err := JSON(oneColumn(t, "int64", true)).FailUnknown().NewDecoder(nil)
	require.NoError(t, err)
	err = d.Append([]byte(`{"v":1,"other":{"a":2}}`))
	assert.EqualError(t, err, `line 1: other: no column for this field: {"v":1,"other":{"a":2}}`)
	require.NoError(t, d.Append([]byte(`{"v":1}`)))
	assert.Equal(t, 1, d.Len())
}

func TestDecodeLines_blocks(t *testing.T) {
	pool := column.NewDebugPool()
	d, err := JSON(oneColumn(t, "int64", true)).NewDecoder(pool)
	require.NoError(t, err)
	block := []byte("{\"v\":1}\n\n  \r\n{\"v\":2}\r\n{\"v\":\"x\"}\n{\"v\":3}\n{\"v\":4}")

	p, err := d.DecodeLines(block, false, Limits{Rows: 1})
	require.NoError(t, err)
	assert.Equal(t, Progress{8, 1}, p)

	p, err = d.DecodeLines(block[8:], false, Limits{Rows: 100})
	var bad *RecordError
	require.ErrorAs(t, err, &bad)
	assert.Equal(t, RecordError{Line: 4, Offset: 14, Field: "v", Excerpt: `"x"`, Problem: "want int64, not a string"}, *bad)
	assert.Equal(t, Progress{24, 4}, p)

	p, err = d.DecodeLines(block[32:], false, Limits{Rows: 100})
	require.NoError(t, err)
	assert.Equal(t, Progress{8, 1}, p, "the last line has no end yet")
	p, err = d.DecodeLines(block[40:], true, Limits{Rows: 100})
	require.NoError(t, err)
	assert.Equal(t, Progress{7, 1}, p)
	assert.Equal(t, 4, d.Len())

	_, err = d.DecodeLines([]byte("{\"v\":12345}\n"), false, Limits{Rows: 100, RecordBytes: 10})
	assert.EqualError(t, err, `line 1: longer than 10 bytes: {"v":12345}`)
	b := d.Finish()
	assert.Equal(t, []int64{1, 2, 3, 4}, column.Values[int64](&b.Cols[0]))
	b.Release()
	d.Discard()
	require.NoError(t, pool.Check())
}

func TestDecode_manyBatchesOfChangingSizes(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{
		{Name: "i", Type: arrow.PrimitiveTypes.Int16, Nullable: true},
		{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "b", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
		{Name: "d", Type: &arrow.Decimal128Type{Precision: 20, Scale: 1}, Nullable: true},
	}, nil)
	pool := column.NewDebugPool()
	d, err := JSON(s).NewDecoder(pool)
	require.NoError(t, err)
	for _, n := range []int{0, 1, 7, 8, 9, 1000, 3, 5000, 16, 17} {
		for i := range n {
			rec := fmt.Sprintf(`{"i":%d,"s":"%s","b":%t,"d":%d.5}`, i, strings.Repeat("x", i%50), i%2 == 0, i)
			if i%5 == 4 {
				rec = `{}`
			}
			require.NoError(t, d.Append([]byte(rec)))
			require.Error(t, d.Append([]byte(`{"i":1,"s":"y","b":1}`)))
		}
		b := d.Finish()
		require.Equal(t, n, b.Len())
		require.Equal(t, n/5, b.Cols[0].Nulls)
		require.Equal(t, n, len(b.Cols[1].Offsets)-1)
		for i := range n {
			want := fmt.Sprintf("%d %q %t %d5", i, strings.Repeat("x", i%50), i%2 == 0, i)
			if i%5 == 4 {
				want = "null null null null"
			}
			if i == 0 {
				want = `0 "" true 5`
			}
			require.Equal(t, want, text(&b.Cols[0], i)+" "+text(&b.Cols[1], i)+" "+text(&b.Cols[2], i)+" "+text(&b.Cols[3], i))
		}
		b.Release()
	}
	d.Discard()
	require.NoError(t, pool.Check())
}

func TestDecode_withoutColumns(t *testing.T) {
	d, err := JSON(arrow.NewSchema(nil, nil)).NewDecoder(nil)
	require.NoError(t, err)
	require.NoError(t, d.Append([]byte(`{"a":1,"b":2}`)))
	require.NoError(t, d.Append([]byte(`{"a":1,"b":2}`)))
	require.NoError(t, d.Append([]byte(`{}`)))
	assert.EqualValues(t, 4, d.Unknown())
	assert.Equal(t, 3, d.Finish().Len())
}

func TestDecode_stampsThatWrap(t *testing.T) {
	d, err := JSON(oneColumn(t, "int64", true)).NewDecoder(nil)
	require.NoError(t, err)
	d.(*jsonDecoder).rows.stamp = math.MaxUint32
	for i := range 3 {
		require.NoError(t, d.Append(fmt.Appendf(nil, `{"v":%d}`, i)))
		require.NoError(t, d.Append([]byte(`{}`)))
	}
	assert.Equal(t, 3, d.Finish().Cols[0].Nulls)
}

func TestNewDecoder_refusesWhatItCannotDecode(t *testing.T) {
	_, err := JSON(nil).NewDecoder(nil)
	assert.EqualError(t, err, "decode JSON: the schema is open; give one, or infer it first")
	list := arrow.NewSchema([]arrow.Field{{Name: "l", Type: arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int64)}}, nil)
	_, err = JSON(list).NewDecoder(nil)
	assert.ErrorContains(t, err, "schema.l: type fixed_size_list<item: int64, nullable>[2] is not supported")
	twice := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.PrimitiveTypes.Int64}, {Name: "a", Type: arrow.PrimitiveTypes.Int64}}, nil)
	assert.ErrorContains(t, JSON(twice).Check(), "schema.a: two columns have this name")
	type wrong struct{ C chan int }
	assert.ErrorContains(t, JSONOf[wrong]().Check(), `field "C"`)
	_, err = JSONOf[wrong]().NewDecoder(nil)
	assert.Error(t, err)
}

func TestRecordError_placeAndExcerpt(t *testing.T) {
	e := &RecordError{Source: "orders.jsonl", Line: 17, Field: "amount", Problem: "want float64, not a string", Excerpt: `"abc"`}
	assert.EqualError(t, e, `orders.jsonl line 17: amount: want float64, not a string: "abc"`)
	assert.True(t, errors.As(fmt.Errorf("split: %w", e), new(*RecordError)))
	long := excerpt([]byte(strings.Repeat("ä", 50)))
	assert.Equal(t, strings.Repeat("ä", 28)+"…", long)
	assert.Equal(t, strings.Repeat("x", 60), excerpt([]byte(strings.Repeat("x", 60))))
}

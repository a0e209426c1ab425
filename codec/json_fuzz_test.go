package codec

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"github.com/arkflow-go/arkflow/codec/internal/plain"
	"math"
	"math/big"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/stretchr/testify/require"
)

// fuzzSchema has a column of each type whose values encoding/json can tell.
var fuzzSchema = arrow.NewSchema([]arrow.Field{
	{Name: "bool", Type: arrow.FixedWidthTypes.Boolean, Nullable: true},
	{Name: "i8", Type: arrow.PrimitiveTypes.Int8, Nullable: true},
	{Name: "i64", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
	{Name: "u16", Type: arrow.PrimitiveTypes.Uint16, Nullable: true},
	{Name: "u64", Type: arrow.PrimitiveTypes.Uint64, Nullable: true},
	{Name: "f32", Type: arrow.PrimitiveTypes.Float32, Nullable: true},
	{Name: "f64", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
	{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "bin", Type: arrow.BinaryTypes.Binary, Nullable: true},
	{Name: "dec", Type: &arrow.Decimal128Type{Precision: 38, Scale: 3}, Nullable: true},
}, nil)

// model decodes a record by encoding/json, one field after the other. It differs from decoding into a struct as documented:
//   - names are compared with their case;
//   - a record is an object, never null;
//   - an integer may be written as 1.0 or 1e3, and -0 is an unsigned 0;
//   - floats may be "NaN", "Infinity", "-Infinity"; decimals exist;
//   - nesting is bounded by 1,000 and not 10,000.
func model(rec []byte) (row []any, ok bool) {
	if !json.Valid(rec) || depthOf(rec) > 1000 {
		return nil, false
	}
	dec := json.NewDecoder(bytes.NewReader(rec))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	row = make([]any, fuzzSchema.NumFields())
	for dec.More() {
		name, err := dec.Token()
		if err != nil {
			return nil, false
		}
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return nil, false
		}
		at := fuzzSchema.FieldIndices(name.(string))
		if len(at) == 0 {
			continue
		}
		if row[at[0]], ok = modelValue(fuzzSchema.Field(at[0]).Type, raw); !ok {
			return nil, false
		}
	}
	return row, true
}

func depthOf(rec []byte) int {
	depth, most, quoted := 0, 0, false
	for i := 0; i < len(rec); i++ {
		switch c := rec[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			depth++
			most = max(most, depth)
		case c == '}' || c == ']':
			depth--
		}
	}
	return most
}

func modelValue(t arrow.DataType, raw json.RawMessage) (v any, ok bool) {
	if string(raw) == "null" {
		return nil, true
	}
	var x any
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	if err := d.Decode(&x); err != nil {
		return nil, false
	}
	s, isString := x.(string)
	n, isNumber := x.(json.Number)
	switch t.ID() {
	case arrow.BOOL:
		v, ok = x.(bool)
		return v, ok
	case arrow.STRING:
		return s, isString
	case arrow.BINARY:
		b, err := base64.StdEncoding.DecodeString(s)
		return string(b), isString && err == nil
	case arrow.FLOAT32:
		return modelFloat(s, isString, n, isNumber, 32)
	case arrow.FLOAT64:
		return modelFloat(s, isString, n, isNumber, 64)
	case arrow.DECIMAL128:
		if isString {
			if n, isNumber = json.Number(s), json.Valid([]byte(s)) && strings.ContainsAny(s[:1], "-0123456789") && !strings.HasSuffix(s, " ") &&
				!strings.ContainsAny(s, "\n\r\t"); !isNumber {
				return nil, false
			}
		}
		r := exact(string(n))
		if !isNumber || r == nil {
			return nil, false
		}
		r.Mul(r, big.NewRat(1000, 1))
		limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(38), nil)
		return r.Num().String(), r.IsInt() && r.Num().CmpAbs(limit) < 0
	}
	r := exact(string(n))
	if !isNumber || r == nil || !r.IsInt() {
		return nil, false
	}
	lo, hi := map[arrow.Type]string{arrow.INT8: "-128", arrow.INT64: "-9223372036854775808", arrow.UINT16: "0", arrow.UINT64: "0"}[t.ID()],
		map[arrow.Type]string{arrow.INT8: "127", arrow.INT64: "9223372036854775807", arrow.UINT16: "65535", arrow.UINT64: "18446744073709551615"}[t.ID()]
	return r.Num().String(), r.Cmp(exact(lo)) >= 0 && r.Cmp(exact(hi)) <= 0
}

// exact is nil for a number whose exponent no type reaches.
func exact(n string) *big.Rat {
	if _, e, ok := strings.Cut(strings.ToLower(n), "e"); ok {
		if v, err := strconv.Atoi(e); err != nil || v > 400 || v < -400 {
			if f, _ := strconv.ParseFloat(n, 64); f == 0 && !strings.ContainsAny(strings.ToLower(n)[:strings.IndexAny(n, "eE")], "123456789") {
				return new(big.Rat)
			}
			return nil
		}
	}
	r, ok := new(big.Rat).SetString(n)
	if !ok {
		return nil
	}
	return r
}

func modelFloat(s string, isString bool, n json.Number, isNumber bool, bits int) (any, bool) {
	if isString {
		f, known := map[string]float64{"NaN": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1)}[s]
		return floatText(f, bits), known
	}
	f, err := strconv.ParseFloat(string(n), bits)
	return floatText(f, bits), isNumber && err == nil
}

func floatText(f float64, bits int) string { return strconv.FormatFloat(f, 'g', -1, bits) }

// decoded gives row r in the form of model.
func decoded(b *column.Batch, r int) []any {
	row := make([]any, len(b.Cols))
	for i := range b.Cols {
		c := &b.Cols[i]
		switch {
		case c.IsNull(r):
		case c.Kind == column.Bool:
			row[i] = c.Bool(r)
		case c.Kind == column.Bytes:
			row[i] = strings.Clone(c.String(r))
		case c.Kind == column.Float32:
			row[i] = floatText(float64(column.Values[float32](c)[r]), 32)
		case c.Kind == column.Float64:
			row[i] = floatText(column.Values[float64](c)[r], 64)
		default:
			row[i] = text(c, r)
		}
	}
	return row
}

func FuzzDecode_likeEncodingJSON(f *testing.F) {
	for _, s := range []string{
		`{"bool":true,"i8":-5,"i64":1517365101235,"u16":7,"u64":18446744073709551615,"f32":1.5,"f64":-136.5559,"s":"x","bin":"aGk=","dec":1.5}`,
		`{ "s" : "a\u00e9\ud83d\ude00\ud83d\n", "f64":1e400 }`, `{"i64":1.0,"i8":1e2,"u16":-0}`, `{"f64":"NaN","f32":1e39}`,
		`{"i64":1,"i64":"x"}`, `{"i64":1,"i64":null}`, `{"x":[1,{"y":[null,true,"]"]}],"i64":1}`, `{"I64":1}`, `null`, `{}`, `{"s":"` + "\xff" + `"}`,
		`{"dec":"1.0005"}`, `{"dec":" 1"}`, `{"dec":"1e-3"}`, `{"s":1}`, `{"bin":"a\n\u0047k="}`, `{"i64":9223372036854775808}`, `{"f64":12345678901234567890e-5}`,
		`{"i64":1}x`, "{\"i64\":1}\n\t ", `{"i64":00}`, `{"i64":-}`, `{"f64":.5}`, `{"f64":5.}`, `{"f64":0.1e+1,"f32":0.1E-1}`, `{"s":"\u0000"}`, "{\"s\":\"\x01\"}",
		`{"i64":0e5000}`, `{"i64":1e5000}`, `{"\u0069\u0036\u0034":5}`, `{"u64":12345678}`, `{"u64":123456789012345678}`, `{"i64":1,}`, `[{}]`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, rec []byte) {
		pool := column.NewDebugPool()
		d, err := JSON(fuzzSchema).NewDecoder(pool)
		require.NoError(t, err)
		want, ok := model(rec)
		for range 2 { // once more with what was learned of the order of fields
			err = d.Append(rec)
			require.Equal(t, ok, err == nil, "%q: %v", rec, err)
		}
		b := d.Finish()
		for r := range b.Len() {
			require.Equal(t, want, decoded(b, r), "%q", rec)
		}
		b.Release()
		require.NoError(t, pool.Check())
	})
}

func FuzzDecodeLines_cutAnywhere(f *testing.F) {
	f.Add([]byte("{\"i64\":1}\n{\"i64\":2}\r\n\nx\n{\"s\":\"\\u00e9\"}"), uint16(3))
	f.Add([]byte("\n\n"), uint16(1))
	f.Fuzz(func(t *testing.T, text []byte, cut uint16) {
		run := func(step int) (rows [][]any, faults []string) {
			d, err := JSON(fuzzSchema).NewDecoder(nil)
			require.NoError(t, err)
			from, to, lines := 0, 0, 0
			for from < len(text) {
				to = min(max(to, from)+step, len(text))
				p, err := d.DecodeLines(text[from:to], to == len(text), Limits{Rows: 1 << 20})
				if err != nil {
					e := err.(*RecordError)
					e.Line += int64(lines)
					e.Offset += int64(from)
					faults = append(faults, e.Error())
				}
				from += p.Bytes
				lines += p.Lines
			}
			b := d.Finish()
			for r := range b.Len() {
				rows = append(rows, decoded(b, r))
			}
			return rows, faults
		}
		wantRows, wantFaults := run(len(text) + 1)
		rows, faults := run(int(cut)%64 + 1)
		require.Equal(t, wantRows, rows)
		require.Equal(t, wantFaults, faults)
	})
}

func FuzzInfer_neverPanicsAndDecodesWhatItSaw(f *testing.F) {
	f.Add([]byte(`{"a":1,"b":"x"}`), []byte(`{"a":1.5,"c":null}`))
	f.Add([]byte(`{"a":{}}`), []byte(`{"a":1}`))
	f.Add([]byte(`{"a":12345678901234567890,"":true}`), []byte(`{"\u0061":-1}`))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		s, err := InferJSON(a, b)
		if err != nil {
			return
		}
		d, err := JSON(s).NewDecoder(nil)
		require.NoError(t, err)
		for _, rec := range [][]byte{a, b} {
			if err := d.Append(rec); err != nil {
				// The only number that has a kind and no column is one beyond float64.
				require.Contains(t, err.Error(), "out of the range of float64", "%s: %q", s, rec)
			}
		}
		d.Finish().Release()
	})
}

// The other direction, that whatever time writes is read, is TestTimes_roundTrip; time.Time itself reads a little more than RFC 3339.
func FuzzInstant_asTheTimePackageReadsIt(f *testing.F) {
	for _, s := range []string{"2006-01-02T15:04:05Z", "2006-01-02T15:04:05.123456789+07:00", "0000-01-01T00:00:00Z", "9999-12-31T23:59:59.999999999-23:59",
		"2024-02-29T00:00:00Z", "2023-02-29T00:00:00Z", "2006-01-02 15:04:05", "2006-01-02T15:04:60Z", "2006-01-02T15:04:05.Z", "2006-01-02T15:04:05,1Z"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		sec, nanos, zoned, ok := plain.ParseInstant([]byte(s))
		like := s
		if ok && s[10] == ' ' {
			like = s[:10] + "T" + s[11:]
		}
		if ok && !zoned {
			like += "Z"
		}
		quoted, err := json.Marshal(like)
		require.NoError(t, err)
		var want time.Time
		err = want.UnmarshalJSON(quoted)
		if ok {
			require.NoError(t, err)
			require.Equal(t, want.Unix(), sec, s)
			require.EqualValues(t, want.Nanosecond(), nanos, s)
		}
	})
}

func FuzzEncode_stringsAndFloatsLikeEncodingJSON(f *testing.F) {
	f.Add("plain", 12.5)
	f.Add("q\"\\\x00\x1f\x7f\u2028\u2029<>&é\xff\xe2\x28\xa1日本", 1e21)
	f.Add("a long string without anything special in it", -0.000001)
	f.Add("", 1e-7)
	f.Add("12345678\"", 123456789.125)
	f.Fuzz(func(t *testing.T, s string, v float64) {
		var want bytes.Buffer
		enc := json.NewEncoder(&want)
		enc.SetEscapeHTML(false)
		require.NoError(t, enc.Encode(s))
		require.Equal(t, strings.TrimSpace(want.String()), string(plain.AppendString(nil, s)))
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return
		}
		text, err := json.Marshal(v)
		require.NoError(t, err)
		require.Equal(t, string(text), string(plain.AppendFloat64(nil, v)))
		v32 := float32(v)
		if math.IsInf(float64(v32), 0) {
			return
		}
		text, err = json.Marshal(v32)
		require.NoError(t, err)
		require.Equal(t, string(text), string(plain.AppendFloat32(nil, v32)))
	})
}

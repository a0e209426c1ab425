package codec

import (
	"bytes"
	"encoding/csv"
	"errors"
	"fmt"
	"github.com/arkflow-go/arkflow/codec/internal/plain"
	"math"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var csvSchema = arrow.NewSchema([]arrow.Field{
	{Name: "id", Type: arrow.PrimitiveTypes.Int64},
	{Name: "name", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "amount", Type: arrow.PrimitiveTypes.Float64, Nullable: true},
}, nil)

func csvDecoderOf(t testing.TB, f CSVFormat) (Decoder, *column.Pool) {
	pool := column.NewDebugPool()
	d, err := f.NewDecoder(pool)
	require.NoError(t, err)
	t.Cleanup(func() {
		d.Discard()
		require.NoError(t, pool.Check())
	})
	return d, pool
}

// csvRows gives the rows of a batch as texts between bars, and releases it.
func csvRows(b *column.Batch) (rows []string) {
	for r := range b.Len() {
		var fields []string
		for i := range b.Cols {
			s := text(&b.Cols[i], r)
			if c := &b.Cols[i]; c.Kind == column.Bytes && !c.IsNull(r) {
				s = strings.Clone(c.String(r))
			}
			fields = append(fields, s)
		}
		rows = append(rows, strings.Join(fields, "|"))
	}
	b.Release()
	return rows
}

// decodeCSV decodes a text, records in error left out.
func decodeCSV(t testing.TB, f CSVFormat, in string, limits Limits) (rows []string, errs []string) {
	d, _ := csvDecoderOf(t, f)
	for at, line := 0, int64(0); at < len(in); {
		p, err := d.DecodeLines([]byte(in[at:]), true, limits)
		var bad *RecordError
		if errors.As(err, &bad) {
			bad.Line += line
			bad.Offset += int64(at)
			errs = append(errs, fmt.Sprintf("%d@%d %s", bad.Line, bad.Offset, strings.TrimPrefix(bad.Error(), Place{Line: bad.Line}.String()+": ")))
		} else {
			require.NoError(t, err)
		}
		require.Positive(t, p.Bytes)
		at += p.Bytes
		line += int64(p.Lines)
	}
	return csvRows(d.Finish()), errs
}

func TestCSV_recordsOfEveryForm(t *testing.T) {
	f := CSV(csvSchema).NoHeader()
	for in, want := range map[string][]string{
		"1,a,2.5\n2,b,3\n":                   {"1|a|2.5", "2|b|3"},
		"1,a,2.5\r\n2,b,3":                   {"1|a|2.5", "2|b|3"},
		"\n\r\n1,a,2.5\n\n":                  {"1|a|2.5"},
		"1,,\n2,\"\",\n":                     {"1|null|null", "2||null"},
		"\"1\",\"a\",\"2.5\"\n":              {"1|a|2.5"},
		"1,\"a,b\",2\n":                      {"1|a,b|2"},
		"1,\"say \"\"hi\"\"\",2\n":           {`1|say "hi"|2`},
		"1,\"two\nlines\",2\n2,\"x\r\ny\",3": {"1|two\nlines|2", "2|x\r\ny|3"},
		"1,\"\n\n\",2\n":                     {"1|\n\n|2"},
		"1,a\rb,2\n":                         {"1|a\rb|2"},
		"1,grün,2\n2,日本,3\n":                 {"1|grün|2", "2|日本|3"},
		"1,a\xffb,2\n2,\"\xff\xfe\",3\n":     {"1|a\uFFFDb|2", "2|\uFFFD\uFFFD|3"},
		"1.0,x,NaN\n1e2,y,-Infinity\n":       {"1|x|NaN", "100|y|-Inf"},
		"-9223372036854775808,x,1e300\n":     {"-9223372036854775808|x|1e+300"},
		"1, a ,2\n":                          {"1| a |2"},
		"1,'a',2\n":                          {"1|'a'|2"},
	} {
		got, errs := decodeCSV(t, f, in, Limits{Rows: 100})
		assert.Empty(t, errs, "%q", in)
		assert.Equal(t, want, got, "%q", in)
	}
}

func TestCSV_recordsInError(t *testing.T) {
	f := CSV(csvSchema).NoHeader()
	for in, want := range map[string]string{
		"1,a\n":                   "2@8 want 3 fields, have 2: 1,a",
		"1,a,2,3\n":               "2@8 want 3 fields, have 4: 1,a,2,3",
		"x,a,2\n":                 "2@8 id: want int64: x",
		" 1,a,2\n":                "2@8 id: want int64:  1",
		"007,a,2\n":               "2@8 id: want int64: 007",
		"1.5,a,2\n":               "2@8 id: not an integer, as int64 must be: 1.5",
		"9223372036854775808,a,2": "2@8 id: out of the range of int64: 9223372036854775808",
		",a,2\n":                  "2@8 id: null, and the column is not nullable",
		"\"\",a,2\n":              "2@8 id: null, and the column is not nullable",
		"1,a,1e999\n":             "2@8 amount: out of the range of float64: 1e999",
		"1,a,\"2\n\"\n":           "2@8 amount: want float64: 2\n",
		"1,a\"b,2\n":              "2@8 a quote within a field that is not quoted: 1,a\"b,2",
		"1,\"a\"b,2\n":            "2@8 text behind the closing quote of a field: 1,\"a\"b,2",
		"1,\"a\n\"b,2\n":          "2@8 text behind the closing quote of a field: 1,\"a\n\"b,2",
	} {
		got, errs := decodeCSV(t, f, "0,ok,1\n\n"+in+"\n9,ok,1\n", Limits{Rows: 100})
		assert.Equal(t, []string{strings.Replace(want, "2@", "3@", 1)}, errs, "%q", in)
		assert.Equal(t, []string{"0|ok|1", "9|ok|1"}, got, "%q", in)
	}
	got, errs := decodeCSV(t, f, "0,ok,1\n1,\"open,2\n9,ok,1\n", Limits{Rows: 100})
	assert.Equal(t, []string{"2@7 a quoted field is not closed: 1,\"open,2\n9,ok,1"}, errs)
	assert.Equal(t, []string{"0|ok|1"}, got)
}

func TestCSV_typesAsJSON(t *testing.T) {
	for _, c := range []struct{ typ, in, want string }{
		{"bool", "true", "true"}, {"bool", "FALSE", "false"}, {"bool", "True", "true"}, {"bool", "1", "error want bool"},
		{"int8", "-128", "-128"}, {"int8", "128", "error out of the range of int8"}, {"uint8", "255", "255"}, {"uint8", "-1", "error out of the range of uint8"},
		{"uint64", "18446744073709551615", "18446744073709551615"}, {"float32", "0.1", "0.1"}, {"float32", "Infinity", "+Inf"}, {"float32", "1e39", "error out of the range of float32"},
		{"float64", "nan", "error want float64"}, {"timestamp[ms,UTC]", "2024-05-01T10:00:00.25Z", "1714557600250"}, {"timestamp[ms,UTC]", "1714557600250", "1714557600250"},
		{"timestamp[ms,UTC]", "2024-05-01 10:00:00", "error want timestamp[ms,UTC]: an instant without a zone"}, {"timestamp[s]", "2024-05-01 10:00:00", "1714557600"},
		{"date32", "2024-05-01", "19844"}, {"date32", "yesterday", "error want date32: not a date such as 2006-01-02"}, {"time32[s]", "00:01:00", "60"},
		{"duration[ms]", "1m30s", "90000"}, {"duration[ms]", "15", "15"}, {"decimal(10,2)", "1.50", "150"}, {"decimal(10,2)", "1.505", "error more decimal places than decimal(10,2) has"},
		{"decimal(10,2)", "x", "error want decimal(10,2)"}, {"binary", "aGk=", "hi"}, {"binary", "a", "error not base64"}, {"dictionary[int32,string]", "x", "x"},
		{"uint16", "x", "error want uint16"}, {"uint16", "1.5", "error not an integer, as uint16 must be"},
	} {
		d, _ := csvDecoderOf(t, CSV(oneColumn(t, c.typ, true)).NoHeader())
		err := d.Append([]byte(c.in + "\n"))
		if want, isError := strings.CutPrefix(c.want, "error "); isError {
			assert.EqualError(t, err, "line 1: v: "+want+": "+c.in, c.typ)
			continue
		}
		require.NoError(t, err, "%s %s", c.typ, c.in)
		assert.Equal(t, []string{c.want}, csvRows(d.Finish()), c.typ)
	}
}

func TestCSV_nulls(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{
		{Name: "a", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "b", Type: arrow.BinaryTypes.String},
		{Name: "c", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
	}, nil)
	for _, c := range []struct{ null, in, want string }{
		{"", ",,", "null||null"}, {"", `"","",""`, "||null"},
		{"NULL", "NULL,x,NULL", "null|x|null"}, {"NULL", `"NULL","NULL",1`, "NULL|NULL|1"}, {"NULL", ",,1", "||1"},
		{"0", "0,x,0", "null|x|null"}, {"0", `"0",x,"0"`, "0|x|0"}, {`\N`, `\N,x,\N`, "null|x|null"},
	} {
		got, errs := decodeCSV(t, CSV(s).NoHeader().Null(c.null), c.in, Limits{Rows: 9})
		assert.Empty(t, errs)
		assert.Equal(t, []string{c.want}, got, "%q %q", c.null, c.in)
	}
	_, errs := decodeCSV(t, CSV(s).NoHeader().Null("NULL"), "x,NULL,1", Limits{Rows: 9})
	assert.Equal(t, []string{"1@0 b: null, and the column is not nullable: NULL"}, errs)
	_, errs = decodeCSV(t, CSV(s).NoHeader().Null("NULL"), "x,x,", Limits{Rows: 9})
	assert.Equal(t, []string{"1@0 c: want int64"}, errs)
}

func TestCSV_headerOrdersTheColumns(t *testing.T) {
	d, _ := csvDecoderOf(t, CSV(csvSchema))
	require.NoError(t, d.Header([]byte(`amount,"x ""y""",id`)))
	_, err := d.DecodeLines([]byte("1.5,skipped,7\n,,8\n"), true, Limits{Rows: 9})
	require.NoError(t, err)
	assert.Equal(t, []string{"7|null|1.5", "8|null|null"}, csvRows(d.Finish()))
	assert.EqualValues(t, 2, d.Unknown())
	require.NoError(t, d.Header([]byte("id,name"))) // the next file
	_, err = d.DecodeLines([]byte("9,a\n"), true, Limits{Rows: 9})
	require.NoError(t, err)
	assert.Equal(t, []string{"9|a|null"}, csvRows(d.Finish()))

	assert.EqualError(t, d.Header([]byte("idd,name,amount")), `header: column "id" is missing, and it is not nullable; did you mean "idd"?`)
	assert.EqualError(t, d.Header([]byte("id,id")), `header: two columns are called "id"`)
	assert.EqualError(t, d.Header([]byte(`id,"na`)), `header: a quoted field is not closed: id,"na`)
	strict, _ := csvDecoderOf(t, CSV(csvSchema).FailUnknown())
	assert.EqualError(t, strict.Header([]byte("id,x")), `header: column "x" is not in the schema`)
	loose, _ := csvDecoderOf(t, CSV(oneColumn(t, "int64", true)))
	assert.EqualError(t, loose.Header([]byte("1,2")), `header: none of ["v int64"] is among the columns of the file: 1,2 (is the first record a header?)`)
}

func TestCSV_linesOfRowsAreTold(t *testing.T) {
	d, _ := csvDecoderOf(t, CSV(csvSchema).NoHeader())
	var lines []int64
	p, err := d.DecodeLines([]byte("\n1,\"a\nb\n\",\n\n2,,\n3,"), false, Limits{Rows: 9, Lines: &lines})
	require.NoError(t, err)
	assert.Equal(t, []int64{2, 6}, lines)
	assert.Equal(t, Progress{Bytes: 16, Lines: 6}, p)
}

func TestCSV_overlongRecordsEndWithTheLineOfTheLimit(t *testing.T) {
	f := CSV(csvSchema).NoHeader()
	long := "1,\"" + strings.Repeat("x\n", 20) + "end\",2\n"
	got, errs := decodeCSV(t, f, "0,a,1\n"+long+"2,b,3\n", Limits{Rows: 99, RecordBytes: 100})
	assert.Empty(t, errs)
	assert.Len(t, got, 3)
	got, errs = decodeCSV(t, f, "0,a,1\n"+long+"2,b,3\n", Limits{Rows: 99, RecordBytes: 40})
	require.Len(t, errs, 3, "the record, and what is left of it behind the limit")
	assert.Contains(t, errs[0], "2@6 longer than 40 bytes: 1,\"x\nx\nx\n")
	assert.Equal(t, []string{"21@47 id: want int64: x", "22@49 a quote within a field that is not quoted: end\",2"}, errs[1:])
	assert.Equal(t, []string{"0|a|1", "2|b|3"}, got)
	got, errs = decodeCSV(t, f, "1,\"never closed\n2,b,3\n3,c,4\n", Limits{Rows: 99, RecordBytes: 12})
	assert.Len(t, errs, 1)
	assert.Equal(t, []string{"2|b|3", "3|c|4"}, got)
}

// TestCSV_resultsDoNotDependOnBlocks feeds the same text in blocks of any size.
func TestCSV_resultsDoNotDependOnBlocks(t *testing.T) {
	piece := rapid.SampledFrom([]string{"1", "2.5", "a", ",", ",", ",", "\n", "\n", "\r\n", `"`, `"a,b"`, `""`, "\"x\ny\"", "é", "\xff", "1,a,2\n", "7,\"q\"\"\",1\n"})
	rapid.Check(t, func(rt *rapid.T) {
		in := strings.Join(rapid.SliceOfN(piece, 0, 40).Draw(rt, "text"), "")
		limit := rapid.SampledFrom([]int{0, 5, 12, 30}).Draw(rt, "limit")
		decode := func(cut func() int) (rows, errs []string) {
			d, err := CSV(csvSchema).NoHeader().NewDecoder(nil)
			require.NoError(rt, err)
			at, have, line := 0, 0, 0
			for at < len(in) {
				have = min(len(in), max(have, at)+cut())
				var lines []int64
				p, err := d.DecodeLines([]byte(in[at:have]), have == len(in), Limits{Rows: 1000, RecordBytes: limit, Lines: &lines})
				for _, l := range lines {
					rows = append(rows, fmt.Sprint("line ", int(l)+line))
				}
				var bad *RecordError
				if errors.As(err, &bad) && limit == 0 { // what an overlong record begins with depends on the block
					errs = append(errs, fmt.Sprint(int(bad.Line)+line, " ", int(bad.Offset)+at, bad.Problem, bad.Excerpt))
				} else if err != nil {
					errs = append(errs, fmt.Sprint(int(bad.Line)+line, " ", int(bad.Offset)+at, bad.Problem))
				} else if p.Bytes == 0 && have == len(in) {
					require.Fail(rt, "stuck")
				}
				at += p.Bytes
				line += p.Lines
			}
			return append(rows, csvRows(d.Finish())...), errs
		}
		rows, errs := decode(func() int { return len(in) })
		gotRows, gotErrs := decode(func() int { return rapid.IntRange(1, 9).Draw(rt, "cut") })
		require.Equal(rt, rows, gotRows, "%q", in)
		require.Equal(rt, errs, gotErrs, "%q", in)
	})
}

func TestCSV_cutGivesTheRecordsThatTheDecoderSees(t *testing.T) {
	f := CSV(csvSchema)
	in := []byte("a,\"b\n\",c\r\n\n1,2,3\nlast")
	var got []string
	for at := 0; at < len(in); {
		r, p := f.Cut(in[at:], true)
		got = append(got, fmt.Sprintf("%q %d", r, p.Lines))
		at += p.Bytes
	}
	assert.Equal(t, []string{`"a,\"b\n\",c" 2`, `"" 1`, `"1,2,3" 1`, `"last" 1`}, got)
	for n := range 10 {
		_, p := f.Cut(in[:n], false)
		assert.Zero(t, p, n)
	}
	_, p := f.Cut([]byte("last"), false)
	assert.Zero(t, p)
	r, p := f.Cut([]byte("a\"b,\"c\nd"), false)
	assert.Equal(t, "a\"b,\"c", string(r))
	assert.Equal(t, Progress{Bytes: 7, Lines: 1}, p)
}

// FuzzCSV_likeEncodingCSV compares with encoding/csv over columns of text. They differ only in that a carriage return before the end of
// a line stays within quotes.
func FuzzCSV_likeEncodingCSV(f *testing.F) {
	for _, s := range []string{"a,b\n1,\"x\ny\"\n", "\"a\"\"b\",c\r\n\r\n\nd,e", "a\"b,c\nd,e\n", "\"a\"b,c\nd,e\n", "\"open,1\n2,3", ",\n\"\",\"\"\n", "a,b,c\n1,2\n", "\xff,é\n", "x,\r", "\"\r\n\",1\r\n", "\"\r\r\n\","} {
		f.Add([]byte(s), byte(','))
	}
	f.Fuzz(func(t *testing.T, in []byte, delim byte) {
		texts := arrow.NewSchema([]arrow.Field{{Name: "a", Type: arrow.BinaryTypes.String}, {Name: "b", Type: arrow.BinaryTypes.String}}, nil)
		format := CSV(texts).NoHeader().Delimiter(delim)
		if delim == 0 {
			delim = ','
		}
		if format.Check() != nil {
			return
		}
		r := csv.NewReader(bytes.NewReader(in))
		r.Comma = rune(delim)
		r.FieldsPerRecord = 2
		var want []string
		bad := 0
		for {
			rec, err := r.Read()
			if err != nil {
				var parse *csv.ParseError
				if !errors.As(err, &parse) {
					break
				}
				bad++
				continue
			}
			want = append(want, string(appendValid(nil, []byte(rec[0]+"|"+rec[1])))) // encoding/csv makes \r\n \n
		}
		pool := column.NewDebugPool()
		d, err := format.NewDecoder(pool)
		require.NoError(t, err)
		errs := 0
		for at := 0; at < len(in); {
			p, err := d.DecodeLines(in[at:], true, Limits{Rows: 1 << 30})
			if err != nil {
				errs++
			}
			at += p.Bytes
		}
		b := d.Finish()
		var got []string
		for i := range b.Len() {
			got = append(got, strings.ReplaceAll(b.Cols[0].String(i)+"|"+b.Cols[1].String(i), "\r\n", "\n"))
		}
		b.Release()
		require.NoError(t, pool.Check())
		require.Equal(t, want, got, "%q", in)
		require.Equal(t, bad, errs, "%q", in)
	})
}

// TestCSV_shortNumbers compares the quick ways with the general ones.
func TestCSV_shortNumbers(t *testing.T) {
	number := rapid.StringMatching(`-?[0-9]{0,17}(\.[0-9]{0,10})?(e[0-9])?`)
	rapid.Check(t, func(t *rapid.T) {
		text := number.Draw(t, "number")
		b := []byte(text + rapid.SampledFrom([]string{",", "\n", ",123456789012345678", "\nxxxxxxxxxxxxxxxxxxxx"}).Draw(t, "behind"))
		if v, end := shortInt(b, 0); end >= 0 && b[end] != '.' && b[end] != 'e' {
			want, at, ok := plain.PlainInt(b, 0)
			require.True(t, ok, "%s", b)
			require.Equal(t, []any{want, at}, []any{v, end}, "%s", b)
		}
		if v, end := shortFloat(b, 0); end >= 0 && b[end] != 'e' {
			want, at, ok := plain.ScanFloat(b, 0)
			require.True(t, ok, "%s", b)
			require.Equal(t, []any{math.Float64bits(want), at}, []any{math.Float64bits(v), end}, "%s", b)
		}
	})
}

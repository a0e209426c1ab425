package codec

import (
	"bytes"
	"encoding/csv"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestCSV_roundTripOfAllTypes(t *testing.T) {
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
		if rapid.Bool().Draw(t, "selection") {
			b.Sel = []uint32{}
			for r := range n {
				if rapid.Bool().Draw(t, "selected") {
					b.Sel = append(b.Sel, uint32(r))
				}
			}
		}
		f := CSV(nil).Delimiter(rapid.SampledFrom([]byte(",;\t|")).Draw(t, "delimiter")).
			Null(rapid.SampledFrom([]string{"", "NULL", `\N`, "0", "true", "-1"}).Draw(t, "null")).
			Quote(rapid.SampledFrom([]byte(`"'`)).Draw(t, "quote"))
		e, err := f.NewEncoder(schema)
		require.NoError(t, err)
		text := e.Header(nil)
		head := len(text)
		text, err = e.Encode(text, b)
		require.NoError(t, err)
		d, err := f.FailUnknown().WithSchema(schema).(RecordFormat).NewDecoder(pool)
		require.NoError(t, err)
		require.NoError(t, d.Header(bytes.TrimSuffix(text[:head], newline)))
		p, err := d.DecodeLines(text[head:], true, Limits{Rows: 100})
		require.NoError(t, err)
		require.Equal(t, len(text)-head, p.Bytes)
		back := d.Finish()
		requireEqual(t, b, back)
		b.Release()
		back.Release()
		require.NoError(t, pool.Check())
	})
}

func TestCSV_writesWhatEncodingCSVReads(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := arrow.NewSchema([]arrow.Field{{Name: "a,b", Type: arrow.BinaryTypes.String}, {Name: `say "x"`, Type: arrow.BinaryTypes.String}}, nil)
		build := column.NewBuilder(nil, s)
		field := rapid.OneOf(rapid.String(), rapid.StringMatching(`[",\n a]{0,6}`))
		want := [][]string{{"a,b", `say "x"`}}
		for range rapid.IntRange(0, 5).Draw(t, "rows") {
			row := []string{field.Draw(t, "a"), field.Draw(t, "b")}
			build.String(0, row[0])
			build.String(1, row[1])
			build.EndRow()
			for i := range row {
				row[i] = string(bytes.ReplaceAll(appendValid(nil, []byte(row[i])), []byte("\r\n"), newline))
			}
			want = append(want, row)
		}
		b := build.Finish()
		defer b.Release()
		e, err := CSVFormat{}.NewEncoder(s)
		require.NoError(t, err)
		text, err := e.Encode(e.Header(nil), b)
		require.NoError(t, err)
		got, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
		require.NoError(t, err)
		require.Equal(t, want, got)
	})
}

func TestCSV_quotesOnlyWhatNeedsIt(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "at", Type: &arrow.TimestampType{Unit: arrow.Millisecond}, Nullable: true}}, nil)
	build := column.NewBuilder(nil, s)
	for _, v := range []string{"plain", "", "a,b", "a;b", "NULL", "tab\t", "line\nend", "cr\r", `"`, "é", "\xff", "\uFEFFmark"} {
		build.String(0, v)
		build.Col(1).Int64(0)
		build.EndRow()
	}
	build.EndRow()
	b := build.Finish()
	defer b.Release()
	for _, c := range []struct {
		f    CSVFormat
		want string
	}{
		{CSV(nil), "plain,T\n\"\",T\n\"a,b\",T\na;b,T\nNULL,T\ntab\t,T\n\"line\nend\",T\n\"cr\r\",T\n\"\"\"\",T\né,T\n\uFFFD,T\n\"\uFEFFmark\",T\n,\n"},
		{CSV(nil).Delimiter(';').Null("NULL"), "plain;T\n;T\na,b;T\n\"a;b\";T\n\"NULL\";T\ntab\t;T\n\"line\nend\";T\n\"cr\r\";T\n\"\"\"\";T\né;T\n\uFFFD;T\n\"\uFEFFmark\";T\nNULL;NULL\n"},
	} {
		e, err := c.f.NewEncoder(s)
		require.NoError(t, err)
		out, err := e.Encode(nil, b)
		require.NoError(t, err)
		assert.Equal(t, string(bytes.ReplaceAll([]byte(c.want), []byte("T\n"), []byte("1970-01-01T00:00:00Z\n"))), string(out))
	}
	one := oneColumn(t, "int64", true)
	e, err := CSV(one).NewEncoder(one)
	require.NoError(t, err)
	build = column.NewBuilder(nil, one)
	build.EndRow()
	nulls := build.Finish()
	out, err := e.AppendRow(nil, nulls, 0)
	require.NoError(t, err)
	assert.Equal(t, `""`, string(out), "an empty line is no record")
	_, err = e.Encode(nil, b)
	assert.ErrorContains(t, err, "encode: the batch has schema")
	_, err = CSV(one).NewEncoder(s)
	assert.ErrorContains(t, err, `encode CSV: the rows have columns`)
}

func TestCSV_inference(t *testing.T) {
	infer := func(f CSVFormat, header string, records ...string) (string, error) {
		in := f.NewInference()
		if header != "" {
			if err := in.Header([]byte(header), Place{Source: "a.csv", Line: 1}); err != nil {
				return "", err
			}
		}
		for i, r := range records {
			if err := in.Add([]byte(r), Place{Source: "a.csv", Line: int64(i) + 2}); err != nil {
				return "", err
			}
		}
		require.Equal(t, len(records), in.Len())
		require.Empty(t, in.Omitted())
		out := ""
		for _, f := range in.Schema().Fields() {
			require.True(t, f.Nullable)
			out += f.Name + " " + TypeName(f.Type) + " "
		}
		return out, nil
	}
	for _, c := range []struct {
		f       CSVFormat
		header  string
		records []string
		want    string
	}{
		{CSV(nil), "a,b,c,d,e", []string{"1,1,true,x,", "2,2.5,FALSE,1,"}, "a int64 b float64 c bool d string e string "},
		{CSV(nil), "a,b,c", []string{`"1",007,true`, `"2",1,1`}, "a int64 b string c string "},
		{CSV(nil), "a,b", []string{",99999999999999999999", "3,1"}, "a int64 b float64 "},
		{CSV(nil).Null("-"), "a,b", []string{"-,", "3,1"}, "a int64 b string "},
		{CSV(nil).NoHeader().Delimiter(';'), "", []string{"1;x", "2;y"}, "column_1 int64 column_2 string "},
		{CSV(nil), "a,2024", nil, "a string 2024 string "},
	} {
		got, err := infer(c.f, c.header, c.records...)
		require.NoError(t, err)
		assert.Equal(t, c.want, got)
	}
	_, err := infer(CSV(nil), "a,b", "1")
	var bad *RecordError
	require.ErrorAs(t, err, &bad)
	assert.EqualError(t, err, "a.csv line 2: want 2 fields, have 1: 1")
	_, err = infer(CSV(nil), "a,b", `1,"x`)
	assert.EqualError(t, err, `a.csv line 2: a quoted field is not closed: 1,"x`)
	_, err = infer(CSV(nil), "a,a")
	assert.EqualError(t, err, `a.csv line 1: two columns are called "a"`)
	_, err = infer(CSV(nil), `a,"`)
	assert.ErrorContains(t, err, "a.csv line 1: header: a quoted field is not closed")
}

func TestCSV_configReadsBack(t *testing.T) {
	for _, f := range []CSVFormat{
		CSV(nil), CSV(csvSchema).NoHeader().Delimiter('\t').Quote('\'').Null("NULL").FailUnknown(),
	} {
		c, err := f.Config()
		require.NoError(t, err)
		back, err := FromConfig("codec", c)
		require.NoError(t, err)
		again, err := back.Config()
		require.NoError(t, err)
		assert.Equal(t, c, again)
		assert.Equal(t, "csv", back.Kind())
	}
	_, err := FromConfig("codec", map[string]any{"type": "csv", "delimiter": ";;", "quote": 5, "header": "yes", "null": "a\"b", "delimeter": ";"})
	_, nullErr := FromConfig("codec", map[string]any{"type": "csv", "null": nil}) // as YAML has NULL without quotes
	require.ErrorContains(t, nullErr, `codec.null: want a text, not null`)
	for _, want := range []string{`codec.delimiter: want one ASCII character, not ";;"`, "codec.quote: want a string, not 5", "codec.header: want true or false, not yes",
		`codec.delimeter: unknown field "delimeter"; did you mean "delimiter"?`} {
		assert.ErrorContains(t, err, want)
	}
	_, err = FromConfig("codec", map[string]any{"type": "csv", "delimiter": "-", "quote": "\n", "null": "a\nb", "schema": []any{}})
	for _, want := range []string{`codec.delimiter: '-' cannot stand between fields`, `codec.quote: '\n' cannot stand around fields`, "codec.null: \"a\\nb\" holds",
		"codec.schema: CSV without a column"} {
		assert.ErrorContains(t, err, want)
	}
	_, err = FromConfig("codec", map[string]any{"type": "csv", "delimiter": "'", "quote": "'"})
	assert.ErrorContains(t, err, `codec.quote: '\'' is the delimiter as well`)
	_, err = FromConfig("codec", map[string]any{"type": "parquet"})
	assert.EqualError(t, err, `codec.type: codec "parquet" is not registered; import "github.com/arkflow-go/arkflow/codec/parquet" and call its Register with the registry`)
}

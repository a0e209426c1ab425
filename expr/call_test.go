package expr

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/keys"
	"github.com/stretchr/testify/require"
)

func textBatch(p *column.Pool, texts ...string) *column.Batch {
	s := arrow.NewSchema([]arrow.Field{{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "n", Type: arrow.PrimitiveTypes.Int64}}, nil)
	b := column.NewBuilder(p, s)
	for i, x := range texts {
		if x != "null" {
			b.String(0, x)
		}
		b.Int64(1, int64(i))
		b.EndRow()
	}
	return b.Finish()
}

func TestFunctionsOfText(t *testing.T) {
	pool := column.NewDebugPool()
	b := textBatch(pool, "Aé,b,,Z", "null", "", "\xffX\xc3", "long Text of Sixteen+")
	for _, c := range []struct{ text, want string }{
		{"lower(s)", "utf8: aé,b,,z | null |  | \xffx\xc3 | long text of sixteen+"},
		{"upper(s)", "utf8: AÉ,B,,Z | null |  | \xffX\xc3 | LONG TEXT OF SIXTEEN+"},
		{"length(s)", "int64: 7 | null | 0 | 3 | 21"},
		{"substr(s, 2, 3)", "utf8: é,b | null |  | X\xc3 | ong"},
		{"upper(substr(lower(s), 0, 3))", "utf8: AÉ | null |  | \xffX | LO"},
		{"substr(trim(substr(lower(s), n)), 1)", "utf8: aé,b,,z | null |  | \xc3 | g text of sixteen+"},
		{"split_part(s, ',', 2)", "utf8: b | null | null | null | null"},
		{"split_part(s, ',', -1)", "utf8: Z | null |  | \xffX\xc3 | long Text of Sixteen+"},
		{"s like '%X%' or s like 'A_,b%'", "bool: true | null | false | true | false"},
		{"concat(s, '-', s)", "utf8: Aé,b,,Z-Aé,b,,Z | null | - | \xffX\xc3-\xffX\xc3 | long Text of Sixteen+-long Text of Sixteen+"},
		{"replace(s, ',', '')", "utf8: AébZ | null |  | \xffX\xc3 | long Text of Sixteen+"},
		{"concat('a', upper('b')) = 'aB'", "bool: true | true | true | true | true"},
	} {
		require.Equal(t, c.want, describe(t, T(c.text), b), c.text)
	}
	b.Release()
	require.NoError(t, pool.Check())
}

// TestHashIsThatOfKeys compares hash with the hash by which rows with such a key are distributed (K2).
func TestHashIsThatOfKeys(t *testing.T) {
	pool := column.NewDebugPool()
	s := wideSchema()
	b := fillBatch(pool, s, generatorRand(), 2500)
	var cols []int
	var all []any
	for i, f := range s.Fields() {
		p, err := Hash(Col(f.Name)).Bind(s)
		require.NoError(t, err)
		require.False(t, p.Nullable())
		checkHash(t, p, b, []int{i})
		if i%7 == 0 {
			cols, all = append(cols, i), append(all, Col(f.Name))
		}
	}
	p, err := Hash(all...).Bind(s)
	require.NoError(t, err)
	checkHash(t, p, b, cols)
	b.Release()
	require.NoError(t, pool.Check())
}

func checkHash(t *testing.T, p *Program, b *column.Batch, cols []int) {
	var errs Errors
	var c column.Column
	out := b.Derive()
	require.NoError(t, p.New().Eval(out, &c, b, &errs))
	require.Equal(t, keys.Hash(nil, b, cols), column.Values[uint64](&c), p.Expr())
	require.Zero(t, c.Nulls)
	out.Release()
}

// TestTextsOfManyBlocks checks columns whose memory grows from block to block.
func TestTextsOfManyBlocks(t *testing.T) {
	pool := column.NewDebugPool()
	texts := make([]string, 5000)
	for i := range texts {
		if texts[i] = strings.Repeat("x", i/100); i%7 == 3 {
			texts[i] = "null"
		}
	}
	b := textBatch(pool, texts...)
	p, err := T("concat(s, '-', upper(s))").Bind(b.Schema)
	require.NoError(t, err)
	var errs Errors
	var c column.Column
	out := b.Derive()
	require.NoError(t, p.New().Eval(out, &c, b, &errs))
	for i, s := range texts {
		if s == "null" {
			require.True(t, c.IsNull(i))
			continue
		}
		require.Equal(t, s+"-"+strings.ToUpper(s), c.String(i))
	}
	rec := func() arrow.RecordBatch { // what arrow makes of it is whole
		d := b.Derive()
		d.Schema = arrow.NewSchema([]arrow.Field{{Name: "v", Type: p.Type(), Nullable: true}}, nil)
		d.Cols = []column.Column{c}
		r := d.Record()
		d.Release()
		return r
	}()
	require.EqualValues(t, 714, rec.Column(0).NullN())
	rec.Release()
	out.Release()
	b.Release()
	require.NoError(t, pool.Check())
}

func TestTextsThatAreTooLarge(t *testing.T) {
	pool := column.NewDebugPool()
	b := textBatch(pool, strings.Repeat("x", 1<<20), "y")
	wide := T("concat(s, s, s, s)")
	for range 3 {
		wide = Concat(wide, wide, wide, wide)
	}
	require.Contains(t, describe(t, Length(wide), b), "int64: null | 256 | error: the text would have 268435456 bytes, more than the rows of a block may")
	b.Release()
	require.NoError(t, pool.Check())
}

func TestFaultsOfFunctions(t *testing.T) {
	s := wideSchema()
	for text, want := range map[string]string{
		"lower(i64)":                            "expression lower(i64): i64 of type int64 is not a string; write lower(text)",
		"lower(bin)":                            "bin of type binary is not a string; cast it: cast(x as utf8)",
		"upper(lowr(s))":                        `expression lowr(s): no function "lowr"; did you mean "lower"?`,
		"coalesec(s, 'x')":                      `did you mean "coalesce"?`,
		"substr(s)":                             "substr has 1 operands; write substr(text, from [, length])",
		"substr(s, 1.5)":                        "1.5 of type decimal(2, 1) is not a whole number",
		"substr(s, s)":                          "expression substr(s, s): s of type utf8 is not a whole number",
		"date_trunc(s, ts)":                     "s is not the same for all rows, as unit of date_trunc must be",
		"date_trunc(null, ts)":                  "is null, as unit of date_trunc must not be",
		"date_trunc('dya', ts)":                 `'dya' is no unit of time; did you mean "day"?`,
		"extract(hour from ts, 'Europe/Berln')": "'Europe/Berln' is no time zone",
		"extract(hour from s)":                  "s of type utf8 is not a timestamp or a date",
		"regexp_match(s, '[')":                  "'[' is no regular expression of RE2: missing closing ] in '['",
		"json_get(s, '$[')":                     "'$[' is no path at '['",
		"cast(ts as bool)":                      "ts of type timestamp[s] cannot become bool",
		"cast(bin as int64)":                    "bin of type binary cannot become int64",
		"case when i64 then 1 end":              "case needs conditions, and i64 has type int64",
		"case when b then s else i64 end":       "one value has type utf8, and i64 has type int64; bring them to one type by casts",
		"case s when 5 then 1 end":              "expression s = 5: s of type utf8 cannot be compared with 5 of type int64",
		"coalesce(s, bin)":                      "one value has type utf8, and bin has type binary",
		"nullif(s, 1)":                          "s of type utf8 cannot be compared with 1 of type int64",
		"nullif(s)":                             "nullif has 1 operands; write nullif(value, other)",
		"round(f64, 99)":                        "99 is out of range: digits are -38 to 38",
		"concat()":                              "concat has 0 operands; write concat(text, …)",
	} {
		_, err := T(text).Bind(s)
		require.ErrorContains(t, err, want, text)
	}
	_, err := Switch(Col("s")).Bind(s)
	require.ErrorContains(t, err, "there is no condition; write case when")
	_, err = Col("s").Cast(nil).Bind(s)
	require.ErrorContains(t, err, "cast to no type")
	_, err = Col("s").Cast(arrow.ListOf(arrow.PrimitiveTypes.Int8)).Bind(s)
	require.ErrorContains(t, err, "cannot become list")
}

func TestTypesOfChoices(t *testing.T) {
	s := wideSchema()
	for text, want := range map[string]string{
		"case when b then i8 else 0 end": "int8", "case when b then i8 else 300 end": "int64", "case when b then i8 else u8 end": "int64", "case when b then u64 else u8 end": "uint64",
		"case when b then i64 else 0.5 end": "decimal(20, 1)", "case when b then f32 else 0.1 end": "float32", "case when b then f32 else i8 end": "float64", "case when b then d2 else 1 end": "decimal(12, 2)",
		"case when b then d2 else d5 end": "decimal(38, 5)", "case when b then d2 else f64 end": "float64", "case when b then s else ls end": "utf8", "case when b then dict end": "utf8",
		"case when b then tms else timestamp '2026-01-01' end": "timestamp[ms, tz=UTC]", "case when b then ts else tms end": "timestamp[ms, tz=UTC]", "case when b then day else tms end": "timestamp[ms, tz=UTC]",
		"case when b then day else dms end": "date64", "coalesce(durs, interval '1s')": "duration[s]", "coalesce(durs, durm)": "duration[ms]", "coalesce(tod, todn)": "time64[ns]", "coalesce(null, b)": "bool",
		"case when b then null else 'x' end": "utf8", "case when b then 1 else 1e0 end": "float64", "coalesce(i64_n, 1)": "int64",
	} {
		p, err := T(text).Bind(s)
		require.NoError(t, err, text)
		require.Equal(t, want, p.Type().String(), text)
	}
	for text, nullable := range map[string]bool{"case when b then 1 else 2 end": false, "case when b then 1 end": true, "case when b_n then i64 else 2 end": false, "case when b then i64_n else 2 end": true,
		"coalesce(i64_n, 1)": false, "coalesce(i64_n, i8_n)": true, "nullif(i64, 1)": true, "try_cast(s as int64)": true, "cast(s as int64)": false, "split_part(s, ',', 1)": true, "lower(s)": false,
		"lower(s_n)": true, "try_cast(i8 as int64)": false} {
		p, err := T(text).Bind(s)
		require.NoError(t, err, text)
		require.Equal(t, nullable, p.Nullable(), text)
	}
}

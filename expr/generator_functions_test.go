package expr

import (
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/scalar"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// str draws a text.
func (g generator) str(depth int) Expr {
	if depth <= 0 {
		switch g.pick("col col col lit null") {
		case "lit":
			return Lit(rapid.SampledFrom(someTexts).Draw(g.t, "text"))
		case "null":
			return Null(arrow.BinaryTypes.String)
		}
		return g.col("s ls sv dict")
	}
	s := g.str(depth - 1)
	switch g.pick("lower upper trim ltrim rtrim concat substr substr2 replace split regexp regexp json case switch coalesce nullif cast") {
	case "lower":
		return Lower(s)
	case "upper":
		return Upper(s)
	case "trim":
		return Trim(s)
	case "ltrim":
		return TrimLeft(s, g.pick("a la\xff lé {12"))
	case "rtrim":
		return TrimRight(s, g.pick("n en3 é } 02"))
	case "concat":
		return Concat(s, g.str(0), g.str(depth-1))
	case "substr":
		return Substr(s, g.whole())
	case "substr2":
		return Substr(s, g.whole(), g.whole())
	case "replace":
		return Replace(s, g.piece(), g.str(0))
	case "split":
		return SplitPart(s, g.piece(), g.whole())
	case "regexp":
		return g.extract(s)
	case "json":
		doc := []Expr{Col("s"), Col("s_n"), Lit(`{"a": {"b": [true, "\ud83d\ude00"]}}`)}[rapid.IntRange(0, 2).Draw(g.t, "doc")]
		path := g.pick("$ $.a $.a.b $.a.b[0] $.a.b[1] $.a.b[9] $[0] $[0][0] $.c $.x.y")
		if rapid.Bool().Draw(g.t, "query") {
			return JSONQuery(doc, path)
		}
		return JSONGet(doc, path)
	case "case":
		return When(g.condition(0), s).When(g.condition(1), g.str(0)).Else(g.str(depth - 1))
	case "switch":
		return Switch(g.str(0)).When("paid", s).When(g.str(0), g.str(0)).When(Col("s"), "x").Expr
	case "coalesce":
		return g.str(0).Coalesce(s, g.str(0))
	case "nullif":
		return s.NullIf(g.str(0))
	}
	return g.castOf(depth, arrow.BinaryTypes.String)
}

// piece draws a short text.
func (g generator) piece() Expr {
	if g.pick("lit lit lit col") == "col" {
		return g.str(0)
	}
	return Lit(rapid.SampledFrom([]string{"", "/", "a", "te", "é", "\xff", "2", ":", "of"}).Draw(g.t, "piece"))
}

func (g generator) whole() Expr {
	if g.pick("lit lit lit col") == "col" {
		return g.col("i8 i64 u8 u64")
	}
	return Lit(rapid.SampledFrom([]int64{0, 1, 2, 3, -1, -2, 5, 20, -1 << 63, 1<<63 - 1}).Draw(g.t, "whole"))
}

var somePatterns = []string{`(&|^)channel_id=([^&]*)`, `[a-z]+`, `^\s*$`, `(é|a)(b)?`, `\bt\w*`, `.`, `(x*)`, `(?i)LONG (TEXT)`, `[^a-z]`, `\d+-(\d+)`, `(a|ab)(c|bcd)?`, `(?m)^0`, `of (seven|ten)$`, `l.*?t(.*)x`, `(a*)*b`}

func (g generator) extract(s Expr) Expr {
	if g.pick("const const const rows") == "rows" {
		if rapid.Bool().Draw(g.t, "group") {
			return RegexpExtract(s, g.str(0), rapid.IntRange(0, 2).Draw(g.t, "g"))
		}
		return RegexpExtract(s, Col("s"))
	}
	p := rapid.SampledFrom(somePatterns).Draw(g.t, "pattern")
	if n := strings.Count(p, "(") - strings.Count(p, "(?"); n > 0 {
		return RegexpExtract(s, p, rapid.IntRange(0, n).Draw(g.t, "group"))
	}
	return RegexpExtract(s, p)
}

// textual draws what functions tell of texts.
func (g generator) textual(depth int) Expr {
	s := g.str(depth)
	switch g.pick("length contains starts ends like match eq") {
	case "length":
		return Length(s)
	case "contains":
		return Contains(s, g.piece())
	case "starts":
		return StartsWith(s, g.piece())
	case "ends":
		return EndsWith(s, g.piece())
	case "like":
		if g.pick("const const rows") == "rows" {
			return s.Like(g.str(0))
		}
		return s.Like(rapid.SampledFrom([]string{"%", "", "a%", "%n", "%text%", "_", "%_é%", `long\_text%`, `%\`, "%a%t%n", "p__d", "%o__f%", "paid"}).Draw(g.t, "like"))
	case "match":
		return RegexpMatch(s, rapid.SampledFrom(somePatterns).Draw(g.t, "pattern"))
	}
	return s.Eq(g.str(depth - 1))
}

// clock draws functions of time.
func (g generator) clock() Expr {
	x := g.col("tms tus tns day dms")
	var zone []string
	if rapid.Bool().Draw(g.t, "zoned") {
		zone = append(zone, g.pick("UTC Europe/Berlin America/New_York Australia/Lord_Howe +05:30 America/Sao_Paulo Asia/Kathmandu"))
	}
	switch g.pick("extract trunc from to") {
	case "extract":
		return Extract(g.pick("year month day hour minute second millisecond microsecond nanosecond dow isodow doy week isoyear quarter epoch"), x, zone...)
	case "trunc":
		return DateTrunc(g.pick("nanosecond microsecond millisecond second minute hour day week month quarter year"), x, zone...)
	case "from":
		return FromEpoch(g.col("i64 i8 u64"), g.pick("s ms us ns"))
	}
	return ToEpoch(x, g.pick("s ms us ns"))
}

// rounded draws functions of numbers.
func (g generator) rounded() Expr {
	x := g.col("i8 i64 u64 f32 f64 d2 d5 d0")
	switch g.pick("abs floor ceil round digits") {
	case "abs":
		return Abs(x)
	case "floor":
		return Floor(x)
	case "ceil":
		return Ceil(x)
	case "round":
		return Round(x)
	}
	return Round(x, rapid.IntRange(-4, 6).Draw(g.t, "digits"))
}

// chosen draws a whole number by case or coalesce.
func (g generator) chosen() Expr {
	value := func() Expr {
		switch g.pick("col lit div") {
		case "col":
			return g.col("i64")
		case "lit":
			return Lit(someInt(g.rand()))
		}
		return g.col("i64").Div(g.col("i64"))
	}
	x := g.col("i64")
	switch g.pick("case switch coalesce nullif") {
	case "case":
		return When(g.condition(1), value()).When(g.condition(0), x).Else(value())
	case "switch":
		return Switch(g.col("i8 u64 i64")).When(value(), value()).When(3, value()).Else(x)
	case "coalesce":
		return value().Coalesce(value(), x)
	}
	return x.NullIf(value())
}

// castTypes are the types that casts are drawn of.
var castTypes = []arrow.DataType{arrow.FixedWidthTypes.Boolean, arrow.PrimitiveTypes.Int8, arrow.PrimitiveTypes.Int32, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Uint16, arrow.PrimitiveTypes.Uint64,
	arrow.PrimitiveTypes.Float32, arrow.PrimitiveTypes.Float64, &arrow.Decimal128Type{Precision: 6, Scale: 2}, &arrow.Decimal128Type{Precision: 38, Scale: 3}, arrow.BinaryTypes.String,
	arrow.FixedWidthTypes.Date32, arrow.FixedWidthTypes.Date64, arrow.FixedWidthTypes.Timestamp_s, arrow.FixedWidthTypes.Timestamp_ms, &arrow.TimestampType{Unit: arrow.Nanosecond, TimeZone: "America/New_York"},
	&arrow.TimestampType{Unit: arrow.Microsecond}, arrow.FixedWidthTypes.Time32s, arrow.FixedWidthTypes.Time64ns, arrow.FixedWidthTypes.Duration_ms, arrow.FixedWidthTypes.Duration_ns}

// castOf draws a cast to a type, of a column or a text.
func (g generator) castOf(depth int, t arrow.DataType) Expr {
	s := wideSchema()
	var fields []string
	for _, f := range s.Fields() {
		if f.Name != "bin" && f.Name != "bin_n" && f.Name != "dict" && f.Name != "dict_n" && !strings.HasPrefix(f.Name, "dur") && scalar.Castable(f.Type, t) {
			fields = append(fields, f.Name)
		}
	}
	x := Col(rapid.SampledFrom(fields).Draw(g.t, "of"))
	if g.pick("col col text") == "text" {
		x = g.str(depth - 1)
	}
	if rapid.Bool().Draw(g.t, "try") {
		return x.TryCast(t)
	}
	return x.Cast(t)
}

func TestFunctionsEqualTheModel(t *testing.T) {
	s := wideSchema()
	rapid.Check(t, func(t *rapid.T) {
		g := generator{t}
		pool := column.NewDebugPool()
		n := rapid.SampledFrom([]int{1, 3, 64, 200, 1100}).Draw(t, "rows")
		batch := fillBatch(pool, s, g.rand(), n)
		batch = cutBatch(t, pool, batch)
		for range 6 {
			var e Expr
			switch g.pick("str str textual clock rounded chosen cast cast") {
			case "str":
				e = g.str(rapid.IntRange(1, 3).Draw(t, "depth"))
			case "textual":
				e = g.textual(rapid.IntRange(0, 2).Draw(t, "depth"))
			case "clock":
				e = g.clock()
			case "rounded":
				e = g.rounded()
			case "chosen":
				e = g.chosen()
			default:
				e = g.castOf(1, rapid.SampledFrom(castTypes).Draw(t, "type"))
			}
			p, err := e.Bind(s)
			if err != nil {
				require.True(t, mayRefuse(err), "%s: %v", e, err)
				continue
			}
			checkProgram(t, p, batch)
			checkText(t, e)
			checkSpec(t, e)
		}
		batch.Release()
		require.NoError(t, pool.Check())
	})
}

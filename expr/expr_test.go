package expr

import (
	"encoding/json"
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/tree"
	"github.com/hashicorp/go-multierror"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
)

type address struct {
	City string `arkflow:"city"`
}

type order struct {
	address
	Customer string `arkflow:"customer_id"`
	Status   string `json:"status"`
	Amount   float64
	Note     *string
	At       time.Time
	hidden   int
}

func orderSchema() *arrow.Schema {
	return arrow.NewSchema([]arrow.Field{
		{Name: "customer_id", Type: arrow.BinaryTypes.String}, {Name: "status", Type: arrow.BinaryTypes.String},
		{Name: "Amount", Type: arrow.PrimitiveTypes.Float64}, {Name: "Note", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "At", Type: arrow.FixedWidthTypes.Timestamp_us}, {Name: "city", Type: arrow.BinaryTypes.String},
	}, nil)
}

func TestFieldNamesTheColumnOfASelector(t *testing.T) {
	for want, e := range map[string]Expr{
		"customer_id": Field(func(o *order) *string { return &o.Customer }).Expr,
		"status":      Field(func(o *order) *string { return &o.Status }).Expr,
		"Amount":      Field(func(o *order) *float64 { return &o.Amount }).Expr,
		"Note":        Field(func(o *order) **string { return &o.Note }).Expr,
		"At":          Field(func(o *order) *time.Time { return &o.At }).Expr,
		"city":        Field(func(o *order) *string { return &o.City }).Expr,
	} {
		require.Equal(t, want, e.String())
		_, err := e.Bind(orderSchema())
		require.NoError(t, err, want)
	}
}

func TestFieldFaultsAreKeptForBind(t *testing.T) {
	var stray string
	for name, c := range map[string]struct {
		e    Expr
		want string
	}{
		"stray":    {Field(func(*order) *string { return &stray }).Eq("x"), "does not lead into"},
		"nil":      {Field(func(*order) *string { return nil }).Eq("x"), "does not lead into"},
		"panic":    {Field(func(*order) *string { panic("no") }).Eq("x"), "panics with no"},
		"no func":  {Field[order, string](nil).Eq("x"), "selector is nil"},
		"hidden":   {Field(func(o *order) *int { return &o.hidden }).Eq(1), "no field with a column"},
		"no row":   {Field(func(o *int) *int { return o }).Eq(1), "is not a struct"},
		"mismatch": {Field(func(o *order) *string { return &o.Status }).Eq("x"), `column "status" is int64, but the field that selects it is a string`},
	} {
		s := orderSchema()
		if name == "mismatch" {
			s = arrow.NewSchema([]arrow.Field{{Name: "status", Type: arrow.PrimitiveTypes.Int64}}, nil)
		}
		_, err := c.e.Bind(s)
		require.ErrorContains(t, err, c.want, name)
		_, err = ToSpec(c.e)
		require.Equal(t, name != "mismatch", err != nil, name)
	}
}

func TestFieldTypesFitColumnTypes(t *testing.T) {
	types := map[string]arrow.DataType{"bool": arrow.FixedWidthTypes.Boolean, "int": arrow.PrimitiveTypes.Int64, "float": arrow.PrimitiveTypes.Float64,
		"text": arrow.BinaryTypes.String, "time": arrow.FixedWidthTypes.Timestamp_ms, "dec": &arrow.Decimal128Type{Precision: 5}}
	fits := map[reflect.Type]string{
		reflect.TypeFor[bool](): "bool", reflect.TypeFor[*int32](): "int float time dec", reflect.TypeFor[float32](): "int float time dec",
		reflect.TypeFor[[]byte](): "text", reflect.TypeFor[time.Time](): "int time dec", reflect.TypeFor[*time.Duration](): "int time dec",
		reflect.TypeFor[struct{}](): "bool int float text time dec", reflect.TypeFor[[]int](): "bool int float text time dec",
	}
	for goType, names := range fits {
		for name, dt := range types {
			assert.Equal(t, containsWord(names, name), tree.FieldTypeOf(goType).Holds(dt), "%s over %s", goType, name)
		}
	}
}

func TestBindReportsAllFaultsTogether(t *testing.T) {
	s := orderSchema()
	e := Col("statu").Eq("paid").And(Col("Amount").Gt("x")).And(Col("status").Add(1).Eq(2)).Or(Col("statu").IsNull()).And(Lit(struct{}{}).Eq(1)).And(Col("Amount"))
	_, err := e.Bind(s)
	var many *multierror.Error
	require.ErrorAs(t, err, &many)
	var got []string
	for _, e := range many.Errors {
		var f *fault.Fault
		require.ErrorAs(t, e, &f)
		got = append(got, f.Error())
	}
	require.Equal(t, []string{
		`no column "statu"; did you mean "status"?`,
		`expression Amount > 'x': Amount of type float64 cannot be compared with 'x' of type utf8`,
		`expression status + 1: there is no + between status of type utf8 and 1 of type int64`,
		`expression: a Go value of type struct {} has no column type: give a scalar, string, []byte, time.Time or time.Duration`,
	}, got)
}

func TestFaults(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{
		{Name: "b", Type: arrow.FixedWidthTypes.Boolean}, {Name: "d", Type: &arrow.Decimal128Type{Precision: 38, Scale: 30}}, {Name: "neg", Type: &arrow.Decimal128Type{Precision: 10, Scale: -20}},
		{Name: "at", Type: arrow.FixedWidthTypes.Timestamp_ms}, {Name: "list", Type: arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int8)}, {Name: "n", Type: arrow.PrimitiveTypes.Int64},
		{Name: "tod", Type: arrow.FixedWidthTypes.Time32s}, {Name: "dur", Type: arrow.FixedWidthTypes.Duration_s},
	}, nil)
	for want, e := range map[string]Expr{
		`no column ""; there are`:                                                                                                      Col(""),
		"expression b < true: booleans have no order; use eq or ne":                                                                    Col("b").Lt(true),
		"expression not n: not needs conditions, and n has type int64; compare it with something":                                      Col("n").Not(),
		"expression n and b: and needs conditions, and n has type int64; compare it with something":                                    Col("n").And(Col("b")),
		"expression b or n: or needs conditions, and n has type int64":                                                                 Col("b").Or(Col("n")),
		"expression d * d: the result of decimal(38, 30) * decimal(38, 30) would have more than 38 digits after the point":             Col("d").Mul(Col("d")),
		"expression d + neg: the result of":                                                                                            Col("d").Add(Col("neg")),
		"expression d < neg: scales of decimal(38, 30) and decimal(10, -20) are more than 38 digits apart":                             Col("d").Lt(Col("neg")),
		"expression d / 2: decimals have no /":                                                                                         Col("d").Div(2),
		"expression at = 5: at of type timestamp[ms, tz=UTC] cannot be compared with 5 of type int64; compare it with a time.Time":     Col("at").Eq(5),
		"expression tod = n: tod of type time32[s] cannot be compared with n of type int64; compare it with a time.Duration since mid": Col("tod").Eq(Col("n")),
		"expression dur = n: dur of type duration[s] cannot be compared with n of type int64; compare it with a time.Duration":         Col("dur").Eq(Col("n")),
		"expression at * 2: there is no * between at of type timestamp":                                                                Col("at").Mul(2),
		"expression -at: there is no negative of type timestamp":                                                                       Col("at").Neg(),
		"expression -b: there is no negative of type bool":                                                                             Col("b").Neg(),
		`expression list: type fixed_size_list<item: int8, nullable>[2] of column "list" is not supported`:                             Col("list").IsNull(),
		"type fixed_size_list<item: int8, nullable>[2] is not supported":                                                               Null(arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int8)),
		"expression null: null has no type here; give the null a type with expr.Null":                                                  Lit(nil),
		"expression n in (1, 'x'): n of type int64 cannot be compared with 'x' of type utf8":                                           Col("n").In(1, "x"),
		"expression: the zero Expr is no expression":                                                                                   Expr{}.Eq(1),
		`no column "x"`: Col("x").In(1, Col("x"), Col("y")),
	} {
		_, err := e.Bind(s)
		require.ErrorContains(t, err, want)
	}
	_, err := Expr{}.Bind(s)
	require.Error(t, err)
}

func TestText(t *testing.T) {
	a, b, c := Col("a"), Col("b"), Col("my col")
	at := time.Date(2024, 5, 1, 12, 30, 0, 5e8, time.FixedZone("x", 3600))
	for want, e := range map[string]Expr{
		"status = 'paid' and amount > 0":          Col("status").Eq("paid").And(Col("amount").Gt(0)),
		"(a + b) * 2 - b":                         a.Add(b).Mul(2).Sub(b),
		"a - (b - 1)":                             a.Sub(b.Sub(1)),
		"a / (b * 2) % 3":                         a.Div(b.Mul(2)).Mod(3),
		"(a = 1 or b = 2) and not a < b":          a.Eq(1).Or(b.Eq(2)).And(a.Lt(b).Not()),
		"not (a = 1 and b = 2)":                   a.Eq(1).And(b.Eq(2)).Not(),
		"a = 1 and (b = 2 and a = 3)":             a.Eq(1).And(b.Eq(2).And(a.Eq(3))),
		"(a = b) = (b <> a)":                      a.Eq(b).Eq(b.Ne(a)),
		"-a * -(b + 1)":                           a.Neg().Mul(b.Add(1).Neg()),
		"-(-5) - -5":                              Lit(-5).Neg().Sub(-5),
		"a + 1 is null":                           a.Add(1).IsNull(),
		"(a is null) is not null":                 a.IsNull().IsNotNull(),
		`"my col" in ('it''s', x'00ff', null)`:    c.In("it's", []byte{0, 255}, nil),
		"a <= 2e0 or a >= 1e+100":                 a.Le(2.0).Or(a.Ge(1e100)),
		"a > cast('NaN' as float64)":              a.Gt(math.NaN()),
		"a > cast(null as timestamp[ms, tz=UTC])": a.Gt(Null(arrow.FixedWidthTypes.Timestamp_ms)),
		"a < timestamp '2024-05-01T11:30:00.5Z'":  a.Lt(at),
		"a + interval '1m30s'":                    a.Add(90 * time.Second),
		`"null" = true and "a""b" = false`:        Col("null").Eq(true).And(Col(`a"b`).Eq(false)),
		"a = 18446744073709551615 and a = cast(0.1e0 as float32) and a = cast(7 as int8)": a.Eq(uint64(math.MaxUint64)).And(a.Eq(float32(0.1))).And(a.Eq(int8(7))),
	} {
		require.Equal(t, want, e.String())
	}
	require.Equal(t, []string{"a", "b"}, a.Add(b).Eq(a).Columns())
	require.Equal(t, "total", a.Add(b).As("total").Output().Name)
	require.Equal(t, "a", a.Output().Name)
	require.Equal(t, "", a.Add(b).Output().Name)
	require.Equal(t, "a = b", a.Eq(b.As("x")).String())
}

func TestLitTakesNamedTypesAndPointers(t *testing.T) {
	type status string
	type level uint8
	seven, none := 7, (*int32)(nil)
	for want, v := range map[string]any{
		"'paid'": status("paid"), "cast(3 as uint8)": level(3), "7": &seven, "cast(null as int32)": none, "cast(null as binary)": []byte(nil),
		"cast(null as timestamp[ns, tz=UTC])": (*time.Time)(nil), "timestamp '2300-01-01T00:00:00Z'": time.Date(2300, 1, 1, 0, 0, 0, 0, time.UTC), "true": true, "x''": []byte{},
	} {
		if want == "cast(null as timestamp[ns, tz=UTC])" {
			require.Contains(t, Lit(v).String(), "cast(null as timestamp")
			continue
		}
		require.Equal(t, want, Lit(v).String())
	}
	require.Error(t, Lit(make(chan int)).n.Fault)
	require.Equal(t, "cast(null as decimal(5, 2))", Null(&arrow.Decimal128Type{Precision: 5, Scale: 2}).String())
	require.Equal(t, "null", Null(nil).String())
}

func TestTypesOfResults(t *testing.T) {
	s := wideSchema()
	for _, c := range []struct {
		e        Expr
		want     string
		nullable bool
	}{
		{Col("i32").Add(5), "int64", false}, {Col("i32_n").Add(5), "int64", true}, {Col("u64").Add(5), "uint64", false}, {Col("u64").Add(-5), "int64", false},
		{Col("u64").Mul(Col("u8")), "uint64", false}, {Col("u8").Mul(Col("u16")), "int64", false}, {Col("i64").Add(uint64(5)), "int64", false},
		{Col("f32").Mul(2), "float32", false}, {Col("f32").Mul(0.5), "float32", false}, {Col("f32").Mul(0.1), "float64", false}, {Col("i64").Div(2.0), "float64", false},
		{Col("d2").Mul(0.1), "decimal(14, 3)", false}, {Col("d2").Add(1), "decimal(13, 2)", false}, {Col("d2").Mul(Col("f64")), "float64", false},
		{Col("tms").Add(90 * time.Second), "timestamp[ms, tz=UTC]", false}, {Col("tms").Add(time.Nanosecond), "timestamp[ns, tz=UTC]", false},
		{Col("ts").Sub(Col("day")), "duration[s]", false}, {Col("tms").Sub(time.Unix(5, 0)), "duration[ms]", false},
		{Col("durs").Mul(3), "duration[s]", false}, {Col("i64").Eq(5), "bool", false}, {Col("i64").Eq(nil), "bool", true}, {Col("i64_n").IsNull(), "bool", false},
		{Col("dict"), "dictionary<values=utf8, indices=int32, ordered=false>", false}, {Col("i8").In(1, nil), "bool", true}, {Lit(5), "int64", false}, {Lit(nil).Add(nil), "int64", true},
		{Col("tms").Add(nil), "timestamp[ms, tz=UTC]", true}, {Col("durs").Mul(nil), "duration[s]", true}, {Lit(nil).Neg(), "int64", true},
	} {
		p, err := c.e.Bind(s)
		require.NoError(t, err)
		assert.Equal(t, c.want, p.Type().String(), c.e.String())
		assert.Equal(t, c.nullable, p.Nullable(), c.e.String())
	}
}

func containsWord(words, w string) bool {
	for _, x := range strings.Fields(words) {
		if x == w {
			return true
		}
	}
	return false
}

// TestSpecSurvivesDocuments writes random expressions as JSON and YAML and reads them back.
func TestSpecSurvivesDocuments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := generator{t}.any(rapid.IntRange(0, 3).Draw(t, "depth"))
		spec, err := ToSpec(e)
		require.NoError(t, err)
		for name, through := range map[string]func(any) (any, error){
			"json": func(v any) (out any, err error) {
				b, err := json.Marshal(v)
				return out, errors.Join(err, json.Unmarshal(b, &out))
			},
			"yaml": func(v any) (out any, err error) {
				b, err := yaml.Marshal(v)
				return out, errors.Join(err, yaml.Unmarshal(b, &out))
			},
		} {
			doc, err := through(spec)
			require.NoError(t, err)
			back, err := FromSpec(doc)
			require.NoError(t, err, "%s: %v", name, doc)
			again, err := ToSpec(back)
			require.NoError(t, err)
			require.Equal(t, spec, again, name)
			require.Equal(t, e.String(), back.String(), name)
		}
	})
}

func TestSpecFaultsNameTheirPlace(t *testing.T) {
	for _, c := range []struct{ doc, want string }{
		{`{"eq":[{"col":"a"},{"colm":"b"}]}`, `eq[1]: no operator or type "colm"; did you mean "col"?`},
		{`{"and":[{"not":{"col":5}},true]}`, `and[0].not.col: a column's name is a string that is not empty, not 5`},
		{`{"eq":[1,2],"gt":[1,2]}`, `an expression has one operator, here are 2: "eq", "gt"; write {"and": […]} to join conditions`},
		{`{}`, `an expression has one operator, here are 0`},
		{`[1]`, `a list is no expression; write an operator around it`},
		{`{"eq":[1]}`, `eq: takes two operands, not 1`},
		{`{"and":[true]}`, `and: takes two operands or more, not 1`},
		{`{"in":[]}`, `in: takes a value and the list that it may be in`},
		{`{"not":[true,false]}`, `not: takes one operand, not 2`},
		{`{"add":5}`, `add: takes a list of operands`},
		{`{"timestamp":"yesterday"}`, `timestamp: "yesterday" is no time; write it as 2024-05-01T12:30:00Z`},
		{`{"timestamp":5}`, `timestamp: a timestamp is written as a string, not 5`},
		{`{"duration":"5"}`, `duration: "5" is no duration; write it as 1h30m, 250ms`},
		{`{"binary":"%"}`, `binary: "%" is not base64`},
		{`{"int8":300}`, `int8: 300 is no int8`},
		{`{"uint8":-1}`, `uint8: -1 is no uint8`},
		{`{"null":"integr"}`, `null: "integr" is no type; write it as int64, utf8, timestamp[ms, tz=UTC], decimal(10, 2)`},
		{`{"null":"decimal(99, 2)"}`, `null: "decimal(99, 2)" is no type`},
	} {
		var doc any
		require.NoError(t, json.Unmarshal([]byte(c.doc), &doc))
		_, err := FromSpec(doc)
		require.ErrorContains(t, err, c.want)
		var f *fault.Fault
		require.ErrorAs(t, err, &f)
	}
	_, err := FromSpec(map[string]any{"and": []any{map[string]any{"x": 1}, map[string]any{"y": 1}}})
	var many *multierror.Error
	require.ErrorAs(t, err, &many)
	require.Len(t, many.Errors, 2)
	_, err = FromSpec(make(chan int))
	require.ErrorContains(t, err, "has no column type")
	_, err = FromSpec(Col("a"))
	require.ErrorContains(t, err, "has no column type")
	_, err = ToSpec(Null(arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int8)))
	require.ErrorContains(t, err, "has no written form")
	deep := any(true)
	for range 1000 {
		deep = map[string]any{"not": deep}
	}
	_, err = FromSpec(deep)
	require.ErrorContains(t, err, "nested more than 500 deep")
}

func TestSpecTakesNumbersOfEveryReader(t *testing.T) {
	for _, v := range []any{5, int64(5), uint64(5), float64(5), json.Number("5")} {
		e, err := FromSpec(v)
		require.NoError(t, err)
		require.Equal(t, "5", e.String())
	}
	for want, v := range map[string]any{"0.5e0": json.Number("0.5"), "18446744073709551615": uint64(math.MaxUint64), "1e+300": 1e300, "2.5e0": 2.5, "cast(5 as int8)": int8(5)} {
		e, err := FromSpec(v)
		require.NoError(t, err)
		require.Equal(t, want, e.String())
	}
	_, err := FromSpec(json.Number("1e999"))
	require.ErrorContains(t, err, "out of range")
	e, err := FromSpec(map[any]any{"and": []any{true, map[any]any{"is_null": []any{map[any]any{"col": "a"}}}, map[string]any{"eq": []any{map[string]any{"float64": 5}, map[string]any{"string": "x"}}}}})
	require.NoError(t, err)
	require.Equal(t, "true and a is null and 5e0 = 'x'", e.String())
}

func FuzzFromSpec(f *testing.F) {
	for _, doc := range []string{`{"and":[{"eq":[{"col":"status"},"paid"]},{"gt":[{"col":"amount"},0]}]}`, `{"in":[{"col":"a"},1,2.5,null,{"null":"timestamp[ms, tz=UTC]"}]}`,
		`{"not":{"is_null":{"neg":{"int8":-128}}}}`, `{"timestamp":"2024-05-01T00:00:00Z"}`, `{"duration":"1h"}`, `{"float32":"NaN"}`} {
		f.Add([]byte(doc))
	}
	s := wideSchema()
	f.Fuzz(func(t *testing.T, doc []byte) {
		var v any
		if json.Unmarshal(doc, &v) != nil {
			return
		}
		e, err := FromSpec(v)
		if err != nil {
			return
		}
		spec, err := ToSpec(e)
		require.NoError(t, err)
		back, err := FromSpec(spec)
		require.NoError(t, err)
		require.Equal(t, e.String(), back.String())
		_, _ = e.Bind(s) // must not panic
	})
}

package expr_test

import (
	"fmt"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/expr"
)

// show prints the values of an expression for some orders, as text.
func show(e expr.Expr) {
	b := someOrders()
	defer b.Release()
	p, err := e.Cast(arrow.BinaryTypes.String).Bind(orders)
	if err != nil {
		fmt.Println(err)
		return
	}
	out := column.NewBatch(b.Pool(), arrow.NewSchema([]arrow.Field{{Name: "v", Type: p.Type(), Nullable: true}}, nil), b.Len())
	defer out.Release()
	var errs expr.Errors
	if err := p.New().Eval(out, &out.Cols[0], b, &errs); err != nil {
		fmt.Println(err)
	}
	var values []string
	for i := range b.Len() {
		v := out.Cols[0].String(i)
		if out.Cols[0].IsNull(i) {
			v = "null"
		}
		values = append(values, v)
	}
	fmt.Println(strings.Join(values, " "))
}

func ExampleT() {
	show(expr.T("amount between 40 and 100"))
	show(expr.T("case when amount > 100 then 'big' when amount > 0 then 'small' end"))
	_, err := expr.T("status = and amount > 0").Bind(orders)
	fmt.Println(err)
	// Output:
	// false true false true
	// big small null small
	// expression: at 1:10: "and" stands where an operand should; a column of that name stands in double quotes: "and"
	// 	status = and amount > 0
	// 	         ^
}

func ExampleWhen() {
	amount := expr.Col("amount")
	show(expr.When(amount.Gt(100), "big").When(amount.Gt(0), "small").Else("none"))
	// Output: big small none small
}

func ExampleSwitch() {
	show(expr.Switch(expr.Col("status")).When("paid", 1).When("open", 0).Else(-1))
	// Output: 1 0 1 1
}

func ExampleExpr_Between() {
	show(expr.Col("amount").Between(45, 100))
	// Output: false true false true
}

func ExampleExpr_Like() {
	show(expr.Col("customer_id").Like("_n%"))
	// Output: true false true false
}

func ExampleExpr_Cast() {
	show(expr.Col("amount").Cast(&arrow.Decimal128Type{Precision: 7, Scale: 2}))
	// Output: 120.00 80.00 0.00 45.00
}

func ExampleExpr_TryCast() {
	show(expr.Col("amount").TryCast(arrow.PrimitiveTypes.Int8))
	// Output: 120 80 0 45
}

func ExampleExpr_Coalesce() {
	show(expr.Col("amount").NullIf(0).Coalesce(expr.Lit(-1)))
	// Output: 120 80 -1 45
}

func ExampleExpr_NullIf() {
	show(expr.Lit(3600).Div(expr.Col("amount").NullIf(0)))
	// Output: 30 45 null 80
}

func ExampleUpper() {
	name := expr.Col("customer_id")
	show(expr.Concat(expr.Upper(expr.Substr(name, 1, 1)), expr.Lower(expr.Substr(name, 2))))
	show(expr.Length(expr.Trim(name, "a")))
	show(expr.Replace(name, "n", "m"))
	// Output:
	// Ann Bob Ann Cid
	// 2 3 2 3
	// amm bob amm cid
}

func ExampleTrim() {
	show(expr.Concat("[", expr.Trim(expr.Concat("  ", expr.Col("status"), " ")), "]"))
	show(expr.TrimLeft(expr.TrimRight(expr.Col("customer_id"), "nb"), "a"))
	// Output:
	// [paid] [open] [paid] [paid]
	//  bo  cid
}

func ExampleContains() {
	status := expr.Col("status")
	show(expr.Contains(status, "e").Or(expr.StartsWith(status, "o")).Or(expr.EndsWith(status, "x")))
	// Output: false true false false
}

func ExampleSplitPart() {
	show(expr.SplitPart("a/b/c", "/", 2))
	// Output: b b b b
}

func ExampleRegexpExtract() {
	show(expr.RegexpExtract(expr.Col("customer_id"), "^(.)[a-n]", 1))
	show(expr.RegexpMatch(expr.Col("customer_id"), "^(.)[a-n]"))
	// Output:
	// a null a c
	// true false true true
}

func ExampleJSONGet() {
	doc := expr.Concat(`{"id": "`, expr.Col("customer_id"), `", "tags": ["x", 7]}`)
	show(expr.JSONGet(doc, "id"))
	show(expr.JSONGet(doc, "$.tags[1]"))
	show(expr.JSONQuery(doc, "tags"))
	// Output:
	// ann bob ann cid
	// 7 7 7 7
	// ["x", 7] ["x", 7] ["x", 7] ["x", 7]
}

func ExampleDateTrunc() {
	at := expr.Lit(time.Date(2026, 7, 1, 22, 30, 0, 0, time.UTC))
	show(expr.DateTrunc("day", at, "Europe/Berlin").As("day").Expr)
	show(expr.Extract("hour", at, "Europe/Berlin"))
	// Output:
	// 2026-07-01T22:00:00Z 2026-07-01T22:00:00Z 2026-07-01T22:00:00Z 2026-07-01T22:00:00Z
	// 0 0 0 0
}

func ExampleFromEpoch() {
	at := expr.FromEpoch(expr.Col("amount"), "s")
	show(at)
	show(expr.ToEpoch(at, "ms"))
	// Output:
	// 1970-01-01T00:02:00Z 1970-01-01T00:01:20Z 1970-01-01T00:00:00Z 1970-01-01T00:00:45Z
	// 120000 80000 0 45000
}

func ExampleRound() {
	x := expr.Col("amount").Div(-7.0)
	show(expr.Round(x, 2))
	show(expr.Abs(expr.Floor(x)))
	show(expr.Ceil(x))
	// Output:
	// -17.14 -11.43 -0 -6.43
	// 18 12 0 7
	// -17 -11 -0 -6
}

func ExampleHash() {
	show(expr.Hash(expr.Col("customer_id")).Mod(4))
	// Output: 2 0 2 0
}

package expr_test

import (
	"encoding/json"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/expr"
)

type Order struct {
	Customer string `arkflow:"customer_id"`
	Status   string `arkflow:"status"`
	Amount   int64  `arkflow:"amount"`
}

var orders = arrow.NewSchema([]arrow.Field{
	{Name: "customer_id", Type: arrow.BinaryTypes.String}, {Name: "status", Type: arrow.BinaryTypes.String}, {Name: "amount", Type: arrow.PrimitiveTypes.Int64},
}, nil)

func someOrders() *column.Batch {
	b := column.NewBuilder(column.NewPool(), orders)
	for _, o := range []Order{{"ann", "paid", 120}, {"bob", "open", 80}, {"ann", "paid", 0}, {"cid", "paid", 45}} {
		b.String(0, o.Customer)
		b.String(1, o.Status)
		b.Int64(2, o.Amount)
		b.EndRow()
	}
	return b.Finish()
}

func ExampleExpr() {
	status, amount := expr.Col("status"), expr.Col("amount")
	fmt.Println(status.Eq("paid").And(amount.Gt(0).Or(amount.IsNull())))
	fmt.Println(amount.Mul(908).Div(1000).As("net").Output().Name)
	// Output:
	// status = 'paid' and (amount > 0 or amount is null)
	// net
}

func ExampleField() {
	status := expr.Field(func(o *Order) *string { return &o.Status })
	fmt.Println(status.In("paid", "sent"))
	// Output: status in ('paid', 'sent')
}

func ExampleExpr_Bind() {
	p, err := expr.Col("amount").Add(1).Bind(orders)
	fmt.Println(p.Type(), p.Nullable(), err)

	_, err = expr.Col("amuont").Add("x").Bind(orders)
	fmt.Println(err)
	// Output:
	// int64 false <nil>
	// no column "amuont"; did you mean "amount"?
}

func ExampleEvaluator_Filter() {
	b := someOrders()
	defer b.Release()
	p, _ := expr.Col("status").Eq("paid").And(expr.Col("amount").Gt(0)).Bind(orders)
	var errs expr.Errors
	kept, _ := p.New().Filter(b, &errs)
	defer kept.Release()
	for i := range kept.Len() {
		fmt.Println(kept.Column("customer_id").String(kept.Row(i)))
	}
	// Output:
	// ann
	// cid
}

func ExampleEvaluator_Eval() {
	b := someOrders()
	defer b.Release()
	p, _ := expr.Lit(3600).Div(expr.Col("amount")).Bind(orders)
	out := column.NewBatch(b.Pool(), arrow.NewSchema([]arrow.Field{{Name: "share", Type: p.Type(), Nullable: true}}, nil), b.Len())
	defer out.Release()
	var errs expr.Errors
	if err := p.New().Eval(out, &out.Cols[0], b, &errs); err != nil {
		fmt.Println(err)
	}
	fmt.Println(column.Values[int64](&out.Cols[0])[0], "rows in error:", errs.Rows())
	fmt.Println(errs.First())
	// Output:
	// 30 rows in error: [2]
	// 3600 / amount: 3600 / 0: division by zero
}

func ExampleToSpec() {
	spec, _ := expr.ToSpec(expr.Col("status").Eq("paid").And(expr.Col("amount").Gt(0)))
	text, _ := json.Marshal(spec)
	fmt.Println(string(text))
	// Output: {"and":[{"eq":[{"col":"status"},"paid"]},{"gt":[{"col":"amount"},0]}]}
}

func ExampleFromSpec() {
	var spec any
	_ = json.Unmarshal([]byte(`{"in": [{"col": "status"}, "paid", "sent"]}`), &spec)
	e, err := expr.FromSpec(spec)
	fmt.Println(e, err)
	// Output: status in ('paid', 'sent') <nil>
}

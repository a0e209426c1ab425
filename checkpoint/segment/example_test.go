package segment_test

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/checkpoint/segment"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/state"
)

func Example() {
	schema := arrow.NewSchema([]arrow.Field{{Name: "customer", Type: arrow.BinaryTypes.String}, {Name: "orders", Type: arrow.PrimitiveTypes.Int64}}, nil)
	rows := column.NewBuilder(nil, schema)
	for i, customer := range []string{"ada", "grace"} {
		rows.String(0, customer)
		rows.Int64(1, int64(10+i))
		rows.EndRow()
	}
	batch := rows.Finish()
	table := state.Table{Schema: schema, Rows: batch.Rows, Cols: batch.Cols, Groups: []uint16{17, 94}}

	var object []byte // which a checkpoint uploads
	w, err := segment.NewWriter(segment.Options{}, func(o segment.Object) error {
		object = o.Data
		return nil
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(w.Add(segment.Block{Table: "totals", Part: 1, Full: true}, table), w.Close())

	r, err := segment.Open(object)
	if err != nil {
		fmt.Println(err)
		return
	}
	for i, e := range r.Blocks() {
		t, err := r.Read(i)
		fmt.Println(e.Table, e.Part, e.Full, e.Rows, "rows of the key groups", e.Groups.First, "to", e.Groups.End-1, err)
		for row := range t.Rows {
			fmt.Println(t.Groups[row], t.Cols[0].String(row), column.Values[int64](&t.Cols[1])[row])
		}
	}
	// Output:
	// <nil> <nil>
	// totals 1 true 2 rows of the key groups 17 to 94 <nil>
	// 17 ada 10
	// 94 grace 11
}

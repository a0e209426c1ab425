package column_test

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
)

func Example() {
	schema := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}, {Name: "tier", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	pool := column.NewDebugPool()
	b := column.NewBuilder(pool, schema)
	for id := range int64(4) {
		b.Int64(0, id)
		if id%2 == 0 {
			b.String(1, "gold")
		}
		b.EndRow()
	}
	batch := b.Finish()

	some := batch.Derive() // shares the columns
	some.Sel = []uint32{1, 2}
	for i := range some.Len() {
		row := some.Row(i)
		if tier := some.Column("tier"); !tier.IsNull(row) {
			fmt.Println(column.Values[int64](&some.Cols[0])[row], tier.String(row))
		}
	}
	some.Release()
	batch.Release()
	fmt.Println(pool.Check())
	// Output:
	// 2 gold
	// <nil>
}

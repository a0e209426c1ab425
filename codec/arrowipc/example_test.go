package arrowipc_test

import (
	"bytes"
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/codec/arrowipc"
	"github.com/arkflow-go/arkflow/column"
)

func Example() {
	schema := arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}}, nil)
	rows := column.NewBuilder(nil, schema)
	rows.Int64(0, 7)
	rows.EndRow()

	var out bytes.Buffer
	w, err := arrowipc.New(nil).Compress(arrowipc.LZ4).CreateBlocks(&out, schema)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(w.Write(rows.Finish()), w.Close())

	options := codec.BlockOptions{Rows: 1000, MaxBytes: 1 << 20}
	r, err := arrowipc.New(nil).OpenBlocks(context.Background(), bytes.NewReader(out.Bytes()), int64(out.Len()), options)
	if err != nil {
		fmt.Println(err)
		return
	}
	batch, err := r.Next()
	fmt.Println(r.Schema().Field(0), column.Values[int64](batch.Column("id")), err)
	batch.Release()
	_, err = r.Next()
	fmt.Println(err, r.Close())
	// Output:
	// <nil> <nil>
	// id: type=int64 [7] <nil>
	// EOF <nil>
}

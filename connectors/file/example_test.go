package file_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/connectors/file"
	"github.com/arkflow-go/arkflow/expr"
)

func Example() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	in, out := filepath.Join(dir, "orders.jsonl"), filepath.Join(dir, "large.jsonl")
	if err := os.WriteFile(in, []byte("{\"id\":1,\"amount\":2.5}\n{\"id\":2,\"amount\":250}\n"), 0o600); err != nil {
		fmt.Println(err)
		return
	}

	job := arkflow.NewJob("large-orders")
	// The schema is inferred from the first lines.
	job.Source("orders", file.Source{URL: in}, arkflow.ProcessingTime()).
		Filter("large", expr.Col("amount").Gt(100)).
		Sink("out", file.Sink{URL: out})
	if err := job.Run(context.Background()); err != nil {
		fmt.Println(err)
		return
	}
	text, err := os.ReadFile(out)
	fmt.Print(string(text), err)
	// Output:
	// {"id":2,"amount":250}
	// <nil>
}

package main

import (
	"fmt"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
)

// total is what a customer has ordered since the service started.
type total struct {
	Orders int64 `json:"orders"`
	Cents  int64 `json:"cents"`
}

// board is a sink of our own: it adds the results of all windows up, by customer.
type board struct {
	mu     sync.Mutex
	totals map[string]total
}

func newBoard() *board { return &board{totals: map[string]total{}} }

// all gives a copy of the totals.
func (b *board) all() map[string]total {
	b.mu.Lock()
	defer b.mu.Unlock()
	out := make(map[string]total, len(b.totals))
	for k, v := range b.totals {
		out[k] = v
	}
	return out
}

// Kind is part of operator.Sink.
func (b *board) Kind() string { return "board" }

// Check is part of operator.Sink: it says at compile time whether the sink takes such rows.
func (b *board) Check(in operator.Stream) error {
	for name, want := range map[string]arrow.DataType{"customer": arrow.BinaryTypes.String, "orders": arrow.PrimitiveTypes.Int64, "cents": arrow.PrimitiveTypes.Int64} {
		f, ok := in.Schema.FieldsByName(name)
		if !ok || !arrow.TypeEqual(f[0].Type, want) {
			return fmt.Errorf("the board needs a column %q of %s", name, want)
		}
	}
	return nil
}

// Open is part of operator.Sink.
func (b *board) Open(*operator.Context, operator.Stream) (operator.Writer, error) {
	return boardWriter{b}, nil
}

type boardWriter struct{ board *board }

// Write is part of operator.Writer. The batch is borrowed: what is kept of it is copied.
func (w boardWriter) Write(b *column.Batch) error {
	customer, orders, cents := b.Column("customer"), column.Values[int64](b.Column("orders")), column.Values[int64](b.Column("cents"))
	w.board.mu.Lock()
	defer w.board.mu.Unlock()
	for i := range b.Len() {
		r := b.Row(i)
		t := w.board.totals[customer.String(r)]
		t.Orders += orders[r]
		t.Cents += cents[r]
		w.board.totals[string(customer.Bytes(r))] = t
	}
	return nil
}

func (boardWriter) Flush() error { return nil }

func (boardWriter) Close() error { return nil }

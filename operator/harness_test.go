package operator_test

import (
	"context"
	"log/slog"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
)

// order is the row of most tests here.
type order struct {
	ID     int64
	Tier   *string
	Amount float64
}

var orders = arrow.NewSchema([]arrow.Field{
	{Name: "ID", Type: arrow.PrimitiveTypes.Int64},
	{Name: "Tier", Type: arrow.BinaryTypes.String, Nullable: true},
	{Name: "Amount", Type: arrow.PrimitiveTypes.Float64},
}, nil)

func newContext(pool *column.Pool, policy operator.ErrorPolicy) *operator.Context {
	return &operator.Context{Context: context.Background(), Job: "j", Operator: "op", Parallelism: 1, Pool: pool, Clock: operator.SystemClock{},
		Logger: slog.New(slog.DiscardHandler), OnError: policy, Counters: &operator.Counters{}}
}

// gather keeps what an instance emits.
type gather struct{ batches []*column.Batch }

func (g *gather) Emit(port int, b *column.Batch) error {
	if port != operator.Main {
		panic("emitted to another port")
	}
	b.Retain()
	g.batches = append(g.batches, b)
	return nil
}

func (g *gather) release() {
	for _, b := range g.batches {
		b.Release()
	}
	g.batches = nil
}

func (g *gather) rows() (n int) {
	for _, b := range g.batches {
		n += b.Len()
	}
	return n
}

// start binds an operator to one stream and makes an instance.
func start(t require.TestingT, op operator.Operator, ctx *operator.Context, in operator.Stream) (operator.Instance, operator.Stream) {
	bound, err := op.Bind([]operator.Stream{in})
	require.NoError(t, err)
	require.Len(t, bound.Outputs(), 1)
	inst, err := bound.New(ctx)
	require.NoError(t, err)
	return inst, bound.Outputs()[0]
}

// batch makes a batch of orders; row i has event time 1000+i, key hash i, and is late by J = 9000+i where i%3 is 1.
func batch(pool *column.Pool, rows ...order) *column.Batch {
	b := column.NewBuilder(pool, orders)
	for i, r := range rows {
		b.Int64(0, r.ID)
		if r.Tier != nil {
			b.String(1, *r.Tier)
		}
		b.Float64(2, r.Amount)
		b.Time(1000+int64(i), i%4 != 3)
		b.EndRow()
	}
	out := b.Finish()
	out.Hash = column.Alloc[uint64](out, len(rows))
	for i := range rows {
		out.Hash[i] = uint64(i)
		if i%3 == 1 {
			out.Late = append(out.Late, column.LatePair{Row: int32(i), J: 9000 + int64(i)})
		}
	}
	return out
}

// hidden is what travels beside a row of batch.
type hidden struct {
	time, late, hash int64 // -1 where there is none
}

// hiddenOf gives the hidden values of the rows that are there, in order.
func hiddenOf(b *column.Batch) []hidden {
	var out []hidden
	for i := range b.Len() {
		r := b.Row(i)
		h := hidden{-1, -1, -1}
		if b.Times != nil && (b.TimeValid == nil || column.Bit(b.TimeValid, r)) {
			h.time = b.Times[r]
		}
		for _, l := range b.Late {
			if int(l.Row) == r {
				h.late = l.J
			}
		}
		if b.Hash != nil {
			h.hash = int64(b.Hash[r])
		}
		out = append(out, h)
	}
	return out
}

// wantHidden is what hiddenOf must give for physical rows of batch.
func wantHidden(hash bool, rows ...uint32) []hidden {
	var out []hidden
	for _, r := range rows {
		h := hidden{1000 + int64(r), -1, -1}
		if r%4 == 3 {
			h.time = -1
		}
		if r%3 == 1 {
			h.late = 9000 + int64(r)
		}
		if hash {
			h.hash = int64(r)
		}
		out = append(out, h)
	}
	return out
}

func text(s string) *string { return &s }

var someOrders = []order{{1, text("gold"), 10}, {2, nil, -5}, {3, text(""), 0}, {4, text("silver"), 2.5}, {5, text("gold"), 100}}

// noLeak requires that every loan came back.
func noLeak(t require.TestingT, pool *column.Pool) { require.NoError(t, pool.Check()) }

func requireDropped(t *testing.T, ctx *operator.Context, want map[string]int64) {
	t.Helper()
	require.Equal(t, want, ctx.Counters.Dropped())
}

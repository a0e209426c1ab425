package kernel

import (
	"fmt"
	"math"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/aggregate"
	"github.com/arkflow-go/arkflow/internal/keys"
	"github.com/arkflow-go/arkflow/state"
	"github.com/stretchr/testify/require"
)

// million is a pane of a million keys, in one form or another.
type million struct {
	name    string
	key     arrow.DataType
	exact   bool
	agg     *Aggregator
	p       *Pane
	batches []*column.Batch // all keys, each once, in no order
}

const millionKeys = 1 << 20

var millions = []million{
	{name: "partitioned", key: arrow.PrimitiveTypes.Int64},
	{name: "table", key: arrow.PrimitiveTypes.Int64, exact: true},
	{name: "strings", key: arrow.BinaryTypes.String},
}

func (m million) open(b testing.TB) *million {
	s := fieldsOf(m.key, arrow.PrimitiveTypes.Int64)
	m.agg = NewAggregator(layoutOf(b, s, 1, aggregate.Sum))
	m.agg.patience = patience{work: math.MaxInt} // no rows come beside the views
	if m.exact {
		m.agg.KeepExact()
	}
	bl := column.NewBuilder(nil, s)
	for i := range uint64(millionKeys) {
		k := keys.Mix64(i) % (1 << 40)
		if m.key == arrow.BinaryTypes.String {
			bl.String(0, fmt.Sprintf("user-%09d", k%1e9))
		} else {
			bl.Int64(0, int64(k))
		}
		bl.Int64(1, int64(i))
		bl.EndRow()
		if i%8192 == 8191 {
			m.batches = append(m.batches, bl.Finish())
			bl = column.NewBuilder(nil, s)
		}
	}
	m.p = m.agg.Open()
	m.add(b, len(m.batches))
	m.add(b, len(m.batches))
	return &m
}

// add adds some of the batches.
func (m *million) add(b testing.TB, n int) {
	for _, batch := range m.batches[:n] {
		require.NoError(b, m.p.AddRange(batch, 0, batch.Rows))
	}
}

func each(b testing.TB, v, since *View) (rows int) {
	var before state.View
	if since != nil {
		before = since
	}
	require.NoError(b, v.Each(before, func(t state.Table) error { rows += t.Rows; return nil }))
	return rows
}

// BenchmarkBarrier is what the rows wait for: the view itself, and what the first batch after it costs more than one in between.
func BenchmarkBarrier(b *testing.B) {
	for _, m := range millions {
		b.Run(m.name, func(b *testing.B) {
			m := m.open(b)
			v := m.p.View(0, 128, column.NewPool())
			require.NoError(b, v.Settle())
			m.add(b, 1)
			v.Close()
			for _, part := range []string{"freeze", "freeze+batch", "batch"} {
				b.Run(part, func(b *testing.B) {
					for range b.N {
						if part != "batch" {
							v = m.p.View(0, 128, column.NewPool())
						}
						if part != "freeze" {
							m.add(b, 1)
						}
						b.StopTimer()
						if part == "batch" {
							v = m.p.View(0, 128, column.NewPool())
						}
						require.NoError(b, v.Settle())
						v.Close()
						m.add(b, 1)
						b.StartTimer()
					}
				})
			}
		})
	}
}

// BenchmarkEpoch is what an epoch costs beside the rows: all groups, and those of a batch, which are less than one in a hundred.
func BenchmarkEpoch(b *testing.B) {
	for _, m := range millions {
		b.Run(m.name, func(b *testing.B) {
			m := m.open(b)
			v := m.p.View(0, 128, column.NewPool())
			b.Run("base", func(b *testing.B) {
				for range b.N {
					b.StopTimer()
					v.Close()
					m.add(b, 1)
					v = m.p.View(0, 128, column.NewPool())
					b.StartTimer()
					require.Greater(b, each(b, v, nil), millionKeys/2)
				}
			})
			b.Run("delta", func(b *testing.B) {
				require.Positive(b, each(b, v, nil)) // what changes are compared with
				for range b.N {
					b.StopTimer()
					v.Close()
					m.add(b, 1)
					w := m.p.View(0, 128, column.NewPool())
					b.StartTimer()
					require.Equal(b, 8192, each(b, w, v))
					v = w
				}
			})
		})
	}
}

// BenchmarkRestore loads a million groups.
func BenchmarkRestore(b *testing.B) {
	for _, m := range millions {
		b.Run(m.name, func(b *testing.B) {
			m := m.open(b)
			var tables []state.Table
			rows := 0
			require.NoError(b, m.p.View(0, 128, column.NewPool()).Each(nil, func(t state.Table) error {
				tables = append(tables, t.Clone())
				rows += t.Rows
				return nil
			}))
			b.ResetTimer()
			for range b.N {
				a := NewAggregator(m.agg.l)
				p := a.Open()
				load := NewLoad(a, state.Range{End: 128}, func(int64) (*Pane, error) { return p, nil })
				for _, t := range tables {
					require.NoError(b, load.Add(t))
				}
				require.Equal(b, rows, p.Live())
			}
			b.ReportMetric(float64(rows)*float64(b.N)/b.Elapsed().Seconds(), "entries/s")
		})
	}
}

// BenchmarkRestoreCells loads a million cells.
func BenchmarkRestoreCells(b *testing.B) {
	m := millions[0].open(b)
	x := NewIndex(m.agg.l)
	c := x.Cells()
	for _, batch := range m.batches {
		require.NoError(b, AddRange([]*Cells{c}, batch, 0, batch.Rows))
	}
	var tables []state.Table
	require.NoError(b, x.Views(128, column.NewPool())(c, 1, 2).Each(nil, func(t state.Table) error {
		tables = append(tables, t.Clone())
		return nil
	}))
	b.ResetTimer()
	for range b.N {
		y := NewIndex(m.agg.l)
		got := y.Cells()
		load := NewCellLoad(y, state.Range{End: 128}, func(state.PartID, int64, int64) (*Cells, error) { return got, nil })
		for _, t := range tables {
			require.NoError(b, load.Add(t))
		}
		require.Equal(b, c.Len(), got.Len())
	}
	b.ReportMetric(float64(c.Len())*float64(b.N)/b.Elapsed().Seconds(), "entries/s")
}

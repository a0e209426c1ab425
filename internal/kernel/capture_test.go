package kernel

import (
	"math"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/internal/aggregate"
	"github.com/arkflow-go/arkflow/internal/partition"
	"github.com/arkflow-go/arkflow/state"
	"github.com/stretchr/testify/require"
)

// parted opens a partitioned pane of keys up to n, and a plain one beside it.
func parted(t testing.TB, n int, add int64) (p, q *Pane) {
	s := fieldsOf(arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64)
	l := layoutOf(t, s, 1, aggregate.Sum)
	a, b := NewAggregator(l), NewAggregator(l)
	a.many, a.foldAt = 100, 1
	b.KeepExact()
	p, q = a.Open(), b.Open()
	for _, x := range []*Pane{p, q} {
		fill(t, x, s, 0, n, add)
	}
	require.NotNil(t, p.p)
	return p, q
}

// more adds rows to every partition until each has been folded.
func more(t testing.TB, p *Pane, n int) {
	s := fieldsOf(arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64)
	for range 1_200_000 / n {
		fill(t, p, s, 0, n, 1)
	}
	for at := range partition.Count {
		require.False(t, p.p != nil && p.p.Fresh(at), "partition %d was folded", at)
	}
}

func TestRowsHandOverWhatAViewAsksFor(t *testing.T) {
	const n = 20_000
	p, q := parted(t, n, 1)
	v := p.View(7, 128, pages)
	want := rowsOf(t, q)
	c := newCapture(v.l, nil)
	v.loan.asked.Store(c)
	more(t, p, n)
	require.Zero(t, c.Left(), "all by folds")
	require.Zero(t, p.a.chunks.Held(), "what a fold has handed over is pinned no more")
	v.note(c.marks[:])
	var base []state.Table
	require.NoError(t, v.save(c.tables[:], nil, nil, func(t state.Table) error { base = append(base, t.Clone()); return nil }))
	v.loan.asked.Store(nil)
	v.Close()
	require.Equal(t, want, replay(t, p.a.l, base), "as it was at the barrier")

	w := p.View(7, 128, pages)
	want = rowsOf(t, p)
	s := fieldsOf(arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64)
	fill(t, p, s, 0, 100, 1)
	c = newCapture(w.l, w.known(v))
	w.loan.asked.Store(c)
	more(t, p, n)
	require.Zero(t, c.Left())
	var delta []state.Table
	require.NoError(t, w.save(c.tables[:], nil, nil, func(t state.Table) error { delta = append(delta, t.Clone()); return nil }))
	require.Equal(t, want, replay(t, p.a.l, base, delta))
	w.taking = c
	require.Equal(t, delta, eachOf(t, w, v), "the same once more")
	require.ErrorIs(t, w.Each(nil, func(state.Table) error { return nil }), errSince)
	require.ErrorIs(t, w.Settle(), errSince)
	w.Close()
}

func TestASettledViewIsReadAsOftenAndAgainstWhatOneLikes(t *testing.T) {
	const n = 5_000
	p, _ := parted(t, n, 1)
	v := p.View(7, 128, pages)
	base := eachOf(t, v, nil)
	want := rowsOf(t, p)
	require.Equal(t, want, replay(t, p.a.l, base))
	require.Zero(t, p.a.chunks.Pins(), "what is given whole is settled")
	s := fieldsOf(arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64)
	fill(t, p, s, 0, n/2, 1)
	w := p.View(7, 128, pages)
	require.NoError(t, w.Settle())
	want = rowsOf(t, p)
	more(t, p, n)
	for range 2 {
		require.Equal(t, want, replay(t, p.a.l, eachOf(t, w, nil)))
		delta := eachOf(t, w, v)
		require.Equal(t, want, replay(t, p.a.l, base, delta))
		require.Less(t, len(rowsIn(delta)), n)
	}
	w.Close()
	v.Close()
}

func rowsIn(tables []state.Table) (groups []uint16) {
	for _, t := range tables {
		groups = append(groups, t.Groups...)
	}
	return groups
}

func TestAViewDoesTheRestByItself(t *testing.T) {
	const n = 20_000
	for name, then := range map[string]func(p *Pane){
		"no row comes":         func(*Pane) {},
		"the pane closes":      func(p *Pane) { p.Close() },
		"it moves to a table":  func(p *Pane) { require.NoError(t, p.Settle()) },
		"the next view begins": func(p *Pane) { p.View(7, 128, pages).Close() },
		"sums leave 64 bits": func(p *Pane) {
			s := fieldsOf(arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64)
			for range 60 {
				fill(t, p, s, 0, n, math.MaxInt64)
			}
			require.Nil(t, p.p)
		},
	} {
		t.Run(name, func(t *testing.T) {
			p, q := parted(t, n, math.MaxInt64/2)
			p.a.patience = patience{0, time.Millisecond}
			if name != "no row comes" && name != "sums leave 64 bits" {
				p.a.lull = time.Hour
			}
			v := p.View(7, 128, pages)
			want := rowsOf(t, q)
			tables := make(chan []state.Table)
			go func() { tables <- tablesOf(t, v, nil) }()
			then(p)
			require.Equal(t, want, replay(t, q.a.l, <-tables))
			v.Close()
			require.Zero(t, p.a.chunks.Held())
		})
	}
}

func TestViewsTakeTurnsWithRowsThatGoOn(t *testing.T) {
	const n = 3_000
	p, q := parted(t, n, 1)
	p.a.patience = patience{0, time.Millisecond}
	s := fieldsOf(arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64)
	var before *View
	var sealed []state.Table
	for i := range 20 {
		v := p.View(7, 128, pages)
		want := rowsOf(t, q)
		tables := make(chan []state.Table)
		go func() {
			if before == nil {
				tables <- tablesOf(t, v, nil)
			} else {
				tables <- tablesOf(t, v, before)
			}
		}()
		for done := false; !done; {
			for _, x := range []*Pane{p, q} {
				fill(t, x, s, i*10, n-i*50, int64(i))
			}
			select {
			case got := <-tables:
				sealed = append(sealed, got...)
				done = true
			default:
			}
		}
		require.Equal(t, want, replay(t, q.a.l, sealed))
		v.Close()
		before = v
	}
	require.Equal(t, rowsOf(t, q), rowsOf(t, p))
}

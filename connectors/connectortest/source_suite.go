package connectortest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/stretchr/testify/require"
)

// SourceCase is what a source is checked with.
type SourceCase struct {
	// Source has a few batches of rows, the same at each use, and ends. It may be nil where a source cannot do that and Waiting is there.
	Source operator.Source
	// Waiting, which may be nil, has no rows at first; wake makes it have some, as often as it is called. It is checked that Poll does not
	// wait for them, that Ready wakes, and that everything ends with its context while it waits.
	Waiting func(t *testing.T) (s operator.Source, wake func())
	// Broken are sources over systems that are not there, or not theirs: each must fail within two seconds, at the latest in the first Poll.
	Broken []operator.Source
}

func contextOf(t *testing.T) (context.Context, func()) { return context.WithCancel(t.Context()) }

// Source checks a source; each check is a subtest.
func Source(t *testing.T, c SourceCase) {
	t.Helper()
	if c.Source != nil {
		check(t, "splits are the same each time", c.splits)
		check(t, "rows are the same each time and stay as they are", c.sameRows)
		check(t, "goes on from every position", c.positions)
		check(t, "closes at any point", c.close)
		check(t, "ends with its context", c.cancel)
	}
	if c.Waiting != nil {
		check(t, "does not wait in Poll, and wakes", c.wakes)
		check(t, "ends while it waits", c.cancelWaiting)
	}
	for _, s := range c.Broken {
		check(t, "tells that its system is not there", func(b *bench) { broken(b, s) })
	}
}

// each opens each split at its beginning.
func (c SourceCase) each(b *bench, f func(s operator.Source, sp operator.Split, r operator.Reader)) {
	s := inferred(b.t, b.ctx, c.Source)
	splits, err := s.Splits(b.ctx)
	require.NoError(b.t, err)
	require.NotEmpty(b.t, splits)
	for _, sp := range splits {
		r, err := s.Open(b.ctx, sp, nil)
		require.NoError(b.t, err)
		f(s, sp, r)
		b.within("Close", r.Close)
	}
}

func (c SourceCase) splits(b *bench) {
	first, err := c.Source.Splits(b.ctx)
	require.NoError(b.t, err)
	second, err := c.Source.Splits(b.ctx)
	require.NoError(b.t, err)
	require.Equal(b.t, first, second)
	var ids []string
	for _, s := range first {
		ids = append(ids, s.ID)
	}
	slices.Sort(ids)
	require.Equal(b.t, ids, slices.Compact(slices.Clone(ids)), "IDs are unique")
}

// sameRows holds all batches until the end: rows that were handed on are not written again, however long somebody keeps them.
func (c SourceCase) sameRows(b *bench) {
	var first []string
	total := 0
	c.each(b, func(s operator.Source, sp operator.Split, r operator.Reader) {
		var held []*column.Batch
		var texts [][]string
		for {
			batch := pollOne(b.t, r)
			if batch == nil {
				break
			}
			if s.Schema() != nil {
				require.True(b.t, s.Schema().Equal(batch.Schema), "rows of another schema: %s, not %s", batch.Schema, s.Schema())
			}
			held = append(held, batch)
			texts = append(texts, Texts(batch))
		}
		for i, batch := range held {
			require.Equal(b.t, texts[i], Texts(batch), "a batch was written after it was handed on")
			first = append(first, texts[i]...)
			total += batch.Len()
			batch.Release()
		}
		require.Nil(b.t, pollOne(b.t, r), "behind the end is the end")
	})
	require.Positive(b.t, total, "the case has no rows")
	require.Equal(b.t, first, ReadAll(b.t, c.Source))
}

// positions restores after each batch: what was read before and what is read after are the rows, without gap and repetition.
func (c SourceCase) positions(b *bench) {
	c.each(b, func(s operator.Source, sp operator.Split, r operator.Reader) {
		type stop struct {
			at   []byte
			rows int
		}
		place := func(r operator.Reader) []byte {
			at, err := r.Position()
			require.NoError(b.t, err)
			return slices.Clone(at)
		}
		stops := []stop{{nil, 0}, {place(r), 0}}
		var rows []string
		for {
			batch := pollOne(b.t, r)
			if batch == nil {
				break
			}
			rows = append(rows, Texts(batch)...)
			batch.Release()
			stops = append(stops, stop{place(r), len(rows)})
		}
		stops = append(stops, stop{place(r), len(rows)}) // of the end
		step := max(1, len(stops)/10)
		for i := 0; i < len(stops); i += step {
			c.restore(b, s, sp, stops[i].at, rows[stops[i].rows:])
		}
		c.restore(b, s, sp, stops[len(stops)-1].at, nil)
	})
}

// restore opens a split at a position, saves again at once and after the first batch, and reads on.
func (c SourceCase) restore(b *bench, s operator.Source, sp operator.Split, at []byte, want []string) {
	open := func(at []byte) operator.Reader {
		r, err := s.Open(b.ctx, sp, at)
		require.NoError(b.t, err)
		return r
	}
	r := open(at)
	again, err := r.Position()
	require.NoError(b.t, err)
	require.NoError(b.t, r.Close())
	r = open(again)
	var got []string
	if batch := pollOne(b.t, r); batch != nil {
		got = append(got, Texts(batch)...)
		batch.Release()
		at, err := r.Position()
		require.NoError(b.t, err)
		require.NoError(b.t, r.Close())
		r = open(at)
		got = append(got, readOn(b.t, r)...)
	}
	require.NoError(b.t, r.Close())
	require.Equal(b.t, len(want), len(got), "rows from a position")
	for i := range want {
		require.Equal(b.t, want[i], got[i], "row %d behind a position", i)
	}
}

// close closes after each number of polls; what was not read is not lost, as its position still stands.
func (c SourceCase) close(b *bench) {
	for polls := range 3 {
		c.each(b, func(s operator.Source, sp operator.Split, r operator.Reader) {
			var rows []string
			for range polls {
				if batch := pollOne(b.t, r); batch != nil {
					rows = append(rows, Texts(batch)...)
					batch.Release()
				}
			}
			at, err := r.Position()
			require.NoError(b.t, err)
			rest, err := s.Open(b.ctx, sp, at)
			require.NoError(b.t, err)
			rows = append(rows, readOn(b.t, rest)...)
			require.NoError(b.t, rest.Close())
			whole, err := s.Open(b.ctx, sp, nil)
			require.NoError(b.t, err)
			require.Equal(b.t, readOn(b.t, whole), rows)
			require.NoError(b.t, whole.Close())
		})
	}
}

func (c SourceCase) cancel(b *bench) {
	s := inferred(b.t, b.ctx, c.Source)
	splits, err := s.Splits(b.ctx)
	require.NoError(b.t, err)
	r, err := s.Open(b.ctx, splits[0], nil)
	require.NoError(b.t, err)
	if batch := pollOne(b.t, r); batch != nil {
		batch.Release()
	}
	b.end(r)
}

// end ends the context and closes the reader.
func (b *bench) end(r operator.Reader) {
	b.stop()
	b.within("Poll after the end of the context", func() error {
		if batch, _ := r.Poll(); batch != nil { // an error is as good
			batch.Release()
		}
		return nil
	})
	b.within("Close after the end of the context", func() error {
		_ = r.Close() // it may fail, but not wait
		return nil
	})
	if l, ok := r.(operator.LagReader); ok {
		b.within("Lag after Close", func() error {
			l.Lag()
			return nil
		})
	}
}

func (c SourceCase) openWaiting(b *bench) (operator.Reader, func()) {
	s, wake := c.Waiting(b.t)
	splits, err := s.Splits(b.ctx)
	require.NoError(b.t, err)
	require.NotEmpty(b.t, splits)
	r, err := s.Open(b.ctx, splits[0], nil)
	require.NoError(b.t, err)
	b.within("Poll without rows", func() error {
		batch, err := r.Poll()
		if err == nil && batch != nil {
			batch.Release()
			err = errors.New("the waiting source has rows before it was woken")
		}
		return err
	})
	return r, wake
}

func (c SourceCase) wakes(b *bench) {
	r, wake := c.openWaiting(b)
	for range 3 {
		wake()
		batch := pollOne(b.t, r)
		require.NotNil(b.t, batch, "no rows came after waking")
		batch.Release()
		b.within("Poll without rows", func() error {
			for {
				batch, err := r.Poll()
				if batch == nil || err != nil {
					return err
				}
				batch.Release()
			}
		})
	}
	b.within("Close", r.Close)
}

func (c SourceCase) cancelWaiting(b *bench) {
	r, _ := c.openWaiting(b)
	b.end(r)
}

// broken sees to it that an error comes.
func broken(b *bench, s operator.Source) {
	b.within("an unreachable system", func() error {
		if in, ok := s.(operator.Inferrer); ok && s.Schema() == nil {
			if _, err := in.Infer(b.ctx); err != nil {
				return nil
			}
		}
		splits, err := s.Splits(b.ctx)
		if err != nil {
			return nil
		}
		if len(splits) == 0 {
			return errors.New("neither splits nor an error")
		}
		r, err := s.Open(b.ctx, splits[0], nil)
		if err != nil {
			return nil
		}
		if _, err = r.Poll(); err != nil {
			return r.Close()
		}
		return errors.New("a system that is not there is no error")
	})
}

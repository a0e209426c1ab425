package main

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/arkflow-go/arkflow/bench/baseline"
	"github.com/arkflow-go/arkflow/bench/events"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
)

// foldRows is a sink that keeps nothing of its rows but their number and the sum of their terms, which does not depend on their order.
type foldRows struct {
	columns []string // that the term of a row is made of
	// counts makes the term of a row that of its first column as often as its second column says: the sum then does not depend
	// on how many windows have counted.
	counts bool

	mu     sync.Mutex
	result baseline.Result
}

func (s *foldRows) Kind() string { return "bench-fold-rows" }

func (s *foldRows) Check(in operator.Stream) error {
	_, err := s.find(in)
	return err
}

func (s *foldRows) find(in operator.Stream) ([]int, error) {
	at := make([]int, len(s.columns))
	for i, name := range s.columns {
		found := in.Schema.FieldIndices(name)
		if len(found) != 1 {
			return nil, fmt.Errorf("the fold needs one column %q, there are %d", name, len(found))
		}
		at[i] = found[0]
		switch k := column.KindOf(in.Schema.Field(at[i]).Type); k {
		case column.Int64, column.Decimal, column.Bytes:
		default:
			return nil, fmt.Errorf("the fold takes no column %q of type %s", name, in.Schema.Field(at[i]).Type)
		}
	}
	return at, nil
}

func (s *foldRows) Open(_ *operator.Context, in operator.Stream) (operator.Writer, error) {
	at, err := s.find(in)
	if err != nil {
		return nil, err
	}
	return &foldRowsWriter{sink: s, at: at}, nil
}

// total is what all tasks have folded. The job must have ended.
func (s *foldRows) total() baseline.Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.result
}

type foldRowsWriter struct {
	sink   *foldRows
	at     []int
	result baseline.Result
	terms  []uint64
}

// Factors of a term: it is Mix of the sum over columns, from the last, of 31 times what is there and the word of the value.
const (
	foldFactor = 31
	foldNull   = 0x9E37
)

func (w *foldRowsWriter) Write(b *column.Batch) error {
	c := b.Compact()
	defer c.Release()
	w.result.Rows += int64(c.Rows)
	if cap(w.terms) < c.Rows {
		w.terms = make([]uint64, c.Rows)
	}
	terms := w.terms[:c.Rows]
	clear(terms)
	if w.sink.counts {
		w.addWords(terms, &c.Cols[w.at[0]])
		for i, n := range column.Values[int64](&c.Cols[w.at[1]])[:c.Rows] {
			w.result.Checksum += events.Mix(terms[i]) * uint64(n)
		}
		return nil
	}
	for _, at := range w.at {
		w.addWords(terms, &c.Cols[at])
	}
	for _, t := range terms {
		w.result.Checksum += events.Mix(t)
	}
	return nil
}

// addWords takes a column into the terms.
func (w *foldRowsWriter) addWords(terms []uint64, c *column.Column) {
	switch {
	case c.Nulls > 0:
		for i := range terms {
			x := uint64(foldNull)
			if !c.IsNull(i) {
				x = foldWord(c, i)
			}
			terms[i] = terms[i]*foldFactor + x
		}
	case c.Kind == column.Int64:
		for i, x := range column.Values[uint64](c)[:len(terms)] {
			terms[i] = terms[i]*foldFactor + x
		}
	default:
		for i := range terms {
			terms[i] = terms[i]*foldFactor + foldWord(c, i)
		}
	}
}

// foldWord is the word of a value: a number as it is, the low word of a decimal, and that of a text.
func foldWord(c *column.Column, i int) uint64 {
	switch c.Kind {
	case column.Bytes:
		return foldText(c.Bytes(i))
	case column.Decimal:
		return column.View[[2]uint64](c.Data)[i][0]
	}
	return column.Values[uint64](c)[i]
}

// foldText is made of the length and the bytes at both ends of a text: what little a sink can do that is not to be measured.
func foldText(b []byte) uint64 {
	n := len(b)
	if n >= 8 {
		return uint64(n) + binary.LittleEndian.Uint64(b)*foldFactor + binary.LittleEndian.Uint64(b[n-8:])
	}
	x := uint64(n)
	for _, c := range b {
		x = x<<8 | uint64(c)
	}
	return x
}

func (w *foldRowsWriter) Flush() error { return nil }

func (w *foldRowsWriter) Close() error {
	w.sink.mu.Lock()
	defer w.sink.mu.Unlock()
	w.sink.result.Rows += w.result.Rows
	w.sink.result.Checksum += w.result.Checksum
	w.result = baseline.Result{}
	return nil
}

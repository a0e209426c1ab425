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
	rows   []uint32 // 0, 1, …

	bitmap *byte // of the batch, that was looked at last: whether all its rows are valid
	whole  bool
}

// Factors of a term: it is Mix of the sum over columns, from the last, of 31 times what is there and the word of the value.
const (
	foldFactor = 31
	foldNull   = 0x9E37
)

func (w *foldRowsWriter) Write(b *column.Batch) error {
	rows := b.Sel
	if rows == nil {
		rows = w.all(b.Rows)
	}
	w.result.Rows += int64(len(rows))
	if cap(w.terms) < len(rows) {
		w.terms = make([]uint64, len(rows))
	}
	terms := w.terms[:len(rows)]
	clear(terms)
	w.bitmap = nil
	if w.sink.counts {
		w.addWords(terms, &b.Cols[w.at[0]], rows)
		counts := column.Values[uint64](&b.Cols[w.at[1]])
		for i, r := range rows {
			w.result.Checksum += events.Mix(terms[i]) * counts[r]
		}
		return nil
	}
	for _, at := range w.at {
		w.addWords(terms, &b.Cols[at], rows)
	}
	for _, t := range terms {
		w.result.Checksum += events.Mix(t)
	}
	return nil
}

// all is the rows of a batch without a selection.
func (w *foldRowsWriter) all(n int) []uint32 {
	for i := len(w.rows); i < n; i++ {
		w.rows = append(w.rows, uint32(i))
	}
	return w.rows[:n]
}

// addWords takes the rows of a column into their terms: a number as it is, the low word of a decimal, the word of a text.
func (w *foldRowsWriter) addWords(terms []uint64, c *column.Column, rows []uint32) {
	terms = terms[:len(rows)]
	switch c.Kind {
	case column.Int64:
		v := column.Values[uint64](c)
		for i, r := range rows {
			terms[i] = terms[i]*foldFactor + v[r]
		}
	case column.Decimal:
		v := column.View[[2]uint64](c.Data)
		for i, r := range rows {
			terms[i] = terms[i]*foldFactor + v[r][0]
		}
	default:
		for i, r := range rows {
			terms[i] = terms[i]*foldFactor + foldText(c.Data[c.Offsets[r]:c.Offsets[r+1]])
		}
	}
	if c.Nulls == 0 || w.valid(c.Valid, rows) {
		return
	}
	for i, r := range rows {
		if c.IsNull(int(r)) {
			terms[i] += foldNull - foldWord(c, r) // in place of whatever stands there
		}
	}
}

// valid tells whether all rows have a value. Columns that share a bitmap ask once.
func (w *foldRowsWriter) valid(bitmap []byte, rows []uint32) bool {
	if w.bitmap != &bitmap[0] {
		all := byte(1)
		for _, r := range rows {
			all &= bitmap[r>>3] >> (r & 7)
		}
		w.bitmap, w.whole = &bitmap[0], all == 1
	}
	return w.whole
}

// foldWord is the word of a value.
func foldWord(c *column.Column, r uint32) uint64 {
	switch c.Kind {
	case column.Int64:
		return column.Values[uint64](c)[r]
	case column.Decimal:
		return column.View[[2]uint64](c.Data)[r][0]
	}
	return foldText(c.Data[c.Offsets[r]:c.Offsets[r+1]])
}

// foldLong is the length of texts of which only the length is looked at: the sink is not to be measured.
const foldLong = 32

// foldText is made of the length and the bytes at both ends of a text.
func foldText(b []byte) uint64 {
	n := len(b)
	switch {
	case n > foldLong:
		return uint64(n)
	case n >= 8:
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

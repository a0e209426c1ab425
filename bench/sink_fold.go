package main

import (
	"fmt"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/arkflow-go/arkflow/bench/baseline"
	"github.com/arkflow-go/arkflow/bench/events"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
)

// fold is a sink that keeps nothing of its rows but their number and the sum of their terms.
type fold struct {
	columns []string // by position: out, or key, window_end, count, sum
	// received is called by each task with results of one window that came together: its end in ms, their number, the moment. May be nil.
	received func(end int64, rows int, at time.Time)

	mu     sync.Mutex
	result baseline.Result
}

func foldValues() *fold { return &fold{columns: []string{"out"}} }

func foldWindows() *fold { return &fold{columns: []string{"key", "window_end", "count", "sum"}} }

func foldTops() *fold { return &fold{columns: []string{"key", "window_end", "count", "max"}} }

func (s *fold) Kind() string { return "bench-fold" }

func (s *fold) Check(in operator.Stream) error {
	_, err := s.find(in.Schema)
	return err
}

func (s *fold) find(schema *arrow.Schema) ([]int, error) {
	at := make([]int, len(s.columns))
	for i, name := range s.columns {
		found := schema.FieldIndices(name)
		if len(found) != 1 {
			return nil, fmt.Errorf("the fold needs one column %q, there are %d", name, len(found))
		}
		at[i] = found[0]
		if k := column.KindOf(schema.Field(at[i]).Type); k != column.Int64 && (name != "key" || k != column.Bytes) {
			return nil, fmt.Errorf("the fold needs column %q as a 64-bit integer, it is %s", name, schema.Field(at[i]).Type)
		}
	}
	return at, nil
}

func (s *fold) Open(_ *operator.Context, in operator.Stream) (operator.Writer, error) {
	at, err := s.find(in.Schema)
	if err != nil {
		return nil, err
	}
	return &foldWriter{sink: s, at: at}, nil
}

// total is what all tasks have folded. The job must have ended.
func (s *fold) total() baseline.Result {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.result
}

type foldWriter struct {
	sink   *fold
	at     []int
	result baseline.Result
	buffer []int64
}

func (w *foldWriter) Write(b *column.Batch) error {
	w.result.Rows += int64(b.Len())
	if len(w.at) == 1 {
		w.result.Checksum += sumOf(column.Values[int64](&b.Cols[w.at[0]]), b)
		return nil
	}
	key := w.keys(b)
	end := column.Values[int64](&b.Cols[w.at[1]])
	count := column.Values[int64](&b.Cols[w.at[2]])
	sum := column.Values[int64](&b.Cols[w.at[3]])
	checksum := uint64(0)
	if b.Sel == nil {
		end, count, sum = end[:len(key)], count[:len(key)], sum[:len(key)]
		for i, k := range key {
			checksum += events.WindowTerm(k, end[i], count[i], sum[i])
		}
	} else {
		for _, i := range b.Sel {
			checksum += events.WindowTerm(key[i], end[i], count[i], sum[i])
		}
	}
	w.result.Checksum += checksum
	if w.sink.received != nil {
		w.tell(b, end)
	}
	return nil
}

func (w *foldWriter) tell(b *column.Batch, end []int64) {
	now := time.Now()
	for i, n := 0, b.Len(); i < n; {
		of, from := end[b.Row(i)], i
		for i < n && end[b.Row(i)] == of {
			i++
		}
		w.sink.received(of, i-from, now)
	}
}

func sumOf(v []int64, b *column.Batch) (sum uint64) {
	if b.Sel == nil {
		for _, x := range v[:b.Rows] {
			sum += uint64(x)
		}
		return sum
	}
	for _, i := range b.Sel {
		sum += uint64(v[i])
	}
	return sum
}

// keys gives the number of each key; those of texts are in the texts.
func (w *foldWriter) keys(b *column.Batch) []int64 {
	c := &b.Cols[w.at[0]]
	if c.Kind == column.Int64 {
		return column.Values[int64](c)[:b.Rows]
	}
	if cap(w.buffer) < b.Rows {
		w.buffer = make([]int64, b.Rows)
	}
	key := w.buffer[:b.Rows]
	for i := range key {
		key[i] = events.ParseText(c.Data[c.Offsets[i]:])
	}
	return key
}

func (w *foldWriter) Flush() error { return nil }

func (w *foldWriter) Close() error {
	w.sink.mu.Lock()
	defer w.sink.mu.Unlock()
	w.sink.result.Rows += w.result.Rows
	w.sink.result.Checksum += w.result.Checksum
	w.result = baseline.Result{}
	return nil
}

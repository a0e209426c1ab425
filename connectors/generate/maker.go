package generate

import (
	"fmt"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/structmap"
	"github.com/arkflow-go/arkflow/operator"
)

// templateMaker gives one batch again and again: its rows are all the same.
type templateMaker struct{ rows *column.Batch }

func newTemplateMaker(p *column.Pool, t *template, most int) (*templateMaker, error) {
	bld := column.NewBuilder(p, t.schema)
	for range most {
		for i, v := range t.values {
			switch x := v.(type) {
			case int64:
				bld.Int64(i, x)
			case float64:
				bld.Float64(i, x)
			case bool:
				bld.Bool(i, x)
			case string:
				bld.String(i, x)
			}
		}
		bld.EndRow()
		if bld.Bytes() > column.MaxBatchBytes {
			bld.Discard()
			return nil, fmt.Errorf("generate: %d rows of the context are more than a batch holds; give a smaller batch size", most)
		}
	}
	return &templateMaker{bld.Finish()}, nil
}

func (m *templateMaker) make(_, _ int64, n int) (*column.Batch, error) {
	return m.rows.Slice(0, n), nil
}

func (m *templateMaker) close() {
	if m.rows != nil {
		m.rows.Release()
		m.rows = nil
	}
}

const funcChunk = 256 // rows that are structs at a time

// funcMaker calls a Go function for each row.
type funcMaker[T any] struct {
	ctx    *operator.Context
	fn     func(i int64) T
	writer *structmap.Writer[T]
	rows   []T
	bld    *column.Builder
}

func (m *funcMaker[T]) make(i, step int64, n int) (*column.Batch, error) {
	defer m.bld.Discard()
	defer clear(m.rows)
	bad, first := 0, error(nil)
	for n > 0 {
		k := 0
		for end := min(n, funcChunk); end > 0; end-- {
			m.rows[k] = m.fn(i)
			if err := m.writer.Check(&m.rows[k]); err != nil {
				if bad++; first == nil {
					first = fmt.Errorf("row %d: %w", i, err)
				}
			} else {
				k++
			}
			i, n = i+step, n-1
		}
		m.writer.Append(m.bld, m.rows[:k])
	}
	if bad > 0 {
		if err := m.ctx.Reject(bad, first); err != nil {
			return nil, err
		}
	}
	if err := m.bld.Err(); err != nil {
		return nil, fmt.Errorf("generate: %w; give a smaller batch size", err)
	}
	if m.bld.Len() == 0 {
		return nil, nil
	}
	return m.bld.Finish(), nil
}

func (m *funcMaker[T]) close() { m.bld.Discard() }

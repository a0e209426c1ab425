package expr

import (
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/calc"
	"github.com/arkflow-go/arkflow/internal/tree"
)

// columnStep gives the values of a column.
type columnStep struct {
	index int
	kind  column.Kind
}

func (s *columnStep) eval(ev *Evaluator, b block, dst []byte) vec {
	c := &ev.batch.Cols[s.index]
	v := s.validity(ev, c, b)
	switch {
	case s.kind == column.Bytes:
		v.text, v.rows = c, ev.rowsOf(b)
	case s.kind == column.Bool:
		v.buf = ev.mask()
		v.data = v.buf[:b.n]
		if b.rows == nil {
			calc.UnpackBits(v.data, c.Data, b.base, b.n)
		} else {
			calc.GatherBits(v.data, c.Data, b.rows)
		}
		v.hideNulls()
	case b.rows == nil:
		w := s.kind.Width()
		v.data = c.Data[b.base*w : (b.base+b.n)*w]
	default:
		v.data, v.buf = ev.room(dst, b.n, s.kind.Width())
		calc.GatherFixed(v.data, c.Data, b.rows, s.kind.Width())
	}
	return v
}

// validity gives a vec with the validity of the column only.
func (s *columnStep) validity(ev *Evaluator, c *column.Column, b block) (v vec) {
	if c.Nulls == 0 || b.rows == nil && column.CountZeros(c.Valid[b.base>>3:], b.n) == 0 {
		return v
	}
	v.mask = ev.mask()
	v.valid = v.mask[:b.n]
	if b.rows == nil {
		calc.UnpackBits(v.valid, c.Valid, b.base, b.n)
	} else {
		calc.GatherBits(v.valid, c.Valid, b.rows)
	}
	return v
}

// constStep gives the same value for each row. Its memory is filled once and shared by all evaluators.
type constStep struct {
	data  []byte
	valid []byte
	text  *column.Column
	rows  []uint32
}

func (s *constStep) eval(_ *Evaluator, b block, _ []byte) vec {
	v := vec{text: s.text, data: s.data}
	if s.valid != nil {
		v.valid = s.valid[:b.n]
	}
	if s.text != nil {
		v.rows = s.rows[:b.n]
		return v
	}
	v.data = s.data[:len(s.data)/blockRows*b.n]
	return v
}

// newConst makes the step of a constant of a type with a layout.
func newConst(l tree.Literal) *constStep {
	s := &constStep{}
	if l.IsNull() {
		s.valid = make([]byte, blockRows)
	}
	kind := column.KindOf(l.Type)
	switch kind {
	case column.Bytes:
		text, _ := l.Value.(string)
		s.text = &column.Column{Type: l.Type, Kind: kind, Data: []byte(text), Offsets: []int32{0, int32(len(text))}}
		s.rows = make([]uint32, blockRows)
	case column.Bool:
		s.data = make([]byte, blockRows)
		if l.Value == true {
			calc.FillBytes(s.data, 1)
		}
	default:
		w := l.Words()
		words := make([]uint64, blockRows*kind.Width()/8)
		s.data = column.BytesOf(words)
		one := column.BytesOf(w[:])[:kind.Width()]
		for at := 0; at < len(s.data); at += len(one) {
			copy(s.data[at:], one)
		}
	}
	return s
}

package expr

import (
	"math"
	"math/big"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/calc"
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
func newConst(l literal) *constStep {
	s := &constStep{}
	if l.null() {
		s.valid = make([]byte, blockRows)
	}
	kind := column.KindOf(l.typ)
	switch kind {
	case column.Bytes:
		text, _ := l.value.(string)
		s.text = &column.Column{Type: l.typ, Kind: kind, Data: []byte(text), Offsets: []int32{0, int32(len(text))}}
		s.rows = make([]uint32, blockRows)
	case column.Bool:
		s.data = make([]byte, blockRows)
		if l.value == true {
			calc.FillBytes(s.data, 1)
		}
	default:
		w := l.words()
		words := make([]uint64, blockRows*kind.Width()/8)
		s.data = column.BytesOf(words)
		one := column.BytesOf(w[:])[:kind.Width()]
		for at := 0; at < len(s.data); at += len(one) {
			copy(s.data[at:], one)
		}
	}
	return s
}

// words gives a fixed-width constant as it lies in a column of its type, in the low bytes; zero for null.
func (l literal) words() (w int128) {
	switch v := l.value.(type) {
	case int64:
		w[0] = uint64(v)
	case uint64:
		w[0] = v
	case float64:
		if w[0] = math.Float64bits(v); l.typ.ID() == arrow.FLOAT32 {
			w[0] = uint64(math.Float32bits(float32(v)))
		}
	case *big.Int:
		w = calc.Int128Of(v)
	}
	return w
}

// literalFrom is the inverse of words, for fixed-width types but Bool.
func literalFrom(t arrow.DataType, w int128) literal {
	switch column.KindOf(t) {
	case column.Float64:
		return literal{t, math.Float64frombits(w[0])}
	case column.Float32:
		return literal{t, float64(math.Float32frombits(uint32(w[0])))}
	case column.Decimal:
		return literal{t, calc.BigOf(w)}
	case column.Uint8, column.Uint16, column.Uint32, column.Uint64:
		return literal{t, w[0]}
	case column.Int8:
		return literal{t, int64(int8(w[0]))}
	case column.Int16:
		return literal{t, int64(int16(w[0]))}
	case column.Int32:
		return literal{t, int64(int32(w[0]))}
	}
	return literal{t, int64(w[0])}
}

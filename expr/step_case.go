package expr

import (
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/calc"
)

// caseStep gives for each row the value of the first condition that is true. Values are computed for the rows that take them, and
// conditions for the rows that no earlier one has decided, unless they cannot fail.
type caseStep struct {
	when    []step
	then    []step
	other   step // nil: null
	kind    column.Kind
	operand step // what the conditions compare, computed once for a block; nil: nothing
	slot    int  // of the operand
	whole   bool // no condition can fail: all are computed for whole blocks
}

func (s *caseStep) eval(ev *Evaluator, b block, dst []byte) vec {
	which := pop(&ev.values, 8*blockRows)
	branch := column.View[uint32](which[:4*b.n])
	if s.operand != nil {
		ev.slots[s.slot] = s.operand.eval(ev, b, nil)
	}
	s.decide(ev, b, branch)
	if s.operand != nil {
		ev.done(&ev.slots[s.slot])
	}
	m := blend{n: b.n, kind: s.kind}
	lists := pop(&ev.values, 8*blockRows)
	places, rows := column.View[uint32](lists[:4*b.n]), column.View[uint32](lists[4*blockRows:4*(blockRows+b.n)])
	for k := 0; k <= len(s.then); k++ {
		n := 0
		for i, at := range branch {
			places[n], rows[n] = uint32(i), b.row(i)
			if at == uint32(k) {
				n++
			}
		}
		value := s.other
		if k < len(s.then) {
			value = s.then[k]
		}
		switch {
		case n == 0:
		case value == nil:
			m.begin(ev, dst)
			for _, p := range places[:n] {
				m.setNull(ev, p)
			}
		case n == b.n:
			m.v = value.eval(ev, b, dst)
		default:
			m.begin(ev, dst)
			y := value.eval(ev, block{n: n, rows: rows[:n]}, nil)
			_, same := value.(*constStep)
			m.put(ev, places[:n], &y, same)
			ev.done(&y)
		}
	}
	ev.free(which)
	ev.free(lists)
	return m.end()
}

// decide writes for each row of a block which condition it takes, or their number.
func (s *caseStep) decide(ev *Evaluator, b block, branch []uint32) {
	lists := pop(&ev.values, 8*blockRows)
	left, rows := column.View[uint32](lists[:4*b.n]), column.View[uint32](lists[4*blockRows:4*(blockRows+b.n)])
	for i := range left {
		left[i], branch[i] = uint32(i), uint32(len(s.when))
	}
	for k, when := range s.when {
		sub := b
		if !s.whole && len(left) < b.n {
			for i, p := range left {
				rows[i] = b.row(int(p))
			}
			sub = block{n: len(left), rows: rows[:len(left)]}
		}
		if len(left) == 0 {
			break
		}
		v := when.eval(ev, sub, nil)
		n, all := 0, sub.n == b.n && len(left) < b.n
		for i, p := range left {
			t := v.data[i]
			if all {
				t = v.data[p]
			}
			if t == 1 {
				branch[p] = uint32(k)
			}
			left[n] = p
			n += int(1 - t)
		}
		left = left[:n]
		ev.done(&v)
	}
	ev.free(lists)
}

// slotStep gives a value that an enclosing step has computed for the block.
type slotStep struct{ slot int }

func (s *slotStep) eval(ev *Evaluator, _ block, _ []byte) vec {
	v := ev.slots[s.slot]
	v.buf, v.mask, v.own, v.kept = nil, nil, nil, nil // they belong to the enclosing step
	return v
}

// coalesceStep gives for each row the first value that is not null. Each operand is computed for the rows that still have none.
type coalesceStep struct {
	args []step
	kind column.Kind
}

func (s *coalesceStep) eval(ev *Evaluator, b block, dst []byte) vec {
	m := blend{n: b.n, kind: s.kind}
	lists := pop(&ev.values, 8*blockRows)
	left, rows := column.View[uint32](lists[:4*b.n]), column.View[uint32](lists[4*blockRows:4*(blockRows+b.n)])
	for i := range left {
		left[i] = uint32(i)
	}
	taken := pop(&ev.values, 8*blockRows)
	places, from := column.View[uint32](taken[:4*b.n]), column.View[uint32](taken[4*blockRows:4*(blockRows+b.n)])
	for k, a := range s.args {
		sub := b
		if len(left) < b.n {
			for i, p := range left {
				rows[i] = b.row(int(p))
			}
			sub = block{n: len(left), rows: rows[:len(left)]}
		}
		if len(left) == 0 {
			break
		}
		room := dst
		if k > 0 {
			room = nil
		}
		y := a.eval(ev, sub, room)
		if y.valid == nil && len(left) == b.n {
			m.drop(ev)
			m.v, left = y, nil
			break
		}
		m.begin(ev, nil)
		n, open := 0, 0
		for i, p := range left {
			if y.idle(i) {
				left[open] = p
				open++
				continue
			}
			places[n], from[n] = p, uint32(i)
			n++
		}
		left = left[:open]
		_, same := a.(*constStep)
		m.putFrom(ev, places[:n], from[:n], &y, same)
		ev.done(&y)
	}
	for _, p := range left {
		m.begin(ev, nil)
		m.setNull(ev, p)
	}
	ev.free(lists)
	ev.free(taken)
	return m.end()
}

// blend puts the values of a block together of those of several steps, each for some of its rows.
type blend struct {
	v     vec
	n     int
	kind  column.Kind
	t     *texts
	begun bool
}

// begin gets memory for the values.
func (m *blend) begin(ev *Evaluator, dst []byte) {
	if m.begun {
		return
	}
	m.begun = true
	switch m.kind {
	case column.Bytes:
		m.t = ev.newTexts()
		m.t.chars = m.t.chars[:0]
	case column.Bool:
		m.v.buf = ev.mask()
		m.v.data = m.v.buf[:m.n]
	default:
		m.v.data, m.v.buf = ev.room(dst, m.n, m.kind.Width())
	}
}

// put gives the places the values of y, in order. same says that these are one value.
func (m *blend) put(ev *Evaluator, places []uint32, y *vec, same bool) {
	switch m.kind {
	case column.Bytes:
		m.putTexts(places, nil, y, same)
	case column.Bool:
		calc.ScatterFixed(m.v.data, y.data, places, 1)
	default:
		calc.ScatterFixed(m.v.data, y.data, places, m.kind.Width())
	}
	m.putValid(ev, places, y)
}

// putFrom gives the places the values of y that from names, which are not null.
func (m *blend) putFrom(ev *Evaluator, places, from []uint32, y *vec, same bool) {
	width := m.kind.Width()
	switch m.kind {
	case column.Bytes:
		m.putTexts(places, from, y, same)
		return
	case column.Bool:
		width = 1
	}
	for i, p := range places {
		at := int(from[i])
		copy(m.v.data[int(p)*width:(int(p)+1)*width], y.data[at*width:(at+1)*width])
	}
}

func (m *blend) putTexts(places, from []uint32, y *vec, same bool) {
	t := m.t
	off := y.text.Offsets
	for i, p := range places {
		at := i
		if from != nil {
			at = int(from[i])
		}
		if same && i > 0 {
			t.spans[2*p], t.spans[2*p+1] = t.spans[2*places[0]], t.spans[2*places[0]+1]
			continue
		}
		r := y.rows[at]
		t.spans[2*p] = int32(len(t.chars))
		if !y.idle(at) {
			t.chars = append(t.chars, y.text.Data[off[r]:off[r+1]]...)
		}
		t.spans[2*p+1] = int32(len(t.chars))
	}
}

func (m *blend) putValid(ev *Evaluator, places []uint32, y *vec) {
	if y.valid == nil {
		return
	}
	for i, p := range places {
		if y.valid[i] == 0 {
			m.setNull(ev, p)
		}
	}
}

// setNull makes a place null.
func (m *blend) setNull(ev *Evaluator, p uint32) {
	ev.makeNull(&m.v, m.n, int(p))
	switch m.kind {
	case column.Bytes:
		m.t.spans[2*p], m.t.spans[2*p+1] = 0, 0
	case column.Bool:
		m.v.data[p] = 0
	}
}

// drop gives the memory back: a single step has all values.
func (m *blend) drop(ev *Evaluator) {
	ev.done(&m.v)
	if m.t != nil {
		ev.freeTexts(m.t)
	}
	*m = blend{}
}

// end gives the values.
func (m *blend) end() vec {
	if m.t != nil {
		m.v.hold(m.t, m.t.chars, m.n)
	}
	return m.v
}

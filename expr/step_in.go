package expr

import (
	"math"
	"math/bits"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
)

// inStep is x in a list of constants. Numbers come as int64, uint64 or float64 and are compared by their words.
type inStep struct {
	child step
	kind  column.Kind // Int64, Uint64, Float64 or Bytes
	null  bool        // the list has a null
	words wordSet
	texts map[string]struct{}
}

// wordSet is a set of 64-bit words, open-addressed; a word that is not in it marks the free slots.
type wordSet struct {
	slots []uint64
	free  uint64
	shift uint
}

func newWordSet(words []uint64) wordSet {
	slices.Sort(words)
	words = slices.Compact(words)
	s := wordSet{}
	for _, w := range words { // ascending: the first gap is free
		if w == s.free {
			s.free++
		}
	}
	size := uint(bits.Len(uint(2*len(words) + 1)))
	s.slots, s.shift = make([]uint64, 1<<size), 64-size
	for i := range s.slots {
		s.slots[i] = s.free
	}
	for _, w := range words {
		at := s.home(w)
		for s.slots[at] != s.free {
			at = (at + 1) & (len(s.slots) - 1)
		}
		s.slots[at] = w
	}
	return s
}

func (s *wordSet) home(w uint64) int { return int(w * 0x9E3779B97F4A7C15 >> (s.shift & 63)) }

func (s *wordSet) has(w uint64) byte {
	for at := s.home(w); s.slots[at] != s.free; at = (at + 1) & (len(s.slots) - 1) {
		if s.slots[at] == w {
			return 1
		}
	}
	return 0
}

// floatWord gives equal words for equal floats.
func floatWord(f float64) uint64 {
	switch {
	case f == 0:
		return 0
	case f != f:
		return math.Float64bits(math.NaN())
	}
	return math.Float64bits(f)
}

func (s *inStep) eval(ev *Evaluator, b block, _ []byte) vec {
	x := s.child.eval(ev, b, nil)
	v := ev.truth(&x, b.n)
	switch s.kind {
	case column.Bytes:
		for i, r := range x.rows {
			v.data[i] = 0
			if _, ok := s.texts[x.text.String(int(r))]; ok {
				v.data[i] = 1
			}
		}
	case column.Float64:
		for i, f := range column.View[float64](x.data) {
			v.data[i] = s.words.has(floatWord(f))
		}
	default:
		for i, w := range column.View[uint64](x.data) {
			v.data[i] = s.words.has(w)
		}
	}
	ev.done(&x)
	v.hideNulls()
	if s.null { // what is not found is null, and what was null has truth 0 already
		if v.mask == nil {
			v.mask = ev.mask()
		}
		v.valid = v.mask[:b.n]
		copy(v.valid, v.data)
	}
	return v
}

// in binds a membership test: as one step where the values are constants, else as comparisons joined by or.
func (bd *binder) in(n *node) (bound, bool) {
	x, ok := bd.bind(n.args[0])
	if !ok {
		for _, a := range n.args[1:] {
			bd.bind(a)
		}
		return bound{}, false
	}
	if len(n.args) == 1 {
		return bd.constant(n, literal{arrow.FixedWidthTypes.Boolean, false}), true
	}
	simple := x.lit == nil && x.kind != column.Bool && x.kind != column.Decimal
	items := make([]bound, 0, len(n.args)-1)
	for _, a := range n.args[1:] {
		item, bound := bd.bind(a)
		if !bound || !bd.comparable(n, opEq, x, item) {
			ok = false
			continue
		}
		simple = simple && item.lit != nil
		items = append(items, item)
	}
	if !ok {
		return bound{}, false
	}
	if !simple {
		var all *node
		for _, a := range n.args[1:] {
			all = joined(all, &node{op: opEq, args: []*node{n.args[0], a}})
		}
		return bd.bind(all)
	}
	return bd.inConstants(n, x, items)
}

func joined(left, right *node) *node {
	if left == nil {
		return right
	}
	return &node{op: opOr, args: []*node{left, right}}
}

func (bd *binder) inConstants(n *node, x bound, items []bound) (bound, bool) {
	s := &inStep{texts: map[string]struct{}{}}
	wide := x
	switch k := x.kind; {
	case k == column.Bytes:
		s.kind = column.Bytes
	case k == column.Uint64:
		s.kind = column.Uint64
	case k == column.Float32 || k == column.Float64:
		s.kind = column.Float64
		wide = bd.cast(x, arrow.PrimitiveTypes.Float64)
	default:
		s.kind = column.Int64
		wide = bd.cast(x, arrow.PrimitiveTypes.Int64)
	}
	s.child = wide.use()
	var words []uint64
	for _, item := range items {
		l := *item.lit
		if l.null() {
			s.null = true
			continue
		}
		if text, ok := l.value.(string); ok {
			s.texts[text] = struct{}{}
			continue
		}
		at := placeOf(l, x.typ)
		if at.where != placeExact {
			continue // no value of x is equal to it
		}
		if s.kind == column.Float64 {
			words = append(words, floatWord(at.lit.value.(float64)))
			continue
		}
		words = append(words, literal{arrow.PrimitiveTypes.Int64, at.lit.value}.words()[0])
	}
	s.words = newWordSet(words)
	x.nullable = x.nullable || s.null
	return bd.truth(n, s, x, x)
}

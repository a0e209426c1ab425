package expr

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/calc"
	"github.com/arkflow-go/arkflow/internal/tree"
)

// inStep is x in a list of constants. Numbers come as int64, uint64 or float64 and are compared by their words.
type inStep struct {
	child step
	kind  column.Kind // Int64, Uint64, Float64 or Bytes
	null  bool        // the list has a null
	words calc.WordSet
	texts calc.TextSet
}

func (s *inStep) eval(ev *Evaluator, b block, _ []byte) vec {
	x := s.child.eval(ev, b, nil)
	v := ev.truth(&x, b.n)
	switch s.kind {
	case column.Bytes:
		for i, r := range x.rows {
			v.data[i] = s.texts.Has(x.text.Bytes(int(r)))
		}
	case column.Float64:
		for i, f := range column.View[float64](x.data) {
			v.data[i] = s.words.Has(calc.FloatWord(f))
		}
	default:
		for i, w := range column.View[uint64](x.data) {
			v.data[i] = s.words.Has(w)
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
func (bd *binder) in(n *tree.Node) (bound, bool) {
	x, ok := bd.bind(n.Args[0])
	if !ok {
		for _, a := range n.Args[1:] {
			bd.bind(a)
		}
		return bound{}, false
	}
	if len(n.Args) == 1 {
		return bd.constant(n, tree.Literal{Type: arrow.FixedWidthTypes.Boolean, Value: false}), true
	}
	simple := x.lit == nil && x.kind != column.Bool && x.kind != column.Decimal
	items := make([]bound, 0, len(n.Args)-1)
	for _, a := range n.Args[1:] {
		item, bound := bd.bind(a)
		if !bound || !bd.comparable(n, tree.OpEq, x, item) {
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
		var all *tree.Node
		for _, a := range n.Args[1:] {
			all = joined(all, &tree.Node{Op: tree.OpEq, Args: []*tree.Node{n.Args[0], a}})
		}
		return bd.bind(all)
	}
	return bd.inConstants(n, x, items)
}

func joined(left, right *tree.Node) *tree.Node {
	if left == nil {
		return right
	}
	return &tree.Node{Op: tree.OpOr, Args: []*tree.Node{left, right}}
}

func (bd *binder) inConstants(n *tree.Node, x bound, items []bound) (bound, bool) {
	s := &inStep{}
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
	var texts []string
	for _, item := range items {
		l := *bd.meantAsFloat(item, x).lit
		if l.IsNull() {
			s.null = true
			continue
		}
		if text, ok := l.Value.(string); ok {
			texts = append(texts, text)
			continue
		}
		at := tree.PlaceOf(l, x.typ)
		if at.Where != tree.PlaceExact {
			continue // no value of x is equal to it
		}
		if s.kind == column.Float64 {
			words = append(words, calc.FloatWord(at.Lit.Value.(float64)))
			continue
		}
		words = append(words, tree.Literal{Type: arrow.PrimitiveTypes.Int64, Value: at.Lit.Value}.Words()[0])
	}
	s.words, s.texts = calc.NewWordSet(words), calc.NewTextSet(texts)
	x.nullable = x.nullable || s.null
	return bd.truth(n, s, x, x)
}

package expr

import (
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/calc"
	"github.com/arkflow-go/arkflow/internal/scalar"
)

// callStep computes a function.
type callStep struct {
	args   []step
	kernel scalar.Kernel
	kind   column.Kind // of the result
	lax    bool        // also rows with null operands are computed
	memo   int
	what   *failure
}

func (s *callStep) eval(ev *Evaluator, b block, dst []byte) vec {
	first := len(ev.args)
	var few [4]vec
	xs := few[:0]
	for _, a := range s.args {
		xs = append(xs, a.eval(ev, b, nil))
	}
	for i := range xs {
		ev.args = append(ev.args, scalar.Vec{Data: xs[i].data, Valid: xs[i].valid, Text: xs[i].text, Rows: xs[i].rows})
	}
	v := vec{}
	mask := ev.mask()
	out := &ev.out
	*out = scalar.Out{N: b.n, View: -1, Mask: mask, Memo: &ev.memos[s.memo], Failures: out.Failures[:0]}
	if !s.lax {
		out.Valid = joinValid(mask[:b.n], xs)
	}
	var t *texts
	switch s.kind {
	case column.Bytes:
		t = ev.newTexts()
		out.Spans, out.Chars = t.spans[:2*b.n], t.chars[:0]
	case column.Bool:
		v.buf = ev.mask()
		v.data = v.buf[:b.n]
	default:
		v.data, v.buf = ev.room(dst, b.n, s.kind.Width())
	}
	out.Data = v.data
	s.kernel(out, ev.args[first:])
	if v.valid = out.Valid; v.valid != nil {
		v.mask = mask
	} else {
		ev.masks = append(ev.masks, mask)
	}
	if t != nil {
		if out.View < 0 {
			t.chars = out.Chars
		} else {
			v.keep(&xs[out.View])
		}
		v.hold(t, out.Chars, b.n)
	}
	for _, f := range out.Failures {
		ev.errs.add(rowFault{row: b.row(f.Row), what: s.what, text: f.Problem})
	}
	for i := range xs {
		ev.done(&xs[i])
	}
	ev.args = ev.args[:first]
	if s.kind == column.Bool {
		v.hideNulls()
	}
	return v
}

// keep takes over the memory that the bytes of x lie in, for texts that are parts of them.
func (v *vec) keep(x *vec) {
	if x.kept != nil {
		v.kept, x.kept = x.kept, nil
		return
	}
	v.kept, x.own = x.own, nil
}

// joinValid gives in mask where all operands have a value; nil: everywhere.
func joinValid(mask []byte, xs []vec) []byte {
	var all []byte
	for i := range xs {
		switch {
		case xs[i].valid == nil:
		case all == nil:
			copy(mask, xs[i].valid)
			all = mask
		default:
			calc.AndBytes(all, all, xs[i].valid)
		}
	}
	return all
}

// passStep gives the values of another step as those of another type of the same layout.
type passStep struct{ child step }

func (s *passStep) eval(ev *Evaluator, b block, dst []byte) vec { return s.child.eval(ev, b, dst) }

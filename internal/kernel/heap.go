package kernel

import (
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/extreme"
	"github.com/arkflow-go/arkflow/internal/layout"
)

// add feeds the strings of a block.
func (t *table) addTexts(a layout.Accumulator, c *column.Column, at rowAt, refs []uint32) {
	h := &t.heaps[a.Side]
	for i, ref := range refs {
		v := c.Bytes(at.row(i))
		r := (*[2]uint64)(t.rows[int(ref)+a.Off:])
		p := extreme.Prefix(v)
		if h.Better(r, p, v, a.Invert) {
			h.Replace(r, p, v)
		}
	}
	t.tidy(h, a)
}

// tidy collects garbage where it is more than half: strings that are still referred to are moved together.
func (t *table) tidy(h *extreme.Heap, a layout.Accumulator) {
	if !h.Wasteful() {
		return
	}
	old := h.Restart()
	for ref := t.l.Stride; ref < int(t.end); ref += t.l.Stride {
		if w := &t.rows[ref+a.Off+1]; *w != 0 {
			*w = h.CopyFrom(&old, a.Best, *w)
		}
	}
}

// combineTexts takes over the strings of another table that are better.
func (t *table) combineTexts(a layout.Accumulator, src *extreme.Heap, vals []uint64, refs, from []uint32) {
	h := &t.heaps[a.Side]
	for i, ref := range refs {
		p, w := vals[from[i]], vals[from[i]+1]
		if w == 0 {
			continue
		}
		r := (*[2]uint64)(t.rows[int(ref)+a.Off:])
		if v := src.At(w); h.Better(r, p, v, a.Invert) {
			h.Replace(r, p, v)
		}
	}
	t.tidy(h, a)
}

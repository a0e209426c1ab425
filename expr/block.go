package expr

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/calc"
)

// blockRows is the number of rows that are evaluated at a time: few enough that the intermediate values of an
// expression stay in the first-level cache. A multiple of 64.
const blockRows = calc.BlockRows

// int128 is the unscaled value of a decimal as it lies in a column.
type int128 = calc.Int128

// block is a run of rows of the batch that is being evaluated: rows base … base+n-1, or the n physical rows of rows.
type block struct {
	base int // a multiple of blockRows; meaningless where rows is given
	n    int
	rows []uint32 // ascending; nil: a contiguous run
}

// row gives the physical row of the i-th row.
func (b *block) row(i int) uint32 {
	if b.rows != nil {
		return b.rows[i]
	}
	return uint32(b.base + i)
}

// vec is the values of a sub-expression for the rows of a block.
type vec struct {
	data  []byte         // fixed width: n values; Bool: a byte each, 0 or 1, 0 where null
	valid []byte         // a byte each, 1 where there is a value; nil: everywhere
	text  *column.Column // Bytes: the values are text's at rows
	rows  []uint32

	buf, mask []byte // scratch memory that data and valid lie in; nil where they lie elsewhere
	own, kept *texts // scratch memory that text lies in: its places, and its bytes where they are of another operand
}

// texts is scratch memory for the texts that a step makes: text i is that of row 2i of col.
type texts struct {
	col   column.Column
	spans []int32
	chars []byte
}

// evenRows are the rows of a texts.
var evenRows = func() (rows [blockRows]uint32) {
	for i := range rows {
		rows[i] = uint32(2 * i)
	}
	return rows
}()

// step is a typed node of a program. It is immutable: evaluators of several tasks share it.
type step interface {
	// eval computes the values for the rows of a block. Where dst is given (n values of the step's kind) they should be
	// written there; the result says by its data where they are. The caller gives the result back by Evaluator.done.
	eval(ev *Evaluator, b block, dst []byte) vec
}

// scratch lends the memory of intermediate values. The last buffer that came back is lent first: it is in the cache.
type scratch struct {
	values, wide, masks [][]byte
	texts               []*texts
}

// keptText bounds the bytes of text that scratch memory keeps from block to block.
const keptText = 1 << 20

// newTexts gives scratch memory for n texts.
func (ev *Evaluator) newTexts() *texts {
	if n := len(ev.texts); n > 0 {
		t := ev.texts[n-1]
		ev.texts = ev.texts[:n-1]
		return t
	}
	return &texts{spans: make([]int32, 2*blockRows)}
}

// hold makes v the n texts that lie in t: places in chars, which are t's own, or those of another vec that is kept.
func (v *vec) hold(t *texts, chars []byte, n int) {
	t.col = column.Column{Type: arrow.BinaryTypes.Binary, Kind: column.Bytes, Data: chars, Offsets: t.spans[:2*n]}
	v.text, v.rows, v.own = &t.col, evenRows[:n], t
}

func (ev *Evaluator) freeTexts(t *texts) {
	if cap(t.chars) > keptText {
		t.chars = nil
	}
	t.col = column.Column{}
	ev.texts = append(ev.texts, t)
}

func pop(list *[][]byte, size int) []byte {
	if n := len(*list); n > 0 {
		buf := (*list)[n-1]
		*list = (*list)[:n-1]
		return buf
	}
	return make([]byte, size)
}

// room gives dst, or where there is none a scratch buffer for n values of a width of up to 8, and that buffer.
func (ev *Evaluator) room(dst []byte, n, width int) (data, buf []byte) {
	if dst != nil {
		return dst[:n*width], nil
	}
	if width > 8 {
		buf = pop(&ev.wide, 16*blockRows)
	} else {
		buf = pop(&ev.values, 8*blockRows)
	}
	return buf[:n*width], buf
}

// mask gives a scratch buffer of a byte a row.
func (ev *Evaluator) mask() []byte { return pop(&ev.masks, blockRows) }

// done gives the scratch memory of a vec back.
func (ev *Evaluator) done(v *vec) {
	if v.buf != nil {
		ev.free(v.buf)
		v.buf = nil
	}
	if v.mask != nil {
		ev.masks = append(ev.masks, v.mask)
		v.mask = nil
	}
	if v.own != nil {
		ev.freeTexts(v.own)
		v.own = nil
	}
	if v.kept != nil {
		ev.freeTexts(v.kept)
		v.kept = nil
	}
}

func (ev *Evaluator) free(buf []byte) {
	switch cap(buf) {
	case 8 * blockRows:
		ev.values = append(ev.values, buf)
	case 16 * blockRows:
		ev.wide = append(ev.wide, buf)
	default:
		ev.masks = append(ev.masks, buf)
	}
}

// both sets v's validity to that of a and b, whose masks it may take over.
func (ev *Evaluator) both(v, a, b *vec, n int) {
	switch {
	case a.valid == nil && b.valid == nil:
	case b.valid == nil:
		ev.inherit(v, a)
	case a.valid == nil:
		ev.inherit(v, b)
	default:
		v.mask = ev.mask()
		v.valid = v.mask[:n]
		calc.AndBytes(v.valid, a.valid, b.valid)
	}
}

// inherit gives v the validity of a, whose mask it takes over.
func (ev *Evaluator) inherit(v, a *vec) {
	v.valid, v.mask = a.valid, a.mask
	a.mask = nil
}

// hideNulls makes the truth of null rows 0.
func (v *vec) hideNulls() {
	if v.valid != nil {
		calc.AndBytes(v.data, v.data, v.valid)
	}
}

// fail records that row i of the block is in error, and makes it null.
func (ev *Evaluator) fail(v *vec, b block, i int, what *failure, x, y [2]uint64) {
	ev.errs.add(rowFault{row: b.row(i), what: what, a: x, b: y})
	ev.makeNull(v, b.n, i)
}

// makeNull makes row i of n null.
func (ev *Evaluator) makeNull(v *vec, n, i int) {
	if v.mask == nil {
		v.mask = ev.mask()
		if v.valid == nil {
			calc.FillBytes(v.mask[:n], 1)
		} else {
			copy(v.mask, v.valid)
		}
		v.valid = v.mask[:n]
	}
	v.valid[i] = 0
}

// idle reports whether row i of v has no value, so that whatever stands in its place is no error.
func (v *vec) idle(i int) bool { return v.valid != nil && v.valid[i] == 0 }

// rowsOf gives the physical rows of a block as a list.
func (ev *Evaluator) rowsOf(b block) []uint32 {
	if b.rows != nil {
		return b.rows
	}
	if ev.ids[0] != uint32(b.base) || ev.ids[1] != uint32(b.base+1) {
		for i := range ev.ids {
			ev.ids[i] = uint32(b.base + i)
		}
	}
	return ev.ids[:b.n]
}

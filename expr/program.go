package expr

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/calc"
	"github.com/arkflow-go/arkflow/internal/scalar"
	"github.com/arkflow-go/arkflow/internal/tree"
)

// Program is an expression bound to a schema. It is immutable and may be shared by tasks; each makes its own Evaluator.
type Program struct {
	expr     Expr
	schema   *arrow.Schema
	kinds    []column.Kind // of the schema's columns
	root     step
	typ      arrow.DataType
	nullable bool
	column   int           // of a bare column reference, else -1
	constant *tree.Literal // of a constant, else nil
	ratios   int           // number of ratio steps
	memos    int           // number of steps that keep something from block to block
	slots    int           // number of values that several steps share
}

// Type is the type of the values. A bare column keeps its own, dictionaries included.
func (p *Program) Type() arrow.DataType { return p.typ }

// Nullable tells whether values can be null, as far as the schema says.
func (p *Program) Nullable() bool { return p.nullable }

// Expr is the expression that was bound.
func (p *Program) Expr() Expr { return p.expr }

// Column gives the index of the column that the program is a bare reference to, or -1.
func (p *Program) Column() int { return p.column }

// New makes the evaluator of one task.
func (p *Program) New() *Evaluator {
	return &Evaluator{p: p, avoid: make([]uint8, p.ratios), memos: make([]any, p.memos), slots: make([]vec, p.slots)}
}

// Evaluator evaluates a program for one task. It keeps scratch memory between calls, some 10 KiB for each level of the
// expression. Not safe for concurrent use.
type Evaluator struct {
	p     *Program
	batch *column.Batch
	errs  *Errors
	scratch
	ids   [blockRows]uint32
	kept  [blockRows]uint32
	avoid []uint8 // by ratio step: blocks for which it takes the exact way
	memos []any   // by step
	slots []vec   // by value
	out   scalar.Out
	args  []scalar.Vec // of the calls that are being evaluated, the innermost last
}

// Program is what the evaluator was made for.
func (ev *Evaluator) Program() *Program { return ev.p }

// begin checks that the batch is of the schema that the program was bound to.
func (ev *Evaluator) begin(b *column.Batch, errs *Errors) error {
	for i, k := range ev.p.kinds {
		if i >= len(b.Cols) || b.Cols[i].Kind != k {
			return fmt.Errorf("expression %s was bound to the schema %s and is evaluated over a batch of schema %s", ev.p.expr, ev.p.schema, b.Schema)
		}
	}
	ev.batch, ev.errs = b, errs
	return nil
}

func (ev *Evaluator) end() { ev.batch, ev.errs = nil, nil }

// block gives the block that begins with the at-th row that is there.
func (ev *Evaluator) block(at int) block {
	b := block{base: at, n: min(blockRows, ev.batch.Len()-at)}
	if ev.batch.Sel != nil {
		b.rows = ev.batch.Sel[at : at+b.n]
	}
	return b
}

// Rows appends to dst the physical rows of b, among those that are there, for which the program, a condition, is true.
// Rows in error, also those that errs has already, are left out. It allocates nothing where dst has room for b.Len() more rows.
// The error says that b is not of the schema that the program was bound to, or that the program is no condition.
func (ev *Evaluator) Rows(dst []uint32, b *column.Batch, errs *Errors) ([]uint32, error) {
	if ev.p.typ.ID() != arrow.BOOL {
		return dst, fmt.Errorf("expression %s is no condition: its type is %s", ev.p.expr, ev.p.typ)
	}
	if err := ev.begin(b, errs); err != nil {
		return dst, err
	}
	defer ev.end()
	first := len(dst)
	for at := 0; at < b.Len(); at += blockRows {
		n := ev.selectRows(ev.p.root, ev.block(at), &ev.kept)
		dst = append(dst, ev.kept[:n]...)
	}
	if len(errs.list) > 0 {
		dst = dst[:first+len(without(dst[first:first], dst[first:], errs.Rows()))]
	}
	return dst, nil
}

// Filter gives the rows of b for which the program, a condition, is true, as a batch that is derived from b and that the
// caller owns; nil where there is none. Rows in error are not among them and are collected in errs. For the error see Rows.
func (ev *Evaluator) Filter(b *column.Batch, errs *Errors) (*column.Batch, error) {
	buf := b.Pool().Get(4 * b.Len())
	rows, err := ev.Rows(column.View[uint32](buf[:4*b.Len()])[:0], b, errs)
	if err != nil || len(rows) == 0 {
		b.Pool().Put(buf)
		return nil, err
	}
	d := b.Derive()
	if len(rows) == b.Len() {
		b.Pool().Put(buf)
		return d, nil
	}
	d.Sel = rows
	d.Adopt(buf)
	return d, nil
}

// Eval computes a dense column of b.Len() values into dst, a column of the batch out: row i of dst is the i-th row of b that
// is there. Memory is allocated in out, except that a bare column over a batch without a selection shares the memory of
// b: out must then be derived from b or otherwise keep it alive (Program.Column tells). The values of rows in error are
// null and the errors are collected in errs. The error says that b is not of the schema that the program was bound to, or
// that text would be larger than a column can hold.
func (ev *Evaluator) Eval(out *column.Batch, dst *column.Column, b *column.Batch, errs *Errors) error {
	if err := ev.begin(b, errs); err != nil {
		return err
	}
	defer ev.end()
	if i := ev.p.column; i >= 0 {
		if b.Sel == nil {
			*dst = b.Cols[i]
			return nil
		}
		column.Gather(out, dst, &b.Cols[i], b.Sel)
		return nil
	}
	n := b.Len()
	kind := column.KindOf(ev.p.typ)
	*dst = column.Column{Type: ev.p.typ, Kind: kind}
	switch {
	case kind == column.Bytes && ev.p.constant != nil:
		return ev.repeatText(out, dst, n)
	case kind == column.Bytes:
		return ev.evalText(out, dst, n)
	case kind == column.Bool:
		dst.Data = column.Alloc[byte](out, column.BitmapLen(n))
	case kind == column.Decimal:
		dst.Data = column.BytesOf(column.Alloc[[2]uint64](out, n))
	default:
		dst.Data = column.BytesOf(column.Alloc[uint64](out, (n*kind.Width()+7)/8))[:n*kind.Width()]
	}
	width := kind.Width()
	for at := 0; at < n; at += blockRows {
		b := ev.block(at)
		var room []byte
		if width > 0 {
			room = dst.Data[at*width : (at+b.n)*width]
		}
		v := ev.p.root.eval(ev, b, room)
		switch {
		case width == 0:
			calc.PackBits(dst.Data[at>>3:], v.data[:b.n])
		case &v.data[0] != &room[0]:
			copy(room, v.data)
		}
		ev.storeValid(out, dst, &v, at, b.n, n)
		ev.done(&v)
	}
	ev.hideFailed(out, dst)
	return nil
}

// hideFailed makes rows in error null that an operator gave a value nevertheless.
func (ev *Evaluator) hideFailed(out *column.Batch, dst *column.Column) {
	if len(ev.errs.list) > 0 {
		n := ev.batch.Len()
		for _, row := range ev.errs.Rows() {
			at := int(row)
			if ev.batch.Sel != nil {
				at, _ = slices.BinarySearch(ev.batch.Sel, row)
			}
			if dst.Valid == nil {
				dst.Valid = column.Alloc[byte](out, column.BitmapLen(n))
				calc.FillBytes(dst.Valid, 0xFF)
			}
			if column.Bit(dst.Valid, at) {
				column.ClearBit(dst.Valid, at)
				dst.Nulls++
			}
		}
	}
	if dst.Nulls == 0 {
		dst.Valid = nil
	}
}

// storeValid writes the validity of a block into the column; the bitmap is made at the first null.
func (ev *Evaluator) storeValid(out *column.Batch, dst *column.Column, v *vec, at, n, total int) {
	if v.valid == nil && dst.Valid == nil {
		return
	}
	if dst.Valid == nil {
		dst.Valid = column.Alloc[byte](out, column.BitmapLen(total))
		calc.FillBytes(dst.Valid[:at>>3], 0xFF)
	}
	if v.valid == nil {
		calc.FillBytes(dst.Valid[at>>3:column.BitmapLen(at+n)], 0xFF)
		return
	}
	dst.Nulls += n - calc.PackBits(dst.Valid[at>>3:], v.valid[:n])
}

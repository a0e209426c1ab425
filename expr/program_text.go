package expr

import (
	"fmt"

	"github.com/arkflow-go/arkflow/column"
)

func (ev *Evaluator) tooLarge(n, bytes int) error {
	return fmt.Errorf("expression %s: %d texts of together %d bytes are more than a column of one batch holds; make the batch smaller", ev.p.expr, n, bytes)
}

// repeatText makes a column of n times the constant that the program is.
func (ev *Evaluator) repeatText(out *column.Batch, dst *column.Column, n int) error {
	s, _ := ev.p.constant.Value.(string)
	if len(s)*n > column.MaxBatchBytes {
		return ev.tooLarge(n, len(s)*n)
	}
	dst.Offsets = column.Alloc[int32](out, n+1)
	for i := range dst.Offsets {
		dst.Offsets[i] = int32(i * len(s))
	}
	dst.Data = column.Alloc[byte](out, n*len(s))
	for at := 0; at < len(dst.Data); at += len(s) {
		copy(dst.Data[at:], s)
	}
	if ev.p.constant.IsNull() {
		dst.Valid, dst.Nulls = column.AllocZero[byte](out, column.BitmapLen(n)), n
	}
	return nil
}

// evalText computes a column of n texts. Their size is known only when they are: the memory grows from block to block.
func (ev *Evaluator) evalText(out *column.Batch, dst *column.Column, n int) error {
	pool := out.Pool()
	dst.Offsets = column.Alloc[int32](out, n+1)
	dst.Offsets[0] = 0
	var buf []byte
	size, sum := 0, 0
	for at := 0; at < n; at += blockRows {
		b := ev.block(at)
		v := ev.p.root.eval(ev, b, nil)
		for i, r := range v.rows {
			if !v.idle(i) {
				sum += int(v.text.Offsets[r+1] - v.text.Offsets[r])
			}
			if sum > column.MaxBatchBytes {
				break
			}
			dst.Offsets[at+i+1] = int32(sum)
		}
		if sum > column.MaxBatchBytes {
			ev.done(&v)
			if buf != nil {
				pool.Put(buf)
			}
			return ev.tooLarge(n, sum)
		}
		if sum > len(buf) {
			larger := pool.Get(max(sum, min(sum/(at+b.n)*n*9/8, column.MaxBatchBytes)))
			copy(larger[:size], buf)
			if buf != nil {
				pool.Put(buf)
			}
			buf = larger[:cap(larger)]
		}
		for i, r := range v.rows {
			if !v.idle(i) {
				copy(buf[size:], v.text.Data[v.text.Offsets[r]:v.text.Offsets[r+1]])
				size = int(dst.Offsets[at+i+1])
			}
		}
		ev.storeValid(out, dst, &v, at, b.n, n)
		ev.done(&v)
	}
	if buf != nil {
		out.Adopt(buf)
	}
	dst.Data = buf[:size]
	ev.hideFailed(out, dst)
	return nil
}

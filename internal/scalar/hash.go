package scalar

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/calc"
	"github.com/arkflow-go/arkflow/internal/keys"
)

// bindHash is hash: the stable hash of a key of these columns (DESIGN K2). It is never null: null is a value of its own.
func bindHash(c *Call) error {
	c.Lax = true
	kinds, cols := make([]column.Kind, len(c.Args)), make([]int, len(c.Args))
	for i, a := range c.Args {
		kinds[i], cols[i] = column.KindOf(a.Type), i
	}
	types := c.Want
	return c.gives(arrow.PrimitiveTypes.Uint64, func(out *Out, args []Vec) {
		m, _ := (*out.Memo).(*hashMemo)
		if m == nil {
			m = &hashMemo{cols: make([]column.Column, len(args)), offsets: make([][]int32, len(args)), valid: make([][]byte, len(args)), bits: make([][]byte, len(args)),
				chars: make([][]byte, len(args))}
			*out.Memo = m
		}
		for i := range args {
			m.fill(i, types[i], kinds[i], &args[i], out.N)
		}
		m.batch.Cols, m.batch.Rows = m.cols, out.N
		keys.Hash(column.View[uint64](out.Data), &m.batch, cols)
	})
}

// hashMemo holds a block as the columns that are hashed.
type hashMemo struct {
	batch       column.Batch
	cols        []column.Column
	offsets     [][]int32
	valid, bits [][]byte
	chars       [][]byte
}

func (m *hashMemo) fill(i int, t arrow.DataType, k column.Kind, v *Vec, n int) {
	c := column.Column{Type: t, Kind: k, Data: v.Data}
	switch k {
	case column.Bytes:
		c.Offsets, c.Data = m.texts(i, v, n)
	case column.Bool:
		m.bits[i] = grown(m.bits[i], column.BitmapLen(n))
		calc.PackBits(m.bits[i], v.Data[:n])
		c.Data = m.bits[i]
	}
	if v.Valid != nil {
		m.valid[i] = grown(m.valid[i], column.BitmapLen(n))
		c.Nulls = n - calc.PackBits(m.valid[i], v.Valid[:n])
		c.Valid = m.valid[i]
	}
	m.cols[i] = c
}

// texts gives texts one after the other, as a column has them.
func (m *hashMemo) texts(i int, v *Vec, n int) ([]int32, []byte) {
	off := m.offsets[i]
	if cap(off) < n+1 {
		off = make([]int32, calc.BlockRows+1)
		m.offsets[i] = off
	}
	chars := m.chars[i][:0]
	for row := range n {
		if v.Valid == nil || v.Valid[row] != 0 {
			chars = append(chars, v.Bytes(row)...)
		}
		off[row+1] = int32(len(chars))
	}
	m.chars[i] = chars
	return off[:n+1], chars
}

func grown(b []byte, n int) []byte {
	if cap(b) < n {
		return make([]byte, max(n, calc.BlockRows/8))
	}
	return b[:n]
}

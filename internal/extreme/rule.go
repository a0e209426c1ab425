package extreme

import (
	"bytes"
	"encoding/binary"
	"errors"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/keys"
)

// Rule is what First, Last, ArgMin and ArgMax keep of each group: the values of the row that is extreme, or of all rows that
// are. The two words of a group are the first 8 bytes of what is compared, by which nearly all rows are decided, and as for a heap the
// place of a tuple: the rest of what is compared, and the values, in their ordered forms (see keys.AppendOrdered).
//
// Without ties a tuple is {rest of the extreme, time, values}, of which time and values are inverted bit by bit where the greatest
// tuple is kept and an earlier row and lesser values are to be preferred. With ties it is {place of the next tuple or 0,
// rest of the extreme, values}.
type Rule struct {
	By      int // column of the extreme; −1: the row's time
	ByType  keys.Type
	ByKind  column.Kind
	Timed   bool // among equals the earliest row is kept
	Inverse bool // time and values are inverted
	Ties    bool
	Least   bool // the least is kept
	Values  []int
	Types   []keys.Type
}

// Prefixes writes the first 8 bytes of what is compared of the physical rows named, or of those from lo on, as numbers. scratch has as
// much room as p.
func (r *Rule) Prefixes(p, scratch []uint64, batch *column.Batch, lo int, rows []uint32) {
	row := func(i int) int {
		if rows != nil {
			return int(rows[i])
		}
		return lo + i
	}
	switch {
	case r.By < 0:
		for i := range p {
			p[i] = uint64(batch.Times[row(i)]) ^ keys.SignBit
		}
	case r.ByKind == column.Bytes:
		c := &batch.Cols[r.By]
		for i := range p {
			p[i] = Prefix(c.Bytes(row(i)))
		}
	case r.ByKind == column.Decimal:
		v := column.View[[2]uint64](batch.Cols[r.By].Data)
		for i := range p {
			p[i] = v[row(i)][1] ^ keys.SignBit
		}
	default:
		for i, w := range keys.Words(scratch, &batch.Cols[r.By], lo, len(p), rows) {
			p[i] = r.ByType.Ordered(w)
		}
	}
}

// Encode appends the tuple of a row, that with ties without the place of the next one.
func (r *Rule) Encode(dst []byte, batch *column.Batch, row int) []byte {
	if r.By >= 0 && !keys.OneWord(r.ByKind) {
		dst = keys.AppendOrdered(dst, r.ByType, &batch.Cols[r.By], row)
	}
	n := len(dst)
	if r.Timed {
		time := uint64(0)
		if batch.Times != nil {
			time = uint64(batch.Times[row])
		}
		dst = binary.BigEndian.AppendUint64(dst, time^keys.SignBit)
	}
	for i, v := range r.Values {
		dst = keys.AppendOrdered(dst, r.Types[i], &batch.Cols[v], row)
	}
	if r.Inverse {
		invert(dst[n:])
	}
	return dst
}

func invert(v []byte) {
	for i := range v {
		v[i] = ^v[i]
	}
}

var errTuple = errors.New("saved tuple is damaged")

// skipExtreme gives a tuple, that with ties without the place of the next one, behind the rest of the extreme.
func (r *Rule) skipExtreme(v []byte) ([]byte, error) {
	if r.By < 0 || keys.OneWord(r.ByKind) {
		return v, nil
	}
	if r.ByKind == column.Decimal {
		if len(v) < 17 {
			return nil, errTuple
		}
		return v[17:], nil
	}
	for i := 1; i+1 < len(v); i++ {
		if v[i] == 0 {
			if v[i+1] == 1 {
				return v[i+2:], nil
			}
			i++
		}
	}
	return nil, errTuple
}

// Tie feeds a tuple where all that share the extreme are kept. The caller has left out those whose prefix is worse than that of the group: one
// that differs is taken to be better.
func (h *Heap) Tie(r *[2]uint64, p uint64, tuple []byte, rule *Rule) {
	o := 1
	if r[1] != 0 && p == r[0] {
		o = 0
		if !keys.OneWord(rule.ByKind) {
			rest, err := rule.skipExtreme(tuple)
			if err != nil {
				return
			}
			extreme := tuple[:len(tuple)-len(rest)]
			held := h.At(r[1])[8:]
			o = bytes.Compare(extreme, held[:min(len(extreme), len(held))])
			if rule.Least {
				o = -o
			}
		}
	}
	switch {
	case o < 0:
		return
	case o > 0:
		for w := r[1]; w != 0; {
			v := h.At(w)
			h.garbage += 4 + len(v)
			w = binary.LittleEndian.Uint64(v)
		}
		r[1] = 0
	}
	r[0], r[1] = p, h.pushTie(r[1], tuple)
}

// pushTie adds a tuple before others.
func (h *Heap) pushTie(next uint64, tuple []byte) (word uint64) {
	word = uint64(len(h.data)) + 1
	h.data = binary.LittleEndian.AppendUint32(h.data, uint32(8+len(tuple)))
	h.data = binary.LittleEndian.AppendUint64(h.data, next)
	h.data = append(h.data, tuple...)
	return word
}

// CopyFrom takes over what a word of another heap refers to.
func (h *Heap) CopyFrom(src *Heap, rule *Rule, w uint64) uint64 {
	if rule == nil || !rule.Ties {
		return h.Push(src.At(w))
	}
	out := uint64(0)
	for w != 0 {
		v := src.At(w)
		out = h.pushTie(out, v[8:])
		w = binary.LittleEndian.Uint64(v)
	}
	return out
}

// Dump appends what is saved of a group: its first word, big endian, and the tuple; with ties each tuple after its length as
// an unsigned varint.
func (h *Heap) Dump(dst []byte, rule *Rule, p, w uint64) []byte {
	dst = binary.BigEndian.AppendUint64(dst, p)
	if !rule.Ties {
		return append(dst, h.At(w)...)
	}
	for w != 0 {
		v := h.At(w)
		dst = append(binary.AppendUvarint(dst, uint64(len(v)-8)), v[8:]...)
		w = binary.LittleEndian.Uint64(v)
	}
	return dst
}

// Load is the inverse of Dump.
func (h *Heap) Load(r *[2]uint64, rule *Rule, v []byte) error {
	if len(v) < 8 {
		return errTuple
	}
	p := binary.BigEndian.Uint64(v)
	v = v[8:]
	if !rule.Ties {
		if err := rule.check(v); err != nil {
			return err
		}
		h.Replace(r, p, v)
		return nil
	}
	for len(v) > 0 {
		n, w := binary.Uvarint(v)
		if w <= 0 || n > uint64(len(v)-w) {
			return errTuple
		}
		tuple := v[w : w+int(n)]
		if err := rule.check(tuple); err != nil {
			return err
		}
		r[0], r[1] = p, h.pushTie(r[1], tuple)
		v = v[w+int(n):]
	}
	return nil
}

// check reports whether a saved tuple can be read.
func (r *Rule) check(tuple []byte) error {
	_, err := r.Value(append([]byte(nil), tuple...), len(r.Values)-1)
	return err
}

// Value reads one of the values of a tuple, which is written over.
func (r *Rule) Value(tuple []byte, which int) (f keys.Field, err error) {
	v, err := r.skipExtreme(tuple)
	if err != nil {
		return f, err
	}
	if r.Inverse {
		invert(v)
	}
	if r.Timed {
		if len(v) < 8 {
			return f, errTuple
		}
		v = v[8:]
	}
	for i := 0; i <= which; i++ {
		if f, v, err = keys.DecodeOrdered(v, r.Types[i]); err != nil {
			return f, err
		}
	}
	return f, nil
}

// Next gives the place of the tuple that follows one with ties, 0 at the end.
func (h *Heap) Next(w uint64) uint64 { return binary.LittleEndian.Uint64(h.At(w)) }

// Tuple gives the tuple at a place, that with ties without the place of the next one.
func (h *Heap) Tuple(rule *Rule, w uint64) []byte {
	if rule.Ties {
		return h.At(w)[8:]
	}
	return h.At(w)
}

package kernel

import (
	"encoding/binary"

	"github.com/arkflow-go/arkflow/column"
)

// heap holds the greatest (or least) string of each group, copied out of the batches. The two words of a group are the
// first 8 bytes of its string, big endian, by which most comparisons are decided, and the offset + 1 of its length
// and bytes in data; 0 where there is none yet.
type heap struct {
	data    []byte
	garbage int
}

const heapSlack = 64 << 10 // garbage below this is never collected

func (h *heap) reset() { h.data, h.garbage = h.data[:0], 0 }

// at gives the string of a group's second word.
func (h *heap) at(word uint64) []byte {
	d := h.data[word-1:]
	n := binary.LittleEndian.Uint32(d)
	return d[4 : 4+n]
}

func (h *heap) push(v []byte) (word uint64) {
	word = uint64(len(h.data)) + 1
	h.data = binary.LittleEndian.AppendUint32(h.data, uint32(len(v)))
	h.data = append(h.data, v...)
	return word
}

// prefix is the first 8 bytes as a number whose order is that of the strings, shorter ones padded with zeros.
func prefix(v []byte) uint64 {
	if len(v) >= 8 {
		return binary.BigEndian.Uint64(v)
	}
	var p [8]byte
	copy(p[:], v)
	return binary.BigEndian.Uint64(p[:])
}

// add feeds the strings of a block.
func (h *heap) add(t *table, a accumulator, c *column.Column, at rowAt, refs []uint32) {
	for i, ref := range refs {
		v := c.Bytes(at.row(i))
		r := (*[2]uint64)(t.rows[int(ref)+a.off:])
		p := prefix(v)
		if h.better(r, p, v, a.invert) {
			h.replace(r, p, v)
		}
	}
	h.tidy(t, a)
}

// tidy collects garbage where it is more than half.
func (h *heap) tidy(t *table, a accumulator) {
	if h.garbage > heapSlack && h.garbage > len(h.data)/2 {
		h.collect(t, a)
	}
}

func (h *heap) replace(r *[2]uint64, p uint64, v []byte) {
	r[0] = p
	if r[1] != 0 {
		old := h.at(r[1])
		if len(v) <= len(old) {
			binary.LittleEndian.PutUint32(h.data[r[1]-1:], uint32(len(v)))
			copy(old, v)
			h.garbage += len(old) - len(v)
			return
		}
		h.garbage += 4 + len(old)
	}
	r[1] = h.push(v)
}

// collect moves the strings that are still referred to together.
func (h *heap) collect(t *table, a accumulator) {
	old := *h
	h.data, h.garbage = make([]byte, 0, 2*(len(old.data)-old.garbage)), 0
	for ref := t.l.stride; ref < int(t.end); ref += t.l.stride {
		if w := &t.rows[ref+a.off+1]; *w != 0 {
			*w = h.push(old.at(*w))
		}
	}
}

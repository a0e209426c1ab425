package extreme

import (
	"bytes"
	"encoding/binary"
)

// Heap holds the greatest (or least) string of each group, copied out of the batches. The two words of a group are the
// first 8 bytes of its string, big endian, by which most comparisons are decided, and the offset + 1 of its length
// and bytes in data; 0 where there is none yet.
type Heap struct {
	data    []byte
	garbage int
}

const heapSlack = 64 << 10 // garbage below this is never collected

// Reset forgets everything.
func (h *Heap) Reset() { h.data, h.garbage = h.data[:0], 0 }

// At gives the string of a group's second word.
func (h *Heap) At(word uint64) []byte {
	d := h.data[word-1:]
	n := binary.LittleEndian.Uint32(d)
	return d[4 : 4+n]
}

// Push adds a string and gives the second word of its group.
func (h *Heap) Push(v []byte) (word uint64) {
	word = uint64(len(h.data)) + 1
	h.data = binary.LittleEndian.AppendUint32(h.data, uint32(len(v)))
	h.data = append(h.data, v...)
	return word
}

// Prefix is the first 8 bytes as a number whose order is that of the strings, shorter ones padded with zeros.
func Prefix(v []byte) uint64 {
	if len(v) >= 8 {
		return binary.BigEndian.Uint64(v)
	}
	var p [8]byte
	copy(p[:], v)
	return binary.BigEndian.Uint64(p[:])
}

// Replace makes a string that of a group; p is its prefix.
func (h *Heap) Replace(r *[2]uint64, p uint64, v []byte) {
	r[0] = p
	if r[1] != 0 {
		old := h.At(r[1])
		if len(v) <= len(old) {
			binary.LittleEndian.PutUint32(h.data[r[1]-1:], uint32(len(v)))
			copy(old, v)
			h.garbage += len(old) - len(v)
			return
		}
		h.garbage += 4 + len(old)
	}
	r[1] = h.Push(v)
}

// Better reports whether a string is to replace that of a group; p is its prefix.
func (h *Heap) Better(r *[2]uint64, p uint64, v []byte, invert bool) bool {
	switch {
	case r[1] == 0:
		return true
	case p != r[0]:
		return (p < r[0]) == invert
	}
	o := bytes.Compare(v, h.At(r[1]))
	return o != 0 && (o < 0) == invert
}

// Len is the number of bytes that are held, garbage included; Cap that of those allocated.
func (h *Heap) Len() int { return len(h.data) }

// Cap is the number of bytes that are allocated.
func (h *Heap) Cap() int { return cap(h.data) }

// Wasteful reports whether more than half is garbage.
func (h *Heap) Wasteful() bool { return h.garbage > heapSlack && h.garbage > len(h.data)/2 }

// Restart empties the heap and gives what it held, so that what is still referred to can be copied back.
func (h *Heap) Restart() (old Heap) {
	old = *h
	h.data, h.garbage = make([]byte, 0, 2*(len(old.data)-old.garbage)), 0
	return old
}

// Memory is what the heap's strings lie in.
func (h *Heap) Memory() []byte { return h.data }

// CopyInto is Copy into memory that has room, or of which there is none.
func (h *Heap) CopyInto(src *Heap, memory []byte) {
	h.data = memory
	h.Copy(src)
}

// Drop takes the string of a group away, or its tuples where the rule keeps ties.
func (h *Heap) Drop(r *[2]uint64, rule *Rule) {
	for w := r[1]; w != 0; {
		v := h.At(w)
		h.garbage += 4 + len(v)
		w = 0
		if rule != nil && rule.Ties {
			w = binary.LittleEndian.Uint64(v)
		}
	}
	*r = [2]uint64{}
}

// Copy makes an empty heap equal to another one.
func (h *Heap) Copy(src *Heap) {
	h.data, h.garbage = append(h.data[:0], src.data...), src.garbage
}

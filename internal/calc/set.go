package calc

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
)

// WordSet is a set of 64-bit words, open-addressed; a word that is not in it marks the free slots.
type WordSet struct {
	slots []uint64
	free  uint64
	shift uint
}

// NewWordSet makes the set of words, which it sorts.
func NewWordSet(words []uint64) WordSet {
	slices.Sort(words)
	words = slices.Compact(words)
	s := WordSet{}
	for _, w := range words { // ascending: the first gap is free
		if w == s.free {
			s.free++
		}
	}
	size := uint(bits.Len(uint(2*len(words) + 1)))
	s.slots, s.shift = make([]uint64, 1<<size), 64-size
	for i := range s.slots {
		s.slots[i] = s.free
	}
	for _, w := range words {
		at := s.home(w)
		for s.slots[at] != s.free {
			at = (at + 1) & (len(s.slots) - 1)
		}
		s.slots[at] = w
	}
	return s
}

func (s *WordSet) home(w uint64) int { return int(w * 0x9E3779B97F4A7C15 >> (s.shift & 63)) }

// Has is 1 for a word of the set, else 0.
func (s *WordSet) Has(w uint64) byte {
	for at := s.home(w); s.slots[at] != s.free; at = (at + 1) & (len(s.slots) - 1) {
		if s.slots[at] == w {
			return 1
		}
	}
	return 0
}

// FloatWord gives equal words for equal floats.
func FloatWord(f float64) uint64 {
	switch {
	case f == 0:
		return 0
	case f != f:
		return math.Float64bits(math.NaN())
	}
	return math.Float64bits(f)
}

// TextSet is a set of texts, open-addressed. Few texts of a set share length, beginning and end, which is all that is hashed.
type TextSet struct {
	slots []string
	used  []bool
	shift uint
}

// NewTextSet makes the set of texts.
func NewTextSet(texts []string) TextSet {
	size := uint(bits.Len(uint(2*len(texts) + 1)))
	s := TextSet{slots: make([]string, 1<<size), used: make([]bool, 1<<size), shift: 64 - size}
	for _, t := range texts {
		if s.Has([]byte(t)) == 1 {
			continue
		}
		at := s.home([]byte(t))
		for s.used[at] {
			at = (at + 1) & (len(s.slots) - 1)
		}
		s.slots[at], s.used[at] = t, true
	}
	return s
}

func (s *TextSet) home(t []byte) int {
	var a, b uint64
	switch n := len(t); {
	case n >= 8:
		a, b = binary.LittleEndian.Uint64(t), binary.LittleEndian.Uint64(t[n-8:])
	case n >= 4:
		a, b = uint64(binary.LittleEndian.Uint32(t)), uint64(binary.LittleEndian.Uint32(t[n-4:]))
	case n > 0:
		a, b = uint64(t[0])|uint64(t[n-1])<<8, uint64(t[n/2])
	}
	h := (a*0x9E3779B97F4A7C15 ^ b) + uint64(len(t))
	return int((h ^ h>>32) * 0xBF58476D1CE4E5B9 >> (s.shift & 63))
}

// Has is 1 for a text of the set, else 0.
func (s *TextSet) Has(t []byte) byte {
	for at := s.home(t); s.used[at]; at = (at + 1) & (len(s.slots) - 1) {
		if s.slots[at] == string(t) {
			return 1
		}
	}
	return 0
}

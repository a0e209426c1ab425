package spare

import (
	"slices"
	"sync"
)

// Memory is pieces of memory that were given back. The zero value has none, and keeps what it is given. Any goroutine may use it.
type Memory struct {
	mu    sync.Mutex
	idle  bool // nobody needs any
	lists [][]uint64
	texts [][]byte
}

const (
	maxSpares = 4       // pieces of a kind that are kept
	minSpare  = 1 << 13 // words or bytes: smaller ones are not kept
)

// Give gives memory back. Nobody may use it any more.
func (s *Memory) Give(words [][]uint64, texts [][]byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.idle {
		s.lists, s.texts = keep(s.lists, words), keep(s.texts, texts)
	}
}

// keep adds memory to a list, of which the largest pieces stay.
func keep[T any](list, add [][]T) [][]T {
	for _, m := range add {
		if cap(m) >= minSpare {
			list = append(list, m[:0])
		}
	}
	slices.SortFunc(list, func(a, b []T) int { return cap(b) - cap(a) })
	if len(list) > maxSpares {
		clear(list[maxSpares:])
		list = list[:maxSpares]
	}
	return list
}

// fit takes the smallest piece of a list that has room for n.
func fit[T any](list *[][]T, n int) []T {
	for i := len(*list) - 1; i >= 0 && n >= minSpare; i-- {
		if m := (*list)[i]; cap(m) >= n {
			*list = slices.Delete(*list, i, i+1)
			return m
		}
	}
	return nil
}

// Words gives memory of at least `least` words, `want` of them if it can; what they hold is undefined.
func (s *Memory) Words(least, want int) []uint64 {
	s.mu.Lock()
	m := fit(&s.lists, least)
	s.idle = false
	s.mu.Unlock()
	if m == nil {
		return make([]uint64, want)
	}
	return m[:min(cap(m), want)]
}

// Bytes gives memory for n bytes, none of them in use.
func (s *Memory) Bytes(n int) []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return fit(&s.texts, n)
}

// Drop forgets all memory, also what is given before anybody needs some again.
func (s *Memory) Drop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle, s.lists, s.texts = true, nil, nil
}

// SizeBytes is the memory that is held.
func (s *Memory) SizeBytes() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.lists {
		n += 8 * cap(m)
	}
	for _, m := range s.texts {
		n += cap(m)
	}
	return n
}

package chunk

import (
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestListsShareMemoryAndGiveItBack(t *testing.T) {
	var m Memory
	a, b := Empty, Empty
	for i := range 5 {
		m.Chunk(m.Link(&a))[0] = uint64(i)
		m.Chunk(m.Link(&b))[Words-1] = uint64(10 * i)
	}
	var got []uint64
	for id := a.First; id != None; id = m.Next[id] {
		got = append(got, m.Chunk(id)[0])
	}
	for id := b.First; id != None; id = m.Next[id] {
		got = append(got, m.Chunk(id)[Words-1])
	}
	assert.Equal(t, []uint64{0, 1, 2, 3, 4, 0, 10, 20, 30, 40}, got)
	assert.Equal(t, 10, m.Used)
	m.Drop(&a)
	assert.Equal(t, Empty, a)
	assert.Equal(t, 5, m.Used)
	size := m.SizeBytes()
	for range 5 {
		m.Link(&a)
	}
	assert.Equal(t, 10, m.Used)
	assert.LessOrEqual(t, m.SizeBytes(), size, "chunks that were given back serve again")
}

func TestChunksArePinnedUntilNobodyReadsThem(t *testing.T) {
	var m Memory
	a, b := Empty, Empty
	for i := range 3 {
		m.Chunk(m.Link(&a))[0] = uint64(i)
	}
	last := a.Last
	p, q := m.Pin(), m.Pin()
	assert.Equal(t, 2, m.Pins())
	m.Drop(&a)
	assert.Equal(t, 3, m.Held())
	assert.Zero(t, m.Used)
	for i := range 200 { // the memory moves
		m.Chunk(m.Link(&b))[0] = uint64(100 + i)
	}
	got := []uint64{}
	for id := uint32(0); ; id = p.Next[id] {
		got = append(got, p.Buf[int(id)*Words])
		if id == last {
			break
		}
	}
	assert.Equal(t, []uint64{0, 1, 2}, got)
	p.Unpin()
	p.Unpin()
	assert.Equal(t, 3, m.Held(), "another one reads")
	done := make(chan struct{})
	go func() {
		q.Unpin()
		close(done)
	}()
	<-done
	assert.Zero(t, m.Held())
	assert.Zero(t, m.Pins())
	size := m.SizeBytes()
	for range 3 {
		m.Link(&b)
	}
	assert.Equal(t, size, m.SizeBytes(), "they serve again")
}

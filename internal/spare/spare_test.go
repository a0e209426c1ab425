package spare

import (
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
)

func TestMemoryThatWasGivenBackIsLentAgain(t *testing.T) {
	var m Memory
	require.Len(t, m.Words(10, 20), 20, "there is none: as many as are wanted")
	small, large := make([]uint64, minSpare), make([]uint64, 3*minSpare)
	text := make([]byte, 2*minSpare)
	m.Give([][]uint64{large, small, make([]uint64, minSpare-1)}, [][]byte{text})
	require.Equal(t, 8*4*minSpare+2*minSpare, m.SizeBytes(), "small pieces are not kept")
	require.Same(t, unsafe.SliceData(small), unsafe.SliceData(m.Words(minSpare, 2*minSpare)), "the smallest that is large enough")
	got := m.Words(minSpare, 2*minSpare)
	require.Same(t, unsafe.SliceData(large), unsafe.SliceData(got))
	require.Len(t, got, 2*minSpare)
	require.Nil(t, m.Bytes(3*minSpare), "there is none so large")
	b := m.Bytes(2 * minSpare)
	require.Same(t, unsafe.SliceData(text), unsafe.SliceData(b))
	require.Empty(t, b)
	require.Zero(t, m.SizeBytes())
}

func TestTheLargestPiecesAreKept(t *testing.T) {
	var m Memory
	for i := range 2 * maxSpares {
		m.Give([][]uint64{make([]uint64, (1+i)*minSpare)}, nil)
	}
	want := 0
	for i := maxSpares; i < 2*maxSpares; i++ {
		want += 8 * (1 + i) * minSpare
	}
	require.Equal(t, want, m.SizeBytes())
	m.Drop()
	require.Zero(t, m.SizeBytes())
	m.Give([][]uint64{make([]uint64, minSpare)}, nil)
	require.Zero(t, m.SizeBytes(), "nothing is kept before somebody needs some again")
	m.Words(1, 1)
	m.Give([][]uint64{make([]uint64, minSpare)}, nil)
	require.Equal(t, 8*minSpare, m.SizeBytes())
}

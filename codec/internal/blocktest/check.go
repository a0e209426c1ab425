package blocktest

import (
	"bytes"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/column"
	"github.com/stretchr/testify/require"
)

// RoundTrip writes rows of a schema in batches of several sizes, some with a selection, and reads them: as a whole, and from each place
// between two batches and within them. f writes blocks of few rows.
func RoundTrip(t *testing.T, f codec.BlockFormat, s *arrow.Schema) {
	t.Helper()
	pool := column.NewDebugPool()
	var batches []*column.Batch
	var want []string
	for at, n := 0, 0; at < 50; at += n {
		n = 1 + at%9
		b := Rows(pool, s, at, n)
		if n%2 == 0 {
			b.Sel = []uint32{0, uint32(n - 1)}
		}
		want = append(want, Texts(b)...)
		batches = append(batches, b)
	}
	file := Write(t, f, s, batches...)
	for _, size := range []int{1, 3, 1000} {
		r, err := Open(f, pool, file, size, noLimit)
		require.NoError(t, err)
		type stop struct {
			place codec.RowPlace
			row   int
		}
		stops := []stop{{r.Place(), 0}}
		var got []string
		for {
			b, err := r.Next()
			if err == io.EOF { //nolint:errorlint // the end is io.EOF itself
				break
			}
			require.NoError(t, err)
			require.LessOrEqual(t, b.Len(), size)
			require.Positive(t, b.Len())
			require.True(t, r.Schema().Equal(b.Schema), "%s\n%s", r.Schema(), b.Schema)
			got = append(got, Texts(b)...)
			b.Release()
			require.EqualValues(t, len(got), r.FirstRow())
			stops = append(stops, stop{r.Place(), len(got)})
		}
		requireSame(t, want, got)
		_, err = r.Next()
		require.Equal(t, io.EOF, err)
		require.NoError(t, r.Close())
		for _, at := range stops {
			r, err := Open(f, pool, file, 4, noLimit)
			require.NoError(t, err)
			require.NoError(t, r.Seek(at.place))
			require.Equal(t, at.place, r.Place())
			rest, err := ReadAll(r)
			require.NoError(t, err)
			requireSame(t, want[at.row:], rest)
			require.NoError(t, r.Seek(stops[0].place), "back to the beginning")
			all, err := ReadAll(r)
			require.NoError(t, err)
			requireSame(t, want, all)
			require.Error(t, r.Seek(codec.RowPlace{Block: 1000}))
			require.NoError(t, r.Close())
		}
	}
	empty := Write(t, f, s)
	r, err := Open(f, pool, empty, 4, noLimit)
	require.NoError(t, err)
	rows, err := ReadAll(r)
	require.NoError(t, err)
	require.Empty(t, rows)
	require.NoError(t, r.Close())
	require.NoError(t, pool.Check())
}

// Damage cuts a file off at many bytes, which must be an error, and alters bytes, which must not be a panic or take more memory than is
// allowed.
func Damage(t *testing.T, f codec.BlockFormat) {
	t.Helper()
	s := Schema(t, "int64", "string", "bool", "decimal(10,2)", "large_string")
	pool := column.NewDebugPool()
	file := Write(t, f, s, Rows(pool, s, 0, 20), Rows(pool, s, 20, 13))
	read := func(bytes []byte) (rows []string, err error) {
		r, err := Open(f, pool, bytes, 5, 1<<20)
		if err != nil {
			return nil, err
		}
		defer func() { require.NoError(t, r.Close()) }()
		if len(bytes)%2 == 0 {
			return ReadAll(r)
		}
		if err := r.Seek(codec.RowPlace{Block: 1, Row: 2}); err != nil {
			return nil, err
		}
		return ReadAll(r)
	}
	whole, err := read(append(file, 0)[:len(file)&^1])
	if err == nil {
		require.NotEmpty(t, whole)
	}
	for n := 0; n < len(file); n += 1 + n/600 {
		_, err := read(file[:n])
		require.Error(t, err, "%d of %d bytes", n, len(file))
	}
	random := rand.New(rand.NewPCG(1, 2))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	tries := 0
	for i := 0; i < len(file); i += 1 + i/600 {
		altered := bytes.Clone(file)
		altered[i] ^= 1 << random.IntN(8)
		_, _ = read(altered)
		altered[i] = 0xFF
		_, _ = read(altered)
		tries += 2
	}
	runtime.ReadMemStats(&after)
	require.Less(t, (after.TotalAlloc-before.TotalAlloc)/uint64(tries), uint64(4<<20), "memory that lengths in a damaged file ask for")
	require.NoError(t, pool.Check())
}

// requireSame tells the first row that differs.
func requireSame(t *testing.T, want, have []string) {
	t.Helper()
	for i := range min(len(want), len(have)) {
		require.Equal(t, want[i], have[i], "row %d", i)
	}
	require.Len(t, have, len(want))
}

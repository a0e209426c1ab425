package file

import (
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/stretchr/testify/require"
)

// fullDisk takes so many bytes and no more.
type fullDisk struct {
	w    io.Writer
	room int
}

func (d *fullDisk) Write(p []byte) (int, error) {
	n, err := d.w.Write(p[:min(len(p), d.room)])
	d.room -= n
	if err == nil && n < len(p) {
		err = syscall.ENOSPC
	}
	return n, err
}

// B81: a write that fails part-way leaves no half record, of which CSV's may look like a whole one; what was there before, and what others wrote
// behind it, stays.
func TestB81AppendingToAFullDiskLeavesNoHalfRecord(t *testing.T) {
	for _, other := range []string{"", "7,other\n"} {
		for room := range len("i,s\n0,0\n") {
			path := filepath.Join(t.TempDir(), "out.csv")
			ctx := newContext(t, operator.Fail())
			open := func() *appendWriter {
				w, err := Sink{URL: path, Format: codec.CSV(nil)}.Open(ctx, stream)
				require.NoError(t, err)
				return w.(*appendWriter)
			}
			w := open()
			put(t, ctx, w, 0, 2)
			require.NoError(t, w.Flush())
			require.NoError(t, w.Close())
			w = open()
			put(t, ctx, w, 2, 3)
			require.NoError(t, w.Flush())
			after := contentAt(t, path)
			w.to.out.w = &fullDisk{w: w.file, room: room}
			if other != "" {
				f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
				require.NoError(t, err)
				_, err = f.WriteString(other)
				require.NoError(t, err)
				require.NoError(t, f.Close())
			}
			put(t, ctx, w, 3, 40)
			err := w.Flush()
			require.ErrorIs(t, err, syscall.ENOSPC)
			require.EqualError(t, err, "write \""+path+"\": no space left on device")
			require.ErrorIs(t, w.Flush(), syscall.ENOSPC)
			require.NoError(t, w.Close())
			if other == "" {
				require.Equal(t, after, contentAt(t, path))
			} else {
				require.Equal(t, after+other, contentAt(t, path)[:len(after+other)])
			}
		}
	}
}

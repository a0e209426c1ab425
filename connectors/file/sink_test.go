package file

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

var stream = operator.Stream{Schema: schema, Time: operator.ProcessingTime}

// batch makes the rows from..to of the helper lines.
func batch(t testing.TB, ctx *operator.Context, from, to int) *column.Batch {
	d, err := codec.JSON(schema).NewDecoder(ctx.Pool)
	require.NoError(t, err)
	_, err = d.DecodeLines([]byte(lines(from, to)), true, codec.Limits{Rows: to - from})
	require.NoError(t, err)
	return d.Finish()
}

func put(t testing.TB, ctx *operator.Context, w operator.Writer, from, to int) {
	b := batch(t, ctx, from, to)
	require.NoError(t, w.Write(b))
	b.Release()
}

func contentAt(t testing.TB, path string) string {
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	if filepath.Ext(path) != ".gz" || len(text) == 0 {
		return string(text)
	}
	z, err := gzip.NewReader(bytes.NewReader(text))
	require.NoError(t, err)
	text, err = io.ReadAll(z)
	require.NoError(t, err)
	return string(text)
}

func TestSink_appendsAndIsVisibleAfterFlush(t *testing.T) {
	for _, name := range []string{"out.jsonl", "out.jsonl.gz"} {
		path := filepath.Join(t.TempDir(), name)
		ctx := newContext(t, operator.Fail())
		for run := range 3 {
			w, err := Sink{URL: "file://" + path}.Open(ctx, stream)
			require.NoError(t, err)
			before := contentAt(t, path)
			put(t, ctx, w, 0, 5)
			assert.Equal(t, before, contentAt(t, path), "rows are gathered")
			require.NoError(t, w.Flush())
			assert.Equal(t, before+lines(0, 5), contentAt(t, path))
			require.NoError(t, w.Flush(), "of nothing")
			put(t, ctx, w, 5, 6)
			require.NoError(t, w.Close())
			require.NoError(t, w.Close(), "again")
			assert.Equal(t, before+lines(0, 6), contentAt(t, path), "run %d", run)
		}
	}
}

func TestSink_overwrites(t *testing.T) {
	path := write(t, t.TempDir(), "out.jsonl", "old")
	ctx := newContext(t, operator.Fail())
	w, err := Sink{URL: path, Overwrite: true}.Open(ctx, stream)
	require.NoError(t, err)
	put(t, ctx, w, 0, 2)
	require.NoError(t, w.Close())
	assert.Equal(t, lines(0, 2), contentAt(t, path))
}

func TestSink_mendsTheEndOfWhatACrashLeft(t *testing.T) {
	dir := t.TempDir()
	ctx := newContext(t, operator.Fail())
	path := write(t, dir, "whole.jsonl", strings.TrimSuffix(lines(0, 2), "\n"))
	w, err := Sink{URL: path}.Open(ctx, stream)
	require.NoError(t, err)
	put(t, ctx, w, 2, 3)
	require.NoError(t, w.Close())
	assert.Equal(t, lines(0, 3), contentAt(t, path))
	path = write(t, dir, "out.jsonl", lines(0, 2)+`{"i":2,"s":`)
	w, err = Sink{URL: path}.Open(ctx, stream)
	require.NoError(t, err)
	put(t, ctx, w, 2, 3)
	require.NoError(t, w.Close())
	assert.Equal(t, lines(0, 3), contentAt(t, path))

	first, second := zipped(t, lines(0, 2)), zipped(t, lines(2, 4))
	for n := range len(second) + 1 {
		path := write(t, dir, "out.jsonl.gz", first+second[:n])
		w, err := Sink{URL: path}.Open(ctx, stream)
		require.NoError(t, err)
		put(t, ctx, w, 4, 6)
		require.NoError(t, w.Close())
		want := lines(0, 2) + lines(4, 6)
		if n == len(second) {
			want = lines(0, 6)
		}
		require.Equal(t, want, contentAt(t, path), "cut at %d", n)
	}
	for _, text := range []string{lines(0, 2), "hello", "h", "\x1fhello"} {
		path = write(t, dir, "plain.jsonl.gz", text)
		_, err = Sink{URL: path}.Open(ctx, stream)
		assert.EqualError(t, err, `append to "`+path+`": it is not gzip`)
		assert.Equal(t, text, func() string { b, _ := os.ReadFile(path); return string(b) }(), "what is not ours is left alone")
	}
}

func TestSink_writesToADevice(t *testing.T) {
	ctx := newContext(t, operator.Fail())
	w, err := Sink{URL: os.DevNull}.Open(ctx, stream)
	require.NoError(t, err)
	put(t, ctx, w, 0, 2)
	require.NoError(t, w.Flush(), "a device cannot be synced")
	require.NoError(t, w.Close())
}

func TestSink_eachTaskWritesAFileOfItsOwn(t *testing.T) {
	dir := t.TempDir()
	for i := range 3 {
		ctx := newContext(t, operator.Fail())
		ctx.Parallelism, ctx.Subtask = 3, i
		w, err := Sink{URL: filepath.Join(dir, "out.jsonl.gz")}.Open(ctx, stream)
		require.NoError(t, err)
		put(t, ctx, w, i, i+1)
		require.NoError(t, w.Close())
	}
	for i, name := range []string{"out-0.jsonl.gz", "out-1.jsonl.gz", "out-2.jsonl.gz"} {
		assert.Equal(t, lines(i, i+1), contentAt(t, filepath.Join(dir, name)))
	}
	assert.Equal(t, "a.b/out-7", taskName("a.b/out", 7))
	assert.Equal(t, ".hidden-7.x", taskName(".hidden.x", 7))
}

func TestSink_writesOnlyWholeLines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.jsonl")
	ctx := newContext(t, operator.Fail())
	w, err := Sink{URL: path}.Open(ctx, stream)
	require.NoError(t, err)
	want := ""
	for i := range 20 {
		put(t, ctx, w, 0, 1000)
		want += lines(0, 1000)
		have := contentAt(t, path)
		assert.True(t, have == "" || have[len(have)-1] == '\n', "after %d", i)
	}
	assert.NotEmpty(t, contentAt(t, path), "what was gathered is written now and then")
	require.NoError(t, w.Flush())
	assert.Equal(t, want, contentAt(t, path))
	require.NoError(t, w.Close())
}

func TestSink_writesTheRowsOfASelection(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out.jsonl")
	ctx := newContext(t, operator.Fail())
	w, err := Sink{URL: path}.Open(ctx, stream)
	require.NoError(t, err)
	b := batch(t, ctx, 0, 10)
	d := b.Derive()
	d.Sel = []uint32{3, 7}
	require.NoError(t, w.Write(d))
	d.Release()
	b.Release()
	require.NoError(t, w.Close())
	assert.Equal(t, lines(3, 4)+lines(7, 8), contentAt(t, path))
}

func TestSink_failuresNameThePath(t *testing.T) {
	dir := t.TempDir()
	ctx := newContext(t, operator.Fail())
	for _, c := range []struct {
		sink Sink
		want string
	}{
		{Sink{}, "path: no file is named; give a path"},
		{Sink{URL: dir + "/"}, "is a directory; name a file in it"},
		{Sink{URL: dir}, dir + ": is a directory"},
		{Sink{URL: filepath.Join(dir, "none", "out")}, "none/out: no such file or directory"},
		{Sink{URL: "s3://b/k"}, `scheme "s3" is not supported`},
		{Sink{URL: "a", Compression: "zip"}, "is none of auto, none, gzip, zstd"},
		{Sink{URL: "a", Format: codec.JSONOf[int]()}, "is not a struct"},
		{Sink{URL: "a", Format: codec.JSONOf[struct{ A int }]()}, "encode JSON: the rows have columns"},
	} {
		_, err := c.sink.Open(ctx, stream)
		assert.ErrorContains(t, err, c.want)
	}
	path := filepath.Join(dir, "out.jsonl")
	w, err := Sink{URL: path}.Open(ctx, stream)
	require.NoError(t, err)
	require.NoError(t, w.(*appendWriter).file.Close())
	put(t, ctx, w, 0, 1)
	assert.ErrorContains(t, w.Flush(), `write "`+path+`": `)
	assert.ErrorContains(t, w.Flush(), `write "`+path+`": `, "a failed writer stays failed")
	assert.Error(t, w.Close())
}

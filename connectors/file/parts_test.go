package file

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/codec/arrowipc"
	"github.com/arkflow-go/arkflow/codec/parquet"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// names lists a directory, hidden names included.
func names(t testing.TB, dir string) (out []string) {
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestParts_appearWhole(t *testing.T) {
	for ending, f := range map[string]codec.Format{"jsonl": nil, "csv.gz": codec.CSV(nil), "jsonl.zst": nil, "arrow": arrowipc.New(nil), "parquet": parquet.New(nil)} {
		dir := t.TempDir()
		ctx := newContext(t, operator.Fail())
		s := Sink{URL: filepath.Join(dir, "out."+ending), Format: f, Rotate: &Rotation{}}
		read := func() []string {
			in := Source{URL: dir + "/out-*", Format: s.WithDefaults().Format.WithSchema(schema), InOrder: true}
			if codec, blocks := in.Format.(codec.BlockFormat); blocks {
				in.Format = codec
			}
			got, err := readSource(t, newContext(t, operator.Fail()), in)
			require.NoError(t, err)
			return got
		}
		w, err := s.Open(ctx, stream)
		require.NoError(t, err)
		assert.Empty(t, names(t, dir), "no part without rows")
		require.NoError(t, w.Flush())
		put(t, ctx, w, 0, 3)
		put(t, ctx, w, 3, 9)
		assert.Equal(t, []string{".out-0-000000." + ending + ".part"}, names(t, dir), "hidden until it is whole")
		require.NoError(t, w.Flush())
		require.NoError(t, w.Flush())
		assert.Equal(t, []string{"out-0-000000." + ending}, names(t, dir))
		assert.Equal(t, rows(0, 9), read())
		put(t, ctx, w, 9, 10)
		require.NoError(t, w.Close())
		require.NoError(t, w.Close())
		assert.Equal(t, []string{"out-0-000000." + ending, "out-0-000001." + ending}, names(t, dir))
		assert.Equal(t, rows(0, 10), read())
	}
}

func TestParts_endAtTheirLimits(t *testing.T) {
	dir := t.TempDir()
	ctx := newContext(t, operator.Fail())
	w, err := Sink{URL: dir + "/rows.jsonl", Rotate: &Rotation{Rows: 4}}.Open(ctx, stream)
	require.NoError(t, err)
	put(t, ctx, w, 0, 3)
	put(t, ctx, w, 3, 14)
	b := batch(t, ctx, 0, 10)
	d := b.Derive()
	d.Sel = []uint32{1, 3, 5, 7, 9}
	require.NoError(t, w.Write(d))
	d.Release()
	b.Release()
	require.NoError(t, w.Close())
	var got []string
	for i, n := range names(t, dir) {
		assert.Equal(t, fmt.Sprintf("rows-0-%06d.jsonl", i), n)
		part := strings.Count(contentAt(t, dir+"/"+n), "\n")
		assert.True(t, part == 4 || i == 4, "%d rows", part)
		got = append(got, contentAt(t, dir+"/"+n))
	}
	want := lines(0, 14)
	for _, i := range []int{1, 3, 5, 7, 9} {
		want += lines(i, i+1)
	}
	assert.Equal(t, want, strings.Join(got, ""))

	dir = t.TempDir()
	w, err = Sink{URL: dir + "/bytes.jsonl", Rotate: &Rotation{Bytes: 100}}.Open(ctx, stream)
	require.NoError(t, err)
	for i := range 30 {
		put(t, ctx, w, i, i+1)
	}
	require.NoError(t, w.Close())
	for i, n := range names(t, dir) {
		size := len(contentAt(t, dir+"/"+n))
		assert.True(t, size >= 100 && size < 200 || i == len(names(t, dir))-1, "%d bytes", size)
	}
	assert.Greater(t, len(names(t, dir)), 5)

	dir = t.TempDir()
	clock := &handClock{now: time.Unix(1000, 0)}
	ctx.Clock = clock
	w, err = Sink{URL: dir + "/age.jsonl", Rotate: &Rotation{Age: time.Minute}}.Open(ctx, stream)
	require.NoError(t, err)
	put(t, ctx, w, 0, 1)
	clock.now = clock.now.Add(59 * time.Second)
	put(t, ctx, w, 1, 2)
	clock.now = clock.now.Add(time.Second)
	put(t, ctx, w, 2, 3)
	require.NoError(t, w.Close())
	assert.Equal(t, lines(0, 2), contentAt(t, dir+"/age-0-000000.jsonl"))
	assert.Equal(t, lines(2, 3), contentAt(t, dir+"/age-0-000001.jsonl"))
}

// handClock is a clock that the test moves.
type handClock struct {
	operator.SystemClock
	now time.Time
}

func (c *handClock) Now() time.Time { return c.now }

func TestParts_goOnBehindThoseThatAreThere(t *testing.T) {
	dir := t.TempDir()
	ctx := newContext(t, operator.Fail())
	write(t, dir, "out-0-000007.jsonl", "seven\n")
	write(t, dir, "out-1-000011.jsonl", "of another task\n")
	write(t, dir, ".out-0-000008.jsonl.part", "left by a crash")
	write(t, dir, ".out-1-000012.jsonl.part", "of a task that is still there")
	write(t, dir, ".out-5-000012.jsonl.part", "of a task that is gone")
	write(t, dir, "out-0-9.jsonl", "not a part")
	ctx.Parallelism = 2
	w, err := Sink{URL: dir + "/out.jsonl", Rotate: &Rotation{}}.Open(ctx, stream)
	require.NoError(t, err)
	put(t, ctx, w, 0, 1)
	require.NoError(t, w.Close())
	want := []string{".out-1-000012.jsonl.part", "out-0-000007.jsonl", "out-0-000008.jsonl", "out-0-9.jsonl", "out-1-000011.jsonl"}
	assert.Equal(t, want, names(t, dir))
	assert.Equal(t, lines(0, 1), contentAt(t, dir+"/out-0-000008.jsonl"))

	ctx.Parallelism = 1
	w, err = Sink{URL: dir + "/out.jsonl", Rotate: &Rotation{}, Overwrite: true}.Open(ctx, stream)
	require.NoError(t, err)
	put(t, ctx, w, 0, 1)
	require.NoError(t, w.Close())
	assert.Equal(t, []string{"out-0-000000.jsonl", "out-0-9.jsonl"}, names(t, dir), "only parts are removed")
}

func TestParts_namesFollowThePattern(t *testing.T) {
	dir := t.TempDir()
	for task := range 2 {
		ctx := newContext(t, operator.Fail())
		ctx.Parallelism, ctx.Subtask = 2, task
		w, err := Sink{URL: dir + "/day+{seq}.part{task}.csv", Format: codec.CSV(nil), Rotate: &Rotation{Rows: 1}}.Open(ctx, stream)
		require.NoError(t, err)
		put(t, ctx, w, 0, 2)
		require.NoError(t, w.Close())
	}
	assert.Equal(t, []string{"day+000000.part0.csv", "day+000000.part1.csv", "day+000001.part0.csv", "day+000001.part1.csv"}, names(t, dir))
	assert.Equal(t, "i,s\n1,x\n", contentAt(t, dir+"/day+000001.part0.csv"), "each part has a header")

	ctx := newContext(t, operator.Fail())
	w, err := Sink{URL: dir + "/task{task}.jsonl"}.Open(ctx, stream)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	assert.True(t, slices.Contains(names(t, dir), "task0.jsonl"))
	for _, c := range []struct {
		sink Sink
		want string
	}{
		{Sink{URL: "a-{seq}.jsonl"}, "path: \"a-{seq}.jsonl\": a file that is appended to has no {seq}; set Rotate"},
		{Sink{URL: "a-{seq}.jsonl", Rotate: &Rotation{}}, "parts need both of {task} and {seq}, or none"},
		{Sink{URL: "a-{seq}-{seq}-{task}.jsonl", Rotate: &Rotation{}}, "{task} and {seq} stand in it once"},
		{Sink{URL: "{task}/a.jsonl"}, "only the last element may have {task} and {seq}"},
		{Sink{URL: "a", Rotate: &Rotation{Rows: -1, Bytes: -1, Age: -1}}, "rotate.age: it is negative; give 0 for no limit"},
	} {
		assert.ErrorContains(t, c.sink.Check(stream), c.want)
	}
}

func TestParts_aFailureLeavesNothingHalf(t *testing.T) {
	dir := t.TempDir()
	ctx := newContext(t, operator.Fail())
	w, err := Sink{URL: dir + "/out.parquet", Format: parquet.New(nil)}.Open(ctx, stream)
	require.NoError(t, err)
	put(t, ctx, w, 0, 3)
	require.NoError(t, w.(*partsWriter).now.file.Close())
	assert.ErrorContains(t, w.Flush(), `write "`+dir+`/out-0-000000.parquet": `)
	assert.ErrorContains(t, w.Flush(), "out-0-000000.parquet", "a failed writer stays failed")
	assert.NoError(t, w.Close())
	assert.Empty(t, names(t, dir))

	w, err = Sink{URL: dir + "/out.jsonl.gz", Rotate: &Rotation{}}.Open(ctx, stream)
	require.NoError(t, err)
	put(t, ctx, w, 0, 30_000)
	p := w.(*partsWriter)
	p.failed = errors.New("full")
	require.NoError(t, w.Close())
	assert.Empty(t, names(t, dir))
}

func TestSink_csvHeaders(t *testing.T) {
	dir := t.TempDir()
	ctx := newContext(t, operator.Fail())
	for _, name := range []string{"out.csv", "out.csv.gz", "out.csv.zst"} {
		s := Sink{URL: filepath.Join(dir, name), Format: codec.CSV(nil)}
		for range 2 {
			w, err := s.Open(ctx, stream)
			require.NoError(t, err)
			put(t, ctx, w, 1, 2)
			require.NoError(t, w.Flush())
			put(t, ctx, w, 2, 3)
			require.NoError(t, w.Close())
		}
		got, err := readSource(t, ctx, Source{URL: s.URL, Format: csvFormat})
		require.NoError(t, err)
		assert.Equal(t, []string{"1 x", "2 xx", "1 x", "2 xx"}, got, "one header")
	}
	other := write(t, dir, "other.csv", "s,i\nx,1\n")
	_, err := Sink{URL: other, Format: codec.CSV(nil)}.Open(ctx, stream)
	assert.EqualError(t, err, `append to "`+other+`": its header is "s,i", that of the rows "i,s"`)
	w, err := Sink{URL: dir + "/empty.csv", Format: codec.CSV(nil)}.Open(ctx, stream)
	require.NoError(t, err)
	require.NoError(t, w.Close())
	assert.Equal(t, "i,s\n", contentAt(t, dir+"/empty.csv"), "a file without rows has a header")
}

func TestSink_mendsWhatACrashLeftOfCSVAndZstd(t *testing.T) {
	dir := t.TempDir()
	ctx := newContext(t, operator.Fail())
	for text, want := range map[string]string{
		"i,s\n1,x\n2,\"cut": "i,s\n1,x\n3,xxx\n", "i,s\n1,x\n2,\"a\n\nb": "i,s\n1,x\n3,xxx\n", "i,s\n1,x\n2,ok": "i,s\n1,x\n2,ok\n3,xxx\n",
		"i,s\n2,\"ok\"": "i,s\n2,\"ok\"\n3,xxx\n", "i,s": "i,s\n3,xxx\n", "i,\"s": "i,s\n3,xxx\n",
		"i,s\n1,x\n2,\"a\n": "i,s\n1,x\n3,xxx\n", "i,s\n1,x\n2,\"a\"\n": "i,s\n1,x\n2,\"a\"\n3,xxx\n", "i,s\n1,x\n2": "i,s\n1,x\n3,xxx\n", "i,": "i,s\n3,xxx\n",
	} {
		path := write(t, dir, "out.csv", text)
		w, err := Sink{URL: path, Format: codec.CSV(nil)}.Open(ctx, stream)
		require.NoError(t, err)
		put(t, ctx, w, 3, 4)
		require.NoError(t, w.Close())
		assert.Equal(t, want, contentAt(t, path), "%q", text)
	}
	first, second := framed(t, lines(0, 200)), framed(t, lines(200, 400))
	for n := 0; n <= len(second); n += 1 + n/20 {
		path := write(t, dir, "out.jsonl.zst", first+second[:n])
		w, err := Sink{URL: path}.Open(ctx, stream)
		require.NoError(t, err)
		put(t, ctx, w, 400, 401)
		require.NoError(t, w.Close())
		got, err := readSource(t, ctx, Source{URL: path})
		require.NoError(t, err)
		require.Equal(t, append(rows(0, 200), rows(400, 401)...), got, "cut at %d", n)
	}
	skipped := "\x50\x2A\x4D\x18\x03\x00\x00\x00abc"
	path := write(t, dir, "out.jsonl.zst", skipped+first)
	w, err := Sink{URL: path}.Open(ctx, stream)
	require.NoError(t, err)
	put(t, ctx, w, 200, 201)
	require.NoError(t, w.Close())
	got, err := readSource(t, ctx, Source{URL: path})
	require.NoError(t, err)
	require.Equal(t, rows(0, 201), got)
	for _, text := range []string{lines(0, 2), "h", "\x28\xB5hello"} {
		path = write(t, dir, "plain.jsonl.zst", text)
		_, err = Sink{URL: path}.Open(ctx, stream)
		assert.EqualError(t, err, `append to "`+path+`": it is not zstd`)
		have, err := os.ReadFile(path)
		require.NoError(t, err)
		assert.Equal(t, text, string(have), "what is not ours is left alone")
	}
}

package file

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/arkflow-go/arkflow/codec/parquet"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// exact opens a task of a sink that delivers exactly once.
func exact(t testing.TB, ctx *operator.Context, s Sink) *exactWriter {
	s.ExactlyOnce = true
	if s.Rotate == nil {
		s.Rotate = &Rotation{}
	}
	w, err := s.Open(ctx, stream)
	require.NoError(t, err)
	return w.(*exactWriter)
}

func prepare(t testing.TB, w *exactWriter, epoch int64) []byte {
	p, err := w.Prepare(epoch)
	require.NoError(t, err)
	return p
}

// shown gives the names in a directory that are not hidden, in order.
func shown(t testing.TB, dir string) []string {
	return slices.DeleteFunc(names(t, dir), func(n string) bool { return n[0] == '.' })
}

func shownText(t testing.TB, dir string) string {
	var b strings.Builder
	for _, n := range shown(t, dir) {
		b.WriteString(contentAt(t, filepath.Join(dir, n)))
	}
	return b.String()
}

func TestExact_namesSayTheEpochAndAreGivenOnce(t *testing.T) {
	dir := t.TempDir()
	ctx := newContext(t, operator.Fail())
	ctx.Job, ctx.Operator, ctx.Run, ctx.Subtask, ctx.Parallelism = "orders", "out", 7, 2, 3
	w := exact(t, ctx, Sink{URL: dir + "/out.jsonl", Rotate: &Rotation{Rows: 4}})
	put(t, ctx, w, 0, 10)
	assert.Empty(t, shown(t, dir))
	hidden := regexp.MustCompile(`^\.arkflow-[0-9a-f]{16}-7-2-[0-9a-f]{8}-[012]\.part$`)
	for _, n := range names(t, dir) {
		assert.Regexp(t, hidden, n)
	}
	twelve := prepare(t, w, 12)
	require.NoError(t, w.Commit(12, twelve))
	put(t, ctx, w, 10, 11)
	require.NoError(t, w.Commit(13, prepare(t, w, 13)))
	require.NoError(t, w.Close())
	first := shown(t, dir)
	require.Len(t, first, 4)
	for i, n := range first {
		assert.Regexp(t, fmt.Sprintf(`^out-2-0000%d-%06d-[0-9a-f]{8}\.jsonl$`, []int{12, 12, 12, 13}[i], i), n)
	}
	assert.Equal(t, lines(0, 11), shownText(t, dir), "the order of names is that of rows")

	w = exact(t, ctx, Sink{URL: dir + "/out.jsonl"}) // the same run and epoch, as after a start from nothing
	put(t, ctx, w, 11, 12)
	require.NoError(t, w.Commit(12, prepare(t, w, 12)))
	require.NoError(t, w.Close())
	assert.Len(t, shown(t, dir), 5, "no name is given twice")

	dir = t.TempDir()
	w = exact(t, ctx, Sink{URL: dir + "/day+{seq}.part{task}.parquet", Format: parquet.New(nil)})
	put(t, ctx, w, 0, 1)
	require.NoError(t, w.Commit(1, prepare(t, w, 1)))
	require.NoError(t, w.Close())
	assert.Regexp(t, `^day\+000001-000000-[0-9a-f]{8}\.part2\.parquet$`, shown(t, dir)[0])
}

func TestExact_whatCannotBeHad(t *testing.T) {
	for _, c := range []struct {
		sink Sink
		want string
	}{
		{Sink{URL: "a.jsonl", ExactlyOnce: true}, "exactly_once: rows that were appended to a file cannot wait for their checkpoint; write parts: set Rotate"},
		{Sink{URL: "a.parquet", Format: parquet.New(nil), Overwrite: true, ExactlyOnce: true}, "overwrite: it would remove at each restart what was delivered exactly once"},
		{Sink{URL: "a-{seq}.jsonl", Rotate: &Rotation{}, ExactlyOnce: true}, "parts need both of {task} and {seq}, or none"},
	} {
		assert.ErrorContains(t, c.sink.Check(stream), c.want)
	}
	assert.True(t, Sink{ExactlyOnce: true}.TwoPhase())
	assert.False(t, Sink{}.TwoPhase())
	ctx := newContext(t, operator.Fail())
	file := write(t, t.TempDir(), "file", "")
	for place, want := range map[string]string{"/none/at/all": "/none/at: no such file or directory", file + "/x": "is not a directory"} {
		_, err := Sink{URL: place, Rotate: &Rotation{}, ExactlyOnce: true}.Open(ctx, stream)
		assert.ErrorContains(t, err, want)
	}
}

func TestB26_aCommitThatFailsOrDiesHalfwayIsRepeated(t *testing.T) {
	for _, dies := range []int{0, 1, 2, 3} {
		dir := t.TempDir()
		ctx := newContext(t, operator.Fail())
		w := exact(t, ctx, Sink{URL: dir + "/out.jsonl", Rotate: &Rotation{Rows: 4}})
		put(t, ctx, w, 0, 10)
		p := prepare(t, w, 1)
		put(t, ctx, w, 50, 60)
		linked := 0
		w.pub.link = func(from, to string) error {
			if linked == dies {
				return &os.LinkError{Op: "link", Old: from, New: to, Err: os.ErrNotExist} // as where the process ends here: nothing else follows
			}
			linked++
			return os.Link(from, to)
		}
		err := w.Commit(1, p)
		assert.Equal(t, dies < 3, err != nil)
		assert.Len(t, shown(t, dir), dies)

		w.pub.link = os.Link
		if dies%2 == 0 {
			require.NoError(t, w.Commit(1, p), "again")
		}
		next := exact(t, ctx, Sink{URL: dir + "/out.jsonl"})
		require.NoError(t, next.Commit(1, p), "by the next execution")
		require.NoError(t, next.Recover())
		assert.Equal(t, lines(0, 10), shownText(t, dir))
		assert.Len(t, names(t, dir), 3, "nothing is left")
		require.NoError(t, w.Commit(1, p), "by one that wakes up")
		_, err = w.Prepare(2)
		assert.ErrorContains(t, err, "was removed while it was written: a newer execution of the job may have begun")
		require.NoError(t, w.Close())
		require.NoError(t, next.Close())
		assert.Equal(t, lines(0, 10), shownText(t, dir))
	}
}

func TestExact_fileSystemsWithoutLinks(t *testing.T) {
	dir := t.TempDir()
	ctx := newContext(t, operator.Fail())
	w := exact(t, ctx, Sink{URL: dir + "/out.jsonl", Rotate: &Rotation{Rows: 4}})
	w.pub.link = func(from, to string) error { return errors.ErrUnsupported }
	put(t, ctx, w, 0, 10)
	p := prepare(t, w, 1)
	for range 2 {
		require.NoError(t, w.Commit(1, p))
		assert.Equal(t, lines(0, 10), shownText(t, dir))
		assert.Len(t, names(t, dir), 3)
	}
	put(t, ctx, w, 10, 11)
	p = prepare(t, w, 2)
	part, err := decodePrepared(p)
	require.NoError(t, err)
	write(t, dir, part.parts[0].name, "of somebody else")
	assert.ErrorContains(t, w.Commit(2, p), "has 16 bytes, and is not the part of")
	require.NoError(t, os.Remove(filepath.Join(dir, part.parts[0].name)))
	w.pub.link = func(from, to string) error { // another execution comes between
		require.NoError(t, os.Rename(from, to))
		return errors.ErrUnsupported
	}
	require.NoError(t, w.Commit(2, p))
	require.NoError(t, w.Close())
	assert.Equal(t, lines(0, 11), shownText(t, dir))
}

func TestExact_whatIsNotOursIsNeverReplaced(t *testing.T) {
	dir := t.TempDir()
	ctx := newContext(t, operator.Fail())
	w := exact(t, ctx, Sink{URL: dir + "/out.jsonl"})
	put(t, ctx, w, 0, 3)
	p := prepare(t, w, 1)
	what, err := decodePrepared(p)
	require.NoError(t, err)
	part := what.parts[0]
	foreign := write(t, dir, part.name, "foreign")
	err = w.Commit(1, p)
	assert.EqualError(t, err, fmt.Sprintf("publish part %q: %q has 7 bytes, and is not the part of %d bytes that was prepared; move it away", part.name, foreign, part.bytes))
	assert.Equal(t, "foreign", contentAt(t, foreign))
	require.NoError(t, os.Remove(foreign))
	require.NoError(t, os.Mkdir(foreign, 0o700))
	assert.ErrorContains(t, w.Commit(1, p), "is no regular file; move it away")
	require.NoError(t, os.Remove(foreign))

	text := contentAt(t, filepath.Join(dir, part.hidden))
	write(t, dir, part.hidden, text[1:])
	assert.ErrorContains(t, w.Commit(1, p), fmt.Sprintf("has %d bytes, and is not the part of %d bytes that was prepared", part.bytes-1, part.bytes))
	assert.Empty(t, shown(t, dir))
	write(t, dir, part.hidden, text)
	require.NoError(t, w.Commit(1, p), "nothing was lost")
	assert.Equal(t, lines(0, 3), shownText(t, dir))

	require.NoError(t, os.Remove(foreign)) // by a reader that takes files away
	assert.EqualError(t, w.Commit(1, p), fmt.Sprintf("publish part %q: it is neither visible nor prepared (%q) in %q: it was moved or removed; "+
		"put it back, or start from a savepoint", part.name, part.hidden, dir))

	put(t, ctx, w, 3, 4)
	write(t, dir, fmt.Sprintf("out-0-000002-000001-%s.jsonl", w.place.token), "")
	_, err = w.Prepare(2)
	assert.ErrorContains(t, err, "is there already and is not of this job: move it away")
	_, err = w.Prepare(2)
	assert.Error(t, err, "a failed writer stays failed")
	require.NoError(t, w.Close())
	assert.Len(t, names(t, dir), 1)
}

func TestExact_aFailureLosesNothingThatWasPrepared(t *testing.T) {
	dir := t.TempDir()
	ctx := newContext(t, operator.Fail())
	w := exact(t, ctx, Sink{URL: dir + "/out.jsonl.gz", Rotate: &Rotation{Rows: 4}})
	put(t, ctx, w, 0, 5)
	p := prepare(t, w, 1)
	put(t, ctx, w, 5, 11)
	require.NoError(t, w.parts.now.file.Close())
	_, err := w.Prepare(2)
	assert.ErrorContains(t, err, "write ")
	_, err = w.Prepare(3)
	assert.Error(t, err, "a failed writer stays failed")
	assert.Error(t, w.Flush())
	require.NoError(t, w.Commit(1, p), "what was prepared before is not lost")
	require.NoError(t, w.Close())
	assert.Equal(t, lines(0, 5), shownText(t, dir))
	assert.Len(t, names(t, dir), 2)

	w = exact(t, ctx, Sink{URL: dir + "/out.jsonl"})
	require.NoError(t, os.RemoveAll(dir))
	b := batch(t, ctx, 0, 1)
	assert.ErrorContains(t, w.Write(b), "no such file or directory")
	b.Release()
	assert.ErrorContains(t, w.Recover(), "no such file or directory")
	require.NoError(t, w.Close())
}

func TestExact_partsAreFoundWhereTheyWerePrepared(t *testing.T) {
	ctx := newContext(t, operator.Fail())
	old, dir := t.TempDir(), t.TempDir()
	w := exact(t, ctx, Sink{URL: "file://" + old + "/out.jsonl"})
	put(t, ctx, w, 0, 2)
	p := prepare(t, w, 1)
	put(t, ctx, w, 2, 3)
	q := prepare(t, w, 2)
	require.NoError(t, w.Close())

	w = exact(t, ctx, Sink{URL: dir + "/new.jsonl"}) // another path from now on
	require.NoError(t, w.Commit(1, p))
	require.NoError(t, w.Commit(1, p))
	assert.Equal(t, lines(0, 2), shownText(t, old))
	assert.Empty(t, names(t, dir))
	require.NoError(t, os.Remove(dir))
	require.NoError(t, os.Rename(old, dir)) // the whole directory was moved
	require.NoError(t, w.Commit(1, p))
	require.NoError(t, w.Commit(2, q))
	assert.Equal(t, lines(0, 3), shownText(t, dir))
	require.NoError(t, w.Close())
}

func TestExact_sharesADirectory(t *testing.T) {
	dir := t.TempDir()
	ctx := newContext(t, operator.Fail())
	write(t, dir, ".arkflow-notes", "of somebody")
	write(t, dir, ".arkflow-0123456789abcdef-1-0-01234567-0.part", "of another job")
	w := exact(t, ctx, Sink{URL: dir + "/out.jsonl"})
	put(t, ctx, w, 0, 2)
	p := prepare(t, w, 1)
	plain, err := Sink{URL: dir + "/out.jsonl", Rotate: &Rotation{}, Overwrite: true}.Open(ctx, stream)
	require.NoError(t, err)
	put(t, ctx, plain, 2, 3)
	require.NoError(t, plain.Flush())
	assert.Equal(t, []string{"out-0-000000.jsonl"}, shown(t, dir))
	require.NoError(t, w.Commit(1, p))
	put(t, ctx, w, 5, 6)
	prepare(t, w, 2)
	require.NoError(t, w.Close())
	require.NoError(t, exact(t, ctx, Sink{URL: dir + "/out.jsonl"}).Recover())
	require.NoError(t, plain.Close())
	assert.Equal(t, []string{".arkflow-0123456789abcdef-1-0-01234567-0.part", ".arkflow-notes"}, names(t, dir)[:2])
	assert.Len(t, names(t, dir), 4)
	assert.Equal(t, lines(2, 3)+lines(0, 2), shownText(t, dir))
}

func TestExact_rotationByAgeGoesOnOverEpochs(t *testing.T) {
	dir := t.TempDir()
	ctx := newContext(t, operator.Fail())
	clock := &handClock{now: time.Unix(1000, 0)}
	ctx.Clock = clock
	w := exact(t, ctx, Sink{URL: dir + "/out.jsonl", Rotate: &Rotation{Age: time.Minute, Bytes: 1 << 20}})
	for i := range 4 {
		put(t, ctx, w, i, i+1)
		clock.now = clock.now.Add(40 * time.Second)
	}
	require.NoError(t, w.Commit(1, prepare(t, w, 1)))
	require.NoError(t, w.Close())
	assert.Len(t, shown(t, dir), 2)
	assert.Equal(t, lines(0, 4), shownText(t, dir))
}

func TestPrepared_format(t *testing.T) {
	p := prepared{dir: "d", parts: []preparedPart{{hidden: ".arkflow-0123456789abcdef-7-0-89abcdef-3.part", name: "out-0", bytes: 300}}}
	want := "\x01\x01d\x2d.arkflow-0123456789abcdef-7-0-89abcdef-3.part\x05out-0\xac\x02"
	assert.Equal(t, want, string(p.encode()))
	back, err := decodePrepared([]byte(want))
	require.NoError(t, err)
	assert.Equal(t, p, back)
	assert.Nil(t, prepared{dir: "d"}.encode())
	back, err = decodePrepared(nil)
	require.NoError(t, err)
	assert.Empty(t, back.parts)
	for n := 1; n < len(want); n++ {
		_, err := decodePrepared([]byte(want[:n]))
		assert.EqualError(t, err, "damaged list of parts")
	}
	_, err = decodePrepared([]byte("\x02abc"))
	assert.EqualError(t, err, "parts that were prepared have format 2, which this version does not know: use the one that prepared them")
	for _, name := range []string{"", ".", "..", "../x", "a/b", "/x", "a\x00"} {
		_, err := decodePrepared(prepared{dir: "d", parts: []preparedPart{{p.parts[0].hidden, name, 1}}}.encode())
		assert.Error(t, err, name)
		_, err = decodePrepared(prepared{dir: "d", parts: []preparedPart{{name, "out", 1}}}.encode())
		assert.Error(t, err, "a name that is not hidden: %q", name)
	}
	rapid.Check(t, func(t *rapid.T) {
		p := prepared{dir: rapid.StringN(1, -1, -1).Draw(t, "dir")}
		for i := range rapid.IntRange(1, 20).Draw(t, "parts") {
			p.parts = append(p.parts, preparedPart{
				hidden: fmt.Sprintf(".arkflow-0123456789abcdef-7-0-89abcdef-%d.part", i),
				name:   rapid.StringMatching(`[^/\x00.]{1,80}`).Draw(t, "name"),
				bytes:  rapid.Int64Min(0).Draw(t, "bytes"),
			})
		}
		back, err := decodePrepared(p.encode())
		if err != nil || back.dir != p.dir || !slices.Equal(p.parts, back.parts) {
			t.Fatalf("%+v reads back as %+v: %v", p, back, err)
		}
	})
}

func FuzzDecodePrepared(f *testing.F) {
	f.Add([]byte(nil))
	f.Add([]byte("\x01\x01d\x2d.arkflow-0123456789abcdef-7-0-89abcdef-3.part\x05out-0\xac\x02"))
	f.Add([]byte("\x01\x01d\x2d.arkflow-0123456789abcdef-7-0-89abcdef-3.part\x05../ab\xac\x02"))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := decodePrepared(b)
		if err != nil {
			return
		}
		for _, part := range p.parts {
			if !isBase(part.name) || !isHidden(part.hidden) || part.bytes < 0 {
				t.Fatalf("%+v leads out of its directory", part)
			}
		}
		back, err := decodePrepared(p.encode())
		if err != nil || back.dir != p.dir && len(p.parts) > 0 || !slices.Equal(p.parts, back.parts) {
			t.Fatalf("%+v reads back as %+v: %v", p, back, err)
		}
	})
}

package file

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestSource_readsLinesOfEveryForm(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"plain.jsonl":      {lines(0, 3), rows(0, 3)},
		"no-end.jsonl":     {strings.TrimSuffix(lines(0, 3), "\n"), rows(0, 3)},
		"crlf.jsonl":       {strings.ReplaceAll(lines(0, 3), "\n", "\r\n"), rows(0, 3)},
		"blank.jsonl":      {"\n\n" + strings.ReplaceAll(lines(0, 3), "\n", "\n \t\r\n"), rows(0, 3)},
		"mark.jsonl":       {"\xEF\xBB\xBF" + lines(0, 3), rows(0, 3)},
		"only-mark.jsonl":  {"\xEF\xBB\xBF", nil},
		"half-mark.jsonl":  {"\n", nil},
		"empty.jsonl":      {"", nil},
		"zip.jsonl.gz":     {zipped(t, lines(0, 3)), rows(0, 3)},
		"members.jsonl.gz": {zipped(t, lines(0, 2), "", lines(2, 3)), rows(0, 3)},
		"mark.jsonl.gz":    {zipped(t, "\xEF\xBB\xBF"+lines(0, 3)), rows(0, 3)},
		"empty.jsonl.gz":   {"", nil},
		"nothing.jsonl.gz": {zipped(t, ""), nil},
	} {
		got, err := readSource(t, newContext(t, operator.Fail()), Source{URL: write(t, dir, name, c.text)})
		require.NoError(t, err, name)
		assert.Equal(t, c.want, got, name)
	}
	zip := write(t, dir, "zip.data", zipped(t, lines(0, 3)))
	got, err := readSource(t, newContext(t, operator.Fail()), Source{URL: zip, Compression: Gzip})
	require.NoError(t, err)
	assert.Equal(t, rows(0, 3), got)
	plain := write(t, dir, "plain.gz", lines(0, 3))
	got, err = readSource(t, newContext(t, operator.Fail()), Source{URL: "file://" + plain, Compression: None})
	require.NoError(t, err)
	assert.Equal(t, rows(0, 3), got)
}

func TestSource_splitsAreFilesOrAllFilesInOrder(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "b.jsonl", lines(2, 4))
	write(t, dir, "a.jsonl", strings.TrimSuffix(lines(0, 2), "\n"))
	write(t, dir, "c.jsonl", "")
	write(t, dir, "d.jsonl", lines(4, 5))
	require.NoError(t, os.Mkdir(filepath.Join(dir, "dir.jsonl"), 0o755))
	s := Source{URL: filepath.Join(dir, "*.jsonl"), Format: codec.JSON(schema)}
	splits, err := s.Splits(t.Context())
	require.NoError(t, err)
	var ids []string
	for _, sp := range splits {
		ids = append(ids, filepath.Base(sp.ID))
	}
	assert.Equal(t, []string{"a.jsonl", "b.jsonl", "c.jsonl", "d.jsonl"}, ids)

	s.InOrder = true
	splits, err = s.Splits(t.Context())
	require.NoError(t, err)
	require.Len(t, splits, 1)
	got, err := readSource(t, newContext(t, operator.Fail()), s)
	require.NoError(t, err)
	assert.Equal(t, rows(0, 5), got)
}

func TestSource_aNameWithGlobCharactersThatExistsIsNoGlob(t *testing.T) {
	path := write(t, t.TempDir(), "a[1]*.jsonl", lines(0, 2))
	got, err := readSource(t, newContext(t, operator.Fail()), Source{URL: path})
	require.NoError(t, err)
	assert.Equal(t, rows(0, 2), got)
}

func TestSource_batchesAreBounded(t *testing.T) {
	path := write(t, t.TempDir(), "a.jsonl", lines(0, 1000))
	s := Source{URL: path, Format: codec.JSON(schema), BatchRows: 300}
	r, err := s.Open(newContext(t, operator.Fail()), operator.Split{ID: path}, nil)
	require.NoError(t, err)
	var sizes []int
	for {
		b, err := r.Poll()
		if err != nil {
			break
		}
		sizes = append(sizes, b.Len())
		b.Release()
	}
	assert.Equal(t, []int{300, 300, 300, 100}, sizes)
	require.NoError(t, r.Close())
}

func TestSource_badLinesFollowTheErrorPolicy(t *testing.T) {
	text := lines(0, 2) + "{\"i\":\"two\"}\n\n" + lines(2, 3) + "{broken\n" + lines(3, 4) + strings.Repeat("y", 70_000) + "\n" + lines(4, 5) + strings.Repeat("z", 1001)
	dir := t.TempDir()
	for name, text := range map[string]string{"orders.jsonl": text, "orders.jsonl.gz": zipped(t, text)} {
		path := write(t, dir, name, text)
		_, err := readSource(t, newContext(t, operator.Fail()), Source{URL: path})
		assert.EqualError(t, err, path+` line 3: i: want int64, not a string: "two"`)

		ctx := newContext(t, operator.Skip())
		got, err := readSource(t, ctx, Source{URL: path, MaxLineBytes: 1000})
		require.NoError(t, err)
		assert.Equal(t, rows(0, 5), got)
		assert.Equal(t, map[string]int64{operator.DropError: 4}, ctx.Counters.Dropped())
	}
}

func TestSource_overlongLinesAreErrorsWhereverTheBufferEnds(t *testing.T) {
	dir := t.TempDir()
	for _, size := range []int{999, 1000, 1001, 5000, blockBytes - 1, blockBytes, blockBytes + 1, 3 * blockBytes} {
		for _, end := range []string{"\n", "", "\r\n"} {
			long := `{"s":"` + strings.Repeat("x", size-len(`{"s":""}`)) + `"}`
			path := write(t, dir, "long.jsonl", lines(0, 2)+long+end)
			in := Source{URL: path, MaxLineBytes: 1000}
			if size <= 999 {
				got, err := readSource(t, newContext(t, operator.Fail()), in)
				require.NoError(t, err)
				assert.Len(t, got, 3)
				continue
			}
			_, err := readSource(t, newContext(t, operator.Fail()), in)
			if size == 1000 && end != "\r\n" {
				require.NoError(t, err)
				continue
			}
			require.EqualError(t, err, path+" line 3: longer than 1000 bytes: {\"s\":\""+strings.Repeat("x", 51)+"…")
			in.MaxLineBytes = size + 1
			got, err := readSource(t, newContext(t, operator.Fail()), in)
			require.NoError(t, err)
			assert.Len(t, got, 3)
		}
	}
}

func TestSource_memoryOfAnOverlongLineIsBounded(t *testing.T) {
	path := write(t, t.TempDir(), "long.jsonl", strings.Repeat("x", 20<<20)+"\n"+lines(0, 1))
	ctx := newContext(t, operator.Skip())
	r, err := Source{URL: path, Format: codec.JSON(schema)}.Open(ctx, operator.Split{ID: path}, nil)
	require.NoError(t, err)
	in := r.(*recordReader)
	polls := 0
	for {
		b, err := r.Poll()
		require.NoError(t, err)
		polls++
		if b != nil {
			assert.Equal(t, rows(0, 1), rowsOf(b))
			break
		}
		p, err := r.Position()
		require.NoError(t, err)
		at, err := decodePosition(p, recordPosition)
		require.NoError(t, err)
		assert.Equal(t, start, at.place, "a position is never within a line")
	}
	assert.Equal(t, 2, polls, "a poll takes a bounded amount of text")
	assert.LessOrEqual(t, cap(in.in.buf), 2<<20)
	assert.EqualValues(t, 1, ctx.Counters.Dropped()[operator.DropError])
	require.NoError(t, r.Close())
}

func TestSource_countsFieldsWithoutColumn(t *testing.T) {
	path := write(t, t.TempDir(), "a.jsonl", "{\"i\":1,\"x\":2}\n{\"y\":{},\"z\":[]}\n")
	ctx := newContext(t, operator.Fail())
	got, err := readSource(t, ctx, Source{URL: path})
	require.NoError(t, err)
	assert.Equal(t, []string{"1 null", "null null"}, got)
	assert.EqualValues(t, 3, ctx.Counters.Unknown())

	_, err = readSource(t, ctx, Source{URL: path, Format: codec.JSON(schema).FailUnknown()})
	assert.EqualError(t, err, path+` line 1: x: no column for this field: {"i":1,"x":2}`)
}

func TestSource_faultsAtTheStartNameThePath(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		src  Source
		want string
	}{
		{Source{URL: filepath.Join(dir, "none.jsonl")}, "none.jsonl: no such file or directory"},
		{Source{URL: filepath.Join(dir, "*.jsonl")}, `*.jsonl": no file matches`},
		{Source{URL: dir}, `it is a directory; name the files in it, such as "` + dir + `/*.jsonl"`},
		{Source{URL: os.DevNull}, `open "/dev/null": it is not a regular file`},
		{Source{}, "path: no file is named; give a path or a glob"},
		{Source{URL: "s3://bucket/a"}, `path: "s3://bucket/a": scheme "s3" is not supported`},
		{Source{URL: "file://host/a"}, "names no host"},
		{Source{URL: "[a"}, `path: "[a": syntax error in pattern`},
		{Source{URL: "a", Compression: "zip"}, `compression: "zip" is none of auto, none, gzip, zstd`},
		{Source{URL: "a", MaxLineBytes: -1}, "max_line_bytes: -1 is not within 1 and 1073741824"},
		{Source{URL: "a", BatchRows: 1 << 30}, "batch_rows: 1073741824 is not within 1 and 1048576"},
		{Source{URL: "a", Format: codec.JSONOf[int]()}, "is not a struct"},
	} {
		_, err := c.src.Splits(t.Context())
		assert.ErrorContains(t, err, c.want)
		_, err = c.src.Infer(t.Context())
		assert.ErrorContains(t, err, c.want)
	}
	if os.Getuid() != 0 {
		path := write(t, dir, "secret.jsonl", lines(0, 1))
		require.NoError(t, os.Chmod(path, 0))
		_, err := Source{URL: path}.Splits(t.Context())
		assert.ErrorContains(t, err, "secret.jsonl: permission denied")
	}
}

func TestSource_damagedZipEndsTheJob(t *testing.T) {
	dir := t.TempDir()
	whole := zipped(t, lines(0, 5000))
	for name, text := range map[string]string{
		"torn.gz":    whole[:len(whole)/2],
		"flipped.gz": whole[:len(whole)-6] + "\x00\x01\x02" + whole[len(whole)-3:],
		"plain.gz":   lines(0, 3),
		"header.gz":  whole[:5],
	} {
		path := write(t, dir, name, text)
		_, err := readSource(t, newContext(t, operator.Skip()), Source{URL: path})
		assert.ErrorContains(t, err, `read "`+path+`": `, name)
	}
}

func TestB9_sourceInfersFromTheFirstThousandRecords(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "b.jsonl", "{\"c\":true}\n")
	write(t, dir, "a.jsonl", "\xEF\xBB\xBF\n{\"a\":1}\nbroken\n{\"b\":\"x\",\"n\":{}}\r\n{\"a\":2.5}")
	s := Source{URL: filepath.Join(dir, "*.jsonl")}
	assert.Nil(t, s.Schema())
	found, err := s.Infer(t.Context())
	require.NoError(t, err)
	var have []string
	for _, f := range found.Fields() {
		have = append(have, f.Name+" "+codec.TypeName(f.Type))
	}
	assert.Equal(t, []string{"a float64", "b string", "c bool"}, have)
	assert.True(t, found.Equal(s.WithSchema(found).Schema()))

	write(t, dir, "b.jsonl", "{\"b\":1}\n")
	_, err = s.Infer(t.Context())
	assert.EqualError(t, err, `field "b" is a string at `+filepath.Join(dir, "a.jsonl")+` line 4 and a number at `+
		filepath.Join(dir, "b.jsonl")+` line 1; give the schema`)

	write(t, dir, "a.jsonl", lines(0, inferRecords))
	write(t, dir, "b.jsonl", "{\"i\":\"beyond\"}\n")
	_, err = s.Infer(t.Context())
	require.NoError(t, err)

	write(t, dir, "a.jsonl", strings.Repeat("x", 3<<20)+"\n[]\n")
	write(t, dir, "b.jsonl", "")
	_, err = s.Infer(t.Context())
	assert.ErrorContains(t, err, "a.jsonl line 1: longer than 1048576 bytes: xxx")
}

func TestSource_withoutAnyRecordHasNoSchemaAndEnds(t *testing.T) {
	dir := t.TempDir()
	path := write(t, dir, "a.jsonl", "\n\r\n")
	s := Source{URL: path}
	found, err := s.Infer(t.Context())
	require.NoError(t, err)
	assert.Nil(t, found)
	ctx := newContext(t, operator.Fail())
	r, err := s.Open(ctx, operator.Split{ID: path}, nil)
	require.NoError(t, err)
	got, err := readAll(t, r)
	require.NoError(t, err)
	assert.Empty(t, got)

	write(t, dir, "a.jsonl", "\n"+lines(0, 1))
	r, err = s.Open(ctx, operator.Split{ID: path}, nil)
	require.NoError(t, err)
	_, err = readAll(t, r)
	assert.EqualError(t, err, path+" line 2: there was no record when the schema was looked for; give the schema")
}

func TestSource_stopsWithItsContext(t *testing.T) {
	path := write(t, t.TempDir(), "a.jsonl", lines(0, 3))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := Source{URL: path}.Infer(ctx)
	assert.ErrorIs(t, err, context.Canceled)
	_, err = Source{URL: filepath.Join(filepath.Dir(path), "*")}.Splits(ctx)
	assert.ErrorIs(t, err, context.Canceled)
}

func TestSource_readsWhatAModelReads(t *testing.T) {
	dir := t.TempDir()
	piece := rapid.SampledFrom([]string{"", " ", "\r", "{\"i\":1}", "{\"i\":2,\"s\":\"abc\"}\r", "{\"i\":", "x", strings.Repeat("y", 30), "{\"s\":\"" + strings.Repeat("é", 20) + "\"}"})
	rapid.Check(t, func(rt *rapid.T) {
		var want []string
		bad := int64(0)
		var files []string
		for f := range rapid.IntRange(1, 3).Draw(rt, "files") {
			parts := rapid.SliceOfN(piece, 0, 12).Draw(rt, "lines")
			for _, line := range parts {
				dec, err := codec.JSON(schema).NewDecoder(nil)
				require.NoError(rt, err)
				switch {
				case strings.TrimSpace(line) == "":
				case len(line) > 25 || dec.Append([]byte(line)) != nil:
					bad++
				default:
					want = append(want, rowsOf(dec.Finish())...)
				}
			}
			text := strings.Join(parts, "\n")
			name := string(rune('a'+f)) + ".jsonl"
			if rapid.Bool().Draw(rt, "zip") {
				name, text = name+".gz", zipped(t, text)
			}
			files = append(files, write(t, dir, name, text))
		}
		ctx := newContext(t, operator.Skip())
		ctx.Pool = column.NewDebugPool()
		got, err := readSource(t, ctx, Source{URL: filepath.Join(dir, "*"), InOrder: rapid.Bool().Draw(rt, "in order"), MaxLineBytes: 25,
			BatchRows: rapid.IntRange(1, 4).Draw(rt, "batch")})
		require.NoError(rt, err)
		require.Equal(rt, want, got)
		require.Equal(rt, bad, ctx.Counters.Dropped()[operator.DropError])
		require.NoError(rt, ctx.Pool.Check())
		for _, f := range files {
			require.NoError(rt, os.Remove(f))
		}
	})
}

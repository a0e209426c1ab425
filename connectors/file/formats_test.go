package file

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/codec/arrowipc"
	"github.com/arkflow-go/arkflow/codec/parquet"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/connectors"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// framed makes a zstd file of a frame for each text.
func framed(t testing.TB, texts ...string) string {
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
	require.NoError(t, err)
	var out []byte
	for _, s := range texts {
		out = z.EncodeAll([]byte(s), out)
	}
	require.NoError(t, z.Close())
	return string(out)
}

func TestSource_readsZstd(t *testing.T) {
	dir := t.TempDir()
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"a.jsonl.zst": {framed(t, lines(0, 3)), rows(0, 3)}, "frames.jsonl.zst": {framed(t, lines(0, 2), "", lines(2, 3)), rows(0, 3)},
		"empty.jsonl.zst": {"", nil}, "nothing.jsonl.zst": {framed(t, ""), nil},
	} {
		got, err := readSource(t, newContext(t, operator.Fail()), Source{URL: write(t, dir, name, c.text)})
		require.NoError(t, err, name)
		assert.Equal(t, c.want, got, name)
	}
	whole := framed(t, lines(0, 5000))
	for name, text := range map[string]string{"torn.zst": whole[:len(whole)/2], "plain.zst": lines(0, 3), "flipped.zst": whole[:len(whole)-2] + "\x00\x01"} {
		path := write(t, dir, name, text)
		_, err := readSource(t, newContext(t, operator.Skip()), Source{URL: path})
		assert.ErrorContains(t, err, `read "`+path+`": `, name)
	}
}

func TestSource_aBombIsBounded(t *testing.T) {
	dir := t.TempDir()
	const size = 300 << 20
	zeros := strings.Repeat("0", 1<<20)
	z, err := zstd.NewWriter(nil)
	require.NoError(t, err)
	bomb, err := os.Create(filepath.Join(dir, "bomb.jsonl.zst"))
	require.NoError(t, err)
	z.Reset(bomb)
	for range size >> 20 {
		_, err := io.WriteString(z, zeros)
		require.NoError(t, err)
	}
	_, err = io.WriteString(z, "\n"+lines(0, 1))
	require.NoError(t, err)
	require.NoError(t, z.Close())
	info, err := bomb.Stat()
	require.NoError(t, err)
	require.NoError(t, bomb.Close())
	require.Less(t, info.Size(), int64(size/1000), "a bomb")

	ctx := newContext(t, operator.Skip())
	runtime.GC()
	var before, now runtime.MemStats
	runtime.ReadMemStats(&before)
	r, err := Source{URL: bomb.Name(), Format: codec.JSON(schema)}.Open(ctx, operator.Split{ID: bomb.Name()}, nil)
	require.NoError(t, err)
	polls := 0
	for {
		b, err := r.Poll()
		require.NoError(t, err)
		polls++
		if b != nil {
			assert.Equal(t, rows(0, 1), rowsOf(b))
			break
		}
	}
	runtime.ReadMemStats(&now)
	assert.Less(t, now.TotalAlloc-before.TotalAlloc, uint64(64<<20), "memory taken while it was passed over")
	assert.GreaterOrEqual(t, polls, size/pollBytes, "a poll takes a bounded amount of text")
	assert.EqualValues(t, 1, ctx.Counters.Dropped()[operator.DropError])
	require.NoError(t, r.Close())
}

var csvFormat = codec.CSV(schema)

func TestSource_csvHeaders(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.csv", "\xEF\xBB\xBF\ni,s\n1,a\n2,\"b\nc\"\n")
	write(t, dir, "b.csv", "extra,s,i\nx,d,3\n\ny,,4\n")
	write(t, dir, "c.csv", "")
	write(t, dir, "d.csv", "s,i")
	s := Source{URL: dir + "/*.csv", Format: csvFormat, InOrder: true}
	ctx := newContext(t, operator.Fail())
	got, err := readSource(t, ctx, s)
	require.NoError(t, err)
	assert.Equal(t, []string{"1 a", "2 b\nc", "3 d", "4 null"}, got)
	assert.EqualValues(t, 2, ctx.Counters.Unknown())

	open := Source{URL: dir + "/*.csv", Format: codec.CSV(nil)}
	found, err := open.Infer(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "i int64, s string, extra string", describeSchema(found))
	write(t, dir, "e.csv", "n\n")
	found, err = Source{URL: dir + "/e.csv", Format: codec.CSV(nil)}.Infer(t.Context())
	require.NoError(t, err)
	assert.Equal(t, "n string", describeSchema(found), "a header is a schema")

	bad := write(t, dir, "bad.csv", "id,name\n1,a\n")
	_, err = readSource(t, newContext(t, operator.Skip()), Source{URL: bad, Format: csvFormat})
	assert.ErrorContains(t, err, bad+`: header: none of ["i int64" "s string"] is among the columns of the file: id,name`)
}

func describeSchema(s *arrow.Schema) string {
	var out []string
	for _, f := range s.Fields() {
		out = append(out, f.Name+" "+codec.TypeName(f.Type))
	}
	return strings.Join(out, ", ")
}

func TestSource_raggedCSVFollowsTheErrorPolicy(t *testing.T) {
	path := write(t, t.TempDir(), "a.csv", "i,s\n1,a\n2\n3,b,c\n\"4\nx\",d\n5,\"e\"f\n6,g\n")
	_, err := readSource(t, newContext(t, operator.Fail()), Source{URL: path, Format: csvFormat})
	assert.EqualError(t, err, path+" line 3: want 2 fields, have 1: 2")
	ctx := newContext(t, operator.Skip())
	got, err := readSource(t, ctx, Source{URL: path, Format: csvFormat})
	require.NoError(t, err)
	assert.Equal(t, []string{"1 a", "6 g"}, got)
	assert.EqualValues(t, 4, ctx.Counters.Dropped()[operator.DropError])
}

func TestSource_quotedRecordsAreBounded(t *testing.T) {
	dir := t.TempDir()
	long := "1,\"" + strings.Repeat("x\n", 300_000) + "end\"\n"
	path := write(t, dir, "a.csv", "i,s\n0,a\n"+long+"2,b\n")
	got, err := readSource(t, newContext(t, operator.Fail()), Source{URL: path, Format: csvFormat})
	require.NoError(t, err)
	assert.Len(t, got, 3)
	_, err = readSource(t, newContext(t, operator.Fail()), Source{URL: path, Format: csvFormat, MaxLineBytes: 300_000})
	assert.ErrorContains(t, err, path+" line 3: longer than 300000 bytes: 1,\"x\nx\nx\n")
	never := write(t, dir, "never.csv", "i,s\n0,a\n1,\"never closed\n"+strings.Repeat("2,b\n", 1<<19))
	ctx := newContext(t, operator.Skip())
	r, err := Source{URL: never, Format: csvFormat}.Open(ctx, operator.Split{ID: never}, nil)
	require.NoError(t, err)
	got, err = readAll(t, r)
	require.NoError(t, err)
	assert.Greater(t, len(got), 1<<18-10, "the record in error takes no more than the limit")
	assert.EqualValues(t, 1, ctx.Counters.Dropped()[operator.DropError])
}

func TestSource_csvResultsDoNotDependOnWhereAFileIsRestored(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	text.WriteString("s,i\n")
	for i := range 300 {
		fmt.Fprintf(&text, "\"%s\n,\"\"\",%d\n", strings.Repeat("y", i%50), i)
	}
	for name, body := range map[string]string{"a.csv": text.String(), "a.csv.gz": zipped(t, text.String()), "a.csv.zst": framed(t, text.String())} {
		s := Source{URL: write(t, dir, name, body), Format: csvFormat, BatchRows: 7, Metadata: []string{connectors.MetaOffset}}
		ctx := newContext(t, operator.Fail())
		r, err := s.Open(ctx, operator.Split{ID: s.URL}, nil)
		require.NoError(t, err)
		whole, err := readAll(t, r)
		require.NoError(t, err)
		for n := 0; n < 40; n += 3 {
			r, err := s.Open(ctx, operator.Split{ID: s.URL}, nil)
			require.NoError(t, err)
			first, position := readTo(t, r, n)
			r, err = s.Open(ctx, operator.Split{ID: s.URL}, position)
			require.NoError(t, err)
			rest, err := readAll(t, r)
			require.NoError(t, err)
			require.Equal(t, whole, append(first, rest...))
		}
	}
}

func TestN2_sourceMetadataSaysWhereARowStands(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.csv", "i,s\n\n1,\"two\nlines\"\nbad\n2,x\n")
	write(t, dir, "b.csv", "i,s\n3,y\n")
	ctx := newContext(t, operator.Skip())
	s := Source{URL: dir + "/*.csv", Format: codec.CSV(schema), InOrder: true,
		Metadata: []string{connectors.MetaOffset, connectors.MetaSource, connectors.MetaPartition, connectors.MetaIngestTime}}
	assert.Equal(t, "i int64, s string, __meta_offset int64, __meta_source string, __meta_partition string, __meta_ingest_time timestamp[ms,UTC]", describeSchema(s.Schema()))
	splits, err := s.Splits(ctx)
	require.NoError(t, err)
	r, err := s.Open(ctx, splits[0], nil)
	require.NoError(t, err)
	var got []string
	for {
		b, err := r.Poll()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		for i := range b.Rows {
			got = append(got, fmt.Sprint(column.Values[int64](&b.Cols[0])[i], " line ", column.Values[int64](&b.Cols[2])[i], " ", filepath.Base(b.Cols[3].String(i)),
				" ", b.Cols[4].String(i) == splits[0].ID, " ", column.Values[int64](&b.Cols[5])[i] > 0))
		}
		b.Release()
	}
	assert.Equal(t, []string{"1 line 3 a.csv true true", "2 line 6 a.csv true true", "3 line 2 b.csv true true"}, got)
	require.NoError(t, r.Close())

	open := Source{URL: s.URL, Format: codec.CSV(nil), Metadata: s.Metadata}
	found, err := open.Infer(t.Context())
	require.NoError(t, err)
	assert.True(t, found.Equal(open.WithSchema(found).Schema()))
	assert.ErrorContains(t, Source{URL: "a", Metadata: []string{"__meta_key"}}.Check(), `metadata[0]: no metadata column "__meta_key"`)
	taken := arrow.NewSchema([]arrow.Field{{Name: "__meta_offset", Type: arrow.PrimitiveTypes.Int64}}, nil)
	assert.ErrorContains(t, Source{URL: "a", Format: codec.JSON(taken), Metadata: []string{"__meta_offset"}}.Check(), `the rows have a column "__meta_offset" already`)
}

// blockFile writes rows from..to of the helper as a file of blocks.
func blockFile(t *testing.T, f codec.Format, path string, from, to int) {
	ctx := newContext(t, operator.Fail())
	out, err := os.Create(path)
	require.NoError(t, err)
	w, err := f.(codec.BlockFormat).CreateBlocks(out, schema)
	require.NoError(t, err)
	b := batch(t, ctx, from, to)
	require.NoError(t, w.Write(b))
	b.Release()
	require.NoError(t, w.Close())
	require.NoError(t, out.Close())
}

func TestSource_filesOfBlocks(t *testing.T) {
	dir := t.TempDir()
	for ending, f := range map[string]codec.Format{"arrow": arrowipc.New(nil).BlockRows(30), "parquet": parquet.New(nil).GroupRows(30)} {
		blockFile(t, f, dir+"/a."+ending, 0, 100)
		blockFile(t, f, dir+"/b."+ending, 100, 120)
		s := Source{URL: dir + "/*." + ending, Format: f, InOrder: true, BatchRows: 20}
		found, err := s.Infer(t.Context())
		require.NoError(t, err)
		assert.Equal(t, "i int64, s string", describeSchema(found))
		s = s.WithSchema(found).(Source)
		ctx := newContext(t, operator.Fail())
		splits, err := s.Splits(ctx)
		require.NoError(t, err)
		for n := range 10 {
			r, err := s.Open(ctx, splits[0], nil)
			require.NoError(t, err)
			first, position := readTo(t, r, n)
			r, err = s.Open(ctx, splits[0], position)
			require.NoError(t, err)
			rest, err := readAll(t, r)
			require.NoError(t, err)
			require.Equal(t, rows(0, 120), append(first, rest...))
		}
		// a file that is another one
		r, err := s.Open(ctx, splits[0], nil)
		require.NoError(t, err)
		_, position := readTo(t, r, 3)
		blockFile(t, f, dir+"/a."+ending, 0, 101)
		_, err = s.Open(ctx, splits[0], position)
		assert.ErrorContains(t, err, `the file is not the one that was read before: "`+dir+`/a.`+ending+`" has`)
		_, err = Source{URL: s.URL, Format: codec.JSON(schema), InOrder: true}.Open(ctx, splits[0], position)
		assert.ErrorContains(t, err, "the saved position is one in blocks, the format is one in records: it is not the format that was read before")
		whole, err := os.ReadFile(dir + "/a." + ending)
		require.NoError(t, err)
		write(t, dir, "a."+ending, string(whole[:len(whole)-1]))
		_, err = readSource(t, ctx, s)
		assert.ErrorContains(t, err, `read "`+dir+`/a.`+ending+`": `)
		assert.ErrorContains(t, err, "truncated")
		_, err = Source{URL: s.URL, Format: f}.Infer(t.Context())
		assert.ErrorContains(t, err, "truncated")
		assert.ErrorContains(t, Source{URL: "a", Format: f, Compression: Gzip}.Check(), "compression: files of "+f.Kind()+" are not compressed as a whole")
		assert.ErrorContains(t, Sink{URL: "a", Format: f, Compression: Zstd}.Check(stream), "compression: files of "+f.Kind()+" are not compressed as a whole")
	}
}

func TestSource_aBlockThatNeedsTooMuchMemory(t *testing.T) {
	path := t.TempDir() + "/a.arrow"
	blockFile(t, arrowipc.New(nil), path, 0, 20_000)
	_, err := readSource(t, newContext(t, operator.Fail()), Source{URL: path, Format: arrowipc.New(schema), MaxBlockBytes: 10_000})
	assert.ErrorContains(t, err, `read "`+path+`": arrow ipc: batch 0: needs more than 10000 bytes of memory for one block`)
	assert.ErrorContains(t, Source{URL: "a", MaxBlockBytes: -1}.Check(), "max_block_bytes: -1 is not within 1 and")
}

func TestSource_globsPassOverHiddenNames(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "a.jsonl", lines(0, 1))
	write(t, dir, ".b.jsonl", lines(1, 2))
	got, err := readSource(t, newContext(t, operator.Fail()), Source{URL: dir + "/*"})
	require.NoError(t, err)
	assert.Equal(t, rows(0, 1), got)
	got, err = readSource(t, newContext(t, operator.Fail()), Source{URL: dir + "/.*.jsonl"})
	require.NoError(t, err)
	assert.Equal(t, rows(1, 2), got)
}

// TestSource_pollAgainAfterAnErrorSaysTheSame: the engine polls again where the policy is to retry; nothing may be passed over by that.
func TestSource_pollAgainAfterAnErrorSaysTheSame(t *testing.T) {
	dir := t.TempDir()
	blocks := dir + "/a.arrow"
	blockFile(t, arrowipc.New(nil).BlockRows(4), blocks, 0, 10)
	whole, err := os.ReadFile(blocks)
	require.NoError(t, err)
	for i := len(whole) / 2; i < len(whole)/2+40; i++ {
		whole[i] ^= 0xA5
	}
	sources := map[string]Source{
		"bad.jsonl":  {URL: write(t, dir, "bad.jsonl", lines(0, 3)+"{x\n"+lines(3, 5)), Format: codec.JSON(schema), BatchRows: 2},
		"long.jsonl": {URL: write(t, dir, "long.jsonl", lines(0, 3)+strings.Repeat("x", 2000)+"\n"+lines(3, 5)), Format: codec.JSON(schema), MaxLineBytes: 1000},
		"bad.csv":    {URL: write(t, dir, "bad.csv", "i,s\n1,a\n2\n3,b\n"), Format: csvFormat},
		"torn.gz":    {URL: write(t, dir, "torn.gz", zipped(t, lines(0, 500))[:300]), Format: codec.JSON(schema)},
		"a.arrow":    {URL: write(t, dir, "b.arrow", string(whole)), Format: arrowipc.New(schema)},
	}
	for name, s := range sources {
		ctx := newContext(t, operator.Retry(5, time.Second))
		r, err := s.Open(ctx, operator.Split{ID: s.URL}, nil)
		require.NoError(t, err, name)
		for err == nil {
			var b *column.Batch
			if b, err = r.Poll(); b != nil {
				b.Release()
			}
		}
		position, perr := r.Position()
		require.NoError(t, perr)
		for range 3 {
			b, again := r.Poll()
			assert.Nil(t, b, name)
			require.EqualError(t, again, err.Error(), name)
			at, perr := r.Position()
			require.NoError(t, perr)
			assert.Equal(t, position, at, name)
		}
		assert.Empty(t, ctx.Counters.Dropped(), name)
		require.NoError(t, r.Close())
	}
}

func TestSource_deadLettersHoldTheRecord(t *testing.T) {
	path := write(t, t.TempDir(), "a.csv", "i,s\n1,a\nx,\"b\nc\"\r\n2\n3,d\n")
	ctx := newContext(t, operator.DeadLetter(Sink{URL: "unused"}))
	var got []string
	ctx.DeadLetter = func(r operator.Rejected) error {
		got = append(got, string(r.Record)+" — "+r.Err.Error())
		return nil
	}
	rows, err := readSource(t, ctx, Source{URL: path, Format: csvFormat})
	require.NoError(t, err)
	assert.Equal(t, []string{"1 a", "3 d"}, rows)
	assert.Equal(t, []string{"x,\"b\nc\" — " + path + " line 3: i: want int64: x", "2 — " + path + " line 5: want 2 fields, have 1: 2"}, got)
}

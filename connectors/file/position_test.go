package file

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// readTo polls until n batches have come, and gives the position.
func readTo(t *testing.T, r operator.Reader, n int) (rows []string, position []byte) {
	defer func() { require.NoError(t, r.Close()) }()
	for range n {
		b, err := r.Poll()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		rows = append(rows, rowsOf(b)...)
	}
	position, err := r.Position()
	require.NoError(t, err)
	return rows, position
}

func TestPosition_continuesWithoutGapOrRepetition(t *testing.T) {
	dir := t.TempDir()
	texts := []string{lines(0, 20), "\xEF\xBB\xBF" + strings.ReplaceAll(lines(20, 25), "\n", "\r\n"), "", strings.TrimSuffix(lines(25, 40), "\n")}
	for i, text := range texts {
		write(t, dir, string(rune('a'+i))+".jsonl", text)
		write(t, dir, string(rune('a'+i))+".jsonl.gz", zipped(t, text))
	}
	for _, glob := range []string{"*.jsonl", "*.jsonl.gz"} {
		for _, size := range []int{1, 3, 20, 100} {
			ctx := newContext(t, operator.Fail())
			s := Source{URL: filepath.Join(dir, glob), Format: codec.JSON(schema), InOrder: true, BatchRows: size}
			splits, err := s.Splits(ctx)
			require.NoError(t, err)
			for n := range 40/size + 3 {
				r, err := s.Open(ctx, splits[0], nil)
				require.NoError(t, err)
				first, position := readTo(t, r, n)
				r, err = s.Open(ctx, splits[0], position)
				require.NoError(t, err)
				again, err := r.Position()
				require.NoError(t, err)
				require.Equal(t, position, again)
				second, err := readAll(t, r)
				require.NoError(t, err)
				require.Equal(t, rows(0, 40), append(first, second...), "%s, %d batches of %d", glob, n, size)
			}
		}
	}
}

func TestPosition_keepsLineNumbers(t *testing.T) {
	path := write(t, t.TempDir(), "a.jsonl", lines(0, 10)+"\n{}x\n")
	s := Source{URL: path, Format: codec.JSON(schema), BatchRows: 4}
	ctx := newContext(t, operator.Fail())
	r, err := s.Open(ctx, operator.Split{ID: path}, nil)
	require.NoError(t, err)
	_, position := readTo(t, r, 2)
	r, err = s.Open(ctx, operator.Split{ID: path}, position)
	require.NoError(t, err)
	_, err = readAll(t, r)
	assert.EqualError(t, err, path+" line 12: text behind the record: {}x")
	var bad *codec.RecordError
	require.ErrorAs(t, err, &bad)
	assert.EqualValues(t, len(lines(0, 10))+1, bad.Offset)
}

func TestPosition_readsWhatWasAppended(t *testing.T) {
	path := write(t, t.TempDir(), "a.jsonl", lines(0, 5))
	s := Source{URL: path, Format: codec.JSON(schema)}
	ctx := newContext(t, operator.Fail())
	r, err := s.Open(ctx, operator.Split{ID: path}, nil)
	require.NoError(t, err)
	_, position := readTo(t, r, 2)
	write(t, filepath.Dir(path), "a.jsonl", lines(0, 8))
	r, err = s.Open(ctx, operator.Split{ID: path}, position)
	require.NoError(t, err)
	got, err := readAll(t, r)
	require.NoError(t, err)
	assert.Equal(t, rows(5, 8), got)
}

func TestPosition_aChangedFileIsAnError(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a.jsonl", "a.jsonl.gz"} {
		pack := func(text string) string {
			if strings.HasSuffix(name, ".gz") {
				return zipped(t, text)
			}
			return text
		}
		path := write(t, dir, name, pack(lines(0, 20)))
		s := Source{URL: path, Format: codec.JSON(schema), BatchRows: 10}
		ctx := newContext(t, operator.Fail())
		r, err := s.Open(ctx, operator.Split{ID: path}, nil)
		require.NoError(t, err)
		_, position := readTo(t, r, 1)

		write(t, dir, name, pack(lines(0, 9)))
		_, err = s.Open(ctx, operator.Split{ID: path}, position)
		assert.ErrorContains(t, err, `the file is not the one that was read before: the saved position in "`+path+`" is at byte`)
		write(t, dir, name, pack(""))
		_, err = s.Open(ctx, operator.Split{ID: path}, position)
		assert.ErrorContains(t, err, "it has only 0")
		write(t, dir, name, pack(strings.ReplaceAll(lines(0, 20), "9", "7")))
		_, err = s.Open(ctx, operator.Split{ID: path}, position)
		assert.ErrorContains(t, err, `the text of "`+path+`" before the saved position`)
		require.NoError(t, os.Remove(path))
		_, err = s.Open(ctx, operator.Split{ID: path}, position)
		assert.ErrorContains(t, err, "no such file")
	}
}

func TestPosition_inOrderNeedsTheSameFilesBefore(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "b.jsonl", lines(0, 5))
	last := write(t, dir, "c.jsonl", lines(5, 10))
	s := Source{URL: filepath.Join(dir, "*.jsonl"), Format: codec.JSON(schema), InOrder: true, BatchRows: 7}
	ctx := newContext(t, operator.Fail())
	splits, err := s.Splits(ctx)
	require.NoError(t, err)
	r, err := s.Open(ctx, splits[0], nil)
	require.NoError(t, err)
	_, position := readTo(t, r, 1)

	first := write(t, dir, "a.jsonl", "")
	splits, err = s.Splits(ctx)
	require.NoError(t, err)
	_, err = s.Open(ctx, splits[0], position)
	assert.ErrorContains(t, err, "was number 2 of")
	assert.ErrorContains(t, err, "and is number 3 now: files before it came or went")

	require.NoError(t, os.Remove(first))
	require.NoError(t, os.Rename(last, filepath.Join(dir, "d.jsonl")))
	splits, err = s.Splits(ctx)
	require.NoError(t, err)
	_, err = s.Open(ctx, splits[0], position)
	assert.ErrorContains(t, err, "c.jsonl\" of the saved position is not among the files of")
}

func TestPosition_damagedBytesAreAnError(t *testing.T) {
	path := write(t, t.TempDir(), "a.jsonl", lines(0, 20))
	s := Source{URL: path, Format: codec.JSON(schema)}
	ctx := newContext(t, operator.Fail())
	good := position{kind: recordPosition, place: place{5, 1}}.encode()
	for n := range good {
		_, err := s.Open(ctx, operator.Split{ID: path}, good[:n])
		assert.ErrorContains(t, err, "damaged position")
	}
	_, err := s.Open(ctx, operator.Split{ID: path}, append([]byte{9}, good[1:]...))
	assert.ErrorContains(t, err, "position of version 9, this program knows versions 1 and 2")
	_, err = s.Open(ctx, operator.Split{ID: path}, position{kind: recordPosition, index: 3}.encode())
	assert.ErrorContains(t, err, "damaged position")
	s.InOrder = true
	_, err = s.Open(ctx, operator.Split{ID: path, Data: []byte{200}}, nil)
	assert.ErrorContains(t, err, "damaged list of files")
	_, err = s.Open(ctx, operator.Split{ID: path}, nil)
	assert.ErrorContains(t, err, "no list of files")
}

func FuzzDecodePosition(f *testing.F) {
	f.Add(position{kind: recordPosition, index: 3, name: "a.jsonl", place: place{1 << 40, 1 << 30}, tail: 7}.encode())
	f.Add(position{kind: blockPosition, index: 3, name: "a.arrow", row: codec.RowPlace{Block: 5, Row: 1 << 20}, fingerprint: fingerprint{1 << 40, 7}}.encode())
	f.Add([]byte{1, 0, 255})
	f.Fuzz(func(t *testing.T, b []byte) {
		for _, kind := range []positionKind{recordPosition, blockPosition} {
			p, err := decodePosition(b, kind)
			if err == nil {
				again, err := decodePosition(p.encode(), kind)
				require.NoError(t, err)
				require.Equal(t, p, again)
			}
		}
	})
}

package parquet

import (
	"bytes"
	"encoding/base64"
	"runtime"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/codec/internal/blocktest"
	"github.com/arkflow-go/arkflow/column"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRoundTrip_everyTypeAndPlace(t *testing.T) {
	types := slices.DeleteFunc(slices.Clone(blocktest.Types), func(t string) bool {
		return t == "decimal(7,-3)" || slices.Contains(converted, t)
	})
	for _, f := range []Format{New(nil), New(nil).GroupRows(7), New(nil).GroupRows(20).Compress(Zstd)} {
		blocktest.RoundTrip(t, f, blocktest.Schema(t, types...))
	}
	for _, c := range []Compression{None, LZ4, Gzip} {
		blocktest.RoundTrip(t, New(nil).GroupRows(20).Compress(c), blocktest.Schema(t, "int64", "string"))
	}
}

// converted are types of which Parquet has only a near one: a schema brings them back.
var converted = []string{"date64", "time32[s]", "timestamp[s]", "timestamp[s,UTC]", "duration[s]", "duration[ms]", "string_view", "dictionary[int32,string]"}

func TestRoundTrip_aSchemaBringsBackTypesThatParquetHasNot(t *testing.T) {
	s := blocktest.Schema(t, converted...)
	pool := column.NewDebugPool()
	in := blocktest.Rows(pool, s, -40, 80)
	want := blocktest.Texts(in)
	r, err := blocktest.Open(New(s), pool, blocktest.Write(t, New(nil).GroupRows(30), s, in), 100, 1<<24)
	require.NoError(t, err)
	got, err := blocktest.ReadAll(r)
	require.NoError(t, err)
	assert.Equal(t, want, got)
	require.NoError(t, r.Close())
	require.NoError(t, pool.Check())
}

func TestDamage_isAnErrorAndNoPanic(t *testing.T) {
	blocktest.Damage(t, New(nil).GroupRows(16))
	blocktest.Damage(t, New(nil).GroupRows(16).Compress(Zstd))
}

func TestOpen_filesThatAreNone(t *testing.T) {
	s := blocktest.Schema(t, "int64")
	whole := string(blocktest.Write(t, New(nil), s, blocktest.Rows(nil, s, 0, 3)))
	for in, want := range map[string]string{
		"":                             "parquet: truncated: 0 bytes are no Parquet file",
		"{\"a\":1}\n{\"a\":2}\n":       "parquet: not a Parquet file",
		whole[:len(whole)/2]:           "parquet: truncated: the file does not end with the table of its row groups",
		"PAR1" + whole[len(whole)-12:]: "parquet: truncated or damaged",
		"PAR1xxxxxxxxPARE":             "parquet: the file is encrypted, which is not supported",
	} {
		_, err := blocktest.Open(New(nil), nil, []byte(in), 10, 1<<20)
		assert.ErrorContains(t, err, want)
	}
}

func TestOpen_bombsAreBounded(t *testing.T) {
	s := blocktest.Schema(t, "string")
	b := column.NewBuilder(nil, s)
	text := string(make([]byte, 1<<20))
	for i := range 20 {
		b.String(0, text[i:])
		b.EndRow()
	}
	file := blocktest.Write(t, New(nil).Compress(Zstd), s, b.Finish())
	require.Less(t, len(file), 100_000)
	r, err := blocktest.Open(New(nil), nil, file, 100, 4<<20)
	require.NoError(t, err)
	_, err = blocktest.ReadAll(r)
	assert.ErrorContains(t, err, "parquet: row group 0: ")
	t.Log(err)
	require.NoError(t, r.Close())
}

func TestDamage_neverLosesRowsWithoutAnError(t *testing.T) {
	s := blocktest.Schema(t, "int64", "string")
	file := blocktest.Write(t, New(nil).GroupRows(4), s, blocktest.Rows(nil, s, 0, 7))
	for i := range file {
		for bit := i % 2; bit < 8; bit += 2 {
			bad := bytes.Clone(file)
			bad[i] ^= 1 << bit
			r, err := blocktest.Open(New(nil), nil, bad, 10, 1<<20)
			if err != nil {
				continue
			}
			if rows, err := blocktest.ReadAll(r); err == nil {
				assert.Len(t, rows, 7, "bit %d of byte %d", bit, i)
			}
			require.NoError(t, r.Close())
		}
	}
}

func TestOpen_theStoredSchemaCannotClaimMemory(t *testing.T) {
	s := blocktest.Schema(t, "int64", "string")
	file := blocktest.Write(t, New(nil), s, blocktest.Rows(nil, s, 0, 3))
	at := bytes.Index(file, []byte("ARROW:schema")) + len("ARROW:schema")
	at += bytes.Index(file[at:], []byte("/////")) // the mark FFFFFFFF before a length
	end := at + bytes.IndexFunc(file[at:], func(r rune) bool { return r < '+' })
	stored, err := base64.StdEncoding.DecodeString(string(file[at:end]))
	require.NoError(t, err)
	for i := range stored {
		for _, v := range []byte{0, 1, 0x7F, 0x80, stored[i] + 1} { // lengths of many gigabytes among them
			bad := bytes.Clone(stored)
			bad[i] = v
			base64.StdEncoding.Encode(file[at:end], bad)
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if r, err := blocktest.Open(New(nil), nil, file, 10, 1<<20); err == nil {
				require.NoError(t, r.Close())
			}
			runtime.ReadMemStats(&after)
			require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(8<<20), "byte %d = %d", i, v)
		}
	}
}

func TestOpen_readsOnlyTheColumnsOfTheSchema(t *testing.T) {
	s := blocktest.Schema(t, "int32", "string", "timestamp[ns]", "float64")
	file := blocktest.Write(t, New(nil).GroupRows(10), s, blocktest.Rows(nil, s, 0, 25))
	type row struct {
		At    int64    `arkflow:"int32"`
		Name  *string  `arkflow:"string"`
		Extra *float64 `arkflow:"none"`
	}
	_, err := blocktest.Open(Of[row](), nil, file, 100, 1<<24)
	require.NoError(t, err)
	want := arrow.NewSchema([]arrow.Field{{Name: "string", Type: arrow.BinaryTypes.LargeString, Nullable: true},
		{Name: "int32", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, nil)
	r, err := blocktest.Open(New(want), nil, file, 100, 1<<24)
	require.NoError(t, err)
	require.NoError(t, r.Seek(codec.RowPlace{Block: 1, Row: 3}))
	b, err := r.Next()
	require.NoError(t, err)
	assert.Equal(t, 7, b.Rows)
	assert.Equal(t, int64(14), column.Values[int64](&b.Cols[1])[1])
	assert.EqualValues(t, 20, r.FirstRow())
	b.Release()
	require.NoError(t, r.Close())
}

func TestConfig_readsBack(t *testing.T) {
	for _, f := range []Format{New(nil), New(blocktest.Schema(t, "int64")).Compress(None).GroupRows(10)} {
		c, err := f.Config()
		require.NoError(t, err)
		back, err := FromConfig("codec", c)
		require.NoError(t, err)
		assert.Equal(t, f, back)
	}
	f, err := FromConfig("codec", map[string]any{"type": "parquet", "compression": "snappy"})
	require.NoError(t, err)
	assert.Equal(t, New(nil), f)
	_, err = FromConfig("codec", map[string]any{"type": "parquet", "compression": "brotli", "group_rows": 1 << 30})
	assert.ErrorContains(t, err, `codec.compression: "brotli" is none of snappy, none, zstd, lz4, gzip`)
	assert.ErrorContains(t, err, "codec.group_rows: 1073741824 is not within 1 and 16777216")
	_, err = FromConfig("codec", map[string]any{"type": "parquet", "group_row": 1})
	assert.ErrorContains(t, err, `codec.group_row: unknown field "group_row"; did you mean "group_rows"?`)
	assert.ErrorContains(t, Of[int]().Check(), "is not a struct")
	nested := arrow.NewSchema([]arrow.Field{{Name: "l", Type: arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int64)}}, nil)
	assert.ErrorContains(t, New(nil).CheckRows(nested), "schema.l: type fixed_size_list<item: int64, nullable>[2] is not supported")
	assert.ErrorContains(t, New(nil).CheckRows(blocktest.Schema(t, "decimal(7,-3)")), "schema.decimal(7,-3): Parquet has no decimal(7,-3); cast it to another type")
}

type registrar map[string]codec.NewFormat

func (r registrar) RegisterCodec(kind string, make codec.NewFormat) error {
	r[kind] = make
	return nil
}

func TestRegister(t *testing.T) {
	r := registrar{}
	require.NoError(t, Register(r))
	f, err := r["parquet"]("codec", map[string]any{"type": "parquet"})
	require.NoError(t, err)
	assert.Equal(t, "parquet", f.Kind())
}

func FuzzOpen(f *testing.F) {
	s := blocktest.Schema(f, "int64", "string", "bool")
	f.Add(blocktest.Write(f, New(nil).GroupRows(4), s, blocktest.Rows(nil, s, 0, 9)))
	f.Fuzz(func(t *testing.T, file []byte) {
		pool := column.NewDebugPool()
		r, err := blocktest.Open(New(nil), pool, file, 3, 1<<20)
		if err != nil {
			return
		}
		_, _ = blocktest.ReadAll(r)
		require.NoError(t, r.Close())
		require.NoError(t, pool.Check())
	})
}

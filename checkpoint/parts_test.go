package checkpoint

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/arkflow-go/arkflow/checkpoint/storage"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/state"
	"github.com/stretchr/testify/require"
	"gocloud.dev/blob/memblob"
)

var bulkSchema = arrow.NewSchema([]arrow.Field{{Name: "key", Type: arrow.PrimitiveTypes.Int64}, {Name: "value", Type: arrow.BinaryTypes.Binary}}, nil)

// changing is how many entries have one among them that a delta holds.
const changing = 8

// bulk is a state.View of entries that are made when they are asked for: whoever writes them is alone in holding any. Values cannot be packed.
type bulk struct {
	first      int64  // key
	rows, size int    // entries, bytes of each
	version    int64  // those whose key is divisible by changing change with it
	look       func() // called after each table; may be nil
}

// value writes what an entry holds.
func (b bulk) value(into []byte, key int64) {
	var seed [32]byte
	binary.LittleEndian.PutUint64(seed[:], uint64(key))
	if key%changing == 0 {
		binary.LittleEndian.PutUint64(seed[8:], uint64(b.version))
	}
	_, _ = rand.NewChaCha8(seed).Read(into) // never fails
}

func (b bulk) Rows() int { return b.rows }

func (b bulk) Each(since state.View, emit func(state.Table) error) error {
	step := int64(1)
	if since != nil {
		step = changing
	}
	value := make([]byte, b.size)
	build := array.NewRecordBuilder(memory.DefaultAllocator, bulkSchema)
	defer build.Release()
	last := b.first + int64(b.rows)
	for key := b.first; key < last; {
		t := state.Table{Schema: bulkSchema}
		for bytes := 0; key < last && bytes < 1<<20; key += step {
			b.value(value, key)
			build.Field(0).(*array.Int64Builder).Append(key)
			build.Field(1).(*array.BinaryBuilder).Append(value)
			t.Groups = append(t.Groups, uint16(key%groups))
			bytes += b.size
		}
		batch, err := column.FromRecord(nil, build.NewRecordBatch())
		if err != nil {
			return err
		}
		t.Rows, t.Cols = batch.Rows, batch.Cols
		if err := emit(t); err != nil {
			return err
		}
		if b.look != nil {
			b.look()
		}
	}
	return nil
}

func (b bulk) Settle() error { return nil }
func (b bulk) Close()        {}

// Parts whose first rows come when a segment is full begin in the next one, and the manifest says so; what is written upon them later, too.
func TestPartsBeginWhereTheManifestSays(t *testing.T) {
	for rows := segmentBytes>>20 - 2; rows <= segmentBytes>>20+1; rows++ {
		bucket := memblob.OpenBucket(nil)
		s, err := Open(t.Context(), bucket, booksJob, Options{})
		require.NoError(t, err)
		require.NoError(t, s.Fit(booksShape()))
		for number := int64(1); number <= 2; number++ {
			e := newBooks(number).epoch(number, nil, new(int))
			saved := state.NewSnapshot()
			for i, b := range []bulk{{rows: rows, size: 1 << 20}, {first: 1 << 32, rows: 3, size: 100}, {first: 1 << 33, rows: 1, size: 1 << 20}, {first: 1 << 34, rows: 3, size: 100}} {
				b.version = number
				saved.Part("bulk", int64(i+1), b)
			}
			e.Operators["sum"][0].State = saved
			require.NoError(t, s.Seal(t.Context(), e))
			s.Release(t.Context(), e)
		}
		require.NoError(t, s.Close(t.Context()))
		all, err := Inspect(t.Context(), bucket, storage.Options{})
		require.NoError(t, err)
		v, err := all.Job(booksJob).Verify(t.Context())
		require.NoError(t, err)
		require.Empty(t, v.Problems, "%d rows before", rows)
		task := all.Job(booksJob).Epoch(2).Manifest.Operators[1].Tasks[0]
		require.Len(t, task.Parts, 4)
		require.Greater(t, len(task.Segments), 1+rows>>3)
		require.NoError(t, bucket.Close())
	}
}

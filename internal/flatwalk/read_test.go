package flatwalk

import (
	"bytes"
	"encoding/binary"
	"runtime"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/stretchr/testify/require"
)

// stream gives the descriptions of the messages of a stream that arrow-go writes.
func stream(t testing.TB, s *arrow.Schema, json string, opts ...ipc.Option) (out [][]byte) {
	batch, _, err := array.RecordFromJSON(memory.DefaultAllocator, s, bytes.NewReader([]byte(json)))
	require.NoError(t, err)
	var b bytes.Buffer
	w := ipc.NewWriter(&b, append(opts, ipc.WithSchema(s))...)
	require.NoError(t, w.Write(batch))
	require.NoError(t, w.Close())
	for raw := b.Bytes(); ; {
		n := int(binary.LittleEndian.Uint32(raw[4:]))
		if n == 0 {
			return out
		}
		out = append(out, raw[8:8+n])
		m, err := Read(raw[8 : 8+n])
		require.NoError(t, err)
		raw = raw[8+n+int(m.Body):]
	}
}

func schemaOf(types ...arrow.DataType) *arrow.Schema {
	var fields []arrow.Field
	for i, t := range types {
		fields = append(fields, arrow.Field{Name: string(rune('a' + i)), Type: t, Nullable: true, Metadata: arrow.MetadataFrom(map[string]string{"k": "v"})})
	}
	meta := arrow.MetadataFrom(map[string]string{"of": "all"})
	return arrow.NewSchema(fields, &meta)
}

// rich has each type in which there is more than numbers.
func rich() *arrow.Schema {
	union := arrow.SparseUnionOf([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int8}, {Name: "t", Type: arrow.BinaryTypes.String}}, []arrow.UnionTypeCode{3, 5})
	return schemaOf(&arrow.TimestampType{Unit: arrow.Second, TimeZone: "Europe/Zurich"}, union,
		&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}, arrow.ListOf(arrow.StructOf(arrow.Field{Name: "x", Type: arrow.PrimitiveTypes.Float64})))
}

// schemaMessage is the description of a schema.
func schemaMessage(t testing.TB, s *arrow.Schema) []byte {
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(s))
	require.NoError(t, w.Close())
	return b.Bytes()[8 : 8+binary.LittleEndian.Uint32(b.Bytes()[4:])]
}

func TestReadTellsWhatAMessageSays(t *testing.T) {
	s := schemaOf(arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String, arrow.ListOf(arrow.FixedWidthTypes.Boolean))
	all := stream(t, s, `[{"a":1,"b":"x","c":[true]},{"a":null,"b":"y","c":null},{"a":3,"b":null,"c":[true,false]}]`)
	require.Len(t, all, 2)
	m, err := Read(all[0])
	require.NoError(t, err)
	require.Equal(t, Message{Kind: ipc.MessageSchema, Types: 1<<2 | 1<<5 | 1<<12 | 1<<6}, m)
	m, err = Read(all[1])
	require.NoError(t, err)
	require.Equal(t, ipc.MessageRecordBatch, m.Kind)
	require.EqualValues(t, 3, m.Rows)
	require.Positive(t, m.Body)
	require.False(t, m.Compressed)
	require.Equal(t, 4, m.Nodes.Len())
	require.Equal(t, 2+3+2+2, m.Buffers.Len())
	again := m.Nodes
	for _, want := range [][2]int64{{3, 1}, {3, 1}, {3, 1}, {3, 0}} {
		length, nulls, ok := m.Nodes.Next()
		require.True(t, ok)
		require.Equal(t, want, [2]int64{length, nulls})
	}
	_, _, ok := m.Nodes.Next()
	require.False(t, ok)
	require.Equal(t, 4, again.Len(), "a copy reads on its own")

	packed := stream(t, s, `[{"a":1,"b":"x","c":[true]}]`, ipc.WithLZ4())
	m, err = Read(packed[1])
	require.NoError(t, err)
	require.True(t, m.Compressed)

	words := stream(t, schemaOf(&arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}), `[{"a":"x"},{"a":"y"}]`)
	m, err = Read(words[1])
	require.NoError(t, err)
	require.Equal(t, ipc.MessageDictionaryBatch, m.Kind)
	require.Zero(t, m.Rows)
	require.Positive(t, m.Body)
}

func TestReadNamesTypes(t *testing.T) {
	m, err := Read(schemaMessage(t, rich()))
	require.NoError(t, err)
	require.Equal(t, Types(1<<10|1<<14|1<<2|1<<5|1<<12|1<<13|1<<3), m.Types)
}

// open gives a description to arrow-go as a message, and tells how much memory it asked for.
func open(description []byte) uint64 {
	b := binary.LittleEndian.AppendUint32([]byte{255, 255, 255, 255}, uint32(len(description)))
	b = append(append(b, description...), 255, 255, 255, 255, 0, 0, 0, 0)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	func() {
		defer func() { _ = recover() }()
		if r, err := ipc.NewReader(bytes.NewReader(b)); err == nil {
			r.Release()
		}
	}()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// memoryOf bounds what arrow-go may ask for to read a description of n bytes.
func memoryOf(n int) uint64 { return 256<<10 + 512*uint64(n) }

// Each word in turn is another one: what is not refused arrow-go reads in little memory.
func TestADescriptionThatPassesAsksForLittle(t *testing.T) {
	good := schemaMessage(t, rich())
	refused, passed := 0, 0
	for at := range len(good) - 3 {
		for _, word := range []uint32{0xFFFFFFFF, 0x7FFFFFFF, 0x10000000, uint32(len(good)), 1, 0} {
			b := bytes.Clone(good)
			binary.LittleEndian.PutUint32(b[at:], word)
			if _, err := Read(b); err != nil {
				require.ErrorIs(t, err, ErrDamaged)
				refused++
				continue
			}
			passed++
			require.Less(t, open(b), memoryOf(len(b)), "word %d is %#x", at, word)
		}
	}
	t.Logf("%d bytes, %d refused, %d passed", len(good), refused, passed)
	require.Greater(t, refused, 100)
	require.Greater(t, passed, 100)
}

func TestATruncatedDescriptionIsRefused(t *testing.T) {
	for _, good := range stream(t, schemaOf(arrow.PrimitiveTypes.Int64), `[{"a":1}]`) {
		for n := range len(good) - 16 { // the last bytes are names and padding
			m, err := Read(good[:n])
			if err == nil {
				require.LessOrEqual(t, m.Nodes.Len()+m.Buffers.Len(), n/pairWidth)
			} else {
				require.ErrorIs(t, err, ErrDamaged)
			}
		}
	}
}

// tables writes flatbuffers by hand.
type tables struct{ b []byte }

// table writes one of n fields, each of which has a place of 8 bytes, and gives its position.
func (w *tables) table(n int) int {
	for len(w.b)%4 != 0 {
		w.b = append(w.b, 0)
	}
	start := len(w.b)
	w.b = binary.LittleEndian.AppendUint16(w.b, uint16(4+2*n))
	w.b = binary.LittleEndian.AppendUint16(w.b, uint16(4+8*n))
	for i := range n {
		w.b = binary.LittleEndian.AppendUint16(w.b, uint16(4+8*i))
	}
	at := len(w.b)
	w.b = binary.LittleEndian.AppendUint32(w.b, uint32(at-start))
	w.b = append(w.b, make([]byte, 8*n)...)
	return at
}

// unset removes a field.
func (w *tables) unset(table int, fields ...int) {
	start := table - int(binary.LittleEndian.Uint32(w.b[table:]))
	for _, n := range fields {
		binary.LittleEndian.PutUint16(w.b[start+4+2*n:], 0)
	}
}

// refer makes a field refer to a position.
func (w *tables) refer(table, n, to int) {
	at := table + 4 + 8*n
	binary.LittleEndian.PutUint32(w.b[at:], uint32(to-at))
}

// vector writes so many offsets and gives the position of the vector.
func (w *tables) vector(n int) int {
	at := len(w.b)
	w.b = binary.LittleEndian.AppendUint32(w.b, uint32(n))
	w.b = append(w.b, make([]byte, 4*n)...)
	return at
}

func (w *tables) set(vector, i, to int) {
	at := vector + 4 + 4*i
	binary.LittleEndian.PutUint32(w.b[at:], uint32(to-at))
}

// nested is a schema whose field has fan children that are the same, and so on.
func nested(depth, fan int) []byte {
	w := &tables{make([]byte, 4)}
	root := w.table(5)
	binary.LittleEndian.PutUint32(w.b, uint32(root))
	w.unset(root, 0, 3, 4)
	w.b[root+4+8*1] = byte(ipc.MessageSchema)
	schema := w.table(2)
	w.refer(root, 2, schema)
	w.unset(schema, 0)
	parent, slot := schema, 1
	for range depth {
		v := w.vector(fan)
		w.refer(parent, slot, v)
		c := w.table(6)
		w.unset(c, 0, 1, 4)
		w.b[c+4+8*2] = 13 // a struct
		typ := w.table(0)
		w.refer(c, 3, typ)
		for i := range fan {
			w.set(v, i, c)
		}
		parent, slot = c, 5
	}
	w.unset(parent, slot)
	return w.b
}

// A few hundred bytes can stand for more fields than there are atoms: tables that are shared are paid for each time.
func TestTablesThatAreSharedWithoutEndAreRefused(t *testing.T) {
	for _, fan := range []int{1, 2} {
		m, err := Read(nested(3, fan))
		require.NoError(t, err)
		require.Equal(t, Types(1<<13), m.Types)
	}
	_, err := Read(nested(60, 2))
	require.ErrorIs(t, err, ErrDamaged)
	_, err = Read(nested(maxNesting+1, 1))
	require.NoError(t, err)
	_, err = Read(nested(maxNesting+2, 1))
	require.ErrorIs(t, err, ErrDamaged)
	_, err = Read(nested(100_000, 1))
	require.ErrorIs(t, err, ErrDamaged)
}

func TestReadSaysWhatCannotBe(t *testing.T) {
	good := stream(t, schemaOf(arrow.PrimitiveTypes.Int64), `[{"a":1}]`)[1]
	w := newWalk(good)
	root := w.follow(0)
	header := w.child(root, 2)
	for want, change := range map[string]func(b []byte){
		"damaged metadata: a body of -1 bytes":  func(b []byte) { binary.LittleEndian.PutUint64(b[w.field(root, 3):], ^uint64(0)) },
		"damaged metadata: -1 rows":             func(b []byte) { binary.LittleEndian.PutUint64(b[w.field(header, 0):], ^uint64(0)) },
		"damaged metadata: a message of type 9": func(b []byte) { b[w.field(root, 1)] = 9 },
		"damaged metadata":                      func(b []byte) { clear(b) },
	} {
		b := bytes.Clone(good)
		change(b)
		_, err := Read(b)
		require.EqualError(t, err, want)
		require.ErrorIs(t, err, ErrDamaged)
	}
	_, err := Read(nil)
	require.ErrorIs(t, err, ErrDamaged)
	require.Zero(t, testing.AllocsPerRun(10, func() {
		if _, err := Read(good); err != nil {
			t.Fatal(err)
		}
	}))
}

// Whatever the bytes: no panic, pairs lie within, and what passes arrow-go reads in little memory.
func FuzzRead(f *testing.F) {
	f.Add(schemaMessage(f, rich()))
	for _, b := range stream(f, schemaOf(arrow.PrimitiveTypes.Int64, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int32, ValueType: arrow.BinaryTypes.String}), `[{"a":1,"b":"x"}]`) {
		f.Add(b)
	}
	f.Add(nested(3, 2))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<16 {
			return
		}
		was := bytes.Clone(b)
		m, err := Read(b)
		require.Equal(t, was, b)
		if err != nil {
			require.ErrorIs(t, err, ErrDamaged)
			return
		}
		require.False(t, m.Body < 0 || m.Rows < 0 || m.Nodes.Len()+m.Buffers.Len() > 2*len(b)/pairWidth+4)
		if m.Kind == ipc.MessageSchema {
			require.Less(t, open(b), memoryOf(len(b)))
		}
	})
}

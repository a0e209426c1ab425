package segment

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/state"
	"github.com/klauspost/compress/s2"
	"github.com/stretchr/testify/require"
	"github.com/zeebo/xxh3"
)

func schemaOf(types ...arrow.DataType) *arrow.Schema {
	fields := make([]arrow.Field, len(types))
	for i, typ := range types {
		fields[i] = arrow.Field{Name: fmt.Sprint("c", i), Type: typ, Nullable: true}
	}
	return arrow.NewSchema(fields, nil)
}

func TestEveryTypeIsReadAsItWasWritten(t *testing.T) {
	types := append(flatTypes(), topTypes()...)
	for _, typ := range flatTypes() {
		types = append(types, arrow.ListOf(typ), arrow.LargeListOfNonNullable(typ), arrow.StructOf(arrow.Field{Name: "x", Type: typ, Nullable: true}), arrow.MapOf(arrow.BinaryTypes.StringView, typ))
	}
	for _, typ := range types {
		for _, before := range []int{0, 3} {
			want := tableOf(schemaOf(typ), before, 10, 40)
			objects := pack(t, 0, 0, saved{Block{Table: "t"}, want}, saved{Block{Table: "t"}, tableOf(want.Schema, 1, 40, 43)})
			got, err := unpackAll(objects[0].Data)
			require.NoError(t, err, typ)
			require.Equal(t, texts(want), texts(got[0].Table), typ)
			require.True(t, want.Schema.Equal(got[0].Schema), typ)
			requireType(t, typ, &got[0].Cols[0])
			require.Equal(t, want.Cols[0].Nulls, got[0].Cols[0].Nulls)
		}
	}
}

// S6: any Arrow reader can open a unit once it is unpacked.
func TestS6AnyArrowReaderOpensAnUnpackedUnit(t *testing.T) {
	s := schemaOf(arrow.PrimitiveTypes.Int64, &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.LargeString})
	objects := pack(t, 0, 0, saved{Block{Table: "a", Part: 1}, tableOf(s, 0, 0, 300)}, saved{Block{Table: "b"}, tableOf(s, 2, 300, 1000)})
	r, err := Open(objects[0].Data)
	require.NoError(t, err)
	require.Len(t, r.units, 1)
	u := r.units[0]
	require.EqualValues(t, packSnappy, u.pack)
	raw, err := s2.Decode(nil, objects[0].Data[u.at:u.at+u.stored])
	require.NoError(t, err)

	stream, err := ipc.NewReader(bytes.NewReader(raw))
	require.NoError(t, err)
	defer stream.Release()
	require.True(t, stream.Next())
	rec := stream.RecordBatch()
	require.Equal(t, "#group", rec.ColumnName(0))
	require.Equal(t, arrow.BinaryTypes.String, rec.Column(2).DataType())
	b, err := column.FromRecord(nil, rec)
	require.NoError(t, err)
	want := tableOf(s, 0, 0, 1000)
	got := state.Table{Schema: s, Rows: b.Rows, Cols: b.Cols[1:], Groups: column.Values[uint16](&b.Cols[0])}
	require.Equal(t, texts(want), texts(got))
	require.False(t, stream.Next())
	require.NoError(t, stream.Err())
}

func TestASegmentThatIsReadAsArrowCanBeSavedAgain(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{{Name: "#group", Type: arrow.BinaryTypes.LargeString}, {Name: "##group", Type: arrow.PrimitiveTypes.Int8}}, nil)
	for range 3 {
		want := tableOf(s, 0, 0, 3)
		got, err := unpackAll(pack(t, 0, 0, saved{Block{}, want})[0].Data)
		require.NoError(t, err)
		require.True(t, sameSchema(s, got[0].Schema))
		require.Equal(t, texts(want), texts(got[0].Table))
		s, err = storedSchema(s)
		require.NoError(t, err)
	}
	require.Equal(t, "#####group", s.Field(0).Name)
}

func TestSmallPartsShareAUnit(t *testing.T) {
	s := schemaOf(arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64)
	var blocks []saved
	for i := range 500 {
		same := arrow.NewSchema(s.Fields(), nil)
		blocks = append(blocks, saved{Block{Table: "windows", Part: int64(i + 1), Full: true}, tableOf(same, 0, 5*i, 5*i+5)})
	}
	objects := pack(t, 0, 0, blocks...)
	require.Len(t, objects, 1)
	r, err := Open(objects[0].Data)
	require.NoError(t, err)
	require.Len(t, r.units, 1)
	require.Len(t, r.Blocks(), 500)
	directory := len(objects[0].Data) - r.units[0].stored
	require.Less(t, directory, 500*12, "some ten bytes a block")
	got, err := unpackAll(objects[0].Data)
	require.NoError(t, err)
	for i := range blocks {
		require.Equal(t, texts(blocks[i].Table), texts(got[i].Table))
	}
}

func TestObjectsAreOfBoundedSize(t *testing.T) {
	b := column.NewBuilder(nil, schemaOf(arrow.PrimitiveTypes.Int64))
	for i := range 300_000 {
		b.Int64(0, int64(xxh3.HashString(fmt.Sprint(i)))) // cannot be packed
		b.EndRow()
	}
	batch := b.Finish()
	table := state.Table{Schema: batch.Schema, Rows: batch.Rows, Cols: batch.Cols, Groups: make([]uint16, batch.Rows)}
	objects := pack(t, 512<<10, 0, saved{Block{Table: "t", Part: 1, Full: true}, table})
	require.Greater(t, len(objects), 1)
	rows := 0
	for i, o := range objects {
		require.Less(t, len(o.Data), 512<<10+unitBytes+4096)
		for k, e := range o.Blocks {
			require.Equal(t, i+k == 0, e.Full, "only the first block begins the part")
			rows += e.Rows
		}
	}
	require.Equal(t, table.Rows, rows)
	r, err := Open(objects[0].Data)
	require.NoError(t, err)
	for _, u := range r.units {
		require.Less(t, u.raw, unitBytes+4096)
	}
}

func TestWhatTheWriterRefuses(t *testing.T) {
	s := schemaOf(arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.String)
	good := tableOf(s, 0, 0, 3)
	change := func(f func(t *state.Table)) state.Table {
		t := good
		t.Cols = append([]column.Column(nil), good.Cols...)
		f(&t)
		return t
	}
	w, err := NewWriter(Options{}, func(Object) error { return nil })
	require.NoError(t, err)
	for want, table := range map[string]state.Table{
		`segment: table "t": no schema`:                                                                   {},
		"3 rows with 2 key groups in 2 columns, the schema has 2":                                         change(func(t *state.Table) { t.Groups = t.Groups[:2] }),
		"3 rows with 3 key groups in 1 columns, the schema has 2":                                         change(func(t *state.Table) { t.Cols = t.Cols[:1] }),
		`column "c0": values of kind bytes, the type int64 has int64`:                                     change(func(t *state.Table) { t.Cols[0] = t.Cols[1] }),
		`column "c0": 16 bytes of values, 24 are needed`:                                                  change(func(t *state.Table) { t.Cols[0].Data = t.Cols[0].Data[:16] }),
		`column "c0": the bitmap of nulls is too short`:                                                   change(func(t *state.Table) { t.Cols[0].Nulls = 3 }),
		`column "c1": 3 offsets for 3 rows`:                                                               change(func(t *state.Table) { t.Cols[1].Offsets = t.Cols[1].Offsets[:3] }),
		`column "c1": offsets fall`:                                                                       change(func(t *state.Table) { t.Cols[1].Offsets = []int32{0, 1, math.MinInt32, 2} }),
		`column "c1": offset 9999 of`:                                                                     change(func(t *state.Table) { t.Cols[1].Offsets = []int32{0, 1, 2, 9999} }),
		`column "c0": type fixed_size_list<item: int8, nullable>[2] is not supported`:                     {Schema: schemaOf(arrow.FixedSizeListOf(2, arrow.PrimitiveTypes.Int8)), Cols: make([]column.Column, 1)},
		`column "c0": type list<item: dictionary<values=utf8, indices=int8, ordered=false>, nullable> is`: {Schema: schemaOf(arrow.ListOf(topTypes()[0])), Cols: make([]column.Column, 1)},
	} {
		require.ErrorContains(t, w.Add(Block{Table: "t"}, table), want)
	}
	require.EqualError(t, w.Add(Block{Table: "t", Part: -1}, good), `segment: table "t": part -1`)
	require.NoError(t, w.Add(Block{Table: "t"}, good), "a table that is refused does not end the writer")
	require.NoError(t, w.Close())
	require.EqualError(t, w.Add(Block{Table: "t"}, good), "segment: the writer is closed")
	require.EqualError(t, w.Close(), "segment: the writer is closed")

	large := arrow.MetadataFrom(map[string]string{"k": string(make([]byte, maxSchema))})
	w, err = NewWriter(Options{}, nil)
	require.NoError(t, err)
	want := "bytes, at most 1048576 can be saved"
	require.ErrorContains(t, w.Add(Block{Full: true}, state.Table{Schema: arrow.NewSchema(nil, &large)}), want)
	require.ErrorContains(t, w.Close(), want)

	for _, n := range []int{-1, 1<<30 + 1} {
		_, err = NewWriter(Options{TargetBytes: n}, nil)
		require.EqualError(t, err, fmt.Sprintf("segment: TargetBytes: %d is not within 1 and 1073741824", n))
	}
	require.Equal(t, Options{TargetBytes: 8 << 20}, Options{}.WithDefaults())
}

func TestAnErrorOfWhoTakesObjectsEndsTheWriter(t *testing.T) {
	table, full := tableOf(schemaOf(arrow.PrimitiveTypes.Int64), 0, 0, 3), errors.New("no space left")
	for _, panics := range []bool{false, true} {
		w, err := NewWriter(Options{TargetBytes: 1}, func(Object) error {
			if panics {
				panic(full)
			}
			return full
		})
		require.NoError(t, err)
		w.pool = column.NewDebugPool()
		require.NoError(t, w.Add(Block{}, table))
		want := map[bool]string{false: "no space left", true: "segment: write: no space left"}[panics]
		require.EqualError(t, w.Add(Block{}, tableOf(schemaOf(arrow.PrimitiveTypes.Int8), 0, 0, 3)), want)
		require.EqualError(t, w.Add(Block{}, table), want)
		require.EqualError(t, w.Close(), want)
		require.NoError(t, w.pool.Check())
	}
}

func TestNothingWrittenIsNoObject(t *testing.T) {
	require.Empty(t, pack(t, 0, 0))
	require.Empty(t, pack(t, 0, 0, saved{Block{}, tableOf(schemaOf(arrow.BinaryTypes.String), 0, 0, 0)}))
	objects := pack(t, 0, 0, saved{Block{Table: "t", Part: 9, Full: true}, tableOf(schemaOf(arrow.BinaryTypes.String), 0, 0, 0)})
	require.Equal(t, []Entry{{Block: Block{"t", 9, true}}}, objects[0].Blocks, "a part that has become empty")
	got, err := unpackAll(objects[0].Data)
	require.NoError(t, err)
	require.Zero(t, got[0].Rows)
	_, err = (&Reader{}).Read(0)
	require.EqualError(t, err, "segment: no block 0, there are 0")
}

// everything is a table of one column of each type.
func everything() state.Table {
	types := append(flatTypes(), topTypes()...)
	types = append(types, arrow.ListOf(arrow.BinaryTypes.StringView), arrow.LargeListOfNonNullable(arrow.PrimitiveTypes.Int16), arrow.MapOf(arrow.BinaryTypes.LargeString, arrow.FixedWidthTypes.Boolean),
		arrow.StructOf(arrow.Field{Name: "x", Type: arrow.ListOf(arrow.PrimitiveTypes.Float64), Metadata: arrow.MetadataFrom(map[string]string{"unit": "m"})}))
	return tableOf(schemaOf(types...), 0, 0, 12)
}

// What version 1 wrote is read for ever: the file was written when the format was new.
func TestVersion1IsRead(t *testing.T) {
	data, err := os.ReadFile("testdata/version1.segment")
	require.NoError(t, err)
	got, err := unpackAll(data)
	require.NoError(t, err)
	want := everything()
	require.Equal(t, []Block{{"all", 3, true}, {"all", 3, false}, {"none", 0, true}}, []Block{got[0].Block, got[1].Block, got[2].Block})
	for _, g := range got[:2] {
		require.Equal(t, texts(want), texts(g.Table))
		require.True(t, sameSchema(want.Schema, g.Schema))
	}
	require.Len(t, got, 3)
	require.Zero(t, got[2].Rows)
}

func small(t testing.TB) ([]byte, []saved) {
	s := schemaOf(arrow.PrimitiveTypes.Int64, arrow.BinaryTypes.StringView, arrow.ListOf(arrow.FixedWidthTypes.Boolean))
	objects := pack(t, 0, 0, saved{Block{Table: "windows", Part: 1, Full: true}, tableOf(s, 0, 0, 20)}, saved{Block{Table: "evicted"}, tableOf(s, 1, 20, 25)},
		saved{Block{Table: "evicted"}, tableOf(schemaOf(), 0, 0, 9)})
	want, err := unpackAll(objects[0].Data)
	require.NoError(t, err)
	return objects[0].Data, want
}

// B08: a byte that is altered is an error, never other data.
func TestB08EveryAlteredByteIsAnError(t *testing.T) {
	data, _ := small(t)
	for at := range data {
		for _, flip := range []byte{0xFF, 0x01, 0x80} {
			bad := bytes.Clone(data)
			bad[at] ^= flip
			_, err := unpackAll(bad)
			if at != len(magic) {
				require.ErrorIs(t, err, ErrDamaged, "byte %d", at)
			} else {
				require.EqualError(t, err, fmt.Sprintf("segment: the format has version %d, this program reads 1: use the one that wrote it, or a later one", 1^flip))
			}
		}
	}
}

func TestB08EveryTruncationIsAnError(t *testing.T) {
	data, _ := small(t)
	for n := range data {
		_, err := unpackAll(data[:n])
		require.ErrorIs(t, err, ErrDamaged, "%d bytes", n)
		_, err = unpackAll(data[n+1:])
		require.Error(t, err)
	}
	_, err := unpackAll(append(bytes.Clone(data), 0))
	require.ErrorIs(t, err, ErrDamaged)
}

// forge gives an object with right checksums around units and blocks that may say anything.
func forge(units []unit, blocks []Entry, packed ...[]byte) []byte {
	out := append([]byte(magic), Version)
	for i, p := range packed {
		units[i].stored, units[i].sum = len(p), xxh3.Hash(p)
		out = append(out, p...)
	}
	at := len(out)
	out = appendDirectory(out, units, blocks)
	return appendTail(out, len(out)-at)
}

// allocated is the memory that f takes.
func allocated(f func()) int {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return int(after.TotalAlloc - before.TotalAlloc)
}

// B35: no length is trusted before it is checked.
func TestB35ClaimsCostNothing(t *testing.T) {
	data, _ := small(t)
	r, err := Open(data)
	require.NoError(t, err)
	u := r.units[0]
	packed := bytes.Clone(data[u.at : u.at+u.stored])
	raw, err := r.unpack(0)
	require.NoError(t, err)
	claim := binary.AppendUvarint(nil, 1<<40)
	entry := func(rows int) []Entry { return []Entry{{Rows: rows, Groups: state.Range{End: 1}}} }
	one := func(pack byte, size int) []unit { return []unit{{pack: pack, raw: size, end: 1}} }
	tail := func(directory ...byte) []byte {
		return appendTail(append(append([]byte(magic), Version), directory...), len(directory))
	}
	for name, c := range map[string]struct {
		object []byte
		want   string
	}{
		"unpacked size":         {forge(one(packSnappy, 1<<40), entry(1), packed), "bytes that are 1099511627776 unpacked"},
		"unpacked size, within": {forge(one(packSnappy, 20*len(packed)), entry(1), packed), "the directory says"},
		"size in the block":     {forge(one(packSnappy, 1<<10), entry(1), append(bytes.Clone(claim), make([]byte, 100)...)), "the directory says 1024"},
		"rows":                  {forge(one(packSnappy, u.raw), entry(1<<40), packed), "more rows than its"},
		"rows, within":          {forge(one(packSnappy, u.raw), entry(100), packed), "a record batch of 25 rows"},
		"number of names":       {tail(claim...), "the directory is not whole"},
		"length of a name":      {tail(append([]byte{1}, claim...)...), "the directory is not whole"},
		"number of units":       {tail(append([]byte{0}, claim...)...), "the directory is not whole"},
		"more than counted":     {tail(0, 0, 0), "the directory is not whole"},
		"another pack":          {forge(one(7, u.raw), entry(1), packed), "packed in way 7"},
		"groups":                {forge(one(packSnappy, u.raw), []Entry{{Rows: 1, Groups: state.Range{First: 1 << 16, End: 1<<16 + 1}}}, packed), "key groups 65536 to 65536"},
		"other groups":          {forge(one(packSnappy, len(raw)), entry(25), packed), "the directory says 0 to 0"},
	} {
		t.Run(name, func(t *testing.T) {
			var err error
			took := allocated(func() { _, err = unpackAll(c.object) })
			require.ErrorContains(t, err, c.want)
			require.Less(t, took, 64*len(c.object)+64<<10)
		})
	}
}

// The description of a batch and the schema are altered byte by byte behind right checksums: an error, or a table that is whole.
func TestB08AStreamThatLiesIsAnErrorOrATable(t *testing.T) {
	data, _ := small(t)
	r, err := Open(data)
	require.NoError(t, err)
	raw, err := r.unpack(0)
	require.NoError(t, err)
	failed := 0
	for at := range raw {
		values := []byte{0, 0x7F, 0xFF, raw[at] + 1, raw[at] ^ 0x10}
		took := allocated(func() {
			for _, to := range values {
				bad := bytes.Clone(raw)
				bad[at] = to
				if decodeAll(bad, 25) != nil {
					failed++
				}
			}
		})
		require.Less(t, took, len(values)*(65*len(raw)+64<<10), "byte %d", at)
	}
	require.Greater(t, failed, len(raw))
}

// decodeAll decodes a stream and looks at every value.
func decodeAll(raw []byte, rows int) error {
	return guard(func() error {
		var s lastSchema
		cols, err := decode(raw, rows, &s)
		if err == nil {
			t := state.Table{Schema: s.schema, Rows: rows, Cols: cols[1:], Groups: column.Values[uint16](&cols[0])}
			texts(t)
			err = check(Block{}, t) // what can be read can be written
		}
		return err
	})
}

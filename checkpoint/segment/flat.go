package segment

import (
	"encoding/binary"

	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// Messages of Arrow IPC describe themselves in flatbuffers: tables that refer to each other by offsets. What arrow-go reads of them it trusts,
// and a length that is wrong asks for any amount of memory, which ends the process. So a schema is walked through here before arrow-go
// gets it, and the description of a batch is read here alone.

// flat reads a flatbuffer that may be damaged or hostile. Where it leads outside of itself bad is set, and zeros are read.
type flat struct {
	b    []byte
	left int // bytes that may still be visited: a table that is referred to many times is paid for each time
	bad  bool
}

func newFlat(b []byte) *flat { return &flat{b: b, left: len(b) + 64} }

func (f *flat) fail() int {
	f.bad = true
	return 0
}

// within reports whether n bytes at a position are there.
func (f *flat) within(at, n int) bool {
	if f.bad || at < 0 || at > len(f.b)-n {
		f.bad = true
	}
	return !f.bad
}

func (f *flat) u8(at int) int {
	if at == 0 || !f.within(at, 1) {
		return 0
	}
	return int(f.b[at])
}

func (f *flat) u16(at int) int {
	if !f.within(at, 2) {
		return 0
	}
	return int(binary.LittleEndian.Uint16(f.b[at:]))
}

func (f *flat) u32(at int) int {
	if !f.within(at, 4) {
		return 0
	}
	return int(binary.LittleEndian.Uint32(f.b[at:]))
}

func (f *flat) i64(at int) int64 {
	if at == 0 || !f.within(at, 8) {
		return 0
	}
	return int64(binary.LittleEndian.Uint64(f.b[at:]))
}

// table checks the table at a position and gives the position; 0 where it is bad.
func (f *flat) table(at int) int {
	if f.left -= 8; f.left < 0 {
		return f.fail()
	}
	fields := at - int(int32(f.u32(at)))
	size := f.u16(fields)
	if f.bad || size < 4 || size%2 != 0 || !f.within(fields, size) {
		return f.fail()
	}
	return at
}

// field gives the position of a field of a table; 0 where the table does not have it.
func (f *flat) field(table, n int) int {
	fields := table - int(int32(f.u32(table)))
	slot := 4 + 2*n
	if slot >= f.u16(fields) {
		return 0
	}
	off := f.u16(fields + slot)
	if f.bad || off == 0 || !f.within(table+off, 1) {
		return 0
	}
	return table + off
}

// follow gives the position that an offset at a position leads to.
func (f *flat) follow(at int) int {
	off := f.u32(at)
	if off == 0 || !f.within(at+off, 4) {
		return f.fail()
	}
	return at + off
}

// child gives the table that a field refers to; 0 where there is none.
func (f *flat) child(table, n int) int {
	at := f.field(table, n)
	if at == 0 {
		return 0
	}
	if at = f.follow(at); f.bad {
		return 0
	}
	return f.table(at)
}

// vector gives the first element of a vector and their number; each has width bytes.
func (f *flat) vector(table, n, width int) (first, count int) {
	at := f.field(table, n)
	if at == 0 {
		return 0, 0
	}
	at = f.follow(at)
	count = f.u32(at)
	if f.bad || count > f.left/width || !f.within(at+4, count*width) {
		return f.fail(), 0
	}
	f.left -= count * width
	return at + 4, count
}

// tables calls do with each table of a vector.
func (f *flat) tables(table, n int, do func(table int)) {
	first, count := f.vector(table, n, 4)
	for i := range count {
		at := f.follow(first + 4*i)
		if !f.bad {
			at = f.table(at)
		}
		if f.bad {
			return
		}
		do(at)
	}
}

// pairs walks through a vector of keys and values.
func (f *flat) pairs(table, n int) {
	f.tables(table, n, func(pair int) {
		f.vector(pair, 0, 1)
		f.vector(pair, 1, 1)
	})
}

// message gives the header of a message of that type, and the number of bytes of its body.
func (f *flat) message(want ipc.MessageType) (header int, body int64) {
	root := f.follow(0)
	if f.bad {
		return 0, 0
	}
	root = f.table(root)
	if f.bad || ipc.MessageType(f.u8(f.field(root, 1))) != want {
		return f.fail(), 0
	}
	f.pairs(root, 4)
	if header = f.child(root, 2); header == 0 {
		return f.fail(), 0
	}
	return header, f.i64(f.field(root, 3))
}

// The types of fields that columns can have, by their numbers in Arrow's Schema.fbs: Int, FloatingPoint, Binary, Utf8, Bool, Decimal, Date, Time,
// Timestamp, List, Struct, Map, Duration, LargeBinary, LargeUtf8, LargeList, BinaryView, Utf8View.
const (
	knownTypes    = 1<<2 | 1<<3 | 1<<4 | 1<<5 | 1<<6 | 1<<7 | 1<<8 | 1<<9 | 1<<10 | 1<<12 | 1<<13 | 1<<17 | 1<<18 | 1<<19 | 1<<20 | 1<<21 | 1<<23 | 1<<24
	typeTimestamp = 10
	maxNesting    = 64
)

// checkSchemaMessage walks through the message of a schema, without its head.
func checkSchemaMessage(b []byte) error {
	f := newFlat(b)
	header, body := f.message(ipc.MessageSchema)
	if f.bad || body != 0 {
		return damaged("the message of the schema")
	}
	f.pairs(header, 2)
	f.tables(header, 1, func(c int) { f.schemaField(c, 0) })
	if f.bad {
		return damaged("the message of the schema")
	}
	return nil
}

func (f *flat) schemaField(c, depth int) {
	tag := f.u8(f.field(c, 2))
	typ := f.child(c, 3)
	if typ == 0 || depth > maxNesting || tag > 63 || knownTypes>>tag&1 == 0 {
		f.fail()
		return
	}
	f.vector(c, 0, 1)
	f.pairs(c, 6)
	if tag == typeTimestamp {
		f.vector(typ, 1, 1)
	}
	if d := f.child(c, 4); d != 0 {
		f.child(d, 1)
	}
	f.tables(c, 5, func(child int) { f.schemaField(child, depth+1) })
}

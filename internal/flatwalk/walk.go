package flatwalk

import "encoding/binary"

// walk reads a flatbuffer that may be damaged or hostile. Where it leads outside of itself bad is set, and zeros are read. Positions are
// offsets from its beginning; 0, where there can be no table and no field, stands for what is not there.
type walk struct {
	b    []byte
	left int // bytes that may still be visited: a table that is referred to many times is paid for each time
	bad  bool
}

// newWalk allows for each byte twice: whoever writes a text only once and refers to it from two places is no enemy.
func newWalk(b []byte) walk { return walk{b: b, left: 2*len(b) + 64} }

func (w *walk) fail() int {
	w.bad = true
	return 0
}

// within reports whether n bytes at a position are there.
func (w *walk) within(at, n int) bool {
	if w.bad || at < 0 || at > len(w.b)-n {
		w.bad = true
	}
	return !w.bad
}

func (w *walk) u8(at int) int {
	if at == 0 || !w.within(at, 1) {
		return 0
	}
	return int(w.b[at])
}

func (w *walk) u16(at int) int {
	if !w.within(at, 2) {
		return 0
	}
	return int(binary.LittleEndian.Uint16(w.b[at:]))
}

func (w *walk) u32(at int) int {
	if !w.within(at, 4) {
		return 0
	}
	return int(binary.LittleEndian.Uint32(w.b[at:]))
}

func (w *walk) i64(at int) int64 {
	if at == 0 || !w.within(at, 8) {
		return 0
	}
	return int64(binary.LittleEndian.Uint64(w.b[at:]))
}

// table checks the table at a position and gives the position; 0 where it is bad.
func (w *walk) table(at int) int {
	if w.left -= 8; w.left < 0 {
		return w.fail()
	}
	fields := at - int(int32(w.u32(at)))
	size := w.u16(fields)
	if w.bad || size < 4 || size%2 != 0 || !w.within(fields, size) { // of an odd size arrow-go would read one field more than field does
		return w.fail()
	}
	return at
}

// field gives the position of a field of a table; 0 where the table does not have it.
func (w *walk) field(table, n int) int {
	fields := table - int(int32(w.u32(table)))
	slot := 4 + 2*n
	if slot >= w.u16(fields) {
		return 0
	}
	off := w.u16(fields + slot)
	if w.bad || off == 0 || !w.within(table+off, 1) {
		return 0
	}
	return table + off
}

// fields checks that all fields of a table begin within.
func (w *walk) fields(table int) {
	for n := range (w.u16(table-int(int32(w.u32(table)))) - 4) / 2 {
		w.field(table, n)
	}
}

// follow gives the position that an offset at a position leads to.
func (w *walk) follow(at int) int {
	off := w.u32(at)
	if off == 0 || !w.within(at+off, 4) {
		return w.fail()
	}
	return at + off
}

// child gives the table that a field refers to; 0 where there is none.
func (w *walk) child(table, n int) int {
	at := w.field(table, n)
	if at == 0 {
		return 0
	}
	if at = w.follow(at); w.bad {
		return 0
	}
	return w.table(at)
}

// vector gives the first element of a vector and their number; each has width bytes.
func (w *walk) vector(table, n, width int) (first, count int) {
	at := w.field(table, n)
	if at == 0 {
		return 0, 0
	}
	at = w.follow(at)
	count = w.u32(at)
	if w.bad || count > w.left/width || !w.within(at+4, count*width) {
		return w.fail(), 0
	}
	w.left -= count * width
	return at + 4, count
}

// tables calls do with each table of a vector.
func (w *walk) tables(table, n int, do func(table int)) {
	first, count := w.vector(table, n, 4)
	for i := range count {
		at := w.follow(first + 4*i)
		if !w.bad {
			at = w.table(at)
		}
		if w.bad {
			return
		}
		do(at)
	}
}

// texts walks through a vector of keys and values.
func (w *walk) texts(table, n int) {
	w.tables(table, n, func(pair int) {
		w.vector(pair, 0, 1)
		w.vector(pair, 1, 1)
	})
}

// pairs gives a vector of pairs of numbers.
func (w *walk) pairs(table, n int) Pairs {
	first, count := w.vector(table, n, pairWidth)
	return Pairs{w.b[first : first+count*pairWidth]}
}

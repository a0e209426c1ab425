package segment

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/arkflow-go/arkflow/state"
	"github.com/zeebo/xxh3"
)

// Version is the version of the format that is written, and the only one that is read.
const Version = 1

// greatestRatio is how many times more bytes a packed unit may say that it has than it takes in the object: Snappy cannot reach it.
const greatestRatio = 22

// An object is the header, the units one after the other, the directory, and the tail.
const (
	magic      = "arksegm" // and one byte: the version
	headerSize = len(magic) + 1
	tailSize   = 4 + 8 // length of the directory, checksum of the directory and its length; little endian
)

// packSnappy is how a unit is packed: as one block of Snappy.
const packSnappy = 1

// Of a block in the directory.
const flagFull = 1

// ErrDamaged says that bytes are not what a Writer wrote.
var ErrDamaged = errors.New("damaged segment")

func damaged(format string, args ...any) error {
	return fmt.Errorf("%w: %w", ErrDamaged, fmt.Errorf(format, args...))
}

// Block says what the rows of a table are.
type Block struct {
	// Table names the table. Who puts tables of several operators into one object names the operator in it as well.
	Table string
	// Part is the number of the part of the table, see state.Writer; 0 where the table is saved whole.
	Part int64
	// Full says that the part begins anew with these rows: what was saved of it before is gone. Otherwise they come on top of it, and take
	// the place of those of the same key.
	Full bool
}

// Entry is a block of an object.
type Entry struct {
	Block
	Rows   int
	Groups state.Range // the least and the greatest key group of the rows, and all between; empty without rows
}

// unit is what is packed together: one Arrow stream with the rows of consecutive blocks.
type unit struct {
	pack        byte
	at          int // first byte in the object
	stored, raw int // bytes in the object, and unpacked
	sum         uint64
	first, end  int // blocks
	rows        int
}

// appendDirectory appends the directory of units and blocks.
func appendDirectory(dst []byte, units []unit, blocks []Entry) []byte {
	var names []string
	number := map[string]uint64{}
	for _, e := range blocks {
		if _, ok := number[e.Table]; !ok {
			number[e.Table] = uint64(len(names))
			names = append(names, e.Table)
		}
	}
	num := func(n int) { dst = binary.AppendUvarint(dst, uint64(n)) }
	num(len(names))
	for _, n := range names {
		num(len(n))
		dst = append(dst, n...)
	}
	num(len(units))
	for _, u := range units {
		dst = append(dst, u.pack)
		num(u.stored)
		num(u.raw)
		dst = binary.LittleEndian.AppendUint64(dst, u.sum)
		num(u.end - u.first)
		for _, e := range blocks[u.first:u.end] {
			flags := byte(0)
			if e.Full {
				flags |= flagFull
			}
			dst = append(binary.AppendUvarint(dst, number[e.Table]), flags)
			num(int(e.Part))
			num(e.Rows)
			if e.Rows > 0 {
				num(e.Groups.First)
				num(e.Groups.Len() - 1)
			}
		}
	}
	return dst
}

// appendTail appends the directory's length and checksum to an object that ends in a directory of that many bytes.
func appendTail(dst []byte, directory int) []byte {
	at := len(dst) - directory
	dst = binary.LittleEndian.AppendUint32(dst, uint32(directory))
	return binary.LittleEndian.AppendUint64(dst, xxh3.Hash(dst[at:]))
}

// least bytes of a unit and of a block in a directory.
const (
	leastUnit  = 1 + 1 + 1 + 8 + 1
	leastBlock = 1 + 1 + 1 + 1
)

// readDirectory reads a directory, of units that begin at the header's end.
func readDirectory(b []byte) (units []unit, blocks []Entry, err error) {
	d := cursor{b: b}
	names := make([]string, d.count(1))
	for i := range names {
		names[i] = string(d.bytes(d.count(1)))
	}
	units = make([]unit, d.count(leastUnit))
	at := headerSize
	for i := range units {
		u := unit{pack: d.byte(), at: at, stored: d.int(), raw: d.int(), sum: d.uint64(), first: len(blocks)}
		switch {
		case d.bad:
		case u.pack != packSnappy:
			return nil, nil, fmt.Errorf("unit %d: packed in way %d, which this version does not know", i, u.pack)
		case u.stored > (math.MaxInt-at)/greatestRatio, u.raw > u.stored*greatestRatio:
			return nil, nil, damaged("unit %d: %d bytes that are %d unpacked", i, u.stored, u.raw)
		}
		for range d.count(leastBlock) {
			e, err := readBlock(&d, names)
			if err != nil {
				return nil, nil, fmt.Errorf("unit %d: %w", i, err)
			}
			if u.rows += e.Rows; u.rows > u.raw/groupWidth { // also where the sum overflows: the first that is too large ends it
				return nil, nil, damaged("unit %d: more rows than its %d bytes can hold", i, u.raw)
			}
			blocks = append(blocks, e)
		}
		if d.bad {
			break
		}
		at += u.stored
		u.end = len(blocks)
		units[i] = u
	}
	if d.bad || len(d.b) > 0 {
		return nil, nil, damaged("the directory is not whole")
	}
	return units, blocks, nil
}

func readBlock(d *cursor, names []string) (e Entry, err error) {
	name, flags := d.int(), d.byte()
	e.Part = int64(d.int())
	e.Rows = d.int()
	if e.Rows > 0 {
		e.Groups.First = d.int()
		e.Groups.End = e.Groups.First + 1 + d.int()
	}
	switch {
	case d.bad: // told by the caller
	case name >= len(names) || flags > flagFull:
		return e, damaged("a block of table %d with flags %d", name, flags)
	case e.Groups.First > math.MaxUint16 || e.Groups.End > math.MaxUint16+1 || e.Groups.End < 0:
		return e, damaged("a block of the key groups %d to %d", e.Groups.First, e.Groups.End-1)
	default:
		e.Table, e.Full = names[name], flags&flagFull != 0
	}
	return e, nil
}

// cursor reads bytes that may be damaged: where they end too early bad is set, and zeros are read.
type cursor struct {
	b   []byte
	bad bool
}

func (d *cursor) fail() {
	d.b, d.bad = nil, true
}

func (d *cursor) bytes(n int) []byte {
	if n > len(d.b) {
		d.fail()
		return nil
	}
	v := d.b[:n]
	d.b = d.b[n:]
	return v
}

func (d *cursor) byte() byte {
	if v := d.bytes(1); v != nil {
		return v[0]
	}
	return 0
}

func (d *cursor) uint64() uint64 {
	if v := d.bytes(8); v != nil {
		return binary.LittleEndian.Uint64(v)
	}
	return 0
}

// int reads a number that fits a non-negative int.
func (d *cursor) int() int {
	v, n := binary.Uvarint(d.b)
	if n <= 0 || v > math.MaxInt {
		d.fail()
		return 0
	}
	d.b = d.b[n:]
	return int(v)
}

// count reads how many elements of at least so many bytes follow.
func (d *cursor) count(least int) int {
	n := d.int()
	if n > len(d.b)/least {
		d.fail()
		return 0
	}
	return n
}

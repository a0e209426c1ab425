package segment

import (
	"encoding/binary"
	"fmt"
	"runtime"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/state"
	"github.com/klauspost/compress/s2"
	"github.com/zeebo/xxh3"
)

// Reader gives the tables of an object. It is for one goroutine; several readers may read the same bytes.
type Reader struct {
	data   []byte
	units  []unit
	blocks []Entry
	first  []int // first row of each block in its unit

	schema lastSchema
	at     int           // the unit that was unpacked last, -1 before
	batch  *column.Batch // its rows, without key groups
	groups []uint16
}

// Open reads the directory of an object, whose bytes must not change while it is read. The errors of Open and Read wrap ErrDamaged, but for those that
// say that a later version wrote the object.
func Open(data []byte) (*Reader, error) {
	r := &Reader{data: data, at: -1}
	if err := guard(r.open); err != nil {
		return nil, fmt.Errorf("segment: %w", err)
	}
	return r, nil
}

func (r *Reader) open() error {
	if len(r.data) < headerSize || string(r.data[:len(magic)]) != magic {
		return damaged("%d bytes that do not begin with %q", len(r.data), magic)
	}
	if v := r.data[len(magic)]; v != Version {
		return fmt.Errorf("the format has version %d, this program reads %d: use the one that wrote it, or a later one", v, Version)
	}
	tail := len(r.data) - tailSize
	if tail < headerSize {
		return damaged("truncated: %d bytes", len(r.data))
	}
	size := int64(binary.LittleEndian.Uint32(r.data[tail:]))
	if size > int64(tail-headerSize) {
		return damaged("truncated, or the end is not that of a segment")
	}
	at := tail - int(size)
	if sum := tail + 4; xxh3.Hash(r.data[at:sum]) != binary.LittleEndian.Uint64(r.data[sum:]) {
		return damaged("the directory has another checksum: truncated, or altered")
	}
	var err error
	if r.units, r.blocks, err = readDirectory(r.data[at:tail]); err != nil {
		return err
	}
	end := headerSize
	r.first = make([]int, len(r.blocks))
	for _, u := range r.units {
		end = u.at + u.stored
		row := 0
		for i := u.first; i < u.end; i++ {
			r.first[i] = row
			row += r.blocks[i].Rows
		}
	}
	if end != at {
		return damaged("units of %d bytes, there are %d", end-headerSize, at-headerSize)
	}
	return nil
}

// Blocks gives the blocks of the object in the order in which they were written. The slice is not to be changed.
func (r *Reader) Blocks() []Entry { return r.blocks }

// Read gives the table of a block, with the number of its part. Its memory belongs to the garbage collector and is not used for anything else; it is
// shared with the tables of blocks that were packed together with it, of at most 1 MiB unless a row is larger. The unit that was read last is kept, so
// blocks are best read in their order. Which blocks are needed is known from Blocks.
func (r *Reader) Read(i int) (t state.Table, err error) {
	if i < 0 || i >= len(r.blocks) {
		return t, fmt.Errorf("segment: no block %d, there are %d", i, len(r.blocks))
	}
	e := r.blocks[i]
	err = guard(func() error {
		t, err = r.read(i)
		return err
	})
	if err != nil {
		return state.Table{}, fmt.Errorf("segment: block %d of table %q: %w", i, e.Table, err)
	}
	return t, nil
}

func (r *Reader) read(i int) (t state.Table, err error) {
	at := r.unitOf(i)
	if err := r.load(at); err != nil {
		return t, err
	}
	e, from := r.blocks[i], r.first[i]
	t = state.Table{Schema: r.batch.Schema, Rows: e.Rows, Groups: r.groups[from : from+e.Rows : from+e.Rows], Part: state.PartID{ID: e.Part}}
	if e.Rows > 0 {
		if least, most := groupsOf(t.Groups); int(least) != e.Groups.First || int(most)+1 != e.Groups.End {
			return t, damaged("rows of the key groups %d to %d, the directory says %d to %d", least, most, e.Groups.First, e.Groups.End-1)
		}
	}
	cols := r.batch
	if e.Rows < r.batch.Rows {
		cols = r.batch.Slice(from, from+e.Rows)
	}
	t.Cols = append(t.Cols, cols.Cols...)
	return t, nil
}

// unitOf gives the unit of a block.
func (r *Reader) unitOf(block int) int {
	lo, hi := 0, len(r.units)-1
	for lo < hi {
		if mid := (lo + hi) / 2; r.units[mid].end <= block {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// load unpacks a unit, unless it is the one that was read last.
func (r *Reader) load(at int) error {
	if r.at == at {
		return nil
	}
	r.at, r.batch, r.groups = -1, nil, nil
	raw, err := r.unpack(at)
	if err != nil {
		return err
	}
	rows := r.units[at].rows
	cols, err := decode(raw, rows, &r.schema)
	if err != nil {
		return err
	}
	r.groups = column.Values[uint16](&cols[0])
	r.batch = column.NewBatch(nil, r.schema.schema, rows)
	copy(r.batch.Cols, cols[1:])
	r.at = at
	return nil
}

// unpack gives the Arrow stream of a unit in memory of its own.
func (r *Reader) unpack(at int) ([]byte, error) {
	u := r.units[at]
	packed := r.data[u.at : u.at+u.stored]
	if xxh3.Hash(packed) != u.sum {
		return nil, damaged("another checksum: altered")
	}
	if n, err := s2.DecodedLen(packed); err != nil || n != u.raw {
		return nil, damaged("a unit of %d bytes unpacked, the directory says %d", n, u.raw)
	}
	raw, err := s2.Decode(make([]byte, u.raw), packed)
	if err != nil {
		return nil, damaged("%w", err)
	}
	return raw, nil
}

// guard calls f and turns a panic into an error: what reads damaged bytes may meet anything.
func guard(f func() error) (err error) {
	defer func() {
		switch r := recover().(type) {
		case nil:
		case runtime.Error:
			err = damaged("%w", r)
		case error:
			err = damaged("%w", r)
		default:
			err = damaged("%v", r)
		}
	}()
	return f()
}

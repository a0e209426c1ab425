package file

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/arkflow-go/arkflow/codec"
	"github.com/zeebo/xxh3"
)

// tailBytes is how much of the text before a position is hashed to tell that a file changed.
const tailBytes = 64

// place is where in a file of records the next one begins.
type place struct {
	offset int64 // bytes before it, unpacked
	line   int64 // lines before it
}

var start place

// position is what Reader.Position gives. Its form, all numbers unsigned varints:
//
//	kind (1 byte) · file index · length of name · name, and then
//	1, records: offset · lines · xxh3 of the last 64 bytes before offset (8 bytes)
//	2, blocks:  block · row · size of the file · xxh3 of its last 4,096 bytes (8 bytes)
//
// The name is empty unless the split is that of InOrder, of which the index counts the files.
type position struct {
	kind  positionKind
	index int
	name  string
	place
	tail uint64
	row  codec.RowPlace
	fingerprint
}

// positionKind is the version of a position's form.
type positionKind byte

const (
	recordPosition positionKind = 1
	blockPosition  positionKind = 2
)

func (k positionKind) String() string {
	if k == blockPosition {
		return "in blocks"
	}
	return "in records"
}

func (p position) encode() []byte {
	out := []byte{byte(p.kind)}
	out = binary.AppendUvarint(out, uint64(p.index))
	out = binary.AppendUvarint(out, uint64(len(p.name)))
	out = append(out, p.name...)
	if p.kind == recordPosition {
		out = binary.AppendUvarint(out, uint64(p.offset))
		out = binary.AppendUvarint(out, uint64(p.line))
		return binary.LittleEndian.AppendUint64(out, p.tail)
	}
	out = binary.AppendUvarint(out, uint64(p.row.Block))
	out = binary.AppendUvarint(out, uint64(p.row.Row))
	out = binary.AppendUvarint(out, uint64(p.size))
	return binary.LittleEndian.AppendUint64(out, p.end)
}

// decodePosition reads a position of a kind.
func decodePosition(b []byte, kind positionKind) (p position, err error) {
	damaged := errors.New("damaged position")
	if len(b) == 0 {
		return p, damaged
	}
	switch p.kind = positionKind(b[0]); {
	case p.kind != recordPosition && p.kind != blockPosition:
		return p, fmt.Errorf("position of version %d, this program knows versions 1 and 2", b[0])
	case p.kind != kind:
		return p, fmt.Errorf("the saved position is one %s, the format is one %s: it is not the format that was read before", p.kind, kind)
	}
	b = b[1:]
	number := func() int64 {
		v, n := binary.Uvarint(b)
		if n <= 0 || int64(v) < 0 {
			b = nil
			return -1
		}
		b = b[n:]
		return int64(v)
	}
	p.index = int(number())
	name, rest, ok := takeBytes(b)
	if !ok {
		return p, damaged
	}
	p.name, b = string(name), rest
	if kind == recordPosition {
		p.offset, p.line = number(), number()
	} else {
		p.row.Block, p.row.Row, p.size = number(), number(), number()
	}
	if p.index < 0 || p.offset < 0 || p.line < 0 || p.row.Block < 0 || p.row.Row < 0 || p.size < 0 || len(b) != 8 {
		return p, damaged
	}
	if hash := binary.LittleEndian.Uint64(b); kind == recordPosition {
		p.tail = hash
	} else {
		p.end = hash
	}
	return p, nil
}

func tailHash(text []byte) uint64 {
	if len(text) > tailBytes {
		text = text[len(text)-tailBytes:]
	}
	return xxh3.Hash(text)
}

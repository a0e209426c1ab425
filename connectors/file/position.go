package file

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/zeebo/xxh3"
)

// tailBytes is how much of the text before a position is hashed to tell that a file changed.
const tailBytes = 64

// place is where in a file the next line begins.
type place struct {
	offset int64 // bytes before it, uncompressed
	line   int64 // lines before it
}

var start place

// position is what Reader.Position gives. Its form, all numbers unsigned varints:
//
//	version (1 byte, 1) · file index · length of name · name · offset · lines · xxh3 of the last 64 bytes before offset (8 bytes)
//
// The name is empty unless the split is that of InOrder, of which the index counts the files.
type position struct {
	index int
	name  string
	place
	tail uint64
}

const positionVersion = 1

func (p position) encode() []byte {
	out := []byte{positionVersion}
	out = binary.AppendUvarint(out, uint64(p.index))
	out = binary.AppendUvarint(out, uint64(len(p.name)))
	out = append(out, p.name...)
	out = binary.AppendUvarint(out, uint64(p.offset))
	out = binary.AppendUvarint(out, uint64(p.line))
	return binary.LittleEndian.AppendUint64(out, p.tail)
}

func decodePosition(b []byte) (p position, err error) {
	damaged := errors.New("damaged position")
	if len(b) == 0 {
		return p, damaged
	}
	if b[0] != positionVersion {
		return p, fmt.Errorf("position of version %d, this program knows version %d", b[0], positionVersion)
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
	p.offset, p.line = number(), number()
	if p.index < 0 || p.offset < 0 || p.line < 0 || len(b) != 8 {
		return p, damaged
	}
	p.tail = binary.LittleEndian.Uint64(b)
	return p, nil
}

func tailHash(text []byte) uint64 {
	if len(text) > tailBytes {
		text = text[len(text)-tailBytes:]
	}
	return xxh3.Hash(text)
}

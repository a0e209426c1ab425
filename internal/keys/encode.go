package keys

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/arkflow-go/arkflow/column"
)

// A written key is one field a column, one after the other (DESIGN K1, EncodingVersion 1):
//
//	tag (1 byte), parameter (1 byte), validity (1 byte: 0 null, 1 value), value
//
// where the value is 8 bytes big endian for tags of one word, 16 bytes big endian (high word first) for decimals, the
// length as an unsigned varint and the bytes for TagBytes, and absent for null. Each field ends by itself, so no two tuples share
// bytes and none is the beginning of another of as many columns.

// Append appends the field of a row of a key column.
func Append(dst []byte, t Type, c *column.Column, row int) []byte {
	if c.IsNull(row) {
		return append(dst, byte(t.Tag), t.Param, 0)
	}
	dst = append(dst, byte(t.Tag), t.Param, 1)
	switch c.Kind {
	case column.Bytes:
		v := c.Bytes(row)
		return append(binary.AppendUvarint(dst, uint64(len(v))), v...)
	case column.Decimal:
		d := column.View[[2]uint64](c.Data)[row]
		return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, d[1]), d[0])
	}
	return binary.BigEndian.AppendUint64(dst, WordAt(c, row))
}

// WordAt is the canonical word of one value.
func WordAt(c *column.Column, row int) uint64 {
	var w [1]uint64
	return Words(w[:], c, row, 1, nil)[0]
}

// Field is one column of a key that was read back.
type Field struct {
	Type  Type
	Null  bool
	Word  uint64 // canonical bits; of a decimal the low word
	High  uint64 // of a decimal the high word
	Bytes []byte // TagBytes: views what was decoded
}

var ErrDamaged = errors.New("written key is damaged")

// Decode reads the first field of a written key and gives what follows it.
func Decode(src []byte) (f Field, rest []byte, err error) {
	if len(src) < 3 {
		return f, nil, fmt.Errorf("%w: %d bytes left", ErrDamaged, len(src))
	}
	f.Type = Type{Tag(src[0]), src[1]}
	valid := src[2]
	if f.Type.Tag == TagInvalid || f.Type.Tag > TagDecimal || valid > 1 {
		return f, nil, fmt.Errorf("%w: tag %d, validity %d", ErrDamaged, src[0], valid)
	}
	src = src[3:]
	if valid == 0 {
		f.Null = true
		return f, src, nil
	}
	switch f.Type.Tag {
	case TagBytes:
		n, w := binary.Uvarint(src)
		if w <= 0 || n > uint64(len(src)-w) {
			return f, nil, fmt.Errorf("%w: length of a string", ErrDamaged)
		}
		f.Bytes = src[w : w+int(n) : w+int(n)]
		return f, src[w+int(n):], nil
	case TagDecimal:
		if len(src) < 16 {
			return f, nil, fmt.Errorf("%w: %d bytes of a decimal", ErrDamaged, len(src))
		}
		f.High, f.Word = binary.BigEndian.Uint64(src), binary.BigEndian.Uint64(src[8:])
		return f, src[16:], nil
	}
	if len(src) < 8 {
		return f, nil, fmt.Errorf("%w: %d bytes of a value", ErrDamaged, len(src))
	}
	f.Word = binary.BigEndian.Uint64(src)
	return f, src[8:], nil
}

package keys

import (
	"bytes"
	"encoding/binary"

	"github.com/arkflow-go/arkflow/column"
)

// The ordered form of a value is bytes whose order is that of the values, null before all: 0 for null, else 1 and
// 8 bytes big endian for types of one word, 16 for decimals, and for strings the bytes with 0 written as 0 255, and 0 1 at their end.
// It ends by itself, so that ordered forms may follow each other and compare as tuples do.

// Ordered gives a word whose unsigned order is that of the values that canonical words of the type stand for.
func (t Type) Ordered(w uint64) uint64 {
	switch t.Tag {
	case TagFloat:
		return Ordered(w)
	case TagUint, TagBool:
		return w
	}
	return w ^ SignBit
}

// Unordered is the inverse of Ordered.
func (t Type) Unordered(w uint64) uint64 {
	switch t.Tag {
	case TagFloat:
		return Unordered(w)
	case TagUint, TagBool:
		return w
	}
	return w ^ SignBit
}

// AppendOrdered appends the ordered form of a value.
func AppendOrdered(dst []byte, t Type, c *column.Column, row int) []byte {
	if c.IsNull(row) {
		return append(dst, 0)
	}
	dst = append(dst, 1)
	switch c.Kind {
	case column.Bytes:
		v := c.Bytes(row)
		for {
			i := bytes.IndexByte(v, 0)
			if i < 0 {
				return append(append(dst, v...), 0, 1)
			}
			dst = append(append(dst, v[:i+1]...), 255)
			v = v[i+1:]
		}
	case column.Decimal:
		d := column.View[[2]uint64](c.Data)[row]
		return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint64(dst, d[1]^SignBit), d[0])
	}
	return binary.BigEndian.AppendUint64(dst, t.Ordered(WordAt(c, row)))
}

// DecodeOrdered reads the ordered form of a value and gives what follows it. Strings are written over src.
func DecodeOrdered(src []byte, t Type) (f Field, rest []byte, err error) {
	f.Type = t
	if len(src) == 0 || src[0] > 1 {
		return f, nil, ErrDamaged
	}
	if f.Null = src[0] == 0; f.Null {
		return f, src[1:], nil
	}
	src = src[1:]
	switch t.Tag {
	case TagBytes:
		n := 0
		for i := 0; i < len(src); i++ {
			if src[i] == 0 {
				if i++; i == len(src) {
					break
				}
				if src[i] == 1 {
					f.Bytes = src[:n:n]
					return f, src[i+1:], nil
				}
				src[n] = 0
			} else {
				src[n] = src[i]
			}
			n++
		}
		return f, nil, ErrDamaged
	case TagDecimal:
		if len(src) < 16 {
			return f, nil, ErrDamaged
		}
		f.High, f.Word = binary.BigEndian.Uint64(src)^SignBit, binary.BigEndian.Uint64(src[8:])
		return f, src[16:], nil
	}
	if len(src) < 8 {
		return f, nil, ErrDamaged
	}
	f.Word = t.Unordered(binary.BigEndian.Uint64(src))
	return f, src[8:], nil
}

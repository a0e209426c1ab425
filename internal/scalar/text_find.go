package scalar

import (
	"bytes"

	"github.com/apache/arrow-go/v18/arrow"
)

// bindFind makes a condition over a text and a part.
func bindFind(c *Call, holds func(s, part []byte) bool) error {
	return c.gives(arrow.FixedWidthTypes.Boolean, func(out *Out, args []Vec) {
		x, part := &args[0], &args[1]
		off, chars := x.Text.Offsets, x.Text.Data
		for i, r := range x.Rows {
			out.Data[i] = 0
			if !out.Skip(i) {
				out.Data[i] = truth(holds(chars[off[r]:off[r+1]], part.Bytes(i)))
			}
		}
	})
}

func bindContains(c *Call) error   { return bindFind(c, bytes.Contains) }
func bindStartsWith(c *Call) error { return bindFind(c, bytes.HasPrefix) }
func bindEndsWith(c *Call) error   { return bindFind(c, bytes.HasSuffix) }

// maxText bounds a text that a function makes, in bytes.
const maxText = 64 << 20

// bindConcat is concat. Null where an operand is null.
func bindConcat(c *Call) error {
	c.Fails = true
	return c.gives(arrow.BinaryTypes.String, func(out *Out, args []Vec) {
		for i := range out.N {
			start := len(out.Chars)
			if !out.Skip(i) {
				size := 0
				for a := range args {
					size += len(args[a].Bytes(i))
				}
				if !out.fits(i, size) {
					out.Part(i, 0, 0)
					continue
				}
				for a := range args {
					out.Chars = append(out.Chars, args[a].Bytes(i)...)
				}
			}
			out.End(i, start)
		}
	})
}

// fits tells whether a text of size bytes can be made; if not the row is in error.
func (o *Out) fits(i, size int) bool {
	if size > maxText || len(o.Chars)+size > maxBlockText {
		o.Fail(i, "the text would have "+intText(int64(size))+" bytes, more than the rows of a block may")
		return false
	}
	return true
}

// maxBlockText bounds the texts of a block together: spans are 32 bits wide.
const maxBlockText = 1 << 30

// bindReplace is replace: each part, from the left, is replaced. An empty part is found nowhere.
func bindReplace(c *Call) error {
	c.Fails = true
	return c.gives(arrow.BinaryTypes.String, func(out *Out, args []Vec) {
		for i := range out.N {
			start := len(out.Chars)
			if out.Skip(i) {
				out.Part(i, 0, 0)
				continue
			}
			s, part, by := args[0].Bytes(i), args[1].Bytes(i), args[2].Bytes(i)
			size := len(s)
			if len(part) > 0 && len(by) > len(part) {
				size += bytes.Count(s, part) * (len(by) - len(part))
			}
			if !out.fits(i, size) {
				out.Part(i, 0, 0)
				continue
			}
			for len(part) > 0 {
				at := indexFrom(s, part)
				if at < 0 {
					break
				}
				out.Chars = append(append(out.Chars, s[:at]...), by...)
				s = s[at+len(part):]
			}
			out.Chars = append(out.Chars, s...)
			out.End(i, start)
		}
	})
}

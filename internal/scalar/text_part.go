package scalar

import (
	"bytes"
	"math"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
)

// bindTrim is trim, ltrim and rtrim: without the characters at the ends, which are white space where none are given.
func bindTrim(left, right bool) func(*Call) error {
	return func(c *Call) error {
		set := " \t\n\v\f\r\u0085\u00A0"
		if len(c.Args) > 1 {
			set = c.text(1)
		}
		cut := trimmer(set)
		return c.gives(arrow.BinaryTypes.String, func(out *Out, args []Vec) {
			x := &args[0]
			off, chars := out.Of(0, x)
			for i, r := range x.Rows {
				from, to := off[r], off[r+1]
				if out.Skip(i) {
					to = from
				}
				for left && from < to {
					n := cut(chars[from:to], false)
					if n == 0 {
						break
					}
					from += int32(n)
				}
				for right && from < to {
					n := cut(chars[from:to], true)
					if n == 0 {
						break
					}
					to -= int32(n)
				}
				out.Part(i, from, to)
			}
		})
	}
}

// trimmer tells how many bytes the character at the beginning or the end of a text has if it is one of a set, else 0.
func trimmer(set string) func(s []byte, end bool) int {
	var ascii [utf8.RuneSelf]bool
	wide := map[rune]bool{}
	for _, r := range set {
		if r < utf8.RuneSelf {
			ascii[r] = true
		} else {
			wide[r] = true
		}
	}
	return func(s []byte, end bool) int {
		b := s[0]
		if end {
			b = s[len(s)-1]
		}
		if b < utf8.RuneSelf {
			if ascii[b] {
				return 1
			}
			return 0
		}
		if len(wide) == 0 {
			return 0
		}
		r, n := utf8.DecodeRune(s)
		if end {
			r, n = utf8.DecodeLastRune(s)
		}
		if r == utf8.RuneError && n == 1 || !wide[r] {
			return 0
		}
		return n
	}
}

// bindLength counts the characters of a string, or the bytes of a binary.
func bindLength(c *Call) error {
	binary := !isString(c.Args[0].Type)
	return c.gives(arrow.PrimitiveTypes.Int64, func(out *Out, args []Vec) {
		x := &args[0]
		off, chars := x.Text.Offsets, x.Text.Data
		to := values[int64](&Vec{Data: out.Data})
		for i, r := range x.Rows {
			switch {
			case out.Skip(i):
				to[i] = 0
			case binary:
				to[i] = int64(off[r+1] - off[r])
			default:
				to[i] = int64(utf8.RuneCount(chars[off[r]:off[r+1]]))
			}
		}
	})
}

// bindSubstr is substr: positions count characters from 1. A range that reaches beyond the text is cut, as in SQL: what
// stands before position 1 counts as length too. A negative length is an error of the row.
func bindSubstr(c *Call) error {
	c.Fails = len(c.Args) > 2
	if n, ok := c.constWhole(2); ok && n >= 0 {
		c.Fails = false
	}
	return c.gives(arrow.BinaryTypes.String, func(out *Out, args []Vec) {
		x := &args[0]
		off, chars := out.Of(0, x)
		first := values[int64](&args[1])
		var count []int64
		if len(args) > 2 {
			count = values[int64](&args[2])
		}
		for i, r := range x.Rows {
			at, end := off[r], off[r+1]
			if out.Skip(i) {
				out.Part(i, at, at)
				continue
			}
			skip, most := first[i]-1, int64(math.MaxInt64)
			if first[i] == math.MinInt64 {
				skip = first[i]
			}
			if count != nil {
				if most = count[i]; most < 0 {
					out.Fail(i, "a length of "+intText(most)+" is negative")
					out.Part(i, at, at)
					continue
				}
			}
			if skip < 0 {
				if most != math.MaxInt64 {
					most = max(most+skip, 0)
				}
				skip = 0
			}
			from := advance(chars, at, end, skip)
			out.Part(i, from, advance(chars, from, end, most))
		}
	})
}

// constWhole gives a constant whole number if there is that operand.
func (c *Call) constWhole(i int) (int64, bool) {
	if i >= len(c.Args) || !c.Args[i].Const {
		return 0, false
	}
	return c.whole(i)
}

// advance gives the place n characters after at, at most end.
func advance(chars []byte, at, end int32, n int64) int32 {
	if n >= int64(end-at) {
		return end
	}
	for ; n > 0 && at < end; n-- {
		if chars[at] < utf8.RuneSelf {
			at++
			continue
		}
		_, w := utf8.DecodeRune(chars[at:end])
		at += int32(w)
	}
	return at
}

// bindSplitPart is split_part: the n-th part between separators, counted from 1, from the end where n is negative; null where there
// is none.
func bindSplitPart(c *Call) error {
	c.Nullable, c.Fails = true, true
	if c.Args[1].Const && c.text(1) != "" {
		if n, ok := c.constWhole(2); ok && n != 0 {
			c.Fails = false
		}
	}
	return c.gives(arrow.BinaryTypes.String, func(out *Out, args []Vec) {
		x, sep := &args[0], &args[1]
		which := values[int64](&args[2])
		off, chars := out.Of(0, x)
		for i, r := range x.Rows {
			out.Part(i, 0, 0)
			if out.Skip(i) {
				continue
			}
			by, n := sep.Bytes(i), which[i]
			switch {
			case len(by) == 0:
				out.Fail(i, "the separator is empty")
				continue
			case n == 0:
				out.Fail(i, "parts are counted from 1, or from -1 at the end")
				continue
			}
			from, to, ok := int32(0), int32(0), false
			if n > 0 {
				from, to, ok = partFromLeft(chars, off[r], off[r+1], by, n)
			} else {
				from, to, ok = partFromRight(chars, off[r], off[r+1], by, n)
			}
			if !ok {
				out.Null(i)
				continue
			}
			out.Part(i, from, to)
		}
	})
}

func partFromLeft(chars []byte, from, end int32, by []byte, n int64) (int32, int32, bool) {
	for {
		at := indexFrom(chars[from:end], by)
		switch {
		case n == 1 && at < 0:
			return from, end, true
		case n == 1:
			return from, from + int32(at), true
		case at < 0:
			return 0, 0, false
		}
		from += int32(at + len(by))
		n--
	}
}

func partFromRight(chars []byte, start, end int32, by []byte, n int64) (int32, int32, bool) {
	for {
		at := bytes.LastIndex(chars[start:end], by)
		switch {
		case n == -1 && at < 0:
			return start, end, true
		case n == -1:
			return start + int32(at+len(by)), end, true
		case at < 0:
			return 0, 0, false
		}
		end = start + int32(at)
		n++
	}
}

// indexFrom is bytes.Index with a short way for one byte.
func indexFrom(s, part []byte) int {
	if len(part) == 1 {
		return bytes.IndexByte(s, part[0])
	}
	return bytes.Index(s, part)
}

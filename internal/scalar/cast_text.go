package scalar

import (
	"bytes"
	"math"
	"strconv"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/calc"
	"github.com/arkflow-go/arkflow/internal/tree"
)

// checkText makes strings of binaries, which must be UTF-8.
func (c *cast) checkText(out *Out, args []Vec) {
	x := &args[0]
	off, chars := out.Of(0, x)
	for i, r := range x.Rows {
		if out.Part(i, off[r], off[r+1]); !out.Skip(i) && !utf8.Valid(chars[off[r]:off[r+1]]) {
			c.unread(out, i, []byte(strconv.QuoteToASCII(string(chars[off[r]:min(off[r+1], off[r]+20)]))))
		}
	}
}

// fromText reads texts. White space at the ends does not count.
func (c *cast) fromText(out *Out, args []Vec) {
	x := &args[0]
	read := c.reader()
	for i := range out.N {
		if out.Skip(i) {
			c.clear(out, i)
			continue
		}
		s := x.Bytes(i)
		if !read(out, i, trimSpace(s)) {
			c.clear(out, i)
			c.unread(out, i, s)
		}
	}
}

// clear writes zero.
func (c *cast) clear(out *Out, i int) {
	w := max(c.toKind.Width(), 1)
	clear(out.Data[i*w : (i+1)*w])
}

// reader gives what reads one text into a row; false where it is none of the type. The reader of times remembers a period of the zone,
// so a reader is for a block.
func (c *cast) reader() func(out *Out, i int, s []byte) bool {
	unit := tree.UnitOf(c.to)
	switch tree.ClassOf(c.to) {
	case tree.ClassBool:
		return func(out *Out, i int, s []byte) bool {
			v, ok := parseBool(s)
			out.Data[i] = truth(v)
			return ok
		}
	case tree.ClassFloat:
		return c.readFloat
	case tree.ClassDecimal:
		return func(out *Out, i int, s []byte) bool {
			v, ok := parseDecimal(s, c.scale)
			column.View[calc.Int128](out.Data)[i] = v
			return ok && calc.Below(v, c.precision)
		}
	case tree.ClassInstant:
		zone := newClock(c.zone)
		return func(out *Out, i int, s []byte) bool {
			sec, nanos, ok := parseInstant(s, &zone)
			return ok && c.storeTime(out, i, sec, nanos, unit)
		}
	case tree.ClassTimeOfDay:
		return func(out *Out, i int, s []byte) bool {
			sec, nanos, rest, ok := parseClock(s)
			return ok && len(rest) == 0 && c.storeTime(out, i, sec, nanos, unit)
		}
	case tree.ClassDuration:
		return func(out *Out, i int, s []byte) bool {
			d, ok := tree.ParseDuration(viewText(s))
			c.store(out, i, floorDiv(int64(d), unit))
			return ok
		}
	}
	return func(out *Out, i int, s []byte) bool {
		u, negative, ok := parseWhole(s)
		switch {
		case c.toKind == column.Uint64:
			column.View[uint64](out.Data)[i] = u
			return ok && !negative
		case !ok || u > 1<<63 || u == 1<<63 && !negative:
			return false
		case negative:
			u = -u
		}
		c.store(out, i, int64(u))
		return int64(u) >= c.low && int64(u) <= c.high
	}
}

func (c *cast) readFloat(out *Out, i int, s []byte) bool {
	width := 8 * c.toKind.Width()
	f, err := strconv.ParseFloat(viewText(s), width)
	if err != nil || math.IsInf(f, 0) && (s[len(s)-1] >= '0' && s[len(s)-1] <= '9') {
		return false
	}
	if width == 32 {
		column.View[float32](out.Data)[i] = float32(f)
	} else {
		column.View[float64](out.Data)[i] = f
	}
	return true
}

func parseBool(s []byte) (v, ok bool) {
	for _, word := range [...]string{"true", "t", "1", "yes"} {
		if bytes.EqualFold(s, []byte(word)) {
			return true, true
		}
	}
	for _, word := range [...]string{"false", "f", "0", "no"} {
		if bytes.EqualFold(s, []byte(word)) {
			return false, true
		}
	}
	return false, false
}

// storeTime writes seconds and nanoseconds in a unit, rounded down; false where they do not fit.
func (c *cast) storeTime(out *Out, i int, sec, nanos, unit int64) bool {
	v := int64(0)
	if unit >= 1e9 {
		v = floorDiv(sec, unit/1e9)
	} else {
		per := int64(1e9) / unit
		part := nanos / unit
		if sec < 0 && part > 0 { // towards zero first: the last second of the range may fit only as a whole
			sec, part = sec+1, part-per
		}
		w, ok := scaled(sec, per)
		if !ok || part > 0 && w > math.MaxInt64-part || part < 0 && w < math.MinInt64-part {
			return false
		}
		v = w + part
	}
	c.store(out, i, v)
	return v >= c.low && v <= c.high
}

// toText writes texts.
func (c *cast) toText(out *Out, args []Vec) {
	x := &args[0]
	zone := newClock(c.zone)
	var buf [calc.BlockRows]int64
	var whole []int64
	if k := c.fromKind; k != column.Uint64 && k != column.Float32 && k != column.Float64 && k != column.Decimal {
		whole = wide(x, k, &buf)
	}
	class := tree.ClassOf(c.from)
	for i := range out.N {
		start := len(out.Chars)
		if out.Skip(i) {
			out.Part(i, 0, 0)
			continue
		}
		ok := true
		switch {
		case c.fromKind == column.Uint64:
			out.Chars = strconv.AppendUint(out.Chars, values[uint64](x)[i], 10)
		case c.fromKind == column.Float32:
			out.Chars = appendFloat(out.Chars, float64(values[float32](x)[i]), 32)
		case c.fromKind == column.Float64:
			out.Chars = appendFloat(out.Chars, values[float64](x)[i], 64)
		case c.fromKind == column.Decimal:
			out.Chars = appendDecimal(out.Chars, values[calc.Int128](x)[i], c.fromScale)
		case class == tree.ClassBool:
			out.Chars = strconv.AppendBool(out.Chars, whole[i] == 1)
		case class.Temporal():
			out.Chars, ok = c.appendTime(out.Chars, whole[i], class, &zone)
		default:
			out.Chars = strconv.AppendInt(out.Chars, whole[i], 10)
		}
		if !ok {
			out.Chars = out.Chars[:start]
			c.miss(out, i, intText(whole[i])+" of "+c.from.String())
		}
		out.End(i, start)
	}
}

// appendTime writes an instant, a time of day or a duration; false where it has no text.
func (c *cast) appendTime(b []byte, v int64, class tree.Class, zone *clock) ([]byte, bool) {
	unit := tree.UnitOf(c.from)
	switch class {
	case tree.ClassDuration:
		return appendDuration(b, v, unit), true
	case tree.ClassTimeOfDay:
		sec, nanos := splitUnit(v, unit)
		if v < 0 || sec >= secondsPerDay {
			return b, false
		}
		return appendClock(b, sec, nanos), true
	}
	sec, nanos := splitUnit(v, unit)
	ts, zoned := c.from.(*arrow.TimestampType)
	local := sec
	if zoned {
		local = zone.local(sec)
	}
	days := floorDiv(local, secondsPerDay)
	year, month, day := dateOf(days)
	if year < 0 || year > 9999 {
		return b, false
	}
	b = appendDate(b, year, month, day)
	if !zoned && (c.from.ID() == arrow.DATE32 || floorMod(local, secondsPerDay) == 0 && nanos == 0) {
		return b, true
	}
	b = appendClock(append(b, 'T'), floorMod(local, secondsPerDay), nanos)
	switch {
	case !zoned || ts.TimeZone == "":
	case local == sec:
		b = append(b, 'Z')
	default:
		b = appendOffset(b, local-sec)
	}
	return b, true
}

package plain

import (
	"math"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
)

const (
	SecondsPerDay = 86_400
	NanosPerSec   = 1_000_000_000
)

// PerSecond is how many of a unit make a second.
func PerSecond(u arrow.TimeUnit) int64 {
	switch u {
	case arrow.Second:
		return 1
	case arrow.Millisecond:
		return 1_000
	case arrow.Microsecond:
		return 1_000_000
	}
	return NanosPerSec
}

// InUnit gives an instant, nanos >= 0, as a number of units since the epoch; finer parts are cut off. ok is false where
// it does not fit.
func InUnit(sec, nanos, perSec int64) (v int64, ok bool) {
	part := nanos / (NanosPerSec / perSec)
	if sec < 0 { // so that the product alone does not pass the lower bound
		sec++
		part -= perSec
	}
	if sec > math.MaxInt64/perSec || sec < math.MinInt64/perSec {
		return 0, false
	}
	whole := sec * perSec
	v = whole + part
	return v, part < 0 == (v < whole)
}

// daysOf gives the days since 1970-01-01 of a date of the proleptic Gregorian calendar.
func daysOf(year, month, day int64) int64 {
	if month <= 2 {
		year--
		month += 12
	}
	era := FloorDiv(year, 400)
	yoe := year - era*400
	doy := (153*(month-3)+2)/5 + day - 1
	return era*146_097 + yoe*365 + yoe/4 - yoe/100 + doy - 719_468
}

// dateOf is the inverse of daysOf.
func dateOf(days int64) (year, month, day int64) {
	days += 719_468
	era := FloorDiv(days, 146_097)
	doe := days - era*146_097
	yoe := (doe - doe/1460 + doe/36_524 - doe/146_096) / 365
	doy := doe - (365*yoe + yoe/4 - yoe/100)
	m := (5*doy + 2) / 153
	day = doy - (153*m+2)/5 + 1
	year = yoe + era*400
	if m < 10 {
		return year, m + 3, day
	}
	return year + 1, m - 9, day
}

// FloorDiv divides and rounds towards minus infinity.
func FloorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// number reads n digits at i; negative if there are not that many.
func number(s []byte, i, n int) int64 {
	if i+n > len(s) {
		return -1
	}
	var v int64
	for _, c := range s[i : i+n] {
		if c-'0' > 9 {
			return -1
		}
		v = v*10 + int64(c-'0')
	}
	return v
}

func daysIn(year, month int64) int64 {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if year%4 == 0 && (year%100 != 0 || year%400 == 0) {
			return 29
		}
		return 28
	}
	return 31
}

// ParseDate reads "2006-01-02" as days since the epoch.
func ParseDate(s []byte) (days int64, ok bool) {
	if len(s) != 10 || s[4] != '-' || s[7] != '-' {
		return 0, false
	}
	y, m, d := number(s, 0, 4), number(s, 5, 2), number(s, 8, 2)
	if y < 0 || m < 1 || m > 12 || d < 1 || d > daysIn(y, m) {
		return 0, false
	}
	return daysOf(y, m, d), true
}

// ParseClock reads "15:04:05" with an optional fraction at the beginning of s, and gives what follows.
func ParseClock(s []byte) (sec, nanos int64, rest []byte, ok bool) {
	if len(s) < 8 || s[2] != ':' || s[5] != ':' {
		return 0, 0, nil, false
	}
	h, m, c := number(s, 0, 2), number(s, 3, 2), number(s, 6, 2)
	if h < 0 || h > 23 || m < 0 || m > 59 || c < 0 || c > 59 {
		return 0, 0, nil, false
	}
	sec, rest = h*3600+m*60+c, s[8:]
	if len(rest) == 0 || rest[0] != '.' {
		return sec, 0, rest, true
	}
	i, scale := 1, int64(NanosPerSec)
	for ; i < len(rest) && rest[i]-'0' <= 9; i++ {
		if scale > 1 {
			scale /= 10
			nanos += int64(rest[i]-'0') * scale
		}
	}
	return sec, nanos, rest[i:], i > 1
}

// ParseInstant reads an instant of RFC 3339. zoned is false where it has no zone.
func ParseInstant(s []byte) (sec, nanos int64, zoned, ok bool) {
	if len(s) < 19 || s[10] != 'T' && s[10] != ' ' {
		return 0, 0, false, false
	}
	days, ok := ParseDate(s[:10])
	if !ok {
		return 0, 0, false, false
	}
	sec, nanos, rest, ok := ParseClock(s[11:])
	if !ok {
		return 0, 0, false, false
	}
	sec += days * SecondsPerDay
	switch {
	case len(rest) == 0:
		return sec, nanos, false, true
	case len(rest) == 1 && rest[0] == 'Z':
		return sec, nanos, true, true
	case len(rest) != 6 || rest[0] != '+' && rest[0] != '-' || rest[3] != ':':
		return 0, 0, false, false
	}
	h, m := number(rest, 1, 2), number(rest, 4, 2)
	if h < 0 || h > 23 || m < 0 || m > 59 {
		return 0, 0, false, false
	}
	off := h*3600 + m*60
	if rest[0] == '+' {
		off = -off
	}
	return sec + off, nanos, true, true
}

func appendTwo(dst []byte, v int64) []byte { return append(dst, byte('0'+v/10), byte('0'+v%10)) }

// AppendDate appends "2006-01-02"; ok is false (and nothing appended) where the year is not within 0 and 9999.
func AppendDate(dst []byte, days int64) (out []byte, ok bool) {
	const first, last = -719_528, 2_932_896 // 0000-01-01, 9999-12-31
	if days < first || days > last {
		return dst, false
	}
	y, m, d := dateOf(days)
	dst = appendTwo(appendTwo(dst, y/100), y%100)
	dst = appendTwo(append(dst, '-'), m)
	return appendTwo(append(dst, '-'), d), true
}

// AppendClock appends "15:04:05.999999999" without trailing zeros of the fraction.
func AppendClock(dst []byte, sec, nanos int64) []byte {
	dst = appendTwo(dst, sec/3600)
	dst = appendTwo(append(dst, ':'), sec/60%60)
	dst = appendTwo(append(dst, ':'), sec%60)
	if nanos == 0 {
		return dst
	}
	dst = append(dst, '.')
	for scale := int64(NanosPerSec / 10); nanos > 0; scale /= 10 {
		dst = append(dst, byte('0'+nanos/scale))
		nanos %= scale
	}
	return dst
}

// AppendInstant appends units since the epoch as a quoted instant of RFC 3339 in UTC, or as a bare integer where the year
// is not within 0 and 9999.
func AppendInstant(dst []byte, v, perSec int64) []byte {
	sec := FloorDiv(v, perSec)
	day := FloorDiv(sec, SecondsPerDay)
	out, ok := AppendDate(append(dst, '"'), day)
	if !ok {
		return strconv.AppendInt(dst, v, 10)
	}
	out = AppendClock(append(out, 'T'), sec-day*SecondsPerDay, (v-sec*perSec)*(NanosPerSec/perSec))
	return append(out, 'Z', '"')
}

package scalar

import "strconv"

// splitUnit gives a count of units of some ns as seconds, rounded down, and nanoseconds.
func splitUnit(v, unit int64) (sec, nanos int64) {
	if unit >= 1e9 {
		if sec, ok := scaled(v, unit/1e9); ok {
			return sec, 0
		}
		return v, 0
	}
	per := int64(1e9) / unit
	sec = floorDiv(v, per)
	return sec, (v - sec*per) * unit
}

func appendTwo(b []byte, v int64) []byte { return append(b, byte('0'+v/10%10), byte('0'+v%10)) }

// appendDate writes 2026-02-28.
func appendDate(b []byte, year, month, day int64) []byte {
	b = appendTwo(appendTwo(b, year/100), year%100)
	return appendTwo(append(appendTwo(append(b, '-'), month), '-'), day)
}

// appendClock writes 12:30:00.5.
func appendClock(b []byte, sec, nanos int64) []byte {
	b = appendTwo(b, sec/3600)
	b = appendTwo(append(b, ':'), sec/60%60)
	b = appendTwo(append(b, ':'), sec%60)
	return appendFraction(b, nanos, 9)
}

// appendFraction writes a part below one of some digits, without zeros at its end.
func appendFraction(b []byte, part int64, digits int) []byte {
	if part == 0 {
		return b
	}
	for ; part%10 == 0; digits-- {
		part /= 10
	}
	b = append(b, '.')
	start := len(b)
	for range digits {
		b = append(b, '0')
	}
	for i := len(b) - 1; i >= start; i-- {
		b[i] = byte('0' + part%10)
		part /= 10
	}
	return b
}

// appendOffset writes +01:00, or +00:53:28 where the distance from UTC has seconds.
func appendOffset(b []byte, offset int64) []byte {
	sign := byte('+')
	if offset < 0 {
		sign, offset = '-', -offset
	}
	b = appendTwo(append(b, sign), offset/3600)
	b = appendTwo(append(b, ':'), offset/60%60)
	if offset%60 != 0 {
		b = appendTwo(append(b, ':'), offset%60)
	}
	return b
}

// appendDuration writes a count of units as Go writes a duration: 1h30m0s, 250ms.
func appendDuration(b []byte, v, unit int64) []byte {
	u := uint64(v)
	if v < 0 {
		b, u = append(b, '-'), -u
	}
	per := uint64(1e9 / unit)
	sec, nanos := u/per, int64(u%per)*unit
	if sec == 0 {
		switch {
		case nanos == 0:
			return append(b, "0s"...)
		case nanos < 1e3:
			return append(strconv.AppendInt(b, nanos, 10), "ns"...)
		case nanos < 1e6:
			return append(appendFraction(strconv.AppendInt(b, nanos/1e3, 10), nanos%1e3, 3), "µs"...)
		}
		return append(appendFraction(strconv.AppendInt(b, nanos/1e6, 10), nanos%1e6, 6), "ms"...)
	}
	if sec >= 3600 {
		b = append(strconv.AppendUint(b, sec/3600, 10), 'h')
	}
	if sec >= 60 {
		b = append(strconv.AppendUint(b, sec/60%60, 10), 'm')
	}
	return append(appendFraction(strconv.AppendUint(b, sec%60, 10), nanos, 9), 's')
}

// parseDigits reads a number of exactly n digits.
func parseDigits(s []byte, n int) (v int64, rest []byte, ok bool) {
	if len(s) < n {
		return 0, nil, false
	}
	for _, c := range s[:n] {
		if c < '0' || c > '9' {
			return 0, nil, false
		}
		v = v*10 + int64(c-'0')
	}
	return v, s[n:], true
}

// parseTwo reads a separator and two digits up to a bound.
func parseTwo(s []byte, sep byte, most int64) (v int64, rest []byte, ok bool) {
	if len(s) == 0 || s[0] != sep {
		return 0, nil, false
	}
	v, rest, ok = parseDigits(s[1:], 2)
	return v, rest, ok && v <= most
}

// parseClock reads 12:30, 12:30:00 or 12:30:00.5. Digits beyond nanoseconds do not count.
func parseClock(s []byte) (sec, nanos int64, rest []byte, ok bool) {
	h, rest, ok := parseDigits(s, 2)
	if !ok || h > 23 {
		return 0, 0, nil, false
	}
	m, rest, ok := parseTwo(rest, ':', 59)
	if !ok {
		return 0, 0, nil, false
	}
	sec = h*3600 + m*60
	x, after, has := parseTwo(rest, ':', 59)
	if !has {
		return sec, 0, rest, len(rest) == 0 || rest[0] != ':'
	}
	sec, rest = sec+x, after
	if len(rest) > 1 && (rest[0] == '.' || rest[0] == ',') && rest[1] >= '0' && rest[1] <= '9' {
		rest = rest[1:]
		for digit := int64(1e8); len(rest) > 0 && rest[0] >= '0' && rest[0] <= '9'; rest = rest[1:] {
			nanos += int64(rest[0]-'0') * digit
			digit /= 10
		}
	}
	return sec, nanos, rest, true
}

// parseInstant reads 2026-02-28, or with a time after T or a blank, or with Z or a distance from UTC after that. Without
// these the time is what the clock shows.
func parseInstant(s []byte, zone *clock) (sec, nanos int64, ok bool) {
	year, rest, ok := parseDigits(s, 4)
	if !ok {
		return 0, 0, false
	}
	month, rest, ok := parseTwo(rest, '-', 12)
	if !ok || month == 0 {
		return 0, 0, false
	}
	day, rest, ok := parseTwo(rest, '-', 31)
	if !ok || day == 0 {
		return 0, 0, false
	}
	days := daysOf(year, month, day)
	if _, m, _ := dateOf(days); m != month { // the month has fewer days
		return 0, 0, false
	}
	sec = days * secondsPerDay
	if len(rest) == 0 {
		return zone.first(sec), 0, true
	}
	if rest[0] != 'T' && rest[0] != 't' && rest[0] != ' ' {
		return 0, 0, false
	}
	part, nanos, rest, ok := parseClock(rest[1:])
	if !ok {
		return 0, 0, false
	}
	sec += part
	if len(rest) == 0 {
		return zone.first(sec), nanos, true
	}
	offset, ok := parseOffset(rest)
	return sec - offset, nanos, ok
}

// parseOffset reads Z, +01, +0100, +01:00 or +00:53:28 in seconds.
func parseOffset(s []byte) (int64, bool) {
	if len(s) == 1 && (s[0] == 'Z' || s[0] == 'z') {
		return 0, true
	}
	if s[0] != '+' && s[0] != '-' {
		return 0, false
	}
	h, rest, ok := parseDigits(s[1:], 2)
	offset := h * 3600
	for _, unit := range [...]int64{60, 1} {
		if !ok || len(rest) == 0 {
			break
		}
		if rest[0] == ':' {
			rest = rest[1:]
		}
		var v int64
		v, rest, ok = parseDigits(rest, 2)
		ok = ok && v <= 59
		offset += v * unit
	}
	if s[0] == '-' {
		offset = -offset
	}
	return offset, ok && len(rest) == 0 && h <= 23
}

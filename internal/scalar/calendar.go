package scalar

import "math/bits"

// Days are counted from 1970-01-01 in the proleptic Gregorian calendar.

const secondsPerDay = 86400

// floorDiv and floorMod round towards minus infinity; b > 0.
func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func floorMod(a, b int64) int64 {
	m := a % b
	if m < 0 {
		m += b
	}
	return m
}

// daysOf gives the day of a date; months beyond 1 to 12 count on.
func daysOf(year, month, day int64) int64 {
	year += floorDiv(month-1, 12)
	month = floorMod(month-1, 12) + 1
	if month <= 2 { // the year begins in March, so that the odd day is its last one
		year--
		month += 12
	}
	era := floorDiv(year, 400)
	ofEra := year - era*400
	return era*146097 + ofEra*365 + ofEra/4 - ofEra/100 + (153*(month-3)+2)/5 + day - 1 - 719468
}

// dateOf is the inverse of daysOf.
func dateOf(days int64) (year, month, day int64) {
	days += 719468
	era := floorDiv(days, 146097)
	of := days - era*146097
	year = (of - of/1460 + of/36524 - of/146096) / 365
	dayOfYear := of - (365*year + year/4 - year/100)
	m := (5*dayOfYear + 2) / 153
	day, month = dayOfYear-(153*m+2)/5+1, m+3
	year += era * 400
	if month > 12 {
		month, year = month-12, year+1
	}
	return year, month, day
}

// weekday is 0 on Sundays.
func weekday(days int64) int64 { return floorMod(days+4, 7) }

// weekOf gives the ISO week and the year that it belongs to: the week is that of its Thursday.
func weekOf(days int64) (year, week int64) {
	thursday := days - floorMod(days+3, 7) + 3
	year, _, _ = dateOf(thursday)
	return year, (thursday-daysOf(year, 1, 1))/7 + 1
}

// scaled gives a·b where it fits in 64 bits, b > 0.
func scaled(a, b int64) (int64, bool) {
	u := uint64(a)
	if a < 0 {
		u = -u
	}
	hi, lo := bits.Mul64(u, uint64(b))
	if hi != 0 || lo > 1<<63 || lo == 1<<63 && a >= 0 {
		return 0, false
	}
	if a < 0 {
		return int64(-lo), true
	}
	return int64(lo), true
}

package tree

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/internal/calc"
)

// String gives the constant as text that is read back as an equal one, value and type: what a text alone makes a constant of
// another type is written as a cast.
func (l Literal) String() string {
	text, own := l.text()
	if own {
		return text
	}
	return "cast(" + text + " as " + l.Type.String() + ")"
}

// Short gives the value as messages show it, without its type.
func (l Literal) Short() string {
	if f, ok := l.Value.(float64); ok {
		s := calc.FormatFloat(f, bitsOf(l.Type))
		if !strings.ContainsAny(s, ".eNI") {
			s += ".0"
		}
		return s
	}
	text, _ := l.text()
	return text
}

// text gives the value as text, and whether that text alone is read as a constant of the type.
func (l Literal) text() (text string, own bool) {
	switch v := l.Value.(type) {
	case bool:
		return strconv.FormatBool(v), true
	case int64:
		return l.integerText(v)
	case uint64:
		return strconv.FormatUint(v, 10), v > math.MaxInt64
	case float64:
		return floatText(v, l.Type), l.Type.ID() == arrow.FLOAT64 && !math.IsNaN(v) && !math.IsInf(v, 0)
	case string:
		if l.Type.ID() == arrow.BINARY {
			return "x'" + hex.EncodeToString([]byte(v)) + "'", true
		}
		return "'" + strings.ReplaceAll(v, "'", "''") + "'", l.Type.ID() == arrow.STRING
	case *big.Int:
		t := l.Type.(*arrow.Decimal128Type)
		text = DecimalText(v, t.Scale)
		d, err := numberLiteral(text)
		return text, err == nil && arrow.TypeEqual(d.Type, t)
	}
	return "null", l.Untyped()
}

// integerText gives a whole number, an instant as a time of UTC, a duration as Go writes it.
func (l Literal) integerText(v int64) (text string, own bool) {
	unit := UnitOf(l.Type)
	switch ClassOf(l.Type) {
	case ClassInstant:
		at, ok := timeOf(v, unit)
		switch {
		case ok && l.Type.ID() != arrow.TIMESTAMP && at.Equal(at.Truncate(24*time.Hour)):
			return "date '" + at.Format(time.DateOnly) + "'", l.Type.ID() == arrow.DATE32
		case ok && l.Type.ID() == arrow.TIMESTAMP && instantOf(at).isAlso(l): // at the ends of ns a text means µs
			return "timestamp '" + at.Format(time.RFC3339Nano) + "'", arrow.TypeEqual(l.Type, instantOf(at).Type)
		}
	case ClassDuration:
		if !calc.Overflows(OpMul, v, unit) {
			return "interval '" + time.Duration(v*unit).String() + "'", unit == 1
		}
	case ClassTimeOfDay:
		if day := int64(24 * time.Hour); v >= 0 && v < day/unit {
			at, _ := timeOf(v*unit, 1)
			return "time '" + at.Format("15:04:05.999999999") + "'", unit == 1
		}
	}
	return strconv.FormatInt(v, 10), l.Type.ID() == arrow.INT64
}

// isAlso tells whether the constant is another one once it is of its type.
func (l Literal) isAlso(other Literal) bool {
	same, ok := l.As(other.Type)
	return ok && same.Value == other.Value
}

// timeOf gives an instant of a unit as a time of UTC; false outside of the years 0 to 9999, which are those that have a text.
func timeOf(v, unit int64) (at time.Time, ok bool) {
	perSecond := max(int64(time.Second)/unit, 1)
	sec := FloorDiv(v, perSecond)
	part := (v - sec*perSecond) * unit
	if unit > int64(time.Second) {
		if calc.Overflows(OpMul, v, unit/int64(time.Second)) {
			return at, false
		}
		sec, part = v*(unit/int64(time.Second)), 0
	}
	if sec < -1e12 || sec > 1e12 {
		return at, false
	}
	at = time.Unix(sec, part).UTC()
	return at, at.Year() >= 0 && at.Year() <= 9999
}

// FloorDiv is a / b rounded towards minus infinity, b > 0.
func FloorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// floatText gives a float in the form of constants, which have an exponent, or as a text that casts to it.
func floatText(v float64, t arrow.DataType) string {
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return fmt.Sprintf("'%v'", v)
	}
	s := calc.FormatFloat(v, bitsOf(t))
	if !strings.Contains(s, "e") {
		s += "e0"
	}
	return s
}

// DecimalText gives a decimal in plain digits.
func DecimalText(v *big.Int, scale int32) string {
	s := new(big.Int).Abs(v).String()
	switch {
	case scale > 0:
		if zeros := int(scale) + 1 - len(s); zeros > 0 {
			s = strings.Repeat("0", zeros) + s
		}
		s = s[:len(s)-int(scale)] + "." + s[len(s)-int(scale):]
	case v.Sign() != 0:
		s += strings.Repeat("0", int(-scale))
	}
	if v.Sign() < 0 {
		s = "-" + s
	}
	return s
}

// numberLiteral reads a number of a text: an integer is int64, or uint64 above it, or a decimal above that; what has a point is a
// decimal; what has an exponent is a float64.
func numberLiteral(text string) (Literal, error) {
	switch {
	case strings.ContainsAny(text, "eE"):
		f, err := strconv.ParseFloat(text, 64)
		if err != nil {
			return Literal{}, fmt.Errorf("%s is no float64", text)
		}
		return Literal{arrow.PrimitiveTypes.Float64, f}, nil
	case strings.Contains(text, "."):
		return decimalFromText(text)
	}
	if v, err := strconv.ParseInt(text, 10, 64); err == nil {
		return Literal{arrow.PrimitiveTypes.Int64, v}, nil
	}
	if v, err := strconv.ParseUint(text, 10, 64); err == nil {
		return Literal{arrow.PrimitiveTypes.Uint64, v}, nil
	}
	return decimalFromText(text)
}

// decimalFromText reads a plain number as a decimal of as many digits as it has.
func decimalFromText(text string) (Literal, error) {
	whole, part, _ := strings.Cut(text, ".")
	v, ok := new(big.Int).SetString(whole+part, 10)
	if !ok {
		return Literal{}, fmt.Errorf("%q is no number", text)
	}
	t := &arrow.Decimal128Type{Scale: int32(len(part))}
	t.Precision = max(calc.Digits(v), t.Scale, 1)
	if t.Precision > calc.MaxDigits {
		return Literal{}, fmt.Errorf("%s has more than the %d digits of a decimal; write it as a float, with an exponent", text, calc.MaxDigits)
	}
	return Literal{t, v}, nil
}

// timeLayouts are the forms of a time in text.
var timeLayouts = []string{time.RFC3339Nano, "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999",
	"2006-01-02T15:04", "2006-01-02 15:04", time.DateOnly}

// timestampFromText reads a time; one that names no zone is of UTC.
func timestampFromText(text string) (Literal, error) {
	for _, layout := range timeLayouts {
		if at, err := time.Parse(layout, text); err == nil {
			return instantOf(at), nil
		}
	}
	return Literal{}, fmt.Errorf("%q is no time; write it as 2024-05-01T12:30:00Z", text)
}

func dateFromText(text string) (Literal, error) {
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return Literal{}, fmt.Errorf("%q is no date; write it as 2024-05-01", text)
	}
	return Literal{arrow.FixedWidthTypes.Date32, at.Unix() / 86400}, nil
}

func timeOfDayFromText(text string) (Literal, error) {
	for _, layout := range []string{"15:04:05.999999999", "15:04"} {
		if at, err := time.Parse(layout, text); err == nil {
			return Literal{arrow.FixedWidthTypes.Time64ns, at.Sub(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC)).Nanoseconds()}, nil
		}
	}
	return Literal{}, fmt.Errorf("%q is no time of day; write it as 12:30:00", text)
}

// durationUnits are the words after a number in a duration.
var durationUnits = map[string]time.Duration{"nanosecond": 1, "microsecond": time.Microsecond, "millisecond": time.Millisecond, "second": time.Second,
	"minute": time.Minute, "hour": time.Hour, "day": 24 * time.Hour, "week": 7 * 24 * time.Hour}

// ParseDuration reads a duration as Go writes it, 1h30m, or as a number and a word, 90 minutes. A day has 24 hours.
func ParseDuration(text string) (time.Duration, bool) {
	if number, word, ok := strings.Cut(strings.TrimSpace(text), " "); ok {
		unit := durationUnits[strings.TrimSuffix(strings.ToLower(strings.TrimSpace(word)), "s")]
		n, err := strconv.ParseInt(number, 10, 64)
		if err != nil || unit == 0 || calc.Overflows(OpMul, n, int64(unit)) {
			return 0, false
		}
		return time.Duration(n) * unit, true
	}
	d, err := time.ParseDuration(text)
	return d, err == nil
}

func durationFromText(text string) (Literal, error) {
	d, ok := ParseDuration(text)
	if !ok {
		return Literal{}, fmt.Errorf("%q is no duration; write it as 1h30m, 250ms", text)
	}
	return Literal{TypeDuration, int64(d)}, nil
}

package tree

import "github.com/apache/arrow-go/v18/arrow"

// Class is what a type means to the operators, apart from its width.
type Class uint8

const (
	classOther Class = iota
	ClassNull
	ClassBool
	ClassInt
	ClassFloat
	ClassDecimal
	ClassText // strings and binaries
	ClassInstant
	ClassTimeOfDay
	ClassDuration
)

// PlainType gives the type of the values of a dictionary, any other type as it is.
func PlainType(t arrow.DataType) arrow.DataType {
	for t.ID() == arrow.DICTIONARY {
		t = t.(*arrow.DictionaryType).ValueType
	}
	return t
}

func ClassOf(t arrow.DataType) Class {
	switch PlainType(t).ID() {
	case arrow.NULL:
		return ClassNull
	case arrow.BOOL:
		return ClassBool
	case arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64:
		return ClassInt
	case arrow.FLOAT32, arrow.FLOAT64:
		return ClassFloat
	case arrow.DECIMAL128:
		return ClassDecimal
	case arrow.STRING, arrow.BINARY, arrow.LARGE_STRING, arrow.LARGE_BINARY, arrow.STRING_VIEW, arrow.BINARY_VIEW:
		return ClassText
	case arrow.DATE32, arrow.DATE64, arrow.TIMESTAMP:
		return ClassInstant
	case arrow.TIME32, arrow.TIME64:
		return ClassTimeOfDay
	case arrow.DURATION:
		return ClassDuration
	}
	return classOther
}

func (c Class) Numeric() bool  { return c == ClassInt || c == ClassFloat || c == ClassDecimal }
func (c Class) Temporal() bool { return c == ClassInstant || c == ClassTimeOfDay || c == ClassDuration }

// UnitOf gives the nanoseconds of one unit of a temporal type.
func UnitOf(t arrow.DataType) int64 {
	switch x := t.(type) {
	case *arrow.Date32Type:
		return 86400e9
	case *arrow.Date64Type:
		return 1e6
	case *arrow.TimestampType:
		return NanosPer(x.Unit)
	case *arrow.Time32Type:
		return NanosPer(x.Unit)
	case *arrow.Time64Type:
		return NanosPer(x.Unit)
	case *arrow.DurationType:
		return NanosPer(x.Unit)
	}
	return 1
}

func NanosPer(u arrow.TimeUnit) int64 {
	switch u {
	case arrow.Second:
		return 1e9
	case arrow.Millisecond:
		return 1e6
	case arrow.Microsecond:
		return 1e3
	}
	return 1
}

// UnitFor is the inverse of NanosPer; units longer than a second become seconds.
func UnitFor(nanos int64) arrow.TimeUnit {
	switch {
	case nanos >= 1e9:
		return arrow.Second
	case nanos >= 1e6:
		return arrow.Millisecond
	case nanos >= 1e3:
		return arrow.Microsecond
	}
	return arrow.Nanosecond
}

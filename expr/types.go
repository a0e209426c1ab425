package expr

import "github.com/apache/arrow-go/v18/arrow"

// class is what a type means to the operators, apart from its width.
type class uint8

const (
	classOther class = iota
	classNull
	classBool
	classInt
	classFloat
	classDecimal
	classText // strings and binaries
	classInstant
	classTimeOfDay
	classDuration
)

// plainType gives the type of the values of a dictionary, any other type as it is.
func plainType(t arrow.DataType) arrow.DataType {
	for t.ID() == arrow.DICTIONARY {
		t = t.(*arrow.DictionaryType).ValueType
	}
	return t
}

func classOf(t arrow.DataType) class {
	switch plainType(t).ID() {
	case arrow.NULL:
		return classNull
	case arrow.BOOL:
		return classBool
	case arrow.INT8, arrow.INT16, arrow.INT32, arrow.INT64, arrow.UINT8, arrow.UINT16, arrow.UINT32, arrow.UINT64:
		return classInt
	case arrow.FLOAT32, arrow.FLOAT64:
		return classFloat
	case arrow.DECIMAL128:
		return classDecimal
	case arrow.STRING, arrow.BINARY, arrow.LARGE_STRING, arrow.LARGE_BINARY, arrow.STRING_VIEW, arrow.BINARY_VIEW:
		return classText
	case arrow.DATE32, arrow.DATE64, arrow.TIMESTAMP:
		return classInstant
	case arrow.TIME32, arrow.TIME64:
		return classTimeOfDay
	case arrow.DURATION:
		return classDuration
	}
	return classOther
}

func (c class) numeric() bool  { return c == classInt || c == classFloat || c == classDecimal }
func (c class) temporal() bool { return c == classInstant || c == classTimeOfDay || c == classDuration }

// unitOf gives the nanoseconds of one unit of a temporal type.
func unitOf(t arrow.DataType) int64 {
	switch x := t.(type) {
	case *arrow.Date32Type:
		return 86400e9
	case *arrow.Date64Type:
		return 1e6
	case *arrow.TimestampType:
		return nanosPer(x.Unit)
	case *arrow.Time32Type:
		return nanosPer(x.Unit)
	case *arrow.Time64Type:
		return nanosPer(x.Unit)
	case *arrow.DurationType:
		return nanosPer(x.Unit)
	}
	return 1
}

func nanosPer(u arrow.TimeUnit) int64 {
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

// unitFor is the inverse of nanosPer; units longer than a second become seconds.
func unitFor(nanos int64) arrow.TimeUnit {
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

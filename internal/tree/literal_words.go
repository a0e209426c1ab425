package tree

import (
	"math"
	"math/big"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/calc"
)

// Words gives a fixed-width constant as it lies in a column of its type, in the low bytes; zero for null.
func (l Literal) Words() (w calc.Int128) {
	switch v := l.Value.(type) {
	case int64:
		w[0] = uint64(v)
	case uint64:
		w[0] = v
	case float64:
		if w[0] = math.Float64bits(v); l.Type.ID() == arrow.FLOAT32 {
			w[0] = uint64(math.Float32bits(float32(v)))
		}
	case *big.Int:
		w = calc.Int128Of(v)
	}
	return w
}

// LiteralFrom is the inverse of words, for fixed-width types but Bool.
func LiteralFrom(t arrow.DataType, w calc.Int128) Literal {
	switch column.KindOf(t) {
	case column.Float64:
		return Literal{t, math.Float64frombits(w[0])}
	case column.Float32:
		return Literal{t, float64(math.Float32frombits(uint32(w[0])))}
	case column.Decimal:
		return Literal{t, calc.BigOf(w)}
	case column.Uint8, column.Uint16, column.Uint32, column.Uint64:
		return Literal{t, w[0]}
	case column.Int8:
		return Literal{t, int64(int8(w[0]))}
	case column.Int16:
		return Literal{t, int64(int16(w[0]))}
	case column.Int32:
		return Literal{t, int64(int32(w[0]))}
	}
	return Literal{t, int64(w[0])}
}

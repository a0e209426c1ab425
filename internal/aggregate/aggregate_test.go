package aggregate

import (
	"math/big"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var (
	ten38 = new(big.Int).Exp(big.NewInt(10), big.NewInt(38), nil)
	word  = new(big.Int).SetUint64(^uint64(0))
)

// words gives a number modulo 2^128 as two words.
func words(v *big.Int) (lo, hi uint64) {
	m := new(big.Int).Mod(v, new(big.Int).Lsh(big.NewInt(1), 128))
	return new(big.Int).And(m, word).Uint64(), new(big.Int).Rsh(m, 64).Uint64()
}

// signed is the number of two words in two's complement.
func signed(lo, hi uint64) *big.Int {
	v := new(big.Int).Lsh(big.NewInt(int64(hi)), 64)
	return v.Add(v, new(big.Int).SetUint64(lo))
}

// number draws a number of up to so many bits, often at the edge of 10^38.
func number(t *rapid.T, bits int) *big.Int {
	if rapid.Bool().Draw(t, "edge") {
		v := new(big.Int).Add(ten38, big.NewInt(rapid.Int64Range(-2, 2).Draw(t, "off")))
		if rapid.Bool().Draw(t, "negative") {
			v.Neg(v)
		}
		return v
	}
	v := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, bits/8).Draw(t, "bytes"))
	if rapid.Bool().Draw(t, "negative") {
		v.Neg(v)
	}
	return v
}

func TestFits38IsAtMost38Digits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := number(t, 120)
		lo, hi := words(v)
		require.Equal(t, v.CmpAbs(ten38) < 0, Fits38(lo, hi), "%s", v)
	})
}

// W7: the mean of decimals is exact, rounded once, half away from zero; a sum may be of more than 128 bits.
func TestW7MeanDecimalIsTheExactMeanRoundedOnce(t *testing.T) {
	mean := func(sum *big.Int, n uint64, tenfold int) *big.Int {
		num := new(big.Int).Mul(new(big.Int).Abs(sum), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(tenfold)), nil))
		d := new(big.Int).SetUint64(n)
		q, r := num.QuoRem(num, d, new(big.Int))
		if r.Lsh(r, 1).Cmp(d) >= 0 {
			q.Add(q, big.NewInt(1))
		}
		if sum.Sign() < 0 {
			q.Neg(q)
		}
		return q
	}
	rapid.Check(t, func(t *rapid.T) {
		sum := number(t, 176)
		n := rapid.OneOf(rapid.Uint64Range(1, 9), rapid.Uint64Range(1, 1<<62)).Draw(t, "n")
		tenfold := rapid.IntRange(0, 4).Draw(t, "tenfold")
		lo, hi := words(sum)
		wraps := new(big.Int).Rsh(new(big.Int).Sub(sum, signed(lo, hi)), 128).Int64()
		got, fits := MeanDecimal(lo, hi, wraps, n, tenfold)
		want := mean(sum, n, tenfold)
		require.Equal(t, want.CmpAbs(ten38) < 0, fits)
		if fits {
			require.Zero(t, want.Cmp(signed(got[0], got[1])), "mean of %s over %d, %d digits more: %s", sum, n, tenfold, signed(got[0], got[1]))
		}
	})
	for _, c := range []struct{ sum, n, tenfold, want int64 }{{5, 2, 0, 3}, {-5, 2, 0, -3}, {1, 3, 4, 3333}, {2, 3, 4, 6667}, {-1, 3, 0, 0}, {0, 7, 4, 0}} {
		lo, hi := words(big.NewInt(c.sum))
		got, fits := MeanDecimal(lo, hi, 0, uint64(c.n), int(c.tenfold))
		require.True(t, fits)
		require.Equal(t, c.want, signed(got[0], got[1]).Int64(), "%+v", c)
	}
	got, fits := MeanDecimal(1, 1, 0, 0, 4)
	require.True(t, fits, "over nothing there is no mean to be refused")
	require.Equal(t, [2]uint64{}, got)
}

func TestUnscaledWritesTheDigitsOfTheScale(t *testing.T) {
	for _, c := range []struct {
		v     int64
		scale int32
		want  string
	}{{12345, 2, "123.45"}, {-5, 3, "-0.005"}, {7, 0, "7"}, {7, -3, "7000"}, {0, 2, "0.00"}} {
		require.Equal(t, c.want, Unscaled(big.NewInt(c.v), c.scale))
	}
}

// W7: the types of results by the types of columns; "" where there is none.
func TestW7TypesOfResults(t *testing.T) {
	p, f := arrow.PrimitiveTypes, arrow.FixedWidthTypes
	for _, c := range []struct {
		typ           arrow.DataType
		sum, avg, max string
	}{
		{p.Int8, "int64", "float64", "int8"},
		{p.Int32, "int64", "float64", "int32"},
		{p.Int64, "int64", "float64", "int64"},
		{p.Uint16, "uint64", "float64", "uint16"},
		{p.Uint64, "uint64", "float64", "uint64"},
		{p.Float32, "float32", "float64", "float32"},
		{p.Float64, "float64", "float64", "float64"},
		{&arrow.Decimal128Type{Precision: 10, Scale: 2}, "decimal(38, 2)", "decimal(14, 6)", "decimal(10, 2)"},
		{&arrow.Decimal128Type{Precision: 36, Scale: 2}, "decimal(38, 2)", "decimal(38, 4)", "decimal(36, 2)"},
		{f.Duration_s, "duration[s]", "", "duration[s]"},
		{f.Boolean, "", "", "bool"},
		{f.Timestamp_us, "", "", "timestamp[us, tz=UTC]"},
		{arrow.BinaryTypes.String, "", "", "utf8"},
		{arrow.ListOf(p.Int64), "", "", ""},
	} {
		s := arrow.NewSchema([]arrow.Field{{Name: "v", Type: c.typ}}, nil)
		for fn, want := range map[Func]string{Sum: c.sum, Avg: c.avg, Max: c.max, Min: c.max, First: c.max, Last: c.max} {
			fields, err := Agg{Func: fn, Names: []string{"r"}}.Fields(s)
			if want == "" {
				require.ErrorContains(t, err, fn.String()+` of column "v": type `+c.typ.String()+` has none`)
				continue
			}
			require.NoError(t, err)
			require.Equal(t, arrow.Field{Name: "r", Type: fields[0].Type, Nullable: true}, fields[0])
			require.Equal(t, want, fields[0].Type.String(), "%s of %s", fn, c.typ)
		}
		for _, fn := range []Func{CountRows, CountValues} {
			fields, err := Agg{Func: fn, Names: []string{"r"}}.Fields(s)
			require.NoError(t, err)
			require.Equal(t, []arrow.Field{{Name: "r", Type: p.Int64}}, fields, "W8: a count is never null")
		}
	}
}

func TestFieldsOfArgMaxAreThoseOfItsValues(t *testing.T) {
	s := arrow.NewSchema([]arrow.Field{{Name: "price", Type: arrow.PrimitiveTypes.Int64}, {Name: "who", Type: arrow.BinaryTypes.String},
		{Name: "tags", Type: arrow.ListOf(arrow.BinaryTypes.String)}}, nil)
	fields, err := Agg{Func: ArgMax, Col: 0, Values: []int{1, 0}, Names: []string{"top_who", "top_price"}}.Fields(s)
	require.NoError(t, err)
	require.Equal(t, []arrow.Field{{Name: "top_who", Type: arrow.BinaryTypes.String, Nullable: true}, {Name: "top_price", Type: arrow.PrimitiveTypes.Int64, Nullable: true}}, fields)
	_, err = Agg{Func: ArgMin, Col: 0, Values: []int{2}, Names: []string{"x"}}.Fields(s)
	require.ErrorContains(t, err, `argmin of column "tags": values of type`)
	_, err = Agg{Func: ArgMin, Col: 2, Values: []int{1}, Names: []string{"x"}}.Fields(s)
	require.ErrorContains(t, err, `argmin of column "tags": type`)
}

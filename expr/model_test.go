package expr

import (
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/tree"
)

// The model evaluates an expression one row at a time over Go values, with big numbers, as the documentation says. It shares
// nothing with the evaluator but the tree.

// mtype is a type of the model: what a value means, and where it matters how it is held.
type mtype struct {
	class string // bool, int, float, dec, text, inst, tod, dur, null
	bits  string // int: i8 … u64; float: f32, f64
	p, s  int32  // dec
	unit  int64  // temporal: ns
	day   bool   // inst: a date32 or date64, not a timestamp
	zone  string
}

// mval is a sub-expression of the model.
type mexpr struct {
	n    *tree.Node
	t    mtype
	kids []*mexpr
	lit  bool
	v    any // of a constant
}

// rowFailure is an error of a row.
type rowFailure struct{ at *tree.Node }

func (f rowFailure) Error() string { return f.at.String() }

func mtypeOf(t arrow.DataType) mtype {
	switch x := t.(type) {
	case *arrow.DictionaryType:
		return mtypeOf(x.ValueType)
	case *arrow.BooleanType:
		return mtype{class: "bool"}
	case *arrow.Float32Type:
		return mtype{class: "float", bits: "f32"}
	case *arrow.Float64Type:
		return mtype{class: "float", bits: "f64"}
	case *arrow.Decimal128Type:
		return mtype{class: "dec", p: x.Precision, s: x.Scale}
	case *arrow.Date32Type:
		return mtype{class: "inst", unit: 86400e9, day: true}
	case *arrow.Date64Type:
		return mtype{class: "inst", unit: 1e6, day: true}
	case *arrow.TimestampType:
		return mtype{class: "inst", unit: int64(x.Unit.Multiplier()), zone: x.TimeZone}
	case *arrow.Time32Type:
		return mtype{class: "tod", unit: int64(x.Unit.Multiplier())}
	case *arrow.Time64Type:
		return mtype{class: "tod", unit: int64(x.Unit.Multiplier())}
	case *arrow.DurationType:
		return mtype{class: "dur", unit: int64(x.Unit.Multiplier())}
	case *arrow.NullType:
		return mtype{class: "null"}
	}
	if name := t.String(); strings.HasPrefix(name, "int") || strings.HasPrefix(name, "uint") {
		return mtype{class: "int", bits: strings.Replace(name, "int", "i", 1)}
	}
	return mtype{class: "text"}
}

// same tells whether a program's type is that of the model.
func (t mtype) same(d arrow.DataType) bool {
	o := mtypeOf(d)
	if t.class == "inst" {
		return o.class == t.class && o.unit == t.unit && o.zone == t.zone
	}
	if t.class == "int" {
		return o.class == "int" && strings.Replace(o.bits, "ui", "u", 1) == strings.Replace(t.bits, "ui", "u", 1)
	}
	return o == t
}

func (t mtype) u64() bool { return t.class == "int" && t.bits == "ui64" }

func (t mtype) unsigned() bool { return strings.HasPrefix(t.bits, "u") }

// rangeOf gives the bounds of an integer type.
func (t mtype) within(v *big.Int) bool {
	if t.u64() {
		return v.Sign() >= 0 && v.BitLen() <= 64
	}
	return v.IsInt64()
}

var (
	mInt  = mtype{class: "int", bits: "i64"}
	mUint = mtype{class: "int", bits: "ui64"}
	mF64  = mtype{class: "float", bits: "f64"}
	mF32  = mtype{class: "float", bits: "f32"}
	mBool = mtype{class: "bool"}
)

// modelOf types a tree. It expects one that Bind accepts.
func modelOf(n *tree.Node, s *arrow.Schema) *mexpr {
	m := &mexpr{n: n}
	for _, a := range n.Args {
		m.kids = append(m.kids, modelOf(a, s))
	}
	switch n.Op {
	case tree.OpColumn:
		m.t = mtypeOf(s.Field(s.FieldIndices(n.Name)[0]).Type)
		return m
	case tree.OpLiteral:
		m.t, m.lit = mtypeOf(n.Lit.Type), true
		switch v := n.Lit.Value.(type) {
		case int64:
			m.v = big.NewInt(v)
		case uint64:
			m.v = new(big.Int).SetUint64(v)
		default:
			m.v = v
		}
		return m
	case tree.OpAdd, tree.OpSub, tree.OpMul, tree.OpDiv, tree.OpMod:
		m.arith()
	case tree.OpNeg:
		m.t = m.kids[0].t
		switch m.t.class {
		case "int", "null":
			m.t = mInt
		}
	case tree.OpCall:
		m.t = m.typeCall()
	case tree.OpCase, tree.OpSwitch:
		m.t = m.kids[len(m.kids)-1].t
	case tree.OpCast, tree.OpTryCast:
		m.t = mtypeOf(n.Type)
	default:
		m.t = mBool
	}
	for _, k := range m.kids {
		if !k.lit {
			return m
		}
	}
	if v, err := m.eval(nil, 0); err == nil { // a constant that fails fails in each row
		m.lit, m.v = true, v
	}
	return m
}

// arith finds the type of arithmetic and brings constants to it.
func (m *mexpr) arith() {
	l, r := m.kids[0], m.kids[1]
	untyped := func(x, other *mexpr) {
		if x.t.class != "null" {
			return
		}
		t := other.t
		switch {
		case t.class == "null":
			t = mInt
		case t.class == "inst":
			t = mtype{class: "dur", unit: 1}
		case t.class == "dur" && (m.n.Op == tree.OpMul || m.n.Op == tree.OpDiv):
			t = mInt
		}
		*x = mexpr{n: x.n, t: t, lit: true}
	}
	both := l.t.class == "null" && r.t.class == "null"
	untyped(l, r)
	untyped(r, l)
	if both {
		r.t = mInt
	}
	switch {
	case l.t.class == "inst" || l.t.class == "dur" || r.t.class == "dur":
		m.arithTime(l, r)
		return
	case l.t.class == "dec" || r.t.class == "dec":
		for _, x := range [][2]*mexpr{{l, r}, {r, l}} {
			if x[0].lit && !x[1].lit && x[0].t.class == "float" && x[0].v != nil {
				if v, scale, ok := shortest(x[0]); ok {
					digits := int32(len(new(big.Int).Abs(v).String()))
					*x[0] = mexpr{n: x[0].n, lit: true, v: v, t: mtype{class: "dec", p: max(digits, scale, 1), s: scale}}
				}
			}
		}
		if l.t.class == "float" || r.t.class == "float" {
			m.t = mF64
			return
		}
		a, b := decOf(l), decOf(r)
		m.t = mtype{class: "dec", s: max(a.s, b.s)}
		m.t.p = min(max(a.p-a.s, b.p-b.s)+m.t.s+1, 38)
		if m.n.Op == tree.OpMul {
			m.t.s, m.t.p = a.s+b.s, min(a.p+b.p+1, 38)
		}
	case l.t.class == "float" || r.t.class == "float":
		m.t = mF64
		f32 := func(x, other *mexpr) bool {
			return x.t == mF32 || x.lit && !other.lit && (x.v == nil || exactF32(x.v))
		}
		if (l.t == mF32 || r.t == mF32) && f32(l, r) && f32(r, l) {
			m.t = mF32
		}
	default:
		m.t = mInt
		for _, x := range [][2]*mexpr{{l, r}, {r, l}} {
			u, o := x[0], x[1]
			if !u.t.u64() || u.lit && !o.lit && !o.t.unsigned() {
				continue
			}
			if o.t.unsigned() || o.lit && !u.lit && (o.v == nil || o.v.(*big.Int).Sign() >= 0) {
				m.t = mUint
			}
		}
	}
}

// decOf gives the decimal type that an integer counts as.
func decOf(x *mexpr) mtype {
	if x.t.class == "dec" {
		return x.t
	}
	digits := map[string]int32{"i8": 3, "ui8": 3, "i16": 5, "ui16": 5, "i32": 10, "ui32": 10, "i64": 19, "ui64": 20}[x.t.bits]
	if x.lit && x.v != nil {
		digits = int32(len(new(big.Int).Abs(x.v.(*big.Int)).String()))
	}
	return mtype{class: "dec", p: digits}
}

func exactF32(v any) bool {
	switch x := v.(type) {
	case *big.Int:
		f, _ := new(big.Float).SetInt(x).Float32()
		i, acc := big.NewFloat(float64(f)).Int(nil)
		return acc == big.Exact && i.Cmp(x) == 0
	case float64:
		return math.IsNaN(x) || float64(float32(x)) == x
	}
	return false
}

// shortest gives a float as the decimal of its shortest text.
func shortest(x *mexpr) (v *big.Int, scale int32, ok bool) {
	f := x.v.(float64)
	bits := 64
	if x.t == mF32 {
		bits = 32
	}
	if math.IsNaN(f) || math.IsInf(f, 0) || math.Abs(f) >= 1e38 || f != 0 && math.Abs(f) < 1e-38 {
		return nil, 0, false
	}
	text := strconv.FormatFloat(f, 'f', -1, bits)
	if at := strings.IndexByte(text, '.'); at >= 0 {
		scale = int32(len(text) - at - 1)
		text = text[:at] + text[at+1:]
	}
	v, _ = new(big.Int).SetString(text, 10)
	digits := len(new(big.Int).Abs(v).String())
	return v, scale, digits <= 38 && scale <= 38
}

func (m *mexpr) arithTime(l, r *mexpr) {
	switch {
	case l.t.class == "int":
		m.t = r.t
		return
	case r.t.class == "int":
		m.t = l.t
		return
	}
	for _, x := range [][2]*mexpr{{l, r}, {r, l}} { // a constant takes the coarsest unit that holds it, up to the column's
		if c, o := x[0], x[1]; c.lit && !o.lit {
			for unit := min(o.t.unit, 1e9); ; unit /= 1000 {
				if c.v == nil {
					c.t.unit = unit
					break
				}
				ns := new(big.Int).Mul(c.v.(*big.Int), big.NewInt(c.t.unit))
				if q, rest := new(big.Int).QuoRem(ns, big.NewInt(unit), new(big.Int)); rest.Sign() == 0 && q.IsInt64() {
					c.v, c.t.unit = q, unit
					break
				}
				if unit == 1 {
					break
				}
			}
		}
	}
	unit := min(l.t.unit, r.t.unit, 1e9)
	m.t = mtype{class: "dur", unit: unit}
	if l.t.class == "inst" && r.t.class == "dur" {
		m.t = mtype{class: "inst", unit: unit, zone: l.t.zone}
	}
	if r.t.class == "inst" && l.t.class == "dur" {
		m.t = mtype{class: "inst", unit: unit, zone: r.t.zone}
	}
}

// eval gives the value of a row: nil, bool, *big.Int (integers, temporal values, unscaled decimals), float64 or string.
func (m *mexpr) eval(b *column.Batch, row int) (any, error) {
	if m.lit {
		return m.v, nil
	}
	switch m.n.Op {
	case tree.OpColumn:
		return modelValue(b.Column(m.n.Name), row), nil
	case tree.OpAnd, tree.OpOr:
		return m.evalLogic(b, row)
	case tree.OpNot:
		v, err := m.kids[0].eval(b, row)
		if v == nil || err != nil {
			return nil, err
		}
		return !v.(bool), nil
	case tree.OpIsNull, tree.OpIsNotNull:
		v, err := m.kids[0].eval(b, row)
		if err != nil {
			return nil, err
		}
		return (v == nil) == (m.n.Op == tree.OpIsNull), nil
	case tree.OpIn:
		return m.evalIn(b, row)
	case tree.OpNeg:
		return m.evalNeg(b, row)
	case tree.OpCase, tree.OpSwitch:
		return m.evalLazy(b, row)
	case tree.OpCall:
		if m.n.Name == "coalesce" || m.n.Name == "nullif" {
			return m.evalLazy(b, row)
		}
		return m.evalCall(b, row)
	case tree.OpCast, tree.OpTryCast:
		return m.evalCast(b, row)
	case tree.OpAdd, tree.OpSub, tree.OpMul, tree.OpDiv, tree.OpMod:
		return m.evalArith(b, row)
	}
	l, err := m.kids[0].eval(b, row)
	if err != nil {
		return nil, err
	}
	r, err := m.kids[1].eval(b, row)
	if err != nil || l == nil || r == nil {
		return nil, err
	}
	return truthOfSign(m.n.Op, modelCompare(m.kids[0], m.kids[1], l, r)), nil
}

func truthOfSign(op tree.Operator, c int) bool {
	switch op {
	case tree.OpEq:
		return c == 0
	case tree.OpNe:
		return c != 0
	case tree.OpLt:
		return c < 0
	case tree.OpLe:
		return c <= 0
	case tree.OpGt:
		return c > 0
	}
	return c >= 0
}

func (m *mexpr) evalLogic(b *column.Batch, row int) (any, error) {
	decided := m.n.Op == tree.OpOr
	l, err := m.kids[0].eval(b, row)
	if err != nil || l == decided {
		return l, err
	}
	r, err := m.kids[1].eval(b, row)
	switch {
	case err != nil:
		return nil, err
	case r == decided:
		return decided, nil
	case l == nil || r == nil:
		return nil, nil
	}
	return !decided, nil
}

func (m *mexpr) evalIn(b *column.Batch, row int) (any, error) {
	if len(m.kids) == 1 {
		return false, nil
	}
	x, err := m.kids[0].eval(b, row)
	if err != nil {
		return nil, err
	}
	null := false
	for _, k := range m.kids[1:] {
		v, err := k.eval(b, row)
		switch {
		case err != nil:
			return nil, err
		case x == nil || v == nil:
			null = true
		case modelCompare(m.kids[0], k, x, v) == 0:
			return true, nil
		}
	}
	if null {
		return nil, nil
	}
	return false, nil
}

func (m *mexpr) evalNeg(b *column.Batch, row int) (any, error) {
	v, err := m.kids[0].eval(b, row)
	if err == nil && m.kids[0].t.u64() {
		v, err = m.convert(m.kids[0], v)
	}
	if v == nil || err != nil {
		return nil, err
	}
	if f, ok := v.(float64); ok {
		return -f, nil
	}
	r := new(big.Int).Neg(v.(*big.Int))
	if m.t.class != "dec" && !r.IsInt64() {
		return nil, rowFailure{m.n}
	}
	return r, nil
}

// convert brings an operand to the type in which m computes.
func (m *mexpr) convert(x *mexpr, v any) (any, error) {
	if v == nil {
		return nil, nil
	}
	switch {
	case m.t.class == "float" && x.t.class == "dec":
		f, _ := strconv.ParseFloat(v.(*big.Int).String()+"e"+strconv.Itoa(-int(x.t.s)), 64)
		return f, nil
	case m.t.class == "float" && x.t.class == "int":
		f, _ := new(big.Float).SetInt(v.(*big.Int)).Float64()
		return f, nil
	case x.t.class == "int" && m.t.class != "dec" && m.t.class != "float":
		t := mInt
		if m.t.u64() {
			t = mUint
		}
		if !t.within(v.(*big.Int)) {
			return nil, rowFailure{x.n}
		}
	case (x.t.class == "inst" || x.t.class == "dur") && (m.n.Op == tree.OpAdd || m.n.Op == tree.OpSub):
		scaled := new(big.Int).Mul(v.(*big.Int), big.NewInt(x.t.unit/m.t.unit))
		if !scaled.IsInt64() {
			return nil, rowFailure{x.n}
		}
		return scaled, nil
	}
	return v, nil
}

func (m *mexpr) evalArith(b *column.Batch, row int) (any, error) {
	var in [2]any
	for i, k := range m.kids {
		v, err := k.eval(b, row)
		if err == nil {
			v, err = m.convert(k, v)
		}
		if err != nil {
			return nil, err
		}
		in[i] = v
	}
	if in[0] == nil || in[1] == nil {
		return nil, nil
	}
	switch m.t.class {
	case "float":
		return m.floats(in[0].(float64), in[1].(float64)), nil
	case "dec":
		return m.decimals(in[0].(*big.Int), in[1].(*big.Int))
	}
	x, y, r := in[0].(*big.Int), in[1].(*big.Int), new(big.Int)
	if (m.n.Op == tree.OpDiv || m.n.Op == tree.OpMod) && y.Sign() == 0 {
		return nil, rowFailure{m.n}
	}
	switch m.n.Op {
	case tree.OpAdd:
		r.Add(x, y)
	case tree.OpSub:
		r.Sub(x, y)
	case tree.OpMul:
		r.Mul(x, y)
	case tree.OpDiv:
		r.Quo(x, y)
	case tree.OpMod:
		r.Rem(x, y)
	}
	if !m.t.within(r) {
		return nil, rowFailure{m.n}
	}
	return r, nil
}

func (m *mexpr) floats(x, y float64) float64 {
	round := func(f float64) float64 {
		if m.t == mF32 {
			return float64(float32(f))
		}
		return f
	}
	switch m.n.Op {
	case tree.OpAdd:
		return round(x + y)
	case tree.OpSub:
		return round(x - y)
	case tree.OpMul:
		return round(x * y)
	case tree.OpDiv:
		return round(x / y)
	}
	return round(math.Mod(x, y))
}

func (m *mexpr) decimals(x, y *big.Int) (any, error) {
	tens := func(n int32) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }
	fits := func(v *big.Int, digits int32) bool { return new(big.Int).Abs(v).Cmp(tens(digits)) < 0 }
	r := new(big.Int)
	if m.n.Op == tree.OpMul {
		r.Mul(x, y)
	} else {
		x = new(big.Int).Mul(x, tens(m.t.s-decOf(m.kids[0]).s))
		y = new(big.Int).Mul(y, tens(m.t.s-decOf(m.kids[1]).s))
		if !fits(x, 38) || !fits(y, 38) {
			return nil, rowFailure{m.n}
		}
		if r.Add(x, y); m.n.Op == tree.OpSub {
			r.Sub(x, y)
		}
	}
	if !fits(r, m.t.p) {
		return nil, rowFailure{m.n}
	}
	return r, nil
}

// modelCompare gives the sign of a comparison of two values that are not null.
func modelCompare(l, r *mexpr, x, y any) int {
	switch a := x.(type) {
	case bool:
		if a == y.(bool) {
			return 0
		}
		return 1
	case string:
		return strings.Compare(a, y.(string))
	}
	if (l.t.class == "dec" && r.t.class == "float" || l.t.class == "float" && r.t.class == "dec") && l.lit == r.lit {
		x, _ = (&mexpr{n: l.n, t: mF64}).convert(l, x)
		y, _ = (&mexpr{n: r.n, t: mF64}).convert(r, y)
		l, r = &mexpr{t: mF64}, &mexpr{t: mF64}
	}
	a, sa := exactly(l, r, x)
	b, sb := exactly(r, l, y)
	if a == nil || b == nil { // NaN or an infinity: order by which
		return sa - sb
	}
	return a.Cmp(b)
}

// exactly gives a value as an exact number, or nil and the rank of what is none: -inf, numbers, +inf, NaN.
func exactly(x, other *mexpr, v any) (*big.Rat, int) {
	switch a := v.(type) {
	case float64:
		switch {
		case math.IsNaN(a):
			return nil, 2
		case math.IsInf(a, 0):
			return nil, map[bool]int{true: 1, false: -1}[a > 0]
		}
		if x.lit && !other.lit && other.t.class == "dec" {
			if d, scale, ok := shortest(x); ok {
				return new(big.Rat).SetFrac(d, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)), 0
			}
		}
		return new(big.Rat).SetFloat64(a), 0
	case *big.Int:
		r := new(big.Rat).SetInt(a)
		if x.t.class == "dec" {
			return r.Quo(r, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(x.t.s)), nil))), 0
		}
		return r.Mul(r, new(big.Rat).SetInt64(max(x.t.unit, 1))), 0
	}
	panic(fmt.Sprintf("no number: %T", v))
}

// modelValue reads a value of a column.
func modelValue(c *column.Column, i int) any {
	if c.IsNull(i) {
		return nil
	}
	switch c.Kind {
	case column.Bool:
		return c.Bool(i)
	case column.Bytes:
		return string(c.Bytes(i))
	case column.Float32:
		return float64(column.Values[float32](c)[i])
	case column.Float64:
		return column.Values[float64](c)[i]
	case column.Uint64:
		return new(big.Int).SetUint64(column.Values[uint64](c)[i])
	case column.Decimal:
		w := column.View[[2]uint64](c.Data)[i]
		v := new(big.Int).Lsh(big.NewInt(int64(w[1])), 64)
		return v.Add(v, new(big.Int).SetUint64(w[0]))
	}
	return big.NewInt(map[column.Kind]func() int64{
		column.Int8:   func() int64 { return int64(column.Values[int8](c)[i]) },
		column.Int16:  func() int64 { return int64(column.Values[int16](c)[i]) },
		column.Int32:  func() int64 { return int64(column.Values[int32](c)[i]) },
		column.Int64:  func() int64 { return column.Values[int64](c)[i] },
		column.Uint8:  func() int64 { return int64(c.Data[i]) },
		column.Uint16: func() int64 { return int64(column.Values[uint16](c)[i]) },
		column.Uint32: func() int64 { return int64(column.Values[uint32](c)[i]) },
	}[c.Kind]())
}

// sameValue compares values of the model; all NaN are one.
func sameValue(a, b any) bool {
	switch x := a.(type) {
	case *big.Int:
		y, ok := b.(*big.Int)
		return ok && x.Cmp(y) == 0
	case float64:
		y, ok := b.(float64)
		return ok && (x == y && math.Signbit(x) == math.Signbit(y) || x != x && y != y)
	}
	return a == b
}

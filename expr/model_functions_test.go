package expr

import (
	"encoding/json"
	"math"
	"math/big"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/tree"
)

// The functions in the model: one row at a time, by the standard library.

var mText = mtype{class: "text"}

// typeCall gives the type of a function's result.
func (m *mexpr) typeCall() mtype {
	switch m.n.Name {
	case "contains", "starts_with", "ends_with", "like", "regexp_match":
		return mBool
	case "length", "extract", "to_epoch":
		return mInt
	case "date_trunc":
		return m.kids[1].t
	case "from_epoch":
		return mtype{class: "inst", unit: epochUnit(m.kids[1].v.(string)), zone: "UTC"}
	case "coalesce", "nullif":
		return m.kids[0].t
	case "abs", "floor", "ceil", "round":
		t := m.kids[0].t
		if t.class == "int" && !t.u64() {
			return mInt
		}
		digits := int64(0)
		if m.n.Name == "round" && len(m.kids) > 1 {
			digits = m.kids[1].v.(*big.Int).Int64()
		}
		switch {
		case t.class != "dec" || m.n.Name == "abs" || m.n.Name == "round" && int32(digits) >= t.s:
		case m.n.Name == "round":
			s := max(int32(digits), 0)
			t = mtype{class: "dec", s: s, p: min(t.p-t.s+s+1, 38)}
		default:
			t = mtype{class: "dec", p: t.p - t.s + 1}
		}
		return t
	}
	return mText
}

func epochUnit(name string) int64 {
	return map[string]int64{"s": 1e9, "ms": 1e6, "us": 1e3, "ns": 1}[name]
}

// evalLazy gives case, coalesce and nullif.
func (m *mexpr) evalLazy(b *column.Batch, row int) (any, error) {
	switch m.n.Name {
	case "coalesce":
		for _, k := range m.kids {
			if v, err := k.eval(b, row); v != nil || err != nil {
				return v, err
			}
		}
		return nil, nil
	case "nullif":
		x, err := m.kids[0].eval(b, row)
		if err != nil {
			return nil, err
		}
		y, err := m.kids[1].eval(b, row)
		if err != nil || x == nil || y != nil && modelCompare(m.kids[0], m.kids[1], x, y) == 0 {
			return nil, err
		}
		return x, nil
	}
	kids := m.kids
	var operand any
	if m.n.Op == tree.OpSwitch {
		var err error
		if operand, err = kids[0].eval(b, row); err != nil {
			return nil, err
		}
		kids = kids[1:]
	}
	for ; len(kids) > 1; kids = kids[2:] {
		c, err := kids[0].eval(b, row)
		if err != nil {
			return nil, err
		}
		if m.n.Op == tree.OpSwitch {
			c = operand != nil && c != nil && modelCompare(m.kids[0], kids[0], operand, c) == 0
		}
		if c == true {
			return kids[1].eval(b, row)
		}
	}
	if len(kids) == 1 {
		return kids[0].eval(b, row)
	}
	return nil, nil
}

// evalCall gives a function of operands that are all there.
func (m *mexpr) evalCall(b *column.Batch, row int) (any, error) {
	var args []any
	null := false
	for _, k := range m.kids {
		v, err := k.eval(b, row)
		if err == nil && k.t.u64() && m.n.Name != "abs" && m.n.Name != "floor" && m.n.Name != "ceil" && m.n.Name != "round" && v != nil && !v.(*big.Int).IsInt64() {
			err = rowFailure{k.n}
		}
		if err != nil {
			return nil, err
		}
		args, null = append(args, v), null || v == nil
	}
	if null {
		return nil, nil
	}
	v, ok := m.function(args)
	if !ok {
		return nil, rowFailure{m.n}
	}
	return v, nil
}

func (m *mexpr) function(args []any) (v any, ok bool) {
	text := func(i int) string { return args[i].(string) }
	num := func(i int) int64 { return args[i].(*big.Int).Int64() }
	switch m.n.Name {
	case "lower", "upper":
		return changeCase(text(0), m.n.Name == "upper"), true
	case "trim", "ltrim", "rtrim":
		set := " \t\n\v\f\r\u0085\u00A0"
		if len(args) > 1 {
			set = text(1)
		}
		s := chars(text(0))
		in := func(c string) bool {
			r, n := utf8.DecodeRuneInString(c)
			return !(r == utf8.RuneError && n == 1) && strings.ContainsRune(set, r)
		}
		for m.n.Name != "rtrim" && len(s) > 0 && in(s[0]) {
			s = s[1:]
		}
		for m.n.Name != "ltrim" && len(s) > 0 && in(s[len(s)-1]) {
			s = s[:len(s)-1]
		}
		return strings.Join(s, ""), true
	case "length":
		return big.NewInt(int64(len(chars(text(0))))), true
	case "concat":
		s := ""
		for i := range args {
			s += text(i)
		}
		return s, true
	case "substr":
		s := ""
		end := new(big.Int).SetInt64(math.MaxInt64)
		if len(args) > 2 {
			if num(2) < 0 {
				return nil, false
			}
			end.Add(big.NewInt(num(1)), big.NewInt(num(2)))
		}
		for i, c := range chars(text(0)) {
			if at := int64(i + 1); at >= num(1) && big.NewInt(at).Cmp(end) < 0 {
				s += c
			}
		}
		return s, true
	case "contains":
		return strings.Contains(text(0), text(1)), true
	case "starts_with":
		return strings.HasPrefix(text(0), text(1)), true
	case "ends_with":
		return strings.HasSuffix(text(0), text(1)), true
	case "replace":
		if text(1) == "" {
			return text(0), true
		}
		return strings.ReplaceAll(text(0), text(1), text(2)), true
	case "split_part":
		if text(1) == "" || num(2) == 0 {
			return nil, false
		}
		parts := strings.Split(text(0), text(1))
		n := num(2) - 1
		if n < 0 {
			n += int64(len(parts)) + 1
		}
		if n < 0 || n >= int64(len(parts)) {
			return nil, true
		}
		return parts[n], true
	case "like":
		return likeModel(chars(text(0)), chars(text(1))), true
	case "regexp_match", "regexp_extract":
		re, err := regexp.Compile(text(1))
		if err != nil {
			return nil, false
		}
		if m.n.Name == "regexp_match" {
			return re.MatchString(text(0)), true
		}
		g := 0
		if len(args) > 2 {
			g = int(num(2))
		}
		at := re.FindStringSubmatchIndex(text(0))
		if g > re.NumSubexp() {
			return nil, false
		}
		if at == nil || at[2*g] < 0 {
			return nil, true
		}
		return text(0)[at[2*g]:at[2*g+1]], true
	case "json_get", "json_query":
		return jsonModel(text(0), text(1), m.n.Name == "json_get")
	}
	return m.moreFunctions(args)
}

func (m *mexpr) moreFunctions(args []any) (v any, ok bool) {
	switch m.n.Name {
	case "from_epoch":
		return args[0], true
	case "to_epoch":
		return fits64(floorTo(args[0].(*big.Int), m.kids[0].t.unit, epochUnit(args[1].(string))))
	case "extract", "date_trunc":
		name := m.kids[1].t.zone
		if len(args) > 2 {
			name = args[2].(string)
		}
		zone, _ := tree.LoadZone(name)
		if m.kids[1].t.day {
			zone = time.UTC
		}
		at := args[1].(*big.Int)
		if m.n.Name == "extract" {
			return big.NewInt(extractModel(args[0].(string), at, m.kids[1].t.unit, zone)), true
		}
		v, ok := truncModel(args[0].(string), at, m.kids[1].t.unit, zone)
		return v, ok && m.kids[1].t.holds(v)
	}
	digits := 0
	if len(args) > 1 {
		digits = int(args[1].(*big.Int).Int64())
	}
	switch x := args[0].(type) {
	case float64:
		f := map[string]func(float64) float64{"abs": math.Abs, "floor": math.Floor, "ceil": math.Ceil, "round": func(v float64) float64 {
			if digits < 0 {
				p := math.Pow10(-digits)
				return math.Round(v/p) * p
			}
			if r := math.Round(v*math.Pow10(digits)) / math.Pow10(digits); math.Abs(v) < 1<<52 && !math.IsInf(r, 0) && !math.IsNaN(r) {
				return r
			}
			return v
		}}[m.n.Name](x)
		if m.t == mF32 {
			f = float64(float32(f))
		}
		return f, true
	case *big.Int:
		from := m.kids[0].t
		if m.n.Name == "abs" {
			r := new(big.Int).Abs(x)
			return r, from.class == "dec" || m.t.within(r)
		}
		r := new(big.Rat).SetFrac(x, tens(from.s))
		scale, mode := int32(0), m.n.Name
		if mode == "round" {
			scale = min(int32(digits), from.s)
		}
		whole := roundRat(new(big.Rat).Mul(r, powRat(scale)), mode)
		out := new(big.Rat).Mul(new(big.Rat).SetInt(whole), powRat(m.t.s-scale))
		n := out.Num()
		if m.t.class == "dec" {
			return n, new(big.Int).Abs(n).Cmp(tens(m.t.p)) < 0 || m.n.Name != "round" || scale == from.s
		}
		return n, m.t.within(n)
	}
	panic(m.n.Name)
}

func tens(n int32) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

func powRat(n int32) *big.Rat {
	if n < 0 {
		return new(big.Rat).SetFrac(big.NewInt(1), tens(-n))
	}
	return new(big.Rat).SetInt(tens(n))
}

// roundRat rounds a number: floor, ceil, trunc, or round with halves away from zero.
func roundRat(r *big.Rat, mode string) *big.Int {
	q, rest := new(big.Int).DivMod(r.Num(), r.Denom(), new(big.Int)) // down
	up := false
	switch mode {
	case "ceil":
		up = rest.Sign() != 0
	case "trunc":
		up = rest.Sign() != 0 && r.Sign() < 0
	case "round":
		half := new(big.Int).Lsh(rest, 1).Cmp(r.Denom())
		up = half > 0 || half == 0 && r.Sign() > 0
	}
	if up {
		q.Add(q, big.NewInt(1))
	}
	return q
}

// chars cuts a text into characters; what is no UTF-8 into bytes.
func chars(s string) (out []string) {
	for len(s) > 0 {
		_, n := utf8.DecodeRuneInString(s)
		out, s = append(out, s[:n]), s[n:]
	}
	return out
}

func changeCase(s string, up bool) (out string) {
	for _, c := range chars(s) {
		r, n := utf8.DecodeRuneInString(c)
		switch {
		case r == utf8.RuneError && n == 1:
			out += c
		case up:
			out += string(unicode.ToUpper(r))
		default:
			out += string(unicode.ToLower(r))
		}
	}
	return out
}

func likeModel(s, p []string) bool {
	if len(p) == 0 {
		return len(s) == 0
	}
	switch {
	case p[0] == "%":
		return likeModel(s, p[1:]) || len(s) > 0 && likeModel(s[1:], p)
	case p[0] == "_":
		return len(s) > 0 && likeModel(s[1:], p[1:])
	case p[0] == `\` && len(p) > 1:
		p = p[1:]
	}
	return len(s) > 0 && s[0] == p[0] && likeModel(s[1:], p[1:])
}

// jsonModel follows a path of the form $.a.b[0] by package json.
func jsonModel(doc, path string, text bool) (any, bool) {
	if !json.Valid([]byte(doc)) {
		return nil, false
	}
	raw := json.RawMessage(doc)
	for _, step := range regexp.MustCompile(`\.\w+|\[\d+\]`).FindAllString(path, -1) {
		var object map[string]json.RawMessage
		var list []json.RawMessage
		if step[0] == '.' {
			_ = json.Unmarshal(raw, &object)
			if raw = object[step[1:]]; raw == nil {
				return nil, true
			}
			continue
		}
		_ = json.Unmarshal(raw, &list)
		n, _ := strconv.Atoi(strings.Trim(step, "[]"))
		if n >= len(list) {
			return nil, true
		}
		raw = list[n]
	}
	s := strings.TrimSpace(string(raw))
	switch {
	case text && s == "null":
		return nil, true
	case text && s[0] == '"':
		var plain string
		_ = json.Unmarshal(raw, &plain)
		return plain, true
	}
	return s, true
}

func floorTo(v *big.Int, from, to int64) *big.Int {
	ns := new(big.Int).Mul(v, big.NewInt(from))
	return new(big.Int).Div(ns, big.NewInt(to)) // the divisor is positive: rounded down
}

func fits64(v *big.Int) (any, bool) { return v, v.IsInt64() }

// holds tells whether a temporal type holds a count.
func (t mtype) holds(v *big.Int) bool {
	if t.unit == 86400e9 || t.class == "tod" && t.unit >= 1e6 {
		return v.IsInt64() && v.Int64() == int64(int32(v.Int64()))
	}
	return v.IsInt64()
}

// instantModel gives an instant as a time; big ones are out of the range in which zones and dates are compared.
func instantModel(v *big.Int, unit int64) (sec, nanos int64) {
	s := floorTo(v, unit, 1e9)
	return s.Int64(), new(big.Int).Sub(new(big.Int).Mul(v, big.NewInt(unit)), new(big.Int).Mul(s, big.NewInt(1e9))).Int64()
}

func extractModel(unit string, v *big.Int, of int64, zone *time.Location) int64 {
	sec, nanos := instantModel(v, of)
	at := time.Unix(sec, nanos).In(zone)
	isoYear, isoWeek := at.ISOWeek()
	return map[string]int64{"year": int64(at.Year()), "month": int64(at.Month()), "day": int64(at.Day()), "hour": int64(at.Hour()), "minute": int64(at.Minute()),
		"second": int64(at.Second()), "millisecond": nanos / 1e6, "microsecond": nanos / 1e3, "nanosecond": nanos, "dow": int64(at.Weekday()), "isodow": int64(at.Weekday()+6)%7 + 1,
		"doy": int64(at.YearDay()), "week": int64(isoWeek), "isoyear": int64(isoYear), "quarter": int64(at.Month()-1)/3 + 1, "epoch": sec}[unit]
}

// localModel gives what a clock shows, in seconds as if it were of UTC.
func localModel(t int64, zone *time.Location) int64 {
	_, offset := time.Unix(t, 0).In(zone).Zone()
	return t + int64(offset)
}

func truncModel(unit string, v *big.Int, of int64, zone *time.Location) (*big.Int, bool) {
	if ns := map[string]int64{"nanosecond": 1, "microsecond": 1e3, "millisecond": 1e6, "second": 1e9}[unit]; ns > 0 {
		return floorTo(floorTo(v, of, max(ns, of)), max(ns, of), of), true
	}
	sec, _ := instantModel(v, of)
	l := time.Unix(localModel(sec, zone), 0).UTC()
	y, mo, d := l.Date()
	switch unit {
	case "minute":
		l = l.Add(-time.Duration(l.Second()) * time.Second)
	case "hour":
		l = l.Add(-time.Duration(l.Minute()*60+l.Second()) * time.Second)
	case "day":
		l = time.Date(y, mo, d, 0, 0, 0, 0, time.UTC)
	case "week":
		l = time.Date(y, mo, d-int(l.Weekday()+6)%7, 0, 0, 0, 0, time.UTC)
	case "month":
		l = time.Date(y, mo, 1, 0, 0, 0, 0, time.UTC)
	case "quarter":
		l = time.Date(y, (mo-1)/3*3+1, 1, 0, 0, 0, 0, time.UTC)
	case "year":
		l = time.Date(y, 1, 1, 0, 0, 0, 0, time.UTC)
	}
	found := showing(l.Unix(), zone)
	for len(found) > 0 && found[len(found)-1] > sec {
		found = found[:len(found)-1]
	}
	at := afterGap(l.Unix(), zone)
	if len(found) > 0 {
		at = found[len(found)-1]
	}
	return floorTo(big.NewInt(at), 1e9, of), true
}

// showing gives the instants at which a clock shows a time, in order.
func showing(local int64, zone *time.Location) (at []int64) {
	seen := map[int64]bool{}
	for t := local - 2*86400; t <= local+2*86400; t += 900 {
		offset := localModel(t, zone) - t
		if x := local - offset; localModel(x, zone) == local && !seen[x] {
			seen[x] = true
			at = append(at, x)
		}
	}
	sort.Slice(at, func(i, j int) bool { return at[i] < at[j] })
	return at
}

// afterGap gives the first instant after clocks were put forward over a time.
func afterGap(local int64, zone *time.Location) int64 {
	from := local - 86400
	return from + int64(sort.Search(2*86400, func(i int) bool { return localModel(from+int64(i), zone) > local }))
}

// castModel gives a value as one of another type; false where it does not fit.
func castModel(v any, from, to mtype, toType arrow.DataType) (any, bool) {
	if s, ok := v.(string); ok && to.class != "text" {
		return readModel(strings.Trim(s, " \t\n\v\f\r"), to, toType)
	}
	switch to.class {
	case "text":
		return textModel(v, from)
	case "bool":
		if b, ok := v.(bool); ok {
			return b, true
		}
		return v.(*big.Int).Sign() != 0, true
	}
	if b, ok := v.(bool); ok {
		v = big.NewInt(map[bool]int64{true: 1}[b])
		from = mInt
	}
	temporal := func(t mtype) bool { return t.class == "inst" || t.class == "tod" || t.class == "dur" }
	if temporal(from) && temporal(to) {
		return timesModel(v.(*big.Int), from, to)
	}
	if to.class == "float" {
		var f float64
		switch x := v.(type) {
		case float64:
			f = x
		case *big.Int:
			f, _ = strconv.ParseFloat(x.String()+"e"+strconv.Itoa(-int(from.s)), 64)
		}
		if to == mF32 {
			n := float64(float32(f))
			return n, !math.IsInf(n, 0) || math.IsInf(f, 0)
		}
		return f, true
	}
	var r *big.Rat
	switch x := v.(type) {
	case float64:
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return nil, false
		}
		r = new(big.Rat).SetFloat64(x)
		if to.class == "dec" {
			bits := 64
			if from == mF32 {
				bits = 32
			}
			r, _ = new(big.Rat).SetString(strconv.FormatFloat(x, 'g', -1, bits))
		}
	case *big.Int:
		r = new(big.Rat).SetFrac(x, tens(from.s))
	}
	if to.class == "dec" {
		n := roundRat(new(big.Rat).Mul(r, powRat(to.s)), "round")
		return n, new(big.Int).Abs(n).Cmp(tens(to.p)) < 0
	}
	n := roundRat(r, "trunc")
	return n, intHolds(n, to)
}

// intHolds tells whether an integer type, or a temporal one, holds a number.
func intHolds(n *big.Int, t mtype) bool {
	if t.class != "int" {
		return t.holds(n)
	}
	bits, _ := strconv.Atoi(strings.Trim(t.bits, "ui"))
	if t.unsigned() {
		return n.Sign() >= 0 && n.BitLen() <= bits
	}
	return new(big.Int).Abs(n).BitLen() < bits || n.Cmp(new(big.Int).Neg(new(big.Int).Lsh(big.NewInt(1), uint(bits-1)))) == 0
}

func timesModel(v *big.Int, from, to mtype) (any, bool) {
	stamped := from.class == "inst" && !from.day
	sec, nanos := instantModel(v, from.unit)
	name := to.zone
	if stamped {
		name = from.zone
	}
	zone, _ := tree.LoadZone(name)
	switch {
	case from.class == "inst" && to.class == "tod":
		if stamped {
			sec = localModel(sec, zone)
		}
		sec -= new(big.Int).Div(big.NewInt(sec), big.NewInt(86400)).Int64() * 86400
	case stamped && to.day:
		sec, nanos = new(big.Int).Div(big.NewInt(localModel(sec, zone)), big.NewInt(86400)).Int64()*86400, 0
	case from.day && !to.day:
		sec = firstShowing(sec, zone)
	}
	n := floorTo(new(big.Int).Add(new(big.Int).Mul(big.NewInt(sec), big.NewInt(1e9)), big.NewInt(nanos)), 1, to.unit)
	return n, to.holds(n)
}

func firstShowing(local int64, zone *time.Location) int64 {
	if zone == time.UTC {
		return local
	}
	if found := showing(local, zone); len(found) > 0 {
		return found[0]
	}
	return afterGap(local, zone)
}

// textModel writes a value.
func textModel(v any, from mtype) (any, bool) {
	switch x := v.(type) {
	case bool:
		return strconv.FormatBool(x), true
	case string:
		return x, true
	case float64:
		bits := 64
		if from == mF32 {
			bits = 32
		}
		return strconv.FormatFloat(x, 'g', -1, bits), true
	}
	n := v.(*big.Int)
	switch from.class {
	case "dec":
		return new(big.Rat).SetFrac(n, tens(from.s)).FloatString(int(from.s)), true
	case "dur":
		ns := new(big.Int).Mul(n, big.NewInt(from.unit))
		if ns.IsInt64() {
			return time.Duration(ns.Int64()).String(), true
		}
		sec := new(big.Int).Abs(floorTo(n, from.unit, 1e9))
		if n.Sign() < 0 && from.unit < 1e9 {
			panic("not drawn")
		}
		h, rest := new(big.Int).QuoRem(sec, big.NewInt(3600), new(big.Int))
		part := time.Duration(rest.Int64()) * time.Second
		if from.unit < 1e9 {
			_, nanos := instantModel(n, from.unit)
			part += time.Duration(nanos)
		}
		text := h.String() + "h" + strings.TrimPrefix((part+time.Hour).String(), "1h")
		if n.Sign() < 0 {
			text = "-" + text
		}
		return text, true
	case "inst", "tod":
		sec, nanos := instantModel(n, from.unit)
		if sec < -1e12 || sec > 1e12 {
			return nil, false
		}
		zone, _ := tree.LoadZone(from.zone)
		at := time.Unix(sec, nanos).In(zone)
		switch {
		case from.class == "tod":
			return at.UTC().Format("15:04:05.999999999"), sec >= 0 && sec < 86400
		case at.Year() < 0 || at.Year() > 9999:
			return nil, false
		case from.day && sec%86400 == 0 && nanos == 0:
			return at.Format("2006-01-02"), true
		case from.zone == "":
			return at.Format("2006-01-02T15:04:05.999999999"), true
		}
		if _, offset := at.Zone(); offset%60 != 0 { // as it was before there were zones
			return at.Format("2006-01-02T15:04:05.999999999Z07:00:00"), true
		}
		return at.Format("2006-01-02T15:04:05.999999999Z07:00"), true
	}
	return n.String(), true
}

var (
	wholeText   = regexp.MustCompile(`^[+-]?\d+$`)
	decimalText = regexp.MustCompile(`^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$`)
)

// readModel reads a text as a value of a type.
func readModel(s string, to mtype, toType arrow.DataType) (any, bool) {
	switch to.class {
	case "bool":
		v, ok := map[string]bool{"true": true, "t": true, "1": true, "yes": true, "false": false, "f": false, "0": false, "no": false}[strings.ToLower(s)]
		return v, ok
	case "float":
		bits := 64
		if to == mF32 {
			bits = 32
		}
		f, err := strconv.ParseFloat(s, bits)
		return f, err == nil
	case "int":
		n, ok := new(big.Int).SetString(strings.TrimPrefix(s, "+"), 10)
		return n, ok && wholeText.MatchString(s) && intHolds(n, to)
	case "dec":
		if !decimalText.MatchString(s) {
			return nil, false
		}
		r, ok := new(big.Rat).SetString(strings.TrimPrefix(s, "+"))
		if !ok {
			return nil, false
		}
		n := roundRat(r.Mul(r, powRat(to.s)), "round")
		return n, new(big.Int).Abs(n).Cmp(tens(to.p)) < 0
	case "dur":
		d, err := time.ParseDuration(s)
		return floorTo(big.NewInt(int64(d)), 1, to.unit), err == nil
	case "tod":
		for _, layout := range []string{"15:04:05.999999999", "15:04"} {
			if at, err := time.Parse(layout, s); err == nil && s[2] == ':' {
				sec := at.Sub(time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC))
				return floorTo(big.NewInt(int64(sec)), 1, to.unit), true
			}
		}
		return nil, false
	}
	for _, layout := range []string{"2006-01-02T15:04:05.999999999Z07:00", "2006-01-02 15:04:05.999999999Z07:00"} {
		if at, err := time.Parse(layout, s); err == nil {
			ns := new(big.Int).Add(new(big.Int).Mul(big.NewInt(at.Unix()), big.NewInt(1e9)), big.NewInt(int64(at.Nanosecond())))
			n := floorTo(ns, 1, to.unit)
			return n, to.holds(n)
		}
	}
	for _, layout := range []string{"2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999", "2006-01-02"} {
		if at, err := time.Parse(layout, s); err == nil {
			zone, _ := tree.LoadZone(to.zone)
			n := floorTo(new(big.Int).Add(new(big.Int).Mul(big.NewInt(firstShowing(at.Unix(), zone)), big.NewInt(1e9)), big.NewInt(int64(at.Nanosecond()))), 1, to.unit)
			return n, to.holds(n)
		}
	}
	return nil, false
}

// evalCast gives cast and try_cast.
func (m *mexpr) evalCast(b *column.Batch, row int) (any, error) {
	v, err := m.kids[0].eval(b, row)
	if v == nil || err != nil {
		return nil, err
	}
	r, ok := castModel(v, m.kids[0].t, m.t, m.n.Type)
	switch {
	case ok:
		return r, nil
	case m.n.Op == tree.OpTryCast:
		return nil, nil
	}
	return nil, rowFailure{m.n}
}

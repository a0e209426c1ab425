package window

import (
	"cmp"
	"fmt"
	"math"
	"math/big"
	"sort"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
)

// text writes a value as something to compare: equal keys and equal results have equal texts.
func text(c *column.Column, i int) string {
	if c.IsNull(i) {
		return "null"
	}
	switch c.Kind {
	case column.Bool:
		return fmt.Sprint(c.Bool(i))
	case column.Bytes:
		return fmt.Sprintf("%q", c.Bytes(i))
	case column.Decimal:
		return bigDecimal(c, i).String()
	case column.Float64:
		return floatText(column.Values[float64](c)[i])
	case column.Float32:
		return floatText(float64(column.Values[float32](c)[i]))
	case column.Int8:
		return fmt.Sprint(column.Values[int8](c)[i])
	case column.Int16:
		return fmt.Sprint(column.Values[int16](c)[i])
	case column.Int32:
		return fmt.Sprint(column.Values[int32](c)[i])
	case column.Uint8:
		return fmt.Sprint(column.Values[uint8](c)[i])
	case column.Uint16:
		return fmt.Sprint(column.Values[uint16](c)[i])
	case column.Uint32:
		return fmt.Sprint(column.Values[uint32](c)[i])
	case column.Uint64:
		return fmt.Sprint(column.Values[uint64](c)[i])
	}
	return fmt.Sprint(column.Values[int64](c)[i])
}

func floatText(f float64) string {
	if f == 0 {
		return "0" // −0 is 0
	}
	return fmt.Sprint(f)
}

func bigDecimal(c *column.Column, i int) *big.Int {
	d := column.View[[2]uint64](c.Data)[i]
	v := big.NewInt(int64(d[1]))
	return v.Add(v.Lsh(v, 64), new(big.Int).SetUint64(d[0]))
}

// model is a window operator that takes one row at a time and keeps every value.
type model struct {
	size, offset int64
	step         int64 // how far apart windows begin
	lateness     int64
	limit        int
	watermark    int64
	keys         []string
	aggs         []Aggregate
	open         map[int64]map[string][]modelRow
	evicted      map[int64]bool
	results      []string
	late, nulls  int
	lost, gaps   int
	changed      map[string]windowKey // of windows that have fired, by the batch
	shown        map[string]bool      // keys of windows that have a result
}

type windowKey struct {
	start int64
	key   string
}

type modelRow struct {
	b   *column.Batch // never released while the model lives
	row int
}

func newModel(size, offset int64, limit int, keys []string, aggs []Aggregate) *model {
	return &model{size: size, step: size, offset: offset, limit: limit, changed: map[string]windowKey{}, shown: map[string]bool{}, watermark: math.MinInt64, keys: keys, aggs: aggs,
		open: map[int64]map[string][]modelRow{}, evicted: map[int64]bool{}}
}

func (m *model) row(b *column.Batch, row int, t int64, valid bool, j int64) {
	if !valid {
		m.nulls++
		return
	}
	last := t - ((t-m.offset)%m.step+m.step)%m.step
	if last+m.size <= t {
		m.gaps++
		return
	}
	if last+m.size+m.lateness <= max(j, m.watermark) {
		m.late++
		return
	}
	var key []string
	for _, k := range m.keys {
		key = append(key, text(b.Column(k), row))
	}
	k := strings.Join(key, "|")
	for start := last; start+m.size > t && start+m.size+m.lateness > max(j, m.watermark); start -= m.step {
		m.add(b, row, start, k)
	}
}

// add adds a row to one window.
func (m *model) add(b *column.Batch, row int, start int64, k string) {
	if start+m.size <= m.watermark {
		m.changed[fmt.Sprint(start, k)] = windowKey{start, k}
	}
	for {
		if m.evicted[start] {
			m.lost++
			return
		}
		live := 0
		for _, w := range m.open {
			live += len(w)
		}
		if m.open[start][k] != nil || m.limit == 0 || live < m.limit {
			break
		}
		oldest := int64(math.MaxInt64)
		for s := range m.open {
			oldest = min(oldest, s)
		}
		for _, rows := range m.open[oldest] {
			m.lost += len(rows)
		}
		delete(m.open, oldest)
		m.evicted[oldest] = true
	}
	if m.open[start] == nil {
		m.open[start] = map[string][]modelRow{}
	}
	m.open[start][k] = append(m.open[start][k], modelRow{b, row})
}

// emit writes the result of a key of a window.
func (m *model) emit(start int64, k string) {
	lines := []string{fmt.Sprintf("%s|%d|%d", k, start, start+m.size)}
	for _, a := range m.aggs {
		var next []string
		for _, v := range m.aggregate(a, m.open[start][k]) {
			for _, l := range lines {
				next = append(next, l+"|"+v)
			}
		}
		lines = next
	}
	name := fmt.Sprint(start, k)
	for _, line := range lines {
		if m.lateness > 0 {
			line += fmt.Sprintf("|%v", m.shown[name])
		}
		m.results = append(m.results, line)
	}
	m.shown[name] = true
}

// correct ends a batch.
func (m *model) correct() {
	for _, c := range m.changed {
		m.emit(c.start, c.key)
	}
	clear(m.changed)
}

func (m *model) advance(w int64) {
	if w <= m.watermark {
		return
	}
	var starts []int64
	for s := range m.open {
		if s+m.size <= w && s+m.size > m.watermark {
			starts = append(starts, s)
		}
	}
	m.watermark = w
	sort.Slice(starts, func(i, j int) bool { return starts[i] < starts[j] })
	for _, s := range starts {
		for k := range m.open[s] {
			m.emit(s, k)
		}
	}
	for s := range m.open {
		if w == math.MaxInt64 || s+m.size+m.lateness <= w {
			delete(m.open, s)
		}
	}
	for s := range m.evicted {
		if s+m.size <= w {
			delete(m.evicted, s)
		}
	}
}

// aggregate gives a result, or several where there are ties.
func (m *model) aggregate(a Aggregate, rows []modelRow) []string {
	var chosen []modelRow
	for _, r := range rows {
		keep := true
		for _, w := range a.where {
			c := r.b.Column(w.Columns()[0])
			keep = keep && c.IsNull(r.row) == strings.Contains(w.String(), "is null")
		}
		if keep {
			chosen = append(chosen, r)
		}
	}
	if a.fn != "first" && a.fn != "last" && !a.arg() {
		return []string{m.simple(a, chosen)}
	}
	by := func(r modelRow, name string) *column.Column { return r.b.Column(name) }
	compare := func(name string, r, s modelRow) int {
		x, y := by(r, name), by(s, name)
		switch a, b := x.IsNull(r.row), y.IsNull(s.row); {
		case a && b:
			return 0
		case a:
			return -1
		case b:
			return 1
		}
		return order(x, r.row, y, s.row)
	}
	least := a.fn == "first" || a.fn == "argmin"
	name := a.args[0].(string)
	values := []string{name}
	if a.arg() {
		values = nil
		for _, v := range a.args[1:] {
			values = append(values, v.(string))
		}
	}
	var best []modelRow
	for _, r := range chosen {
		if by(r, name).IsNull(r.row) {
			continue
		}
		o := 1
		if len(best) > 0 {
			o = compareRows(r, best[0], a, least, compare)
		}
		switch {
		case o > 0:
			best = []modelRow{r}
		case o == 0 && a.ties:
			best = append(best, r)
		}
	}
	var out []string
	for _, r := range best {
		var f []string
		for _, v := range values {
			f = append(f, text(by(r, v), r.row))
		}
		out = append(out, strings.Join(f, "|"))
	}
	if out == nil {
		out = []string{strings.TrimSuffix(strings.Repeat("null|", len(values)), "|")}
	}
	return out
}

// compareRows says whether r is to replace s.
func compareRows(r, s modelRow, a Aggregate, least bool, compare func(name string, r, s modelRow) int) int {
	sign := 1
	if least {
		sign = -1
	}
	cmpTime := cmp.Compare(r.b.Times[r.row], s.b.Times[s.row])
	if !a.arg() {
		return cmp.Or(sign*cmpTime, sign*compare(a.args[0].(string), r, s))
	}
	o := sign * compare(a.args[0].(string), r, s)
	if a.ties {
		return o
	}
	o = cmp.Or(o, -cmpTime)
	for _, v := range a.args[1:] {
		o = cmp.Or(o, -compare(v.(string), r, s))
	}
	return o
}

func (m *model) simple(a Aggregate, rows []modelRow) string {
	if len(a.args) == 0 {
		return fmt.Sprint(len(rows))
	}
	var vals []modelRow
	for _, r := range rows {
		if !r.b.Column(a.args[0].(string)).IsNull(r.row) {
			vals = append(vals, r)
		}
	}
	if a.fn == "count" {
		return fmt.Sprint(len(vals))
	}
	if len(vals) == 0 {
		return "null"
	}
	if a.fn == "min" || a.fn == "max" {
		best := vals[0]
		for _, r := range vals[1:] {
			o := order(r.b.Column(a.args[0].(string)), r.row, best.b.Column(a.args[0].(string)), best.row)
			if o < 0 && a.fn == "min" || o > 0 && a.fn == "max" {
				best = r
			}
		}
		return text(best.b.Column(a.args[0].(string)), best.row)
	}
	return sumText(a, vals)
}

func sumText(a Aggregate, vals []modelRow) string {
	c := vals[0].b.Column(a.args[0].(string))
	n := big.NewInt(int64(len(vals)))
	switch c.Kind {
	case column.Float32, column.Float64:
		s := 0.0
		for _, r := range vals {
			s += floatOf(r.b.Column(a.args[0].(string)), r.row)
		}
		if a.fn == "avg" {
			return floatText(s / float64(len(vals)))
		}
		if c.Kind == column.Float32 {
			s = float64(float32(s))
		}
		return floatText(s)
	case column.Decimal:
		s := new(big.Int)
		for _, r := range vals {
			s.Add(s, bigDecimal(r.b.Column(a.args[0].(string)), r.row))
		}
		if a.fn == "sum" {
			return fits(s, new(big.Int).Neg(ten38()), ten38())
		}
		d := c.Type.(*arrow.Decimal128Type)
		s.Mul(s, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(min(38, d.Precision+4)-d.Precision)), nil))
		half := new(big.Int).Abs(s)
		half.Add(half.Lsh(half, 1), n)
		half.Quo(half, n.Lsh(n, 1))
		if s.Sign() < 0 {
			half.Neg(half)
		}
		return half.String()
	}
	s := new(big.Int)
	for _, r := range vals {
		v, _ := new(big.Int).SetString(text(r.b.Column(a.args[0].(string)), r.row), 10)
		s.Add(s, v)
	}
	if a.fn == "avg" {
		f, _ := new(big.Float).SetInt(s).Float64()
		return floatText(f / float64(len(vals)))
	}
	if k := c.Kind; k == column.Uint8 || k == column.Uint16 || k == column.Uint32 || k == column.Uint64 {
		return fits(s, big.NewInt(-1), new(big.Int).Lsh(big.NewInt(1), 64))
	}
	return fits(s, new(big.Int).Sub(big.NewInt(math.MinInt64), big.NewInt(1)), new(big.Int).Lsh(big.NewInt(1), 63))
}

func ten38() *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(38), nil) }

// fits gives null where not lo < s < hi: what Skip makes of it.
func fits(s, lo, hi *big.Int) string {
	if s.Cmp(lo) <= 0 || s.Cmp(hi) >= 0 {
		return "null"
	}
	return s.String()
}

func floatOf(c *column.Column, i int) float64 {
	if c.Kind == column.Float32 {
		return float64(column.Values[float32](c)[i])
	}
	return column.Values[float64](c)[i]
}

// order compares two values; NaN is greatest.
func order(a *column.Column, i int, b *column.Column, j int) int {
	switch a.Kind {
	case column.Bytes:
		return strings.Compare(a.String(i), b.String(j))
	case column.Bool:
		return strings.Compare(text(a, i), text(b, j)) // false < true
	case column.Float32, column.Float64:
		x, y := floatOf(a, i), floatOf(b, j)
		switch {
		case x != x && y != y || x == y:
			return 0
		case x != x || x > y:
			return 1
		}
		return -1
	case column.Decimal:
		return bigDecimal(a, i).Cmp(bigDecimal(b, j))
	}
	x, _ := new(big.Int).SetString(text(a, i), 10)
	y, _ := new(big.Int).SetString(text(b, j), 10)
	return x.Cmp(y)
}

// collect is an Output that keeps rows as texts.
type collect struct {
	results []string
	late    []string
	ends    []int64
}

func (o *collect) Emit(port int, b *column.Batch) error {
	for i := range b.Len() {
		var f []string
		for c := range b.Cols {
			f = append(f, text(&b.Cols[c], b.Row(i)))
		}
		line := strings.Join(f, "|")
		if port == operator.Late {
			o.late = append(o.late, line)
			continue
		}
		o.results = append(o.results, line)
		if b.Times != nil {
			o.ends = append(o.ends, b.Times[b.Row(i)]+1)
		}
	}
	return nil
}

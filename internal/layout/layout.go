package layout

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/aggregate"
	"github.com/arkflow-go/arkflow/internal/chunk"
	"github.com/arkflow-go/arkflow/internal/extreme"
	"github.com/arkflow-go/arkflow/internal/keys"
)

// addBest adds the accumulator of such a function.
func (l *Layout) addBest(arg *Argument, a aggregate.Agg) int {
	b := &extreme.Rule{By: -1, Values: a.Values, Ties: a.Ties, Least: a.Func == aggregate.First || a.Func == aggregate.ArgMin}
	acc := Accumulator{Kind: AccBest, words: 2, Side: l.Heaps, Best: b, Invert: b.Least}
	if a.Func.Arg() {
		b.By, b.ByType, b.ByKind = a.Col, keys.TypeOf(l.Schema.Field(a.Col).Type), arg.Kind
		b.Timed, b.Inverse = !a.Ties, !a.Ties && !b.Least
	} else {
		b.Values = []int{a.Col}
	}
	for _, v := range b.Values {
		b.Types = append(b.Types, keys.TypeOf(l.Schema.Field(v).Type))
	}
	l.Heaps++
	l.Buffer = false
	l.timed = l.timed || b.By < 0 || b.Timed
	l.Ties = l.Ties || b.Ties
	return l.push(arg, acc)
}

// Timed reports whether batches need times even where windows do not.
func (l *Layout) Timed() bool { return l.timed }

// KeyMode is how the key of a group is held in its row (DESIGN K3).
type KeyMode uint8

const (
	KeyWord    KeyMode = iota // one 8-byte canonical value: one word
	KeyPair                   // two of them, or one decimal: two words
	KeyBytes                  // one string or binary: two words, see keys.TextWords
	KeyEncoded                // anything else: the written form of the tuple, held as KeyBytes
)

// Layout says how the row of a group is laid out in words: the key, the number of rows, the accumulators. Equal
// accumulators are kept once: Sum and Avg of one column share theirs.
type Layout struct {
	Schema   *arrow.Schema
	KeyCols  []int
	KeyTypes []keys.Type
	Mode     KeyMode
	Count    int // the word that counts rows, after the key's
	Stride   int // words of a row

	Args   []Argument
	Outs   []Output
	Sides  int  // number of side columns: words that few groups need
	Heaps  int  // number of byte heaps
	Buffer bool // rows may be kept as entries before they are grouped: words alone
	timed  bool // see Timed
	Ties   bool // an accumulator keeps all rows that share an extreme

	partial     *arrow.Schema // see Partial
	partialKeys []int
}

// Argument is an input column of aggregates and the accumulators that are fed from it.
type Argument struct {
	Col   int // −1: none
	Where int // column of a condition, plus one; 0: none
	Kind  column.Kind
	Tag   keys.Tag
	Scale uint8 // decimals: keys.Type.Param
	Accs  []Accumulator
	Nulls int // side that counts the rows of each group that are null, or for which the condition is not true
}

// AccKind is how an accumulator works.
type AccKind uint8

const (
	AccSumInt   AccKind = iota // one word, wraps are counted in a side
	AccSumUint                 // one word, carries are counted in a side
	AccSumFloat                // one word
	AccSumDec                  // two words, wraps are counted in a side
	AccMax                     // one word: the greatest of the values' ordered forms, see keys.Type.Ordered
	AccMaxDec                  // two words
	AccMaxBytes                // two words, see extreme.Heap
	AccBest                    // two words, see extreme.Rule
)

var accNames = [...]string{"sum", "sum", "sum", "sum", "max", "max", "max", "best"}

// Accumulator is what is kept of a column. All start as zero words. Least values are greatest inverted ones.
type Accumulator struct {
	Kind   AccKind
	Invert bool // for Min
	Off    int  // first word in the row
	words  int
	Side   int // sums: side that counts wraps; AccMaxBytes, AccBest: number of the heap
	Best   *extreme.Rule
}

func (a Accumulator) String() string {
	if a.Invert && a.Best == nil {
		return "min"
	}
	return accNames[a.Kind]
}

// Output is a result column and where it comes from.
type Output struct {
	Fn      aggregate.Func
	Name    string
	Typ     arrow.DataType
	Arg     int // of Layout.args; -1 for CountRows
	Acc     int // of argument.accs; -1 for counts
	Value   int // First, Last, ArgMin, ArgMax: which of Best.Values
	Tenfold int // Avg of decimals: digits that its scale has more than the column's
}

// New gives the layout for key columns and aggregates over a schema.
func New(s *arrow.Schema, keyCols []int, aggs []aggregate.Agg) (*Layout, error) {
	if len(keyCols) == 0 {
		return nil, fmt.Errorf("no key column")
	}
	l := &Layout{Schema: s, KeyCols: keyCols}
	for _, k := range keyCols {
		t := keys.TypeOf(s.Field(k).Type)
		if t.Tag == keys.TagInvalid {
			return nil, fmt.Errorf("key column %q: type %s cannot be a key", s.Field(k).Name, s.Field(k).Type)
		}
		l.KeyTypes = append(l.KeyTypes, t)
	}
	l.Mode = l.keyMode()
	l.Count = 2
	if l.Mode == KeyWord {
		l.Count = 1
	}
	l.Stride = l.Count + 1
	l.Buffer = l.Mode == KeyWord
	for _, a := range aggs {
		if err := l.add(a); err != nil {
			return nil, err
		}
	}
	if l.Stride > chunk.Words/8 {
		l.Buffer = false
	}
	l.partial = l.SnapshotSchema(false)
	for i := range keyCols {
		l.partialKeys = append(l.partialKeys, 1+i)
	}
	return l, nil
}

func (l *Layout) kindOfKey(i int) column.Kind {
	return column.KindOf(l.Schema.Field(l.KeyCols[i]).Type)
}

func (l *Layout) keyMode() KeyMode {
	k0 := l.kindOfKey(0)
	switch len(l.KeyCols) {
	case 1:
		switch {
		case keys.OneWord(k0):
			return KeyWord
		case k0 == column.Decimal:
			return KeyPair
		}
		return KeyBytes
	case 2:
		if keys.OneWord(k0) && keys.OneWord(l.kindOfKey(1)) {
			return KeyPair
		}
	}
	return KeyEncoded
}

// add adds an aggregate and the accumulators that it needs.
func (l *Layout) add(a aggregate.Agg) error {
	fields, err := a.Fields(l.Schema)
	if err != nil {
		return err
	}
	out := Output{Fn: a.Func, Name: fields[0].Name, Typ: fields[0].Type, Arg: -1, Acc: -1}
	if a.Func == aggregate.CountRows && a.Where == 0 {
		l.Outs = append(l.Outs, out)
		return nil
	}
	if a.Func == aggregate.CountRows {
		a.Col = -1
	}
	if a.Where != 0 {
		l.Buffer = false
	}
	out.Arg = l.argument(a.Col, a.Where)
	arg := &l.Args[out.Arg]
	switch {
	case a.Func == aggregate.CountRows:
		out.Fn = aggregate.CountValues
	case a.Func == aggregate.CountValues:
	case a.Func >= aggregate.First:
		out.Acc = l.addBest(arg, a)
		for i, f := range fields {
			out.Name, out.Typ, out.Value = f.Name, f.Type, i
			l.Outs = append(l.Outs, out)
		}
		return nil
	default:
		if a.Func == aggregate.Avg && arg.Kind == column.Decimal {
			out.Tenfold = int(out.Typ.(*arrow.Decimal128Type).Scale) - int(int8(arg.Scale))
		}
		out.Acc = l.accumulator(arg, a.Func)
	}
	l.Outs = append(l.Outs, out)
	return nil
}

// argument gives the number of a column, of the rows of a condition, among the arguments. Column −1 is no column.
func (l *Layout) argument(col, where int) int {
	for i := range l.Args {
		if l.Args[i].Col == col && l.Args[i].Where == where {
			return i
		}
	}
	arg := Argument{Col: col, Where: where, Nulls: l.Sides}
	if col >= 0 {
		k := keys.TypeOf(l.Schema.Field(col).Type)
		arg.Kind, arg.Tag, arg.Scale = column.KindOf(l.Schema.Field(col).Type), k.Tag, k.Param
	}
	l.Sides++
	l.Args = append(l.Args, arg)
	return len(l.Args) - 1
}

// accumulator gives the number of the accumulator of a function among those of the argument.
func (l *Layout) accumulator(arg *Argument, fn aggregate.Func) int {
	want := Accumulator{Kind: arg.accKind(fn), Invert: fn == aggregate.Min, words: 1}
	for i, a := range arg.Accs {
		if a.Kind == want.Kind && a.Invert == want.Invert {
			return i
		}
	}
	switch want.Kind {
	case AccSumInt, AccSumUint:
		want.Side = l.Sides
		l.Sides++
	case AccSumDec:
		want.Side, want.words = l.Sides, 2
		l.Sides++
		l.Buffer = false
	case AccMaxDec:
		want.words = 2
		l.Buffer = false
	case AccMaxBytes:
		want.Side, want.words = l.Heaps, 2
		l.Heaps++
		l.Buffer = false
	}
	return l.push(arg, want)
}

// push adds an accumulator to an argument.
func (l *Layout) push(arg *Argument, a Accumulator) int {
	a.Off = l.Stride
	l.Stride += a.words
	arg.Accs = append(arg.Accs, a)
	return len(arg.Accs) - 1
}

func (arg *Argument) accKind(fn aggregate.Func) AccKind {
	sum := fn == aggregate.Sum || fn == aggregate.Avg
	switch {
	case arg.Kind == column.Decimal && sum:
		return AccSumDec
	case arg.Kind == column.Decimal:
		return AccMaxDec
	case arg.Kind == column.Bytes:
		return AccMaxBytes
	case !sum:
		return AccMax
	case arg.Tag == keys.TagFloat:
		return AccSumFloat
	case arg.Tag == keys.TagUint:
		return AccSumUint
	}
	return AccSumInt
}

// Flip is what is xored to a value of an argument to get its ordered form (see keys.Type.Ordered), floats excepted.
func (arg *Argument) Flip() uint64 {
	if arg.Tag == keys.TagUint || arg.Tag == keys.TagBool {
		return 0
	}
	return keys.SignBit
}

// Inversion is what values are xored with for Min.
func (a Accumulator) Inversion() uint64 {
	if a.Invert {
		return ^uint64(0)
	}
	return 0
}

var (
	SnapInt   = arrow.PrimitiveTypes.Int64
	SnapWord  = arrow.PrimitiveTypes.Uint64
	SnapFloat = arrow.PrimitiveTypes.Float64
)

// Wraps reports whether the accumulator has a side that counts wraps.
func (a Accumulator) Wraps() bool {
	return a.Kind == AccSumInt || a.Kind == AccSumUint || a.Kind == AccSumDec
}

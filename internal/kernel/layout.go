package kernel

import (
	"fmt"
	"github.com/arkflow-go/arkflow/internal/extreme"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/aggregate"
	"github.com/arkflow-go/arkflow/internal/chunk"
	"github.com/arkflow-go/arkflow/internal/keys"
)

// keyMode is how the key of a group is held in its row (DESIGN K3).
type keyMode uint8

const (
	keyWord    keyMode = iota // one 8-byte canonical value: one word
	keyPair                   // two of them, or one decimal: two words
	keyBytes                  // one string or binary: two words, see inlineKey
	keyEncoded                // anything else: the written form of the tuple, held as keyBytes
)

// Layout says how the row of a group is laid out in words: the key, the number of rows, the accumulators. Equal
// accumulators are kept once: Sum and Avg of one column share theirs.
type Layout struct {
	schema   *arrow.Schema
	keyCols  []int
	keyTypes []keys.Type
	mode     keyMode
	count    int // the word that counts rows, after the key's
	stride   int // words of a row

	args   []argument
	outs   []output
	sides  int // number of side columns, see table.sides
	heaps  int // number of byte heaps
	buffer bool
	timed  bool // see Timed
	ties   bool // an accumulator keeps all rows that share an extreme

	partial     *arrow.Schema // see Partial
	partialKeys []int
}

// argument is an input column of aggregates and the accumulators that are fed from it.
type argument struct {
	col   int // −1: none
	where int // column of a condition, plus one; 0: none
	kind  column.Kind
	tag   keys.Tag
	scale uint8 // decimals: keys.Type.Param
	accs  []accumulator
	nulls int // side that counts the rows of each group that are null, or for which the condition is not true
}

type accKind uint8

const (
	accSumInt   accKind = iota // one word, wraps are counted in a side
	accSumUint                 // one word, carries are counted in a side
	accSumFloat                // one word
	accSumDec                  // two words, wraps are counted in a side
	accMax                     // one word: the greatest of the values' ordered forms, see ordered
	accMaxDec                  // two words
	accMaxBytes                // two words, see extreme.Heap
	accBest                    // two words, see best
)

var accNames = [...]string{"sum", "sum", "sum", "sum", "max", "max", "max", "best"}

// accumulator is what is kept of a column. All start as zero words. Least values are greatest inverted ones.
type accumulator struct {
	kind   accKind
	invert bool // for Min
	off    int  // first word in the row
	words  int
	side   int // sums: side that counts wraps; accMaxBytes, accBest: number of the heap
	best   *extreme.Rule
}

func (a accumulator) String() string {
	if a.invert && a.best == nil {
		return "min"
	}
	return accNames[a.kind]
}

// output is a result column and where it comes from.
type output struct {
	fn      aggregate.Func
	name    string
	typ     arrow.DataType
	arg     int // of Layout.args; -1 for CountRows
	acc     int // of argument.accs; -1 for counts
	value   int // First, Last, ArgMin, ArgMax: which of best.values
	tenfold int // Avg of decimals: digits that its scale has more than the column's
}

// NewLayout gives the layout for key columns and aggregates over a schema.
func NewLayout(s *arrow.Schema, keyCols []int, aggs []aggregate.Agg) (*Layout, error) {
	if len(keyCols) == 0 {
		return nil, fmt.Errorf("no key column")
	}
	l := &Layout{schema: s, keyCols: keyCols}
	for _, k := range keyCols {
		t := keys.TypeOf(s.Field(k).Type)
		if t.Tag == keys.TagInvalid {
			return nil, fmt.Errorf("key column %q: type %s cannot be a key", s.Field(k).Name, s.Field(k).Type)
		}
		l.keyTypes = append(l.keyTypes, t)
	}
	l.mode = l.keyMode()
	l.count = 2
	if l.mode == keyWord {
		l.count = 1
	}
	l.stride = l.count + 1
	l.buffer = l.mode == keyWord
	for _, a := range aggs {
		if err := l.add(a); err != nil {
			return nil, err
		}
	}
	if l.stride > chunk.Words/8 {
		l.buffer = false
	}
	l.partial = l.SnapshotSchema(false)
	for i := range keyCols {
		l.partialKeys = append(l.partialKeys, 1+i)
	}
	return l, nil
}

func (l *Layout) kindOfKey(i int) column.Kind {
	return column.KindOf(l.schema.Field(l.keyCols[i]).Type)
}

func (l *Layout) keyMode() keyMode {
	k0 := l.kindOfKey(0)
	switch len(l.keyCols) {
	case 1:
		switch {
		case keys.OneWord(k0):
			return keyWord
		case k0 == column.Decimal:
			return keyPair
		}
		return keyBytes
	case 2:
		if keys.OneWord(k0) && keys.OneWord(l.kindOfKey(1)) {
			return keyPair
		}
	}
	return keyEncoded
}

// add adds an aggregate and the accumulators that it needs.
func (l *Layout) add(a aggregate.Agg) error {
	fields, err := a.Fields(l.schema)
	if err != nil {
		return err
	}
	out := output{fn: a.Func, name: fields[0].Name, typ: fields[0].Type, arg: -1, acc: -1}
	if a.Func == aggregate.CountRows && a.Where == 0 {
		l.outs = append(l.outs, out)
		return nil
	}
	if a.Func == aggregate.CountRows {
		a.Col = -1
	}
	if a.Where != 0 {
		l.buffer = false
	}
	out.arg = l.argument(a.Col, a.Where)
	arg := &l.args[out.arg]
	switch {
	case a.Func == aggregate.CountRows:
		out.fn = aggregate.CountValues
	case a.Func == aggregate.CountValues:
	case a.Func >= aggregate.First:
		out.acc = l.addBest(arg, a)
		for i, f := range fields {
			out.name, out.typ, out.value = f.Name, f.Type, i
			l.outs = append(l.outs, out)
		}
		return nil
	default:
		if a.Func == aggregate.Avg && arg.kind == column.Decimal {
			out.tenfold = int(out.typ.(*arrow.Decimal128Type).Scale) - int(int8(arg.scale))
		}
		out.acc = l.accumulator(arg, a.Func)
	}
	l.outs = append(l.outs, out)
	return nil
}

// argument gives the number of a column, of the rows of a condition, among the arguments. Column −1 is no column.
func (l *Layout) argument(col, where int) int {
	for i := range l.args {
		if l.args[i].col == col && l.args[i].where == where {
			return i
		}
	}
	arg := argument{col: col, where: where, nulls: l.sides}
	if col >= 0 {
		k := keys.TypeOf(l.schema.Field(col).Type)
		arg.kind, arg.tag, arg.scale = column.KindOf(l.schema.Field(col).Type), k.Tag, k.Param
	}
	l.sides++
	l.args = append(l.args, arg)
	return len(l.args) - 1
}

// accumulator gives the number of the accumulator of a function among those of the argument.
func (l *Layout) accumulator(arg *argument, fn aggregate.Func) int {
	want := accumulator{kind: arg.accKind(fn), invert: fn == aggregate.Min, words: 1}
	for i, a := range arg.accs {
		if a.kind == want.kind && a.invert == want.invert {
			return i
		}
	}
	switch want.kind {
	case accSumInt, accSumUint:
		want.side = l.sides
		l.sides++
	case accSumDec:
		want.side, want.words = l.sides, 2
		l.sides++
		l.buffer = false
	case accMaxDec:
		want.words = 2
		l.buffer = false
	case accMaxBytes:
		want.side, want.words = l.heaps, 2
		l.heaps++
		l.buffer = false
	}
	return l.push(arg, want)
}

// push adds an accumulator to an argument.
func (l *Layout) push(arg *argument, a accumulator) int {
	a.off = l.stride
	l.stride += a.words
	arg.accs = append(arg.accs, a)
	return len(arg.accs) - 1
}

func (arg *argument) accKind(fn aggregate.Func) accKind {
	sum := fn == aggregate.Sum || fn == aggregate.Avg
	switch {
	case arg.kind == column.Decimal && sum:
		return accSumDec
	case arg.kind == column.Decimal:
		return accMaxDec
	case arg.kind == column.Bytes:
		return accMaxBytes
	case !sum:
		return accMax
	case arg.tag == keys.TagFloat:
		return accSumFloat
	case arg.tag == keys.TagUint:
		return accSumUint
	}
	return accSumInt
}

// flip is what is xored to a value of an argument to get its ordered form (see ordered), floats excepted.
func (arg *argument) flip() uint64 {
	if arg.tag == keys.TagUint || arg.tag == keys.TagBool {
		return 0
	}
	return keys.SignBit
}

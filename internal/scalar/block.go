package scalar

import (
	"unicode/utf8"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/calc"
)

// Vec is the values of an operand for the rows of a block.
type Vec struct {
	Data  []byte         // fixed width: a value each; Bool: a byte each, 0 or 1
	Valid []byte         // a byte each, 1 where there is a value; nil: everywhere
	Text  *column.Column // strings and binaries: value i is that of row Rows[i]
	Rows  []uint32
}

// Bytes gives value i of a string or binary.
func (v *Vec) Bytes(i int) []byte { return v.Text.Bytes(int(v.Rows[i])) }

// values views the values of an operand of fixed width.
func values[T column.Fixed | calc.Int128](v *Vec) []T { return column.View[T](v.Data) }

// Out takes the values that a kernel makes.
type Out struct {
	N     int
	Data  []byte  // fixed width: room for N values; Bool: for a byte each
	Spans []int32 // strings and binaries: value i is Chars[Spans[2i]:Spans[2i+1]]; room for N
	Chars []byte  // what Make appended, or the bytes of the operand that Of named
	View  int     // the operand whose bytes Chars are; -1: they are the kernel's own
	Valid []byte  // a byte each, 1 where there is a value; nil: everywhere
	Mask  []byte  // memory for Valid
	Memo  *any    // what the kernel keeps from block to block

	Failures []Failure
}

// Failure is a row that could not be computed.
type Failure struct {
	Row     int // of the block
	Problem string
}

// Skip tells whether row i has no value, because an operand is null.
func (o *Out) Skip(i int) bool { return o.Valid != nil && o.Valid[i] == 0 }

// Null makes row i null.
func (o *Out) Null(i int) {
	if o.Valid == nil {
		o.Valid = o.Mask[:o.N]
		calc.FillBytes(o.Valid, 1)
	}
	o.Valid[i] = 0
}

// Fail puts row i in error.
func (o *Out) Fail(i int, problem string) {
	o.Failures = append(o.Failures, Failure{i, problem})
	o.Null(i)
}

// Of says that the values are parts of the bytes of an operand: Part names them.
func (o *Out) Of(arg int, v *Vec) (off []int32, chars []byte) {
	o.View, o.Chars = arg, v.Text.Data
	return v.Text.Offsets, v.Text.Data
}

// Part makes value i the bytes from <= at < to of Chars.
func (o *Out) Part(i int, from, to int32) { o.Spans[2*i], o.Spans[2*i+1] = from, to }

// End makes value i what has been appended to Chars since from.
func (o *Out) End(i, from int) { o.Part(i, int32(from), int32(len(o.Chars))) }

// truth is a byte of a condition.
func truth(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// quoted gives a text as error messages show it, cut after some characters.
func quoted(b []byte) string {
	const most = 40
	cut := ""
	if len(b) > most {
		at := most
		for at > most-utf8.UTFMax && !utf8.RuneStart(b[at]) {
			at--
		}
		b, cut = b[:at], "…"
	}
	return "'" + string(b) + cut + "'"
}

package codec

import (
	"fmt"
	"github.com/arkflow-go/arkflow/codec/internal/plain"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
)

// maxInferred bounds the columns of an inferred schema.
const maxInferred = 4096

// jsonKind is what the values of a field were so far.
type jsonKind uint8

const (
	kindNull jsonKind = iota
	kindBool
	kindInt   // fits in an int64
	kindFloat // any other number
	kindString
	kindNested
)

var kindWords = [...]string{"null", "a boolean", "a number", "a number", "a string", "an object or array"}

// jsonInference unites the kinds of values seen under each name.
type jsonInference struct {
	fields  []inferredField
	index   map[string]int
	records int
	scratch []byte
}

type inferredField struct {
	name  string
	kind  jsonKind
	first Place // of the first value that was not null
}

// seen is a field of the record that is being looked at.
type seen struct {
	name string
	kind jsonKind
}

func newJSONInference() *jsonInference { return &jsonInference{index: map[string]int{}} }

// Header is part of Inference: JSON has none.
func (in *jsonInference) Header([]byte, Place) error { return nil }

// Add is part of Inference. A field that is a string here and a number there, or any other mixture of kinds but integers and
// other numbers, is a final error.
func (in *jsonInference) Add(record []byte, at Place) error {
	fields, e := in.scan(record)
	if e != nil {
		return &RecordError{Source: at.Source, Line: at.Line, Problem: e.problem, Excerpt: excerptAt(record, e.at)}
	}
	in.records++
	for _, f := range fields {
		if err := in.unite(f, at); err != nil {
			return err
		}
	}
	return nil
}

// scan lists the fields of a record.
func (in *jsonInference) scan(b []byte) ([]seen, *syntaxError) {
	var (
		fields []seen
		e      syntaxError
	)
	i := skipSpace(b, 0)
	if i >= len(b) || b[i] != '{' {
		return nil, &syntaxError{i, notAnObject}
	}
	end := skipObject(b, i, 0, &e)
	if end < 0 {
		return nil, &e
	}
	if rest := skipSpace(b, end); rest < len(b) {
		return nil, &syntaxError{rest, textBehind}
	}
	for i = skipSpace(b, i+1); b[i] != '}'; { // the syntax is right
		nameEnd, holds := plain.StringEnd(b, i+1)
		name := b[i+1 : nameEnd]
		if holds != 0 {
			in.scratch = plain.Unescape(in.scratch[:0], name)
			name = in.scratch
		}
		i = skipSpace(b, skipSpace(b, nameEnd+1)+1)
		end := skipValue(b, i, 1, &e)
		fields = append(fields, seen{string(name), kindOfValue(b[i:end])})
		if i = skipSpace(b, end); b[i] == ',' {
			i = skipSpace(b, i+1)
		}
	}
	return fields, nil
}

func kindOfValue(v []byte) jsonKind {
	switch v[0] {
	case 'n':
		return kindNull
	case 't', 'f':
		return kindBool
	case '"':
		return kindString
	case '{', '[':
		return kindNested
	}
	for _, c := range v {
		if c == '.' || c|0x20 == 'e' {
			return kindFloat
		}
	}
	if neg, mag, w := plain.WholeNumber(v); w == plain.Whole && (mag <= math.MaxInt64 || neg && mag == 1<<63) {
		return kindInt
	}
	return kindFloat
}

func (in *jsonInference) unite(f seen, at Place) error {
	i, ok := in.index[f.name]
	if !ok {
		if len(in.fields) == maxInferred {
			return fmt.Errorf("%s: more than %d different fields; give the schema", at, maxInferred)
		}
		i = len(in.fields)
		in.index[f.name] = i
		in.fields = append(in.fields, inferredField{name: f.name})
	}
	have := &in.fields[i]
	switch {
	case f.kind == kindNull || f.kind == have.kind:
	case have.kind == kindNull:
		have.kind, have.first = f.kind, at
	case have.kind == kindInt && f.kind == kindFloat:
		have.kind = kindFloat
	case have.kind == kindFloat && f.kind == kindInt:
	default:
		return fmt.Errorf("field %q is %s at %s and %s at %s; give the schema", f.name, kindWords[have.kind], have.first,
			kindWords[f.kind], at)
	}
	return nil
}

// Len is part of Inference.
func (in *jsonInference) Len() int { return in.records }

// Schema is part of Inference: bool, int64 where all numbers are integers that fit, float64 for other numbers, string for
// strings and for fields that were always null. Fields that hold objects or arrays are left out.
func (in *jsonInference) Schema() *arrow.Schema { return inferredSchema(in.fields) }

func inferredSchema(fields []inferredField) *arrow.Schema {
	var cols []arrow.Field
	for _, f := range fields {
		c := arrow.Field{Name: f.name, Nullable: true, Type: arrow.BinaryTypes.String}
		switch f.kind {
		case kindBool:
			c.Type = arrow.FixedWidthTypes.Boolean
		case kindInt:
			c.Type = arrow.PrimitiveTypes.Int64
		case kindFloat:
			c.Type = arrow.PrimitiveTypes.Float64
		case kindNested:
			continue
		}
		cols = append(cols, c)
	}
	return arrow.NewSchema(cols, nil)
}

// Omitted is part of Inference.
func (in *jsonInference) Omitted() []string {
	var out []string
	for _, f := range in.fields {
		if f.kind == kindNested {
			out = append(out, f.name)
		}
	}
	return out
}

// InferJSON gives the schema of records, of which each is one JSON object. See JSONFormat and Inference for its rules.
func InferJSON(records ...[]byte) (*arrow.Schema, error) {
	in := newJSONInference()
	for i, r := range records {
		if err := in.Add(r, Place{Line: int64(i) + 1}); err != nil {
			return nil, err
		}
	}
	return in.Schema(), nil
}

package codec

import (
	"fmt"
	"github.com/arkflow-go/arkflow/codec/internal/plain"

	"github.com/apache/arrow-go/v18/arrow"
)

// csvInference unites what the fields of each column may stand for.
type csvInference struct {
	csvGrammar
	null     string
	noHeader bool
	fields   []inferredField
	index    map[string]int
	order    []int // the field of each column of the file
	started  bool
	records  int
}

func newCSVInference(f CSVFormat) *csvInference {
	return &csvInference{csvGrammar: f.grammar(), null: f.null, noHeader: f.noHeader, index: map[string]int{}}
}

// Header is part of Inference.
func (in *csvInference) Header(record []byte, at Place) error {
	names, _, e := in.split(record)
	if e != nil {
		return fmt.Errorf("%s: header: %s: %s", at, e.problem, excerptAt(record, e.at))
	}
	return in.start(names, at)
}

// start says which columns the records that follow have.
func (in *csvInference) start(names []string, at Place) error {
	in.order, in.started = in.order[:0], true
	seen := map[string]bool{}
	for _, name := range names {
		if seen[name] {
			return fmt.Errorf("%s: two columns are called %q", at, name)
		}
		seen[name] = true
		i, ok := in.index[name]
		if !ok {
			if len(in.fields) == maxInferred {
				return fmt.Errorf("%s: more than %d different columns; give the schema", at, maxInferred)
			}
			i = len(in.fields)
			in.index[name] = i
			in.fields = append(in.fields, inferredField{name: name})
		}
		in.order = append(in.order, i)
	}
	return nil
}

// Add is part of Inference.
func (in *csvInference) Add(record []byte, at Place) error {
	fields, quoted, e := in.split(record)
	if e != nil {
		return &RecordError{Source: at.Source, Line: at.Line, Problem: e.problem, Excerpt: excerptAt(record, e.at)}
	}
	if !in.started {
		names := make([]string, len(fields))
		for i := range names {
			names[i] = fmt.Sprintf("column_%d", i+1)
		}
		if err := in.start(names, at); err != nil {
			return err
		}
	}
	if len(fields) != len(in.order) {
		return &RecordError{Source: at.Source, Line: at.Line, Problem: fmt.Sprintf("want %d fields, have %d", len(in.order), len(fields)), Excerpt: excerpt(record)}
	}
	in.records++
	for i, text := range fields {
		f := &in.fields[in.order[i]]
		if quoted[i] || text != in.null {
			f.kind = uniteCSV(f.kind, kindOfText([]byte(text)))
		}
	}
	return nil
}

// kindOfText says what a text may stand for beside itself.
func kindOfText(text []byte) jsonKind {
	if _, ok := boolean(text); ok {
		return kindBool
	}
	if len(text) > 0 && plain.NumberEnd(text, 0) == len(text) {
		return kindOfValue(text)
	}
	return kindString
}

// uniteCSV gives what two fields of one column may both stand for.
func uniteCSV(a, b jsonKind) jsonKind {
	switch {
	case a == b || a == kindNull:
		return b
	case a == kindInt && b == kindFloat, a == kindFloat && b == kindInt:
		return kindFloat
	}
	return kindString
}

// Len is part of Inference.
func (in *csvInference) Len() int { return in.records }

// Schema is part of Inference: bool, int64 where all numbers are integers that fit, float64 for other numbers, string for everything
// else, for a mixture, and for columns that were always null.
func (in *csvInference) Schema() *arrow.Schema { return inferredSchema(in.fields) }

// Omitted is part of Inference: there are none.
func (in *csvInference) Omitted() []string { return nil }

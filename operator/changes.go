package operator

import (
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// ChangeMode says what the rows of a stream are to each other. It is known when a job is compiled.
type ChangeMode uint8

// The change modes.
const (
	// Append: each row stands for itself. The mode of every source, and of every operator that says nothing else.
	Append ChangeMode = iota
	// Upsert: a row takes the place of an earlier one with the same values of Stream.ChangeKey: the results of a window that is corrected.
	Upsert
)

func (m ChangeMode) String() string {
	if m == Upsert {
		return "upsert"
	}
	return "append"
}

// KeepsChanges is an Operator of the user's own that reads streams whose mode is not Append and says by its Outputs what becomes of
// it. The planner refuses such a stream to any other operator whose main output is Append: rows that take the place of
// others would be counted twice.
type KeepsChanges interface{ KeepsChanges() }

// RefuseChanges is a fault where the rows of a stream take the place of others: for operators to which each row is one of its own.
func RefuseChanges(what string, s Stream) error {
	if s.Changes == Append {
		return nil
	}
	return &Fault{Path: "changes", Problem: fmt.Sprintf("rows of this stream take the place of earlier ones with the same %s, and %s would take each for a row of its own",
		strings.Join(s.ChangeKey, ", "), what), Hint: changesHint}
}

const changesHint = "leave Lateness out of the window before it, so that results are never corrected, or only select, rename and map columns and filter by the key on the way to a sink"

// keepChanges gives the mode of a stream behind an operator: to maps columns that are kept as they are to their names there.
func keepChanges(what string, s Stream, to map[string]string) (ChangeMode, []string, error) {
	if s.Changes == Append {
		return Append, nil, nil
	}
	key := make([]string, 0, len(s.ChangeKey))
	for _, k := range s.ChangeKey {
		name, kept := to[k]
		if !kept {
			return Append, nil, &Fault{Path: "changes", Problem: fmt.Sprintf("rows of this stream take the place of earlier ones with the same %s, but %s does not keep column %q",
				strings.Join(s.ChangeKey, ", "), what, k), Hint: "keep the column, or leave Lateness out of the window before it"}
		}
		key = append(key, name)
	}
	return s.Changes, key, nil
}

// filtersChanges is a fault where a condition reads columns in which rows that take each other's place may differ.
func filtersChanges(s Stream, columns []string) error {
	if s.Changes == Append {
		return nil
	}
	for _, c := range columns {
		if !slices.Contains(s.ChangeKey, c) {
			return &Fault{Path: "changes", Problem: fmt.Sprintf("rows of this stream take the place of earlier ones with the same %s: a filter by %q would leave the earlier row where the later one is filtered away",
				strings.Join(s.ChangeKey, ", "), c), Hint: "filter by these columns only, or leave Lateness out of the window before it"}
		}
	}
	return nil
}

// sameColumns maps the columns of a schema that another one has with the same type to themselves: what a Go function that is
// trusted not to change them keeps.
func sameColumns(in, out *arrow.Schema) map[string]string {
	to := map[string]string{}
	for _, f := range in.Fields() {
		if at := out.FieldIndices(f.Name); len(at) > 0 && arrow.TypeEqual(f.Type, out.Field(at[0]).Type) {
			to[f.Name] = f.Name
		}
	}
	return to
}

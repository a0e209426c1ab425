package window

import (
	"fmt"
	"strings"
)

// KeyedState implements operator.KeyedState: windows, keys and aggregates, with their types. What may change between executions is not in
// it: names of results, lateness, limits.
func (b *bound) KeyedState() string {
	a := Assigner{size: b.assigner.size, slide: b.assigner.slide, sliding: b.assigner.sliding, offset: b.assigner.offset}
	parts := []string{a.String()}
	for _, k := range b.keys {
		f := b.schema.Field(k)
		parts = append(parts, fmt.Sprintf("key %s %s", f.Name, f.Type))
	}
	out := b.out.Schema.Fields()[len(b.keys)+2:] // behind the keys and the ends of the window
	for i, agg := range b.aggregates {
		agg.as = ""
		text := agg.String()
		for range b.widths[i] {
			text += " " + out[0].Type.String()
			out = out[1:]
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, "; ")
}

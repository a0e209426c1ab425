package codec

import (
	"fmt"
	"github.com/arkflow-go/arkflow/codec/internal/plain"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
)

// nestedColumn is what encoding and decoding need to know of a list, map or struct, or of a value within one.
type nestedColumn struct {
	textColumn // of a scalar
	kind       column.Kind
	path       string // for errors: "items[].price"
	nullable   bool
	lead       []string // struct: what stands before each field: `{"a":`, `,"b":`
	index      map[string]int
	fields     []nestedColumn
	key        *nestedColumn // map
	elem       *nestedColumn // list, map
}

// nestedColumnOf compiles a type within a column; path is its name in errors.
func nestedColumnOf(f arrow.Field, path string) nestedColumn {
	n := nestedColumn{kind: column.KindOf(f.Type), path: path, nullable: f.Nullable}
	child := func(f arrow.Field, path string) *nestedColumn {
		c := nestedColumnOf(f, path)
		return &c
	}
	switch t := f.Type.(type) {
	case *arrow.StructType:
		n.want, n.index = "an object", map[string]int{}
		for i, f := range t.Fields() {
			lead := []byte{','}
			if i == 0 {
				lead[0] = '{'
			}
			n.lead = append(n.lead, string(append(plain.AppendString(lead, f.Name), ':')))
			n.fields = append(n.fields, nestedColumnOf(f, path+"."+f.Name))
			n.index[f.Name] = i
		}
	case *arrow.MapType:
		n.want, n.key, n.elem = "an object", child(t.KeyField(), path+"[key]"), child(t.ItemField(), path+"[]")
	case arrow.ListLikeType:
		n.want, n.elem = "an array", child(t.ElemField(), path+"[]")
	default:
		n.textColumn = textColumnOf(f.Type)
	}
	return n
}

// nested decodes the value at i, which is not null, into a column of lists, maps or structs.
func (d *jsonDecoder) nested(b []byte, i, col int) int {
	c := &d.rows.cols[col]
	end := d.inner(b, i, col, d.columns[col].nested, c.tree.Col(0))
	if end >= 0 && c.tree.Err() != nil {
		return d.tooMuch(col)
	}
	return end
}

// inner decodes the value at i and gives the index behind it; negative after an error.
func (d *jsonDecoder) inner(b []byte, i, col int, n *nestedColumn, a *column.Appender) int {
	switch {
	case i >= len(b):
		d.malformed(i, endOfRecord)
		return -1
	case b[i] == 'n':
		end := literalEnd(b, i)
		if end < 0 {
			d.malformed(i, "not a value")
			return -1
		}
		if !n.nullable {
			return d.mismatchIn(n, col, i, end, "null, and is not nullable")
		}
		a.Null()
		return end
	case n.kind == column.Struct && b[i] == '{':
		return d.innerObject(b, i, col, n, a)
	case n.key != nil && b[i] == '{':
		return d.innerMap(b, i, col, n, a)
	case n.kind == column.List && n.key == nil && b[i] == '[':
		return d.innerList(b, i, col, n, a)
	case n.kind.IsNested():
		return d.wrongInner(b, i, col, n)
	}
	return d.innerScalar(b, i, col, n, a)
}

// wrongInner says that the value at i is of another kind than n, or malformed.
func (d *jsonDecoder) wrongInner(b []byte, i, col int, n *nestedColumn) int {
	d.wrongKindOf(b, i, col, n.want)
	if d.fail.column >= 0 {
		d.fail.path = n.path
	}
	return -1
}

// mismatchIn is mismatch for a value within a column.
func (d *jsonDecoder) mismatchIn(n *nestedColumn, col, from, to int, problem string) int {
	d.mismatch(col, from, to, problem)
	d.fail.path = n.path
	return -1
}

// innerList decodes the array at i.
func (d *jsonDecoder) innerList(b []byte, i, col int, n *nestedColumn, a *column.Appender) int {
	if i = skipSpace(b, i+1); i < len(b) && b[i] == ']' {
		a.EndList()
		return i + 1
	}
	for {
		if i = d.inner(b, i, col, n.elem, a.Child(0)); i < 0 {
			return -1
		}
		next, more := d.innerNext(b, i, ']')
		switch {
		case next < 0:
			return -1
		case !more:
			a.EndList()
			return next
		}
		i = next
	}
}

// innerNext passes over what stands behind an element: a comma, or the end.
func (d *jsonDecoder) innerNext(b []byte, i int, end byte) (next int, more bool) {
	if i = skipSpace(b, i); i >= len(b) {
		d.malformed(i, endOfRecord)
		return -1, false
	}
	switch b[i] {
	case end:
		return i + 1, false
	case ',':
		return skipSpace(b, i+1), true
	}
	d.malformed(i, fmt.Sprintf("want , or %c behind a value", end))
	return -1, false
}

// innerName reads a field name and its colon at i. The name is valid until the next string is read.
func (d *jsonDecoder) innerName(b []byte, i int) (name []byte, at int) {
	if i >= len(b) || b[i] != '"' {
		d.malformed(i, "want a quoted field name")
		return nil, -1
	}
	name, end := d.quoted(b, i)
	if end < 0 {
		return nil, -1
	}
	if at = skipSpace(b, end); at >= len(b) || b[at] != ':' {
		d.malformed(at, "want : behind a field name")
		return nil, -1
	}
	return name, skipSpace(b, at+1)
}

// innerObject decodes the object at i as a struct. Of a field that stands twice the last counts.
func (d *jsonDecoder) innerObject(b []byte, i, col int, n *nestedColumn, a *column.Appender) int {
	rows, from := a.Len(), i
	i = skipSpace(b, i+1)
	for more := i >= len(b) || b[i] != '}'; more; {
		name, at := d.innerName(b, i)
		if at < 0 {
			return -1
		}
		if k, known := n.index[string(name)]; known {
			a.Child(k).Truncate(rows)
			i = d.inner(b, at, col, &n.fields[k], a.Child(k))
		} else {
			i = d.skip(b, at, noField)
		}
		if i < 0 {
			return -1
		}
		if i, more = d.innerNext(b, i, '}'); i < 0 {
			return -1
		}
		if !more {
			return d.endObject(i, from, col, n, a)
		}
	}
	return d.endObject(i+1, from, col, n, a)
}

// endObject completes a struct that stands at [from:end).
func (d *jsonDecoder) endObject(end, from, col int, n *nestedColumn, a *column.Appender) int {
	for k := range n.fields {
		if f := &n.fields[k]; !f.nullable && a.Child(k).Len() == a.Len() {
			return d.mismatchIn(f, col, from, end, "missing, and is not nullable")
		}
	}
	a.EndStruct()
	return end
}

// innerMap decodes the object at i as a map.
func (d *jsonDecoder) innerMap(b []byte, i, col int, n *nestedColumn, a *column.Appender) int {
	entries := a.Child(0)
	i = skipSpace(b, i+1)
	for more := i >= len(b) || b[i] != '}'; more; {
		name, at := d.innerName(b, i)
		if at < 0 {
			return -1
		}
		if !n.key.putKey(entries.Child(0), name) {
			return d.mismatchIn(n.key, col, i, at-1, "want "+n.key.want)
		}
		if i = d.inner(b, at, col, n.elem, entries.Child(1)); i < 0 {
			return -1
		}
		entries.EndStruct()
		if i, more = d.innerNext(b, i, '}'); i < 0 {
			return -1
		}
		if !more {
			a.EndList()
			return i
		}
	}
	a.EndList()
	return i + 1
}

// putKey appends the name of a field as the key of a map: a text, or the text of an integer or boolean.
func (n *nestedColumn) putKey(a *column.Appender, name []byte) bool {
	switch n.op {
	case opText:
		a.Bytes(name)
		return true
	case opInt:
		if plain.NumberEnd(name, 0) == len(name) {
			v, problem := n.wholeInt(name)
			a.Int64(v)
			return problem == ""
		}
	case opUint:
		if plain.NumberEnd(name, 0) == len(name) {
			v, problem := n.wholeUint(name)
			a.Uint64(v)
			return problem == ""
		}
	case opBool:
		a.Bool(string(name) == "true")
		return string(name) == "true" || string(name) == "false"
	}
	return false
}

// appendNested appends a value of a nested column as JSON. Keys of maps that are no texts are quoted.
func (n *nestedColumn) appendNested(dst []byte, c *column.Column, row int) []byte {
	switch {
	case c.IsNull(row):
		return append(dst, "null"...)
	case n.kind == column.Struct:
		for i := range n.fields {
			dst = n.fields[i].appendNested(append(dst, n.lead[i]...), &c.Children[i], row)
		}
		return append(dst, '}')
	case n.kind != column.List:
		return n.appendValue(dst, c, row)
	}
	open, end, values := byte('['), byte(']'), &c.Children[0]
	if n.key != nil {
		open, end, values = '{', '}', &c.Children[0].Children[1]
	}
	dst = append(dst, open)
	for k := int(c.Offsets[row]); k < int(c.Offsets[row+1]); k++ {
		if k > int(c.Offsets[row]) {
			dst = append(dst, ',')
		}
		if n.key != nil {
			dst = append(n.appendKey(dst, &c.Children[0].Children[0], k), ':')
		}
		dst = n.elem.appendNested(dst, values, k)
	}
	return append(dst, end)
}

func (n *nestedColumn) appendKey(dst []byte, c *column.Column, row int) []byte {
	if n.key.op == opText {
		return plain.AppendString(dst, c.String(row))
	}
	at := len(dst)
	dst = n.key.appendValue(dst, c, row)
	if len(dst) > at && dst[at] == '"' { // a time, say, is quoted already
		return dst
	}
	return strconv.AppendQuote(dst[:at], string(dst[at:]))
}

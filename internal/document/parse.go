package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/arkflow-go/arkflow/internal/fault"
	"go.yaml.in/yaml/v3"
)

// Bounds of a document; more is refused.
const (
	maxBytes = 16 << 20
	maxDepth = 100
	maxNodes = 200_000 // after aliases are expanded
)

// Document is what a text says.
type Document struct {
	// Value is made of string, bool, int64, uint64 (above the int64 range), float64, nil, []any and map[string]any.
	Value any
	// Lines gives the line of each value by its path, such as "jobs[0].edges[1].from".
	Lines map[string]int
}

// Parse reads one YAML or JSON document. All faults that do not stop the reading come back together, each with its path
// and line. A text without content is a document whose Value is nil.
func Parse(data []byte) (*Document, error) {
	if len(data) > maxBytes {
		return nil, &fault.Fault{Problem: fmt.Sprintf("the document has %d bytes", len(data)), Hint: fmt.Sprintf("the limit is %d", maxBytes)}
	}
	root, err := parseNode(data)
	if err != nil {
		return nil, err
	}
	return FromNode(root)
}

// FromNode gives what a YAML node says, as Parse does.
func FromNode(n *yaml.Node) (*Document, error) {
	w := walker{doc: &Document{Lines: map[string]int{}}}
	if n != nil {
		w.doc.Value = w.value("", n, 0)
	}
	if err := w.faults.Err(); err != nil {
		return nil, err
	}
	return w.doc, nil
}

func parseNode(data []byte) (*yaml.Node, error) {
	if t := bytes.TrimLeft(data, " \t\r\n"); len(t) > 0 && (t[0] == '{' || t[0] == '[') {
		n, jsonErr := parseJSON(data)
		if jsonErr == nil {
			return n, nil
		}
		if n, err := parseYAML(data); err == nil { // a flow mapping
			return n, nil
		}
		return nil, jsonErr
	}
	return parseYAML(data)
}

func parseYAML(data []byte) (n *yaml.Node, err error) {
	defer func() {
		if p := recover(); p != nil {
			n, err = nil, &fault.Fault{Problem: fmt.Sprintf("not YAML: %v", p)}
		}
	}()
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, yamlFault(err)
	}
	if err := dec.Decode(&second); err == nil {
		return nil, &fault.Fault{At: at(second.Line), Problem: "there is a second document", Hint: "give one document; a list of jobs goes under jobs"}
	} else if !errors.Is(err, io.EOF) {
		return nil, yamlFault(err)
	}
	if len(doc.Content) == 0 {
		return nil, nil
	}
	return doc.Content[0], nil
}

var yamlLine = regexp.MustCompile(`^yaml: line (\d+): (.*)$`)

func yamlFault(err error) error {
	if m := yamlLine.FindStringSubmatch(err.Error()); m != nil {
		return &fault.Fault{At: "line " + m[1], Problem: "not YAML: " + m[2]}
	}
	return &fault.Fault{Problem: "not YAML: " + strings.TrimPrefix(err.Error(), "yaml: ")}
}

func at(line int) string {
	if line <= 0 {
		return ""
	}
	return "line " + strconv.Itoa(line)
}

// parseJSON makes the same nodes out of JSON, so that both forms have one meaning.
func parseJSON(data []byte) (*yaml.Node, error) {
	p := jsonParser{dec: json.NewDecoder(bytes.NewReader(data)), data: data}
	p.dec.UseNumber()
	n, err := p.value(0)
	if err == nil {
		if _, err2 := p.dec.Token(); !errors.Is(err2, io.EOF) {
			err = errors.New("there is more after the end of the value")
		}
	}
	if err != nil {
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, &fault.Fault{At: at(p.line()), Problem: "not JSON: " + err.Error()}
	}
	return n, nil
}

type jsonParser struct {
	dec    *json.Decoder
	data   []byte
	offset int // of which lines were counted
	lines  int
}

// line is the line at which the last token ended.
func (p *jsonParser) line() int {
	end := min(int(p.dec.InputOffset()), len(p.data))
	if end > p.offset {
		p.lines += bytes.Count(p.data[p.offset:end], []byte{'\n'})
		p.offset = end
	}
	return p.lines + 1
}

func (p *jsonParser) value(depth int) (*yaml.Node, error) {
	tok, err := p.dec.Token()
	if err != nil {
		return nil, err
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Line: p.line()}
	switch t := tok.(type) {
	case json.Delim:
		return p.container(n, t, depth)
	case string:
		n.Tag, n.Value = "!!str", t
	case bool:
		n.Tag, n.Value = "!!bool", strconv.FormatBool(t)
	case nil:
		n.Tag, n.Value = "!!null", "null"
	case json.Number:
		n.Tag, n.Value = "!!int", t.String()
		if strings.ContainsAny(n.Value, ".eE") {
			n.Tag = "!!float"
		}
	}
	return n, nil
}

func (p *jsonParser) container(n *yaml.Node, open json.Delim, depth int) (*yaml.Node, error) {
	if depth > maxDepth {
		return nil, fmt.Errorf("nested more than %d deep", maxDepth)
	}
	n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
	if open == '{' {
		n.Kind, n.Tag = yaml.MappingNode, "!!map"
	}
	for p.dec.More() {
		child, err := p.value(depth + 1) // a key, too, is a string token
		if err != nil {
			return nil, err
		}
		n.Content = append(n.Content, child)
	}
	_, err := p.dec.Token()
	return n, err
}

// walker turns nodes into values.
type walker struct {
	doc    *Document
	nodes  int
	stop   bool
	faults fault.List
}

func (w *walker) fault(path string, n *yaml.Node, problem, hint string) {
	w.faults.Add(&fault.Fault{Path: path, At: at(n.Line), Problem: problem, Hint: hint})
}

func (w *walker) value(path string, n *yaml.Node, depth int) any {
	if w.nodes++; w.stop || w.nodes > maxNodes || depth > maxDepth {
		if !w.stop {
			w.fault(path, n, "the document is too large or too deep", fmt.Sprintf("the limits are %d values, %d levels", maxNodes, maxDepth))
		}
		w.stop = true
		return nil
	}
	if path != "" {
		if _, known := w.doc.Lines[path]; !known {
			w.doc.Lines[path] = n.Line
		}
	}
	switch n.Kind {
	case yaml.AliasNode:
		return w.value(path, n.Alias, depth+1)
	case yaml.SequenceNode:
		if n.Tag != "!!seq" {
			w.fault(path, n, fmt.Sprintf("the tag %q is not supported", n.Tag), "")
		}
		list := make([]any, 0, len(n.Content))
		for i, c := range n.Content {
			list = append(list, w.value(fmt.Sprintf("%s[%d]", path, i), c, depth+1))
		}
		return list
	case yaml.MappingNode:
		return w.mapping(path, n, depth)
	case yaml.ScalarNode:
		return w.scalar(path, n)
	}
	w.fault(path, n, "this kind of node is not supported", "")
	return nil
}

func (w *walker) mapping(path string, n *yaml.Node, depth int) any {
	if n.Tag != "!!map" {
		w.fault(path, n, fmt.Sprintf("the tag %q is not supported", n.Tag), "")
	}
	m := make(map[string]any, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		if k.Kind == yaml.AliasNode {
			k = k.Alias
		}
		switch {
		case k.Tag == "!!merge":
			w.fault(path, k, "merge keys (<<) are not supported", "write the fields out")
			continue
		case k.Kind != yaml.ScalarNode || k.Tag != "!!str":
			w.fault(path, k, "a field's name is not a string", "quote it")
			continue
		}
		p := k.Value
		if path != "" {
			p = path + "." + k.Value
		}
		if _, twice := m[k.Value]; twice {
			w.fault(p, k, "the field stands twice", "")
			continue
		}
		w.doc.Lines[p] = k.Line
		m[k.Value] = w.value(p, v, depth+1)
	}
	return m
}

func (w *walker) scalar(path string, n *yaml.Node) any {
	switch n.Tag {
	case "!!str", "!!timestamp": // a date is kept as it is written
		return n.Value
	case "!!null":
		return nil
	case "!!bool":
		var b bool
		if err := n.Decode(&b); err != nil {
			w.fault(path, n, fmt.Sprintf("%q is no truth value", n.Value), "write true or false")
		}
		return b
	case "!!int":
		return w.integer(path, n)
	case "!!float":
		var f float64
		if err := n.Decode(&f); err != nil || math.IsNaN(f) || math.IsInf(f, 0) {
			w.fault(path, n, fmt.Sprintf("%q is no finite number", n.Value), "")
			return nil
		}
		return f
	}
	w.fault(path, n, fmt.Sprintf("the tag %q is not supported", n.Tag), "")
	return nil
}

func (w *walker) integer(path string, n *yaml.Node) any {
	var i int64
	if err := n.Decode(&i); err == nil {
		return i
	}
	var u uint64
	if err := n.Decode(&u); err == nil {
		return u
	}
	w.fault(path, n, fmt.Sprintf("%q does not fit in 64 bits", n.Value), "quote it if it is text")
	return nil
}

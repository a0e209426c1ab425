package document

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"sort"
	"strconv"
	"strings"
	"time"
	"unicode"

	"go.yaml.in/yaml/v3"
)

// Encoder is a struct that stands in a document as another value: EncodeSpec gives that.
type Encoder interface{ EncodeSpec() any }

// YAML writes a struct (or what it is made of) as YAML: the fields in their order under their `json` names, those with
// omitempty left out when zero, maps in the order of their keys. A time.Duration whose name ends in "_ms" is written as
// whole milliseconds where it is whole, else in Go's form. Parse gives equal values again.
func YAML(v any) ([]byte, error) {
	n, err := node("", reflect.ValueOf(v))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	enc := yaml.NewEncoder(&b)
	enc.SetIndent(2)
	if err := enc.Encode(n); err != nil {
		return nil, err
	}
	return b.Bytes(), enc.Close()
}

// Node is YAML as a node, for MarshalYAML.
func Node(v any) (*yaml.Node, error) { return node("", reflect.ValueOf(v)) }

// JSON writes a struct as JSON, by the rules of YAML.
func JSON(v any) ([]byte, error) {
	n, err := node("", reflect.ValueOf(v))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	if err := writeJSON(&b, n); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

func writeJSON(b *bytes.Buffer, n *yaml.Node) error {
	open, end, step := byte('['), byte(']'), 1
	switch n.Kind {
	case yaml.ScalarNode:
		if n.Tag != "!!str" {
			b.WriteString(n.Value)
			return nil
		}
		s, err := json.Marshal(n.Value)
		b.Write(s)
		return err
	case yaml.MappingNode:
		open, end, step = '{', '}', 2
	}
	b.WriteByte(open)
	for i := 0; i < len(n.Content); i += step {
		if i > 0 {
			b.WriteByte(',')
		}
		if step == 2 {
			if err := writeJSON(b, n.Content[i]); err != nil {
				return err
			}
			b.WriteByte(':')
		}
		if err := writeJSON(b, n.Content[i+step-1]); err != nil {
			return err
		}
	}
	b.WriteByte(end)
	return nil
}

func scalar(tag, value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value}
}

var durationType = reflect.TypeFor[time.Duration]()

func node(name string, v reflect.Value) (*yaml.Node, error) {
	if !v.IsValid() {
		return scalar("!!null", "null"), nil
	}
	if v.Type() == durationType {
		d := time.Duration(v.Int())
		if strings.HasSuffix(name, "_ms") && d%time.Millisecond == 0 {
			return scalar("!!int", strconv.FormatInt(d.Milliseconds(), 10)), nil
		}
		return scalar("!!str", d.String()), nil
	}
	switch v.Kind() {
	case reflect.Pointer, reflect.Interface:
		return node(name, v.Elem())
	case reflect.String:
		return text(v.String()), nil
	case reflect.Bool:
		return scalar("!!bool", strconv.FormatBool(v.Bool())), nil
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return scalar("!!int", strconv.FormatInt(v.Int(), 10)), nil
	case reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return scalar("!!int", strconv.FormatUint(v.Uint(), 10)), nil
	case reflect.Float32, reflect.Float64:
		return float(v.Float())
	case reflect.Slice, reflect.Array:
		n := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq"}
		for i := 0; i < v.Len(); i++ {
			e, err := node(name, v.Index(i))
			if err != nil {
				return nil, err
			}
			n.Content = append(n.Content, e)
		}
		if short(n) {
			n.Style = yaml.FlowStyle
		}
		return n, nil
	case reflect.Map:
		return mapping(v)
	case reflect.Struct:
		if e, ok := v.Interface().(Encoder); ok {
			return node(name, reflect.ValueOf(e.EncodeSpec()))
		}
		n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		return n, structure(n, v)
	}
	return nil, fmt.Errorf("a %s cannot be written", v.Type())
}

// text leaves the style of a string to the encoder where it is plain lines; other strings are quoted, so that every
// character comes back.
func text(s string) *yaml.Node {
	n := scalar("!!str", s)
	plain := func(r rune) bool { return r == '\n' || unicode.IsPrint(r) }
	if strings.ContainsFunc(s, func(r rune) bool { return !plain(r) }) || strings.HasPrefix(s, " ") || strings.HasPrefix(s, "\n") {
		n.Style = yaml.DoubleQuotedStyle
	}
	return n
}

// float keeps a whole number a float.
func float(f float64) (*yaml.Node, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil, fmt.Errorf("%v cannot be written", f)
	}
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	if strings.Contains(s, "e") && !strings.Contains(s, ".") { // "1e+21" is a string in YAML 1.1 readers
		s = strings.Replace(s, "e", ".0e", 1)
	}
	return scalar("!!float", s), nil
}

// short tells a list that reads well on one line.
func short(list *yaml.Node) bool {
	size := 0
	for _, e := range list.Content {
		size += len(e.Value) + 2
		if e.Kind != yaml.ScalarNode {
			return false
		}
	}
	return size <= 80
}

func mapping(v reflect.Value) (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	if v.Type().Key().Kind() != reflect.String {
		return nil, fmt.Errorf("a %s cannot be written", v.Type())
	}
	keys := v.MapKeys()
	sort.Slice(keys, func(i, j int) bool { return keys[i].String() < keys[j].String() })
	for _, k := range keys {
		e, err := node(k.String(), v.MapIndex(k))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", k.String(), err)
		}
		n.Content = append(n.Content, text(k.String()), e)
	}
	return n, nil
}

func structure(n *yaml.Node, v reflect.Value) error {
	t := v.Type()
	for i := 0; i < t.NumField(); i++ {
		f := t.Field(i)
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "" || name == "-" {
			continue
		}
		if strings.Contains(options, "omitempty") && isEmpty(v.Field(i)) {
			continue
		}
		e, err := node(name, v.Field(i))
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		n.Content = append(n.Content, scalar("!!str", name), e)
	}
	return nil
}

// isEmpty: an empty list or map that is there is kept, so that what was read is written.
func isEmpty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		return v.IsNil()
	}
	return v.IsZero()
}

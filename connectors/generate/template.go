package generate

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
)

// template is the row of a Context.
type template struct {
	schema *arrow.Schema
	values []any // int64, float64, bool or string, one a column
}

// parseTemplate reads a JSON object; columns are in the order in which they stand there.
func parseTemplate(text string) (*template, error) {
	if strings.TrimSpace(text) == "" {
		return nil, errors.New("there is no context")
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	if tok, err := dec.Token(); err != nil {
		return nil, malformed(err)
	} else if tok != json.Delim('{') {
		return nil, fmt.Errorf("the context begins with %v and is no JSON object", tok)
	}
	t := &template{}
	var fields []arrow.Field
	seen := map[string]bool{}
	for dec.More() {
		key, err := dec.Token()
		if err != nil {
			return nil, malformed(err)
		}
		name, _ := key.(string) // the decoder takes nothing but a string here
		if seen[name] {
			return nil, fmt.Errorf("field %q stands twice", name)
		}
		seen[name] = true
		tok, err := dec.Token()
		if err != nil {
			return nil, malformed(err)
		}
		v, typ, err := valueOf(tok)
		if err != nil {
			return nil, fmt.Errorf("field %q: %w", name, err)
		}
		t.values = append(t.values, v)
		fields = append(fields, arrow.Field{Name: name, Type: typ})
	}
	if _, err := dec.Token(); err != nil { // the closing brace
		return nil, malformed(err)
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("there is more behind the JSON object")
	}
	if len(fields) == 0 {
		return nil, errors.New("the object has no field")
	}
	t.schema = arrow.NewSchema(fields, nil)
	return t, nil
}

func malformed(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("the JSON object ends too early")
	}
	return fmt.Errorf("the context is no JSON: %w", err)
}

func valueOf(tok json.Token) (any, arrow.DataType, error) {
	switch x := tok.(type) {
	case string:
		return x, arrow.BinaryTypes.String, nil
	case bool:
		return x, arrow.FixedWidthTypes.Boolean, nil
	case json.Number:
		if !strings.ContainsAny(x.String(), ".eE") {
			n, err := strconv.ParseInt(x.String(), 10, 64)
			if err != nil {
				return nil, nil, fmt.Errorf("%s does not fit an int64", x)
			}
			return n, arrow.PrimitiveTypes.Int64, nil
		}
		f, err := x.Float64()
		if err != nil {
			return nil, nil, fmt.Errorf("%s does not fit a float64", x)
		}
		return f, arrow.PrimitiveTypes.Float64, nil
	case nil:
		return nil, nil, errors.New("null has no type")
	}
	return nil, nil, errors.New("an object or a list is no column")
}

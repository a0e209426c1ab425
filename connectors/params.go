package connectors

import (
	"fmt"

	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/operator"
)

// Params is the part of a JobSpec that describes one component.
type Params struct {
	// Path is where the component stands in the spec, such as "jobs[0].sources[1]". Faults of Decode begin with it.
	Path string
	// Config is the component's configuration, without "type" (which names the kind and was checked already). Values are
	// as YAML gives them: string, bool, int, int64, uint64, float64, nil, []any, map[string]any.
	Config map[string]any
	// Codec is the codec section of a source or sink, with its "type"; nil where the spec has none.
	Codec map[string]any
	// Function looks up a Go function by its name in the registry. It is nil outside a registry.
	Function func(name string) (operator.Operator, error)
	// NewFormat makes formats of the registry. It is nil outside a registry: then Format knows json and csv.
	NewFormat codec.NewFormat
}

// Configured is a source or sink that can say how a JobSpec would describe it: Config is the inverse of its FromParams.
// config holds no "type"; codec holds one, or is nil. An error says what cannot be written down, such as a Go function.
type Configured interface {
	Config() (config, codec map[string]any, err error)
}

// ConfiguredOperator is Configured for operators, which have no codec.
type ConfiguredOperator interface {
	Config() (map[string]any, error)
}

// Decode fills the struct that into points to from p.Config, strictly: see DecodeMap.
func Decode(p Params, into any) error { return DecodeMap(join(p.Path, "config"), p.Config, into) }

// DecodeCodec fills the struct that into points to from p.Codec, strictly: see DecodeMap. The codec's "type" is a field
// like any other.
func DecodeCodec(p Params, into any) error {
	return DecodeMap(join(p.Path, "codec"), p.Codec, into)
}

// Format gives the format of the codec section, nil where there is none.
func (p Params) Format() (codec.Format, error) {
	switch {
	case p.Codec == nil:
		return nil, nil
	case p.NewFormat == nil:
		return codec.FromConfig(join(p.Path, "codec"), p.Codec)
	}
	return p.NewFormat(join(p.Path, "codec"), p.Codec)
}

// RecordFormat is Format for components that take records and not whole files.
func (p Params) RecordFormat() (codec.RecordFormat, error) {
	f, err := p.Format()
	if f == nil || err != nil {
		return nil, err
	}
	r, ok := f.(codec.RecordFormat)
	if !ok {
		return nil, p.Fault("codec.type", fmt.Sprintf("%q is a format of whole files", f.Kind()), "use it with a source or sink of files")
	}
	return r, nil
}

// Place is the path of something in the component's section, such as "config.url".
func (p Params) Place(field string) string { return join(p.Path, field) }

// Fault makes a fault at a field of the component, such as "config.url".
func (p Params) Fault(field, problem, hint string) error {
	return &fault.Fault{Path: join(p.Path, field), Problem: problem, Hint: hint}
}

func join(path, field string) string {
	if path == "" {
		return field
	}
	return path + "." + field
}

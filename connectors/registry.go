package connectors

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"sync"

	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/operator"
)

// NewSource makes a source out of its section of a spec. It must be free of side effects: nothing is opened.
type NewSource = func(Params) (operator.Source, error)

// NewSink makes a sink out of its section of a spec. It must be free of side effects: nothing is opened.
type NewSink = func(Params) (operator.Sink, error)

// NewOperator makes an operator out of its section of a spec.
type NewOperator = func(Params) (operator.Operator, error)

// Registry maps the kinds and function names of JobSpecs to Go. The zero value is empty and works; it is safe for
// concurrent use.
type Registry struct {
	mu        sync.RWMutex
	sources   map[string]NewSource
	sinks     map[string]NewSink
	operators map[string]NewOperator
	functions map[string]operator.Operator
	codecs    map[string]codec.NewFormat
}

// RegisterSource adds a kind of source: the input_type of a spec. A kind that is there already is an error.
func (r *Registry) RegisterSource(kind string, make NewSource) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return register(&r.sources, "source", kind, make, make == nil)
}

// RegisterSink adds a kind of sink: the output_type of a spec. A kind that is there already is an error.
func (r *Registry) RegisterSink(kind string, make NewSink) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return register(&r.sinks, "sink", kind, make, make == nil)
}

// RegisterOperator adds a kind of operator. A kind that is there already is an error.
func (r *Registry) RegisterOperator(kind string, make NewOperator) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if kind == "source" || kind == "sink" {
		return &fault.Fault{Problem: fmt.Sprintf("register operator kind %q: the word is taken", kind), Hint: "choose another kind"}
	}
	return register(&r.operators, "operator", kind, make, make == nil)
}

// RegisterCodec adds a format: the type of a codec section, beside json and csv, which every registry has. A kind that is there already is
// an error.
func (r *Registry) RegisterCodec(kind string, make codec.NewFormat) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.Contains(codec.Kinds(), kind) {
		return &fault.Fault{Problem: fmt.Sprintf("register codec %q: it is registered already", kind)}
	}
	return register(&r.codecs, "codec", kind, make, make == nil)
}

// Format makes the format of a codec section; path begins the path of each fault. Without a type it is json. An unknown type is a fault
// that names those there are.
func (r *Registry) Format(path string, section map[string]any) (codec.Format, error) {
	kind, isText := section["type"].(string)
	if !isText || slices.Contains(codec.Kinds(), kind) {
		return codec.FromConfig(path, section)
	}
	r.mu.RLock()
	make, ok := r.codecs[kind]
	known := append(slices.Collect(maps.Keys(r.codecs)), codec.Kinds()...)
	r.mu.RUnlock()
	if !ok {
		return nil, codec.NotRegistered(path, kind, known)
	}
	return make(path, section)
}

// RegisterFunction adds a Go function under the name by which specs refer to it (`function:`); f is what operator.Map and
// its like give. A name that is there already is an error.
func (r *Registry) RegisterFunction(name string, f operator.Operator) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return register(&r.functions, "function", name, f, f == nil)
}

var kindPattern = regexp.MustCompile(`^[A-Za-z0-9_./-]{1,128}$`)

func register[T any](into *map[string]T, what, name string, x T, isNil bool) error {
	switch _, taken := (*into)[name]; {
	case !kindPattern.MatchString(name):
		return &fault.Fault{Problem: fmt.Sprintf("register %s %q: a name is 1 to 128 of A-Z a-z 0-9 _ - . /", what, name)}
	case isNil:
		return &fault.Fault{Problem: fmt.Sprintf("register %s %q: it is nil", what, name)}
	case taken:
		return &fault.Fault{Problem: fmt.Sprintf("register %s %q: it is registered already", what, name)}
	}
	if *into == nil {
		*into = map[string]T{}
	}
	(*into)[name] = x
	return nil
}

// Source makes the source of that kind. An unknown kind is a fault that names those there are.
func (r *Registry) Source(kind string, p Params) (operator.Source, error) {
	return build(r, func() map[string]NewSource { return r.sources }, "source", kind, p)
}

// Sink makes the sink of that kind. An unknown kind is a fault that names those there are.
func (r *Registry) Sink(kind string, p Params) (operator.Sink, error) {
	return build(r, func() map[string]NewSink { return r.sinks }, "sink", kind, p)
}

// Operator makes the operator of that kind. An unknown kind is a fault that names those there are.
func (r *Registry) Operator(kind string, p Params) (operator.Operator, error) {
	return build(r, func() map[string]NewOperator { return r.operators }, "operator", kind, p)
}

// Function gives the Go function of that name. An unknown name is a fault that names those there are.
func (r *Registry) Function(name string) (operator.Operator, error) {
	return lookup(r, func() map[string]operator.Operator { return r.functions }, "function", name)
}

func build[T any](r *Registry, table func() map[string]func(Params) (T, error), what, kind string, p Params) (T, error) {
	make, err := lookup(r, table, what, kind)
	if err != nil {
		var none T
		return none, err
	}
	p.Function, p.NewFormat = r.Function, r.Format
	return make(p)
}

func lookup[T any](r *Registry, table func() map[string]T, what, name string) (T, error) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	t := table()
	if x, ok := t[name]; ok {
		return x, nil
	}
	var none T
	return none, notRegistered(what, name, slices.Sorted(maps.Keys(t)))
}

// notRegistered says that a name is unknown, the nearest names first and then all there are.
func notRegistered(what, name string, known []string) error {
	f := &fault.Fault{Problem: fmt.Sprintf("%s %q is not registered", what, name)}
	if len(known) == 0 {
		f.Hint = fmt.Sprintf("no %s is registered at all", what)
		return f
	}
	if near := fault.Nearest(name, known); len(near) > 0 {
		f.Hint = fmt.Sprintf("did you mean %q? ", near[0])
	}
	f.Hint += fmt.Sprintf("registered are %q", known)
	return f
}

// OperatorKinds gives the registered kinds of operators, sorted.
func (r *Registry) OperatorKinds() []string {
	r.mu.RLock()
	defer r.mu.RUnlock()
	return slices.Sorted(maps.Keys(r.operators))
}

package operator

import (
	"fmt"

	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/fields"
)

// function is what operators over a Go function have in common: the name by which a spec refers to it, and its types as text.
type function struct {
	name string
	text string // for Describe
}

// Name is what Named gave, or "".
func (f *function) Name() string { return f.name }

// Describe implements Described.
func (f *function) Describe() string {
	if f.name == "" {
		return f.text
	}
	return f.name + ": " + f.text
}

// Config is the inverse of the FromConfig function. A function without a name cannot be written down.
func (f *function) Config() (map[string]any, error) {
	if f.name == "" {
		return nil, &Fault{Path: "function", Problem: "the function has no name", Hint: "give it one by Named and register it under that name"}
	}
	return map[string]any{"function": f.name}, nil
}

// nameable is an operator over a Go function.
type nameable interface {
	Operator
	Name() string
	withName(name string) Operator
}

// functionFrom gives the function that a spec's config names, as it was registered: an operator of that kind. more are the
// further fields that the config may have.
func functionFrom(kind string, config map[string]any, lookup func(name string) (Operator, error), more ...string) (Operator, error) {
	var faults fault.List
	fields.Known(&faults, config, "config", append([]string{"function"}, more...)...)
	name, ok := config["function"].(string)
	switch {
	case config["function"] == nil:
		faults.Add(&Fault{Path: "config.function", Problem: "is missing"})
	case !ok:
		faults.Add(&Fault{Path: "config.function", Problem: fmt.Sprintf("want the name of a function, not %v", config["function"])})
	case lookup == nil:
		faults.Add(&Fault{Path: "config.function", Problem: fmt.Sprintf("function %q is looked up without a registry", name), Hint: "register it"})
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	op, err := lookup(name)
	if err != nil {
		return nil, atPath(err, "config.function")
	}
	if op.Kind() != kind {
		return nil, &Fault{Path: "config.function", Problem: fmt.Sprintf("function %q is registered as a %s, this is a %s", name, op.Kind(), kind),
			Hint: fmt.Sprintf("write kind: %s, or name another function", op.Kind())}
	}
	if n, ok := op.(nameable); ok && n.Name() == "" {
		return n.withName(name), nil
	}
	return op, nil
}

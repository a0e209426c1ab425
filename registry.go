package arkflow

import (
	"github.com/arkflow-go/arkflow/codec/arrowipc"
	"github.com/arkflow-go/arkflow/connectors"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/connectors/file"
	"github.com/arkflow-go/arkflow/connectors/generate"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/connectors/stdout"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/window"
)

// Registry maps the kinds and function names of JobSpecs to Go: see package connectors.
type Registry = connectors.Registry

// NewRegistry gives a registry with what is built in: the sources memory, generate and file; the sinks memory, file, stdout and
// drop; the codecs json, csv and arrow_ipc; the operators filter, select, rename, drop, union, split, with_timestamps, map, flat_map, map_batch, async and window. Connectors with dependencies of their own are added by their
// Register functions, Go functions by RegisterFunction. Each call gives a registry of its own.
func NewRegistry() *Registry {
	r := &Registry{}
	for kind, make := range builtinSources() {
		_ = r.RegisterSource(kind, make)
	}
	for kind, make := range builtinSinks() {
		_ = r.RegisterSink(kind, make)
	}
	for kind, make := range builtinOperators() {
		_ = r.RegisterOperator(kind, make) // our kinds are well formed and there once: TestNewRegistry_holdsTheBuiltIns
	}
	_ = r.RegisterCodec("arrow_ipc", arrowipc.FromConfig)
	return r
}

func builtinSources() map[string]connectors.NewSource {
	return map[string]connectors.NewSource{
		"memory":   memory.SourceFromParams,
		"generate": generate.FromParams,
		"file":     file.SourceFromParams,
	}
}

func builtinSinks() map[string]connectors.NewSink {
	return map[string]connectors.NewSink{
		"memory": memory.SinkFromParams,
		"file":   file.SinkFromParams,
		"stdout": stdout.FromParams,
		"drop":   drop.FromParams,
	}
}

func builtinOperators() map[string]connectors.NewOperator {
	config := func(make func(map[string]any) (operator.Operator, error)) connectors.NewOperator {
		return func(p connectors.Params) (operator.Operator, error) { return make(p.Config) }
	}
	type lookup = func(name string) (operator.Operator, error)
	function := func(make func(map[string]any, lookup) (operator.Operator, error)) connectors.NewOperator {
		return func(p connectors.Params) (operator.Operator, error) { return make(p.Config, p.Function) }
	}
	return map[string]connectors.NewOperator{
		"filter": func(p connectors.Params) (operator.Operator, error) {
			if _, named := p.Config["function"]; named {
				return operator.FilterFuncFromConfig(p.Config, p.Function)
			}
			return operator.FilterFromConfig(p.Config)
		},
		"select":          config(operator.SelectFromConfig),
		"rename":          config(operator.RenameFromConfig),
		"drop":            config(operator.DropFromConfig),
		"union":           config(operator.UnionFromConfig),
		"split":           config(operator.SplitFromConfig),
		"with_timestamps": config(operator.TimestampsFromConfig),
		"map":             function(operator.MapFromConfig),
		"flat_map":        function(operator.FlatMapFromConfig),
		"map_batch":       function(operator.MapBatchFromConfig),
		"async":           function(operator.AsyncFromConfig),
		// The key is that of the edges into the window.
		"window": func(p connectors.Params) (operator.Operator, error) {
			c := cloneMap(p.Config)
			delete(c, "key")
			return window.FromConfig(c)
		},
	}
}

// Package connectors answers: which component does a name in a JobSpec mean?
//
// A [Registry] maps kinds ("file", "window") to functions that make a source, sink or operator out of the [Params] of a spec,
// and names to Go functions. It is a value: arkflow.NewRegistry gives one that holds the built-ins, a connector's Register adds
// one more:
//
//	reg := arkflow.NewRegistry()
//	err := reg.RegisterSource("queue", func(p connectors.Params) (operator.Source, error) {
//		var cfg struct {
//			URL  string        `json:"url"`
//			Poll time.Duration `json:"poll"`
//		}
//		if err := connectors.Decode(p, &cfg); err != nil {
//			return nil, err
//		}
//		return queueSource{cfg.URL, cfg.Poll}, nil
//	})
//
// A connector's package exposes FromParams (or SourceFromParams and SinkFromParams where it has both), whose result has the
// method Config of [Configured], so that a job built in Go can be written as a JobSpec.
//
// The package opens nothing, connects to nothing and holds no global table. Each folder below it is one system.
package connectors

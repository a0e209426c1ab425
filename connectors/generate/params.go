package generate

import (
	"fmt"
	"time"

	"github.com/arkflow-go/arkflow/connectors"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/operator"
)

// FromParams gives the source of a JobSpec:
//
//	context: '{ "id": "c-1", "amount": 42 }'   # required
//	interval: 500ms                            # default 0, no waiting
//	batch_size: 1                              # default 1 with an interval, else 4096
//	count: 0                                   # default 0, no end
//	rate: 0                                    # rows a second; default 0, no limit
//	splits: 1                                  # default 1
//
// A codec is optional; it can only be `type: json`, which is what context is written in.
func FromParams(p connectors.Params) (operator.Source, error) {
	var cfg struct {
		Context   string        `json:"context"`
		Interval  time.Duration `json:"interval"`
		BatchSize int           `json:"batch_size"`
		Count     int64         `json:"count"`
		Rate      float64       `json:"rate"`
		Splits    int           `json:"splits"`
	}
	var codec struct {
		Type string `json:"type"`
	}
	var faults fault.List
	faults.Add(connectors.Decode(p, &cfg))
	faults.Add(connectors.DecodeCodec(p, &codec))
	if p.Codec != nil && codec.Type != "json" {
		faults.Add(p.Fault("codec.type", fmt.Sprintf("%q is not the codec of a context", codec.Type), "write json, or leave the codec out"))
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	s := Source{Context: cfg.Context, Interval: cfg.Interval, BatchSize: cfg.BatchSize, Count: cfg.Count, Rate: cfg.Rate, NumSplits: cfg.Splits,
		codec: p.Codec != nil}
	prefix := "config."
	if p.Path != "" {
		prefix = p.Path + ".config."
	}
	if err := s.checkAt(prefix); err != nil {
		return nil, err
	}
	return s, nil
}

// Config implements connectors.Configured. A Go function cannot be written down.
func (s Source) Config() (config, codec map[string]any, err error) {
	if s.fn != nil {
		return nil, nil, &fault.Fault{Path: "function", Problem: "rows made by a Go function cannot be written in a spec"}
	}
	config = map[string]any{"context": s.Context}
	if s.Interval != 0 {
		config["interval"] = s.Interval.String()
	}
	if s.BatchSize != 0 {
		config["batch_size"] = s.BatchSize
	}
	if s.Count != 0 {
		config["count"] = s.Count
	}
	if s.Rate != 0 {
		config["rate"] = s.Rate
	}
	if s.NumSplits != 0 {
		config["splits"] = s.NumSplits
	}
	if s.codec {
		codec = map[string]any{"type": "json"}
	}
	return config, codec, nil
}

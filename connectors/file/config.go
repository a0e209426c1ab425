package file

import (
	"time"

	"github.com/arkflow-go/arkflow/connectors"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/operator"
)

// sourceConfig is the configuration of a source in a JobSpec.
type sourceConfig struct {
	Path         string   `json:"path"`
	InOrder      bool     `json:"in_order"`
	Compression  string   `json:"compression"`
	MaxLineBytes int      `json:"max_line_bytes"`
	MaxBlock     int64    `json:"max_block_bytes"`
	BatchRows    int      `json:"batch_rows"`
	Metadata     []string `json:"metadata"`
}

// sinkConfig is the configuration of a sink in a JobSpec.
type sinkConfig struct {
	Path        string        `json:"path"`
	Overwrite   bool          `json:"overwrite"`
	Compression string        `json:"compression"`
	Rotate      *rotateConfig `json:"rotate"`
	ExactlyOnce bool          `json:"exactly_once"`
}

// rotateConfig is a Rotation in a JobSpec.
type rotateConfig struct {
	Rows  int64         `json:"rows"`
	Bytes int64         `json:"bytes"`
	Age   time.Duration `json:"age"`
}

// compressionOf reads the word of a JobSpec, of which "auto" is Auto.
func compressionOf(word string) Compression {
	if word == "auto" {
		return Auto
	}
	return Compression(word)
}

// Config is part of connectors.Configured. Fields that have their default are left out.
func (s Source) Config() (config, section map[string]any, err error) {
	if err := s.Check(); err != nil {
		return nil, nil, err
	}
	config = map[string]any{"path": s.URL}
	if s.InOrder {
		config["in_order"] = true
	}
	if s.Compression != Auto {
		config["compression"] = string(s.Compression)
	}
	if s.MaxLineBytes != 0 {
		config["max_line_bytes"] = s.MaxLineBytes
	}
	if s.MaxBlockBytes != 0 {
		config["max_block_bytes"] = s.MaxBlockBytes
	}
	if s.BatchRows != 0 {
		config["batch_rows"] = s.BatchRows
	}
	if len(s.Metadata) > 0 {
		names := make([]any, len(s.Metadata))
		for i, m := range s.Metadata {
			names[i] = m
		}
		config["metadata"] = names
	}
	if s.Format != nil {
		section, err = s.Format.Config()
	}
	return config, section, err
}

// SourceFromParams makes the source of a JobSpec. Its configuration has the keys path, in_order, compression (auto, none, gzip or
// zstd), max_line_bytes, max_block_bytes, batch_rows and metadata (a list of names); for its codec see codec.FromConfig.
func SourceFromParams(p connectors.Params) (operator.Source, error) {
	var c sourceConfig
	if err := connectors.Decode(p, &c); err != nil {
		return nil, err
	}
	s := Source{URL: c.Path, InOrder: c.InOrder, Compression: compressionOf(c.Compression), MaxLineBytes: c.MaxLineBytes,
		MaxBlockBytes: c.MaxBlock, BatchRows: c.BatchRows, Metadata: c.Metadata}
	var err error
	if s.Format, err = p.Format(); err != nil {
		return nil, err
	}
	if err := fault.Prefix(p.Place("config."), s.Check()); err != nil {
		return nil, err
	}
	return s, nil
}

// Config is part of connectors.Configured. Fields that have their default are left out.
func (s Sink) Config() (config, section map[string]any, err error) {
	if err := s.checkPlace(); err != nil {
		return nil, nil, err
	}
	config = map[string]any{"path": s.URL}
	if s.Overwrite {
		config["overwrite"] = true
	}
	if s.Compression != Auto {
		config["compression"] = string(s.Compression)
	}
	if s.Rotate != nil {
		config["rotate"] = s.Rotate.config()
	}
	if s.ExactlyOnce {
		config["exactly_once"] = true
	}
	if s.Format != nil {
		section, err = s.Format.Config()
	}
	return config, section, err
}

func (r *Rotation) config() map[string]any {
	c := map[string]any{}
	if r.Rows != 0 {
		c["rows"] = r.Rows
	}
	if r.Bytes != 0 {
		c["bytes"] = r.Bytes
	}
	if r.Age != 0 {
		c["age"] = r.Age.String()
	}
	return c
}

// SinkFromParams makes the sink of a JobSpec. Its configuration has the keys path, overwrite, compression (auto, none, gzip or zstd),
// rotate, a mapping of rows, bytes and age, of which any may be left out: {} ends parts at barriers only; and exactly_once. For its codec see codec.FromConfig.
func SinkFromParams(p connectors.Params) (operator.Sink, error) {
	var c sinkConfig
	if err := connectors.Decode(p, &c); err != nil {
		return nil, err
	}
	s := Sink{URL: c.Path, Overwrite: c.Overwrite, Compression: compressionOf(c.Compression), ExactlyOnce: c.ExactlyOnce}
	if c.Rotate != nil {
		s.Rotate = &Rotation{Rows: c.Rotate.Rows, Bytes: c.Rotate.Bytes, Age: c.Rotate.Age}
	}
	var err error
	if s.Format, err = p.Format(); err != nil {
		return nil, err
	}
	if err := fault.Prefix(p.Place("config."), s.checkPlace()); err != nil {
		return nil, err
	}
	return s, nil
}

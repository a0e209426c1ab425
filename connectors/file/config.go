package file

import (
	"errors"

	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/connectors"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/hashicorp/go-multierror"
)

// sourceConfig is the configuration of a source in a JobSpec.
type sourceConfig struct {
	Path         string `json:"path"`
	InOrder      bool   `json:"in_order"`
	Compression  string `json:"compression"`
	MaxLineBytes int    `json:"max_line_bytes"`
	BatchRows    int    `json:"batch_rows"`
}

// sinkConfig is the configuration of a sink in a JobSpec.
type sinkConfig struct {
	Path        string `json:"path"`
	Overwrite   bool   `json:"overwrite"`
	Compression string `json:"compression"`
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
	if s.BatchRows != 0 {
		config["batch_rows"] = s.BatchRows
	}
	if s.Format != nil {
		section, err = s.Format.Config()
	}
	return config, section, err
}

// SourceFromParams makes the source of a JobSpec. Its configuration has the keys path, in_order, compression (auto, none or
// gzip), max_line_bytes and batch_rows; for its codec see codec.FromConfig.
func SourceFromParams(p connectors.Params) (operator.Source, error) {
	var c sourceConfig
	if err := connectors.Decode(p, &c); err != nil {
		return nil, err
	}
	s := Source{URL: c.Path, InOrder: c.InOrder, Compression: compressionOf(c.Compression), MaxLineBytes: c.MaxLineBytes, BatchRows: c.BatchRows}
	var err error
	if s.Format, err = formatOf(p); err != nil {
		return nil, err
	}
	if err := inConfig(p, s.Check()); err != nil {
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
	if s.Format != nil {
		section, err = s.Format.Config()
	}
	return config, section, err
}

// SinkFromParams makes the sink of a JobSpec. Its configuration has the keys path, overwrite and compression (auto, none or
// gzip); for its codec see codec.FromConfig.
func SinkFromParams(p connectors.Params) (operator.Sink, error) {
	var c sinkConfig
	if err := connectors.Decode(p, &c); err != nil {
		return nil, err
	}
	s := Sink{URL: c.Path, Overwrite: c.Overwrite, Compression: compressionOf(c.Compression)}
	var err error
	if s.Format, err = formatOf(p); err != nil {
		return nil, err
	}
	if err := inConfig(p, s.checkPlace()); err != nil {
		return nil, err
	}
	return s, nil
}

// inConfig puts the path of the configuration before those of faults.
func inConfig(p connectors.Params, err error) error {
	if err == nil {
		return nil
	}
	path := "config."
	if p.Path != "" {
		path = p.Path + ".config."
	}
	all := []error{err}
	var many *multierror.Error
	if errors.As(err, &many) {
		all = many.Errors
	}
	var out fault.List
	for _, e := range all {
		var f *fault.Fault
		if errors.As(e, &f) {
			c := *f
			c.Path = path + f.Path
			e = &c
		}
		out.Add(e)
	}
	return out.Err()
}

// formatOf gives the format of the codec section, nil where there is none.
func formatOf(p connectors.Params) (codec.Format, error) {
	if p.Codec == nil {
		return nil, nil
	}
	path := "codec"
	if p.Path != "" {
		path = p.Path + ".codec"
	}
	return codec.FromConfig(path, p.Codec)
}

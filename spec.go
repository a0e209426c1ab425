package arkflow

import (
	"errors"
	"fmt"
	"time"

	"github.com/arkflow-go/arkflow/connectors"
	"github.com/arkflow-go/arkflow/internal/document"
	"go.yaml.in/yaml/v3"
)

// SpecAPI is the version of the JobSpec format.
const SpecAPI = "arkflow/v1"

// JobSpec is the written form of a job, in YAML or JSON. LoadSpecs reads it, FromSpec makes a Job of it, Job.Spec is the way back.
// What is read is written again as it was, comments and order of maps aside. Times that end in _ms are whole milliseconds; they
// may also be written as Go durations ("500ms").
type JobSpec struct {
	API            string          `json:"api,omitempty" yaml:"api,omitempty"` // SpecAPI. Optional
	ID             string          `json:"id" yaml:"id"`                       // the job's name
	Version        int64           `json:"version" yaml:"version"`             // of the job, 1 or more
	Parallelism    int             `json:"parallelism,omitempty" yaml:"parallelism,omitempty"`
	MaxParallelism int             `json:"max_parallelism,omitempty" yaml:"max_parallelism,omitempty"`
	Rescale        bool            `json:"rescale,omitempty" yaml:"rescale,omitempty"`     // recovery may redistribute state
	Placement      string          `json:"placement,omitempty" yaml:"placement,omitempty"` // colocated (default) or split; a local run ignores it
	NodeIDs        []string        `json:"node_ids,omitempty" yaml:"node_ids,omitempty"`   // where to place it; a local run ignores it
	Rebalance      *RebalanceSpec  `json:"rebalance,omitempty" yaml:"rebalance,omitempty"`
	Checkpoint     *CheckpointSpec `json:"checkpoint,omitempty" yaml:"checkpoint,omitempty"`
	Operators      []OperatorSpec  `json:"operators,omitempty" yaml:"operators,omitempty"`
	Edges          []EdgeSpec      `json:"edges,omitempty" yaml:"edges,omitempty"`
	Sources        []SourceSpec    `json:"sources,omitempty" yaml:"sources,omitempty"`
	Sinks          []SinkSpec      `json:"sinks,omitempty" yaml:"sinks,omitempty"`
	State          *StateSpec      `json:"state,omitempty" yaml:"state,omitempty"`
	Recovery       string          `json:"recovery,omitempty" yaml:"recovery,omitempty"` // latest_checkpoint or none
}

// OperatorSpec is an operator, source or sink of a JobSpec. The kinds "source" and "sink" are described further in Sources
// and Sinks.
type OperatorSpec struct {
	ID          string         `json:"id" yaml:"id"`
	Kind        string         `json:"kind" yaml:"kind"`
	Config      map[string]any `json:"config,omitempty" yaml:"config,omitempty"`
	Parallelism int            `json:"parallelism,omitempty" yaml:"parallelism,omitempty"` // defaults to the job's
	OnError     *ErrorSpec     `json:"on_error,omitempty" yaml:"on_error,omitempty"`       // defaults to fail
}

// EdgeSpec leads the rows of one operator to another. The edges into an operator with several inputs stand in the order of
// its inputs.
type EdgeSpec struct {
	ID          string  `json:"id,omitempty" yaml:"id,omitempty"`
	From        string  `json:"from" yaml:"from"`
	To          string  `json:"to" yaml:"to"`
	Port        string  `json:"port,omitempty" yaml:"port,omitempty"` // main (default), late, or a tag of a split or of side outputs
	Partitioned bool    `json:"partitioned,omitempty" yaml:"partitioned,omitempty"`
	Key         SpecKey `json:"key,omitempty" yaml:"key,omitempty"` // of a partitioned edge; defaults to config.key of the operator that it leads to
}

// SpecKey is the columns of a key. It is written as a list, or as the name of the only one.
type SpecKey []string

// DecodeSpec implements connectors.Decoder.
func (k *SpecKey) DecodeSpec(x any) error {
	list, ok := x.([]any)
	if !ok {
		list = []any{x}
	}
	out := make(SpecKey, 0, len(list))
	for _, e := range list {
		s, ok := e.(string)
		if !ok {
			return fmt.Errorf("want a column or a list of columns, not %v", x)
		}
		out = append(out, s)
	}
	*k = out
	return nil
}

// SourceSpec says what an operator of kind "source" reads.
type SourceSpec struct {
	OperatorID string         `json:"operator_id" yaml:"operator_id"`
	InputType  string         `json:"input_type" yaml:"input_type"`
	Config     map[string]any `json:"config,omitempty" yaml:"config,omitempty"` // its "type", where given, is the InputType
	Codec      map[string]any `json:"codec,omitempty" yaml:"codec,omitempty"`
	Time       *TimeSpec      `json:"time,omitempty" yaml:"time,omitempty"`                 // required
	MaxRate    float64        `json:"max_rate,omitempty" yaml:"max_rate,omitempty"`         // rows/s; 0: no limit
	MaxDrift   time.Duration  `json:"max_drift_ms,omitempty" yaml:"max_drift_ms,omitempty"` // 0: no limit
}

// TimeSpec says where the event time of rows comes from.
type TimeSpec struct {
	Mode           string         `json:"mode" yaml:"mode"` // event_time, ingestion_time or processing_time
	TimestampField string         `json:"timestamp_field,omitempty" yaml:"timestamp_field,omitempty"`
	Watermark      *WatermarkSpec `json:"watermark,omitempty" yaml:"watermark,omitempty"`
}

// WatermarkSpec says how watermarks follow from event time.
type WatermarkSpec struct {
	Strategy       string        `json:"strategy,omitempty" yaml:"strategy,omitempty"` // bounded_out_of_orderness, the default
	OutOfOrderness time.Duration `json:"out_of_orderness_ms,omitempty" yaml:"out_of_orderness_ms,omitempty"`
	IdleTimeout    time.Duration `json:"idle_timeout_ms,omitempty" yaml:"idle_timeout_ms,omitempty"`       // 0: never
	MaxFutureSkew  time.Duration `json:"max_future_skew_ms,omitempty" yaml:"max_future_skew_ms,omitempty"` // 0: no limit
}

// SinkSpec says where an operator of kind "sink" writes.
type SinkSpec struct {
	OperatorID string         `json:"operator_id" yaml:"operator_id"`
	OutputType string         `json:"output_type" yaml:"output_type"`
	Config     map[string]any `json:"config,omitempty" yaml:"config,omitempty"` // its "type", where given, is the OutputType
	Codec      map[string]any `json:"codec,omitempty" yaml:"codec,omitempty"`
	MaxRate    float64        `json:"max_rate,omitempty" yaml:"max_rate,omitempty"` // rows/s; 0: no limit
}

// StateSpec says where keyed state lives.
type StateSpec struct {
	Backend       string `json:"backend,omitempty" yaml:"backend,omitempty"` // memory, the default, or embedded_kv
	FormatVersion int64  `json:"format_version,omitempty" yaml:"format_version,omitempty"`
}

// CheckpointSpec says how often an epoch is taken.
type CheckpointSpec struct {
	Interval time.Duration `json:"interval_ms,omitempty" yaml:"interval_ms,omitempty"` // defaults to 10 s
}

// RebalanceSpec says whether a fleet may move the job. A local run ignores it.
type RebalanceSpec struct {
	Mode           string        `json:"mode,omitempty" yaml:"mode,omitempty"` // off (default) or auto
	PressureStreak int           `json:"pressure_streak,omitempty" yaml:"pressure_streak,omitempty"`
	Cooldown       time.Duration `json:"cooldown_ms,omitempty" yaml:"cooldown_ms,omitempty"`
}

// MarshalYAML implements yaml.Marshaler.
func (s JobSpec) MarshalYAML() (any, error) { return document.Node(plainSpec(s)) }

// MarshalJSON implements json.Marshaler.
func (s JobSpec) MarshalJSON() ([]byte, error) { return document.JSON(plainSpec(s)) }

// UnmarshalYAML reads one job strictly: see LoadSpecs.
func (s *JobSpec) UnmarshalYAML(n *yaml.Node) error {
	d, err := document.FromNode(n)
	if err != nil {
		return err
	}
	return s.decode("", d.Value, d.Lines)
}

// UnmarshalJSON reads one job strictly: see LoadSpecs.
func (s *JobSpec) UnmarshalJSON(data []byte) error {
	d, err := document.Parse(data)
	if err != nil {
		return err
	}
	return s.decode("", d.Value, d.Lines)
}

// plainSpec is a JobSpec without methods.
type plainSpec JobSpec

func (s *JobSpec) decode(path string, value any, lines map[string]int) error {
	m, ok := value.(map[string]any)
	if !ok {
		return located(&Fault{Path: path, Problem: "a job is a mapping"}, lines)
	}
	var p plainSpec
	if err := connectors.DecodeMap(path, m, &p); err != nil {
		return located(err, lines)
	}
	*s = JobSpec(p)
	return nil
}

// LoadSpecs reads a YAML or JSON document with the jobs of its list `jobs`. It is strict: unknown fields, fields that stand twice
// and values of the wrong type are faults with path and line, all together. `streams: []` is accepted. Whether a job makes sense
// is a matter of Validate and FromSpec.
func LoadSpecs(data []byte) ([]JobSpec, error) {
	d, err := document.Parse(data)
	if err != nil {
		return nil, err
	}
	top, ok := d.Value.(map[string]any)
	if !ok {
		return nil, &Fault{Problem: "the document has no jobs", Hint: "list them under jobs:"}
	}
	var faults, all faultList
	var doc struct {
		Streams []any `json:"streams"`
		Jobs    []any `json:"jobs"`
	}
	faults.Add(connectors.DecodeMap("", top, &doc))
	for i, s := range doc.Streams {
		faults.Add(&Fault{Path: fmt.Sprintf("streams[%d]", i), Problem: fmt.Sprintf("the stream %s cannot run: the Stream API is not built", streamName(i, s)),
			Hint: "write it as a job under jobs:"})
	}
	all.Add(located(faults.Err(), d.Lines))
	specs := make([]JobSpec, len(doc.Jobs))
	ids := map[string]bool{}
	for i, j := range doc.Jobs {
		path := fmt.Sprintf("jobs[%d]", i)
		err := specs[i].decode(path, j, d.Lines)
		all.Add(err)
		if id := specs[i].ID; err == nil && ids[id] {
			all.Add(located(&Fault{Path: path + ".id", Problem: fmt.Sprintf("the job %q stands twice", id)}, d.Lines))
		}
		ids[specs[i].ID] = true
	}
	if len(doc.Jobs) == 0 {
		all.Add(&Fault{Path: "jobs", Problem: "the document has no jobs", Hint: "list them under jobs:"})
	}
	if err := all.Err(); err != nil {
		return nil, err
	}
	return specs, nil
}

func streamName(i int, s any) string {
	if m, ok := s.(map[string]any); ok {
		if id, ok := m["id"].(string); ok {
			return fmt.Sprintf("%q", id)
		}
	}
	return fmt.Sprintf("%q", fmt.Sprintf("stream-%d", i))
}

// FormatSpecs writes jobs as a YAML document that LoadSpecs reads back equal.
func FormatSpecs(specs ...JobSpec) ([]byte, error) {
	doc := struct {
		Jobs []plainSpec `json:"jobs"`
	}{Jobs: []plainSpec{}}
	for _, s := range specs {
		doc.Jobs = append(doc.Jobs, plainSpec(s))
	}
	return document.YAML(doc)
}

// located sets the line of each fault that has a path in the document.
func located(err error, lines map[string]int) error {
	var all faultList
	for _, e := range faultsOf(err) {
		var f *Fault
		if errors.As(e, &f) && f.At == "" {
			if line := lineOf(f.Path, lines); line > 0 {
				c := *f
				c.At = fmt.Sprintf("line %d", line)
				e = &c
			}
		}
		all.Add(e)
	}
	return all.Err()
}

// lineOf gives the line of a path, or of the nearest that contains it.
func lineOf(path string, lines map[string]int) int {
	for path != "" {
		if line, ok := lines[path]; ok {
			return line
		}
		cut := len(path) - 1
		for cut > 0 && path[cut] != '.' && path[cut] != '[' {
			cut--
		}
		path = path[:cut]
	}
	return 0
}

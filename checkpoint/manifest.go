package checkpoint

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/arkflow-go/arkflow/checkpoint/storage"
	"github.com/arkflow-go/arkflow/state"
)

const (
	manifestKind    = "manifest"
	manifestVersion = 1

	// StateFormat is the version of how operators write their state. Another one is refused.
	StateFormat = 1
	// StableHash names the hash that assigns keys to key groups (FORMAT.md).
	StableHash = "arkflow-mix64-xxh3-v1"
)

// Manifest says what a sealed epoch is made of. It is complete: what it does not name is not part of the epoch.
type Manifest struct {
	Job         string    `json:"job"`
	Epoch       int64     `json:"epoch"`
	Run         int64     `json:"run"` // the execution that sealed it
	Time        time.Time `json:"time"`
	Ends        bool      `json:"ends,omitempty"`     // the job ended with it
	Finished    bool      `json:"finished,omitempty"` // all input had ended
	StateFormat int       `json:"state_format"`
	// MaxParallelism is the number of key groups, Hash what assigns keys to them.
	MaxParallelism int    `json:"max_parallelism"`
	Hash           string `json:"hash"`
	// Content is the fingerprint of the job as it was submitted, where it has a form that can be written down.
	Content   string           `json:"content,omitempty"`
	Tasks     []string         `json:"tasks"` // all that were planned, sorted
	Operators []OperatorRecord `json:"operators"`
	Sources   []SourceRecord   `json:"sources,omitempty"`
}

// OperatorRecord is one operator in a Manifest.
type OperatorRecord struct {
	ID    string       `json:"id"`
	Kind  string       `json:"kind"`
	State string       `json:"state,omitempty"` // fingerprint of its state
	Keyed bool         `json:"keyed,omitempty"` // it has state by key
	Tasks []TaskRecord `json:"tasks"`           // of subtask 0, 1 …
}

// TaskRecord is one task of an operator in a Manifest.
type TaskRecord struct {
	Watermark int64             `json:"watermark,string"`
	Stateful  bool              `json:"stateful,omitempty"`
	Values    map[string][]byte `json:"values,omitempty"`
	Prepared  []Prepared        `json:"prepared,omitempty"`
	Segments  []SegmentRecord   `json:"segments,omitempty"` // oldest first
	Parts     []PartRecord      `json:"parts,omitempty"`
}

// SegmentRecord is an object with state tables.
type SegmentRecord struct {
	Name    string `json:"name"`
	Size    int64  `json:"size"`
	SHA     string `json:"sha256"`
	Entries int64  `json:"entries"`
	// Tables are those of which it has blocks.
	Tables []string `json:"tables"`
}

// PartRecord is a part of a table that lives: its blocks in the segments from From on, in their order.
type PartRecord struct {
	Table string `json:"table"`
	Part  int64  `json:"part"`
	From  int    `json:"from"`
}

// SourceRecord is the splits of a source in a Manifest.
type SourceRecord struct {
	ID     string        `json:"id"`
	Schema []byte        `json:"schema,omitempty"` // inferred; an Arrow IPC schema
	Splits []SplitRecord `json:"splits,omitempty"`
}

// SplitRecord is a split in a Manifest.
type SplitRecord struct {
	Split    string `json:"split"`
	Position []byte `json:"position,omitempty"`
	Done     bool   `json:"done,omitempty"`
	MaxTime  int64  `json:"max_time,string,omitempty"`
	HasTime  bool   `json:"has_time,omitempty"`
}

// Entries is the number of rows of state in all segments, those that later ones replace included.
func (m *Manifest) Entries() (n int64) {
	for _, o := range m.Operators {
		for _, t := range o.Tasks {
			for _, s := range t.Segments {
				n += s.Entries
			}
		}
	}
	return n
}

// Bytes is the size of all segments.
func (m *Manifest) Bytes() (n int64) {
	for _, s := range m.segments() {
		n += s.Size
	}
	return n
}

func (m *Manifest) segments() (out []SegmentRecord) {
	for _, o := range m.Operators {
		for _, t := range o.Tasks {
			out = append(out, t.Segments...)
		}
	}
	return out
}

// Operator gives the record of an operator, or nil.
func (m *Manifest) Operator(id string) *OperatorRecord {
	for i := range m.Operators {
		if m.Operators[i].ID == id {
			return &m.Operators[i]
		}
	}
	return nil
}

// encodeManifest gives the bytes of a manifest.
func encodeManifest(m *Manifest) ([]byte, error) {
	body, err := json.Marshal(m)
	if err != nil {
		return nil, err
	}
	return storage.EncodeRecord(manifestKind, manifestVersion, body), nil
}

// decodeManifest verifies the bytes of a manifest.
func decodeManifest(data []byte) (*Manifest, error) {
	body, err := storage.DecodeRecord(manifestKind, manifestVersion, data)
	if err != nil {
		return nil, err
	}
	m := &Manifest{}
	if err := json.Unmarshal(body, m); err != nil {
		return nil, &storage.DamagedError{Problem: err.Error()}
	}
	if err := m.check(); err != nil {
		return nil, &storage.DamagedError{Problem: err.Error()}
	}
	return m, nil
}

// check reports what cannot be, whatever the job.
func (m *Manifest) check() error {
	var errs []error
	bad := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if m.Job == "" || m.Epoch <= 0 || m.Run < 0 {
		bad("job %q, epoch %d, run %d", m.Job, m.Epoch, m.Run)
	}
	if m.MaxParallelism < 1 || m.MaxParallelism > state.MaxKeyGroups {
		bad("%d key groups", m.MaxParallelism)
	}
	if len(m.Tasks) == 0 || !slices.IsSorted(m.Tasks) || len(slices.Compact(slices.Clone(m.Tasks))) != len(m.Tasks) {
		bad("the tasks %q are none, not sorted or not all different", m.Tasks)
	}
	seen := map[string]bool{}
	for _, o := range m.Operators {
		if o.ID == "" || seen[o.ID] {
			bad("operator %q stands twice or has no name", o.ID)
		}
		seen[o.ID] = true
		if len(o.Tasks) == 0 || len(o.Tasks) > m.MaxParallelism && o.Keyed {
			bad("operator %q has %d tasks", o.ID, len(o.Tasks))
		}
		for i, t := range o.Tasks {
			for _, p := range t.Parts {
				if p.From < 0 || p.From >= len(t.Segments) {
					bad("operator %q task %d: part %d of table %q begins in segment %d of %d", o.ID, i, p.Part, p.Table, p.From, len(t.Segments))
				}
			}
			for _, s := range t.Segments {
				if s.Size < 0 || s.Entries < 0 {
					bad("operator %q task %d: segment %q of %d bytes and %d entries", o.ID, i, s.Name, s.Size, s.Entries)
				}
			}
		}
	}
	return errors.Join(errs...)
}

// compose makes the manifest of an epoch, but for the state of its operators.
func compose(e *Epoch, p Shape, run int64) (*Manifest, error) {
	m := &Manifest{Job: e.Job, Epoch: e.Number, Run: run, Ends: e.Ends, Finished: e.Finished, StateFormat: StateFormat,
		MaxParallelism: p.MaxParallelism, Hash: StableHash, Content: p.Content, Tasks: slices.Clone(p.Tasks)}
	slices.Sort(m.Tasks)
	for _, o := range p.Operators {
		ops := e.Operators[o.ID]
		if len(ops) != o.Parallelism {
			return nil, fmt.Errorf("epoch %d: operator %q answered for %d tasks, %d are planned", e.Number, o.ID, len(ops), o.Parallelism)
		}
		r := OperatorRecord{ID: o.ID, Kind: o.Kind, State: o.State, Keyed: o.State != ""}
		for i, s := range ops {
			if s.Subtask != i {
				return nil, fmt.Errorf("epoch %d: operator %q: subtask %d answered in place of %d", e.Number, o.ID, s.Subtask, i)
			}
			r.Tasks = append(r.Tasks, TaskRecord{Watermark: s.Watermark, Prepared: s.Prepared, Stateful: s.State != nil})
		}
		m.Operators = append(m.Operators, r)
	}
	for _, id := range sortedKeys(e.Splits, e.Schemas) {
		r := SourceRecord{ID: id}
		if s := e.Schemas[id]; s != nil {
			b, err := encodeSchema(s)
			if err != nil {
				return nil, fmt.Errorf("epoch %d: schema of source %q: %w", e.Number, id, err)
			}
			r.Schema = b
		}
		for _, s := range e.Splits[id] {
			r.Splits = append(r.Splits, SplitRecord{s.Split, s.Position, s.Done, s.MaxTime, s.HasTime})
		}
		m.Sources = append(m.Sources, r)
	}
	return m, nil
}

func sortedKeys(a map[string][]SplitSnapshot, b map[string]*arrow.Schema) (out []string) {
	for k := range a {
		out = append(out, k)
	}
	for k := range b {
		if _, ok := a[k]; !ok {
			out = append(out, k)
		}
	}
	slices.SortFunc(out, strings.Compare)
	return out
}

// restore makes the epoch of a manifest; saved gives the state of a task.
func (m *Manifest) restore(saved func(o *OperatorRecord, subtask int) state.Saved) (*Epoch, error) {
	e := &Epoch{Job: m.Job, Number: m.Epoch, Ends: m.Ends, Finished: m.Finished, Splits: map[string][]SplitSnapshot{},
		Operators: map[string][]OperatorSnapshot{}, Schemas: map[string]*arrow.Schema{}}
	for i := range m.Operators {
		o := &m.Operators[i]
		for k, t := range o.Tasks {
			s := OperatorSnapshot{Operator: o.ID, Subtask: k, Watermark: t.Watermark, Prepared: t.Prepared}
			if t.Stateful {
				s.State = saved(o, k)
			}
			e.Operators[o.ID] = append(e.Operators[o.ID], s)
		}
	}
	for _, r := range m.Sources {
		for _, s := range r.Splits {
			e.Splits[r.ID] = append(e.Splits[r.ID], SplitSnapshot{Source: r.ID, Split: s.Split, Position: s.Position, Done: s.Done,
				MaxTime: s.MaxTime, HasTime: s.HasTime})
		}
		if len(r.Schema) > 0 {
			s, err := decodeSchema(r.Schema)
			if err != nil {
				return nil, &storage.DamagedError{Problem: fmt.Sprintf("schema of source %q: %v", r.ID, err)}
			}
			e.Schemas[r.ID] = s
		}
	}
	return e, nil
}

func encodeSchema(s *arrow.Schema) ([]byte, error) {
	var b bytes.Buffer
	w := ipc.NewWriter(&b, ipc.WithSchema(s))
	err := w.Close()
	return b.Bytes(), err
}

func decodeSchema(b []byte) (s *arrow.Schema, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("%v", v)
		}
	}()
	r, err := ipc.NewReader(bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	defer r.Release()
	return r.Schema(), nil
}

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"maps"
	"slices"

	"github.com/arkflow-go/arkflow/checkpoint"
	"github.com/arkflow-go/arkflow/codec"
)

// Lines of a dump. Each has the epoch, and the source or operator that it belongs to.
type (
	splitLine struct {
		Epoch    int64  `json:"epoch"`
		Source   string `json:"source"`
		Split    string `json:"split"`
		Position []byte `json:"position"` // base64
		Done     bool   `json:"done"`
		MaxTime  *int64 `json:"max_time,omitempty"` // ms
	}
	taskLine struct {
		Epoch    int64  `json:"epoch"`
		Operator string `json:"operator"`
		Subtask  int    `json:"subtask"`
	}
	watermarkLine struct {
		taskLine
		Watermark int64 `json:"watermark"`
	}
	valueLine struct {
		taskLine
		Value  string          `json:"value"`
		JSON   json.RawMessage `json:"json,omitempty"` // where it is JSON
		Base64 []byte          `json:"base64,omitempty"`
	}
	preparedLine struct {
		taskLine
		Prepared int64  `json:"prepared"` // the epoch that it was prepared for
		Base64   []byte `json:"base64"`
	}
	rowLine struct {
		taskLine
		Table string `json:"table"`
		Part  int64  `json:"part"`
		// Full is true in rows of a block that begins the part anew; other rows take the place of earlier ones of the same key.
		Full  bool            `json:"full"`
		Group uint16          `json:"group"` // key group
		Row   json.RawMessage `json:"row"`
	}
)

// dump writes an epoch as JSON lines: positions, then of each task its watermark, values and what it has prepared, then rows.
func (e env) dump(ctx context.Context, o options, s *checkpoint.SavedEpoch) error {
	if s.Err != nil {
		return s.Err
	}
	out := bufio.NewWriter(e.stdout)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	if o.table == "" {
		if err := dumpRecords(enc, o, s.Manifest); err != nil {
			return err
		}
	}
	for b, err := range s.Blocks(ctx) {
		if err == nil && (o.operator == "" || o.operator == b.Operator) && (o.table == "" || o.table == b.Table) {
			err = dumpBlock(enc, s.Manifest.Epoch, b)
		}
		if err != nil {
			_ = out.Flush() // what there is
			return err
		}
	}
	return out.Flush()
}

func dumpRecords(enc *json.Encoder, o options, m *checkpoint.Manifest) error {
	for _, r := range m.Sources {
		for _, p := range r.Splits {
			if o.operator != "" && o.operator != r.ID {
				continue
			}
			line := splitLine{Epoch: m.Epoch, Source: r.ID, Split: p.Split, Position: p.Position, Done: p.Done}
			if p.HasTime {
				line.MaxTime = &p.MaxTime
			}
			if err := enc.Encode(line); err != nil {
				return err
			}
		}
	}
	for _, r := range m.Operators {
		if o.operator != "" && o.operator != r.ID {
			continue
		}
		for i, t := range r.Tasks {
			if err := dumpTask(enc, taskLine{m.Epoch, r.ID, i}, t); err != nil {
				return err
			}
		}
	}
	return nil
}

func dumpTask(enc *json.Encoder, at taskLine, t checkpoint.TaskRecord) error {
	lines := []any{watermarkLine{at, t.Watermark}}
	for _, name := range slices.Sorted(maps.Keys(t.Values)) {
		v := valueLine{taskLine: at, Value: name}
		if json.Valid(t.Values[name]) {
			v.JSON = t.Values[name]
		} else {
			v.Base64 = t.Values[name]
		}
		lines = append(lines, v)
	}
	for _, p := range t.Prepared {
		lines = append(lines, preparedLine{at, p.Epoch, p.Data})
	}
	for _, l := range lines {
		if err := enc.Encode(l); err != nil {
			return err
		}
	}
	return nil
}

func dumpBlock(enc *json.Encoder, epoch int64, b checkpoint.Block) error {
	batch := b.Batch()
	rows, err := codec.JSON(batch.Schema).NewEncoder(batch.Schema)
	if err != nil {
		return err
	}
	var row []byte
	for i := range batch.Rows {
		if row, err = rows.AppendRow(row[:0], batch, i); err != nil {
			return err
		}
		line := rowLine{taskLine{epoch, b.Operator, b.Subtask}, b.Table, b.Part, b.Full, b.Rows.Groups[i], row}
		if err := enc.Encode(line); err != nil {
			return err
		}
	}
	return nil
}

package operator

import (
	"fmt"
	"math"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/fields"
)

// timestamps gives rows another event time.
type timestamps struct{ policy TimePolicy }

// WithTimestamps takes the event time of rows from a column of theirs, and starts a new watermark: the one of the stream before
// is not forwarded (T9), and which rows were late there is forgotten. The policy is one of event time. Its watermark is
// that of each task, over the rows in the order in which they reach it: where a task reads several splits, or stands behind an
// exchange, which rows are late depends on how they interleave. Idleness is that of the input. Rows with a null keep none.
func WithTimestamps(policy TimePolicy) Operator { return &timestamps{policy} }

// TimestampsFromConfig gives the operator of a JobSpec: {column: name, out_of_orderness_ms: 2000, max_future_skew_ms: 0}.
func TimestampsFromConfig(config map[string]any) (Operator, error) {
	var faults fault.List
	fields.Known(&faults, config, "config", "column", "out_of_orderness_ms", "max_future_skew_ms")
	p := TimePolicy{Kind: EventTimePolicy, Column: fields.Text(&faults, config["column"], "config.column")}
	p.OutOfOrderness = fields.Millis(&faults, config["out_of_orderness_ms"], "config.out_of_orderness_ms")
	p.MaxFutureSkew = fields.Millis(&faults, config["max_future_skew_ms"], "config.max_future_skew_ms")
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return &timestamps{p}, nil
}

// Kind implements Operator.
func (w *timestamps) Kind() string { return "with_timestamps" }

// Describe implements Described.
func (w *timestamps) Describe() string {
	s := []string{fmt.Sprintf("event time %s, out of order by up to %s", w.policy.Column, w.policy.OutOfOrderness)}
	if w.policy.MaxFutureSkew > 0 {
		s = append(s, fmt.Sprintf("at most %s ahead of the clock", w.policy.MaxFutureSkew))
	}
	return strings.Join(s, ", ")
}

// Config is the inverse of TimestampsFromConfig.
func (w *timestamps) Config() (map[string]any, error) {
	out := map[string]any{"column": w.policy.Column}
	if d := w.policy.OutOfOrderness; d != 0 {
		out["out_of_orderness_ms"] = fields.OfMillis(d)
	}
	if d := w.policy.MaxFutureSkew; d != 0 {
		out["max_future_skew_ms"] = fields.OfMillis(d)
	}
	return out, nil
}

// Bind implements Operator.
func (w *timestamps) Bind(in []Stream) (Bound, error) {
	s, err := oneInput("with_timestamps", in)
	if err != nil {
		return nil, err
	}
	var faults fault.List
	p := w.policy
	if p.Kind != EventTimePolicy {
		faults.Add(&Fault{Path: "policy", Problem: "is none of event time", Hint: "name the column that holds the event time"})
	}
	if p.IdleTimeout != 0 {
		faults.Add(&Fault{Path: "idle_timeout", Problem: "an operator is idle where its input is", Hint: "give the IdleTimeout to the source"})
	}
	if p.OutOfOrderness < 0 {
		faults.Add(&Fault{Path: "out_of_orderness", Problem: fmt.Sprintf("%s is negative", p.OutOfOrderness), Hint: "give 0 or more"})
	}
	if p.MaxFutureSkew < 0 {
		faults.Add(&Fault{Path: "max_future_skew", Problem: fmt.Sprintf("%s is negative", p.MaxFutureSkew), Hint: "give 0 (no limit) or more"})
	}
	at, err := columnAt(s.Schema, p.Column, "column")
	if err != nil {
		faults.Add(err)
	} else if t := s.Schema.Field(at).Type; t.ID() != arrow.INT64 && t.ID() != arrow.TIMESTAMP {
		faults.Add(&Fault{Path: "column", Problem: fmt.Sprintf("column %q is %s, which is no event time", p.Column, t),
			Hint: "event time is Int64 (milliseconds since 1970) or a timestamp"})
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	out := s
	out.Time = EventTime
	return &taskMaker{outs: []Stream{out}, make: func(ctx *Context) (Instance, error) {
		return &timestampsTask{ctx: ctx, policy: p, column: at, w: MinWatermark, max: math.MinInt64}, nil
	}}, nil
}

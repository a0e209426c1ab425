package operator

import (
	"context"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/fields"
	"github.com/arkflow-go/arkflow/internal/structmap"
)

// Defaults and bounds of an AsyncOperator.
const (
	DefaultInFlight     = 64
	MaxInFlight         = 65536
	DefaultRetryBackoff = 100 * time.Millisecond
)

// AsyncConfig says how the calls of an Async run. The zero value means the defaults.
type AsyncConfig struct {
	// InFlight is the number of rows of a task that may wait for their result at a time, and the number of its goroutines. While
	// there are so many the operator takes no more rows. Defaults to DefaultInFlight; at most MaxInFlight.
	InFlight int
	// Unordered lets a result leave as soon as it is there. It may have overtaken earlier rows, and watermarks too, but is never
	// overtaken by a watermark. Defaults to the order of the rows.
	Unordered bool
	// Timeout ends the context of a call. A call that gives an error then has timed out; one that gives a result all the same has
	// not. Each try has its own. Defaults to 0: no limit.
	Timeout time.Duration
	// Retries is how often a call that has failed is made again; the row keeps its place in flight. Defaults to what the error
	// policy says (Retry), else to none.
	Retries int
	// Backoff is the time before the first further try; it doubles with each, up to a minute. Defaults to DefaultRetryBackoff.
	Backoff time.Duration
}

// WithDefaults gives a copy in which every field has its value.
func (c AsyncConfig) WithDefaults() AsyncConfig {
	if c.InFlight == 0 {
		c.InFlight = DefaultInFlight
	}
	if c.Backoff == 0 {
		c.Backoff = DefaultRetryBackoff
	}
	return c
}

// Validate reports all fields that are out of range.
func (c AsyncConfig) Validate() error {
	var faults fault.List
	if c = c.WithDefaults(); c.InFlight < 1 || c.InFlight > MaxInFlight {
		faults.Add(&Fault{Path: "in_flight", Problem: fmt.Sprintf("%d is out of range", c.InFlight), Hint: fmt.Sprintf("give 1 to %d", MaxInFlight)})
	}
	if c.Timeout < 0 {
		faults.Add(&Fault{Path: "timeout", Problem: fmt.Sprintf("%s is negative", c.Timeout), Hint: "give 0 (no limit) or more"})
	}
	if c.Retries < 0 {
		faults.Add(&Fault{Path: "retries", Problem: fmt.Sprintf("%d is negative", c.Retries), Hint: "give 0 or more"})
	}
	if c.Backoff < 0 {
		faults.Add(&Fault{Path: "backoff", Problem: fmt.Sprintf("%s is negative", c.Backoff), Hint: "give 0 or more"})
	}
	return faults.Err()
}

// retryPolicy is how often and when calls are made again.
func (c AsyncConfig) retryPolicy(p ErrorPolicy) ErrorPolicy {
	if c.Retries > 0 {
		return Retry(c.Retries, c.Backoff)
	}
	return p
}

// AsyncOperator is a Go function whose calls run beside the task, several at a time: what Async gives.
type AsyncOperator struct {
	function
	cfg  AsyncConfig
	bind func(in Stream, cfg AsyncConfig) (Bound, error)
}

// Async makes one row of each row by a Go function that waits for something, such as an answer of a service: calls for several
// rows run at once, on a fixed number of goroutines of the task. In and Out are structs whose fields are columns; see Map. Event
// times and late pairs stay with their rows; the stream is no longer keyed. A watermark waits for the results of the rows before it, a
// checkpoint and the end of the input wait for all calls in flight.
//
// The function is called by several goroutines at once and must end soon after its context does: a call that does not keeps
// the job from ending. An error follows the error policy of the operator, by which the job fails (the default), or the row
// is dropped and counted. After a restore the rows since the last checkpoint are called for again.
func Async[In, Out any](fn func(ctx context.Context, row In) (Out, error), cfg AsyncConfig) *AsyncOperator {
	a := &AsyncOperator{function: function{text: fmt.Sprintf("%s to %s", reflect.TypeFor[In](), reflect.TypeFor[Out]())}, cfg: cfg}
	a.bind = func(in Stream, cfg AsyncConfig) (Bound, error) {
		var faults fault.List
		if fn == nil {
			faults.Add(&Fault{Path: "function", Problem: "the function is nil"})
		}
		_, err := structmap.NewReader[In](in.Schema)
		faults.Add(err)
		writer, err := structmap.NewWriter[Out]()
		faults.Add(err)
		if err := faults.Err(); err != nil {
			return nil, err
		}
		out := Stream{Schema: writer.Schema(), Time: in.Time}
		return &taskMaker{outs: []Stream{out}, make: func(ctx *Context) (Instance, error) { return newAsyncTask(ctx, in, writer, cfg, fn) }}, nil
	}
	return a
}

// Named gives the operator with the name by which a JobSpec refers to it; see MapOperator.Named.
func (a *AsyncOperator) Named(name string) *AsyncOperator {
	c := *a
	c.name = name
	return &c
}

func (a *AsyncOperator) withName(name string) Operator { return a.Named(name) }

// AsyncFromConfig gives the function of a JobSpec. The name is looked up where Go functions are registered; the other fields
// replace the options that it was registered with:
//
//	{function: name, in_flight: 100, ordered: false, timeout_ms: 2000, retries: 3, backoff_ms: 50}
func AsyncFromConfig(config map[string]any, lookup func(name string) (Operator, error)) (Operator, error) {
	op, err := functionFrom("async", config, lookup, "in_flight", "ordered", "timeout_ms", "retries", "backoff_ms")
	if err != nil {
		return nil, err
	}
	a, ok := op.(*AsyncOperator)
	if !ok {
		return nil, &Fault{Path: "config.function", Problem: fmt.Sprintf("the function is a %T", op), Hint: "register what operator.Async gives"}
	}
	var faults fault.List
	c := *a
	for _, field := range slices.Sorted(maps.Keys(config)) {
		v, path := config[field], "config."+field
		switch field {
		case "in_flight":
			c.cfg.InFlight = fields.Whole(&faults, v, path)
		case "retries":
			c.cfg.Retries = fields.Whole(&faults, v, path)
		case "ordered":
			c.cfg.Unordered = !fields.Bool(&faults, v, path)
		case "timeout_ms":
			c.cfg.Timeout = fields.Millis(&faults, v, path)
		case "backoff_ms":
			c.cfg.Backoff = fields.Millis(&faults, v, path)
		}
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return &c, nil
}

// Config is the inverse of AsyncFromConfig.
func (a *AsyncOperator) Config() (map[string]any, error) {
	out, err := a.function.Config()
	if err != nil {
		return nil, err
	}
	c := a.cfg
	if c.InFlight != 0 {
		out["in_flight"] = int64(c.InFlight)
	}
	if c.Unordered {
		out["ordered"] = false
	}
	if c.Timeout != 0 {
		out["timeout_ms"] = fields.OfMillis(c.Timeout)
	}
	if c.Retries != 0 {
		out["retries"] = int64(c.Retries)
	}
	if c.Backoff != 0 {
		out["backoff_ms"] = fields.OfMillis(c.Backoff)
	}
	return out, nil
}

// Kind implements Operator.
func (a *AsyncOperator) Kind() string { return "async" }

// Describe implements Described.
func (a *AsyncOperator) Describe() string {
	c := a.cfg.WithDefaults()
	s := fmt.Sprintf("%s, %d in flight", a.function.Describe(), c.InFlight)
	if c.Unordered {
		s += ", unordered"
	}
	if c.Timeout > 0 {
		s += fmt.Sprintf(", timeout %s", c.Timeout)
	}
	if c.Retries > 0 {
		s += fmt.Sprintf(", %d retries from %s on", c.Retries, c.Backoff)
	}
	return s
}

// Bind implements Operator.
func (a *AsyncOperator) Bind(in []Stream) (Bound, error) {
	s, err := oneInput("async", in)
	if err != nil {
		return nil, err
	}
	var faults fault.List
	faults.Add(a.cfg.Validate())
	bound, err := a.bind(s, a.cfg.WithDefaults())
	faults.Add(err)
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return bound, nil
}

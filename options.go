package arkflow

import (
	"fmt"
	"math"
	"runtime/debug"
	"time"

	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/graph"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/state"
)

// DefaultCheckpointEvery is the time between two epochs of a job that sets none.
const DefaultCheckpointEvery = 10 * time.Second

// JobOption is an option of NewJob.
type JobOption interface{ applyJob(*Job) *fault.Fault }

type jobOption func(*Job) *fault.Fault

func (o jobOption) applyJob(j *Job) *fault.Fault { return o(j) }

// Parallelism is the number of tasks that run each operator which sets none itself (see Tasks). Defaults to 1; at most
// MaxParallelism.
func Parallelism(n int) JobOption {
	return jobOption(func(j *Job) *fault.Fault {
		j.parallelism = n
		if n < 1 {
			return &fault.Fault{Path: "parallelism", Problem: fmt.Sprintf("%d is out of range", n), Hint: "give 1 or more"}
		}
		return nil
	})
}

// MaxParallelism is the number of key groups, the bound of every operator's parallelism. It is part of saved state: a job
// that is restored must keep it. Defaults to 128; from 1 to 32,768.
func MaxParallelism(n int) JobOption {
	return jobOption(func(j *Job) *fault.Fault {
		j.maxParallelism = n
		if n < 1 || n > state.MaxKeyGroups {
			return &fault.Fault{Path: "max_parallelism", Problem: fmt.Sprintf("%d is out of range", n),
				Hint: fmt.Sprintf("give 1 to %d", state.MaxKeyGroups)}
		}
		return nil
	})
}

// CheckpointEvery is the time from one epoch to the next, at least 1 ms. Defaults to 10 s. Epochs run in memory where the
// job has no storage.
func CheckpointEvery(d time.Duration) JobOption {
	return jobOption(func(j *Job) *fault.Fault {
		j.checkpointEvery = d
		if d < time.Millisecond {
			return &fault.Fault{Path: "checkpoint.interval_ms", Problem: fmt.Sprintf("%s is too short", d), Hint: "give 1ms or more"}
		}
		return nil
	})
}

// SourceOption is an option of Job.Source.
type SourceOption interface {
	applySource(*graph.Node) *fault.Fault
}

// OperatorOption is an option of the operator that was just added: see Stream.With.
type OperatorOption interface {
	applyOperator(*graph.Node) *fault.Fault
}

// SinkOption is an option of Stream.Sink.
type SinkOption interface {
	applySink(*graph.Node) *fault.Fault
}

// NodeOption is an option that sources, operators and sinks have.
type NodeOption struct {
	apply func(*graph.Node) *fault.Fault
}

func (o NodeOption) set(n *graph.Node) *fault.Fault {
	if o.apply == nil {
		return nil
	}
	return o.apply(n)
}

func (o NodeOption) applySource(n *graph.Node) *fault.Fault   { return o.set(n) }
func (o NodeOption) applyOperator(n *graph.Node) *fault.Fault { return o.set(n) }
func (o NodeOption) applySink(n *graph.Node) *fault.Fault     { return o.set(n) }

// OnError says what happens to rows that a source cannot decode, an operator not process, or a sink not write: Fail(), Skip(),
// Retry(n, backoff) or DeadLetter(sink), or several in turn: Retry(3, time.Second).Then(DeadLetter(sink)). Defaults to Fail().
func OnError(p ErrorPolicy) NodeOption {
	return NodeOption{func(n *graph.Node) *fault.Fault {
		n.OnError = p
		return asFault(checkPolicy(p), "on_error")
	}}
}

// checkPolicy is p.Check; a panic of its dead-letter sink is a fault.
func checkPolicy(p ErrorPolicy) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &fault.Fault{Path: "on_error", Problem: fmt.Sprintf("dead-letter sink: check: panic: %v", v),
				Hint: "this is a bug of the sink; the stack is\n" + string(debug.Stack())}
		}
	}()
	return p.Check()
}

// Tasks is the number of tasks that run this source, operator or sink. Defaults to the job's Parallelism; at most its
// MaxParallelism.
func Tasks(n int) NodeOption {
	return NodeOption{func(node *graph.Node) *fault.Fault {
		node.Parallelism = n
		if n < 1 {
			return &fault.Fault{Path: "parallelism", Problem: fmt.Sprintf("%d is out of range", n), Hint: "give 1 or more"}
		}
		return nil
	}}
}

// TimePolicy says where the event time of a source's rows comes from: EventTime, IngestionTime or ProcessingTime.
type TimePolicy struct{ policy operator.TimePolicy }

// TimeOption is an option of EventTime.
type TimeOption interface{ applyTime(*operator.TimePolicy) }

type timeOption func(*operator.TimePolicy)

func (o timeOption) applyTime(p *operator.TimePolicy) { o(p) }

// EventTime takes the time of each row from a column: an Int64 of milliseconds since 1970 in UTC, or a timestamp of any unit.
func EventTime(column string, opts ...TimeOption) TimePolicy {
	p := operator.TimePolicy{Kind: operator.EventTimePolicy, Column: column}
	for _, o := range opts {
		if o != nil {
			o.applyTime(&p)
		}
	}
	return TimePolicy{p}
}

// IngestionTime stamps each row with the clock when the source reads it, and treats that as its event time.
func IngestionTime() TimePolicy {
	return TimePolicy{operator.TimePolicy{Kind: operator.IngestionTimePolicy}}
}

// ProcessingTime gives rows no time: operators go by the clock.
func ProcessingTime() TimePolicy { return TimePolicy{} }

// OutOfOrderness is how far the rows of a split may be behind the greatest time seen in it without being late. Defaults to 0:
// rows are in order.
func OutOfOrderness(d time.Duration) TimeOption {
	return timeOption(func(p *operator.TimePolicy) { p.OutOfOrderness = d })
}

// IdleTimeout lets a split that has had no row for so long no longer hold back the watermark. Defaults to 0: never.
func IdleTimeout(d time.Duration) TimeOption {
	return timeOption(func(p *operator.TimePolicy) { p.IdleTimeout = d })
}

// MaxFutureSkew keeps a row whose time is further ahead of the clock than d from moving the watermark: the row itself is kept, and counted in
// OperatorStatus.Future. Defaults to 0: no limit, so one bad clock makes the rows of all others late; OperatorStatus.Lead shows it.
func MaxFutureSkew(d time.Duration) TimeOption {
	return timeOption(func(p *operator.TimePolicy) { p.MaxFutureSkew = d })
}

// MaxDrift stops reading a split while its watermark is more than d ahead of that of the slowest active split of any source of the job:
// windows then hold fewer rows. A split that waits is not idle. Defaults to 0: no limit.
func MaxDrift(d time.Duration) SourceOption {
	return sourceOption(func(n *graph.Node) *fault.Fault {
		n.MaxDrift = d
		if d < time.Millisecond {
			return &fault.Fault{Path: "max_drift", Problem: fmt.Sprintf("%s is too short", d), Hint: "give 1ms or more"}
		}
		return nil
	})
}

type sourceOption func(*graph.Node) *fault.Fault

func (o sourceOption) applySource(n *graph.Node) *fault.Fault { return o(n) }

// RateOption is an option of sources and sinks.
type RateOption struct{ rowsPerSecond float64 }

func (o RateOption) set(n *graph.Node) *fault.Fault {
	n.MaxRate = o.rowsPerSecond
	if !(o.rowsPerSecond > 0) || math.IsInf(o.rowsPerSecond, 0) {
		return &fault.Fault{Path: "max_rate", Problem: fmt.Sprintf("%v rows/s is out of range", o.rowsPerSecond), Hint: "give a number > 0"}
	}
	return nil
}

func (o RateOption) applySource(n *graph.Node) *fault.Fault { return o.set(n) }
func (o RateOption) applySink(n *graph.Node) *fault.Fault   { return o.set(n) }

// MaxRate keeps a source or a sink under so many rows a second on average, over all its tasks, each of which has an equal share. Batches
// pass whole: the next waits until the time of the one before is over. Defaults to no limit.
func MaxRate(rowsPerSecond float64) RateOption { return RateOption{rowsPerSecond} }

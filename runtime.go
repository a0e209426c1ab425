package arkflow

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/checkpoint"
	"github.com/arkflow-go/arkflow/internal/engine"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/harness"
	"github.com/arkflow-go/arkflow/internal/planner"
	"github.com/arkflow-go/arkflow/internal/report"
	"github.com/arkflow-go/arkflow/internal/supervise"
	"github.com/arkflow-go/arkflow/operator"
	"gocloud.dev/blob"
)

// DefaultStopTimeout is how long a stop may take before the job is cancelled.
const DefaultStopTimeout = 20 * time.Second

// cancelGrace is how long tasks may take to notice that they were cancelled before they are given up.
const cancelGrace = 5 * time.Second

// Runtime is the environment that jobs run in. The zero value works. It may start many jobs, also at once.
type Runtime struct {
	// Logger gets what happens to jobs, with the keys job, operator and subtask. Defaults to none.
	Logger *slog.Logger
	// Clock tells the time to everything in a job. Defaults to the clock of the machine.
	Clock operator.Clock
	// StopTimeout is how long a stop that began with the end of Run's context may take before the job is cancelled.
	// Defaults to DefaultStopTimeout (20 s).
	StopTimeout time.Duration
	// MemoryLimit bounds the bytes in batches in flight and in state of each job. Over it sources pause until a tenth is free again, or
	// less for a second; if the job is still over it after a minute it fails with a *MemoryLimitError. Defaults to 0: no limit.
	MemoryLimit int64
	// Bucket is where epochs are kept, so that a job goes on where it was after a crash, an end, or in another process: any bucket of
	// gocloud.dev, such as one of blob.OpenBucket. It stays the caller's, who closes it after the jobs have ended. Defaults to
	// none: epochs are kept in memory, and what is in open windows ends with the process.
	Bucket *blob.Bucket
	// Checkpoints tunes what is done with the bucket. Defaults to what its fields say.
	Checkpoints Checkpoints
	// Metrics is told of every job that starts. Defaults to none. Package metrics/prom has one for Prometheus.
	Metrics Metrics
	// Tracer is told of the checkpoints and recoveries of every job as spans of time. Defaults to none. Package metrics/otel has one for OpenTelemetry.
	Tracer Tracer
}

// Metrics is what stands between jobs and a system that watches them: it reads numbers off Status when it wants them, so that rows cost
// nothing. Its methods must be safe for concurrent use.
type Metrics interface {
	// JobStarted is called with each job that has started; status gives its numbers at any time, also after its end. The function that
	// it returns is called once when the job has ended.
	JobStarted(job string, status func() Status) (ended func())
}

// Tracer is what stands between jobs and a system that shows spans of time. What its method and the functions that it gives do wrong costs the span
// alone, but they must return at once: jobs wait for them.
type Tracer = report.Tracer

// SpanOutcome is what became of a span: Run (number of the execution), Epoch, Entries (rows of state), Bytes (written or read), Aligned (the longest
// wait of a task for the barrier on its other inputs) and Err; each zero where the span has nothing to say of it.
type SpanOutcome = report.SpanOutcome

// The names of the spans that a Tracer is told of.
const (
	SpanCheckpoint = report.SpanCheckpoint // an epoch, from its barriers until its commits are done or it is given up
	SpanSeal       = report.SpanSeal       // within a checkpoint: it becomes durable
	SpanRecovery   = report.SpanRecovery   // of a start with a bucket or a savepoint, and of a restart: from the claim until all state is restored
	SpanClaim      = report.SpanClaim      // within a recovery: until the execution holds the job; a Standby waits here
)

// WithDefaults gives a copy with every field set that has a default.
func (rt Runtime) WithDefaults() Runtime {
	if rt.Logger == nil {
		rt.Logger = slog.New(slog.DiscardHandler)
	}
	if rt.Clock == nil {
		rt.Clock = operator.SystemClock{}
	}
	if rt.StopTimeout == 0 {
		rt.StopTimeout = DefaultStopTimeout
	}
	return rt
}

// Validate reports every field that cannot work.
func (rt Runtime) Validate() error {
	var faults fault.List
	if rt.StopTimeout < 0 {
		faults.Add(&Fault{Path: "Runtime.StopTimeout", Problem: fmt.Sprintf("%s is negative", rt.StopTimeout), Hint: "give 0 for the default of 20 s, or a time > 0"})
	}
	if rt.MemoryLimit < 0 {
		faults.Add(&Fault{Path: "Runtime.MemoryLimit", Problem: fmt.Sprintf("%d bytes is negative", rt.MemoryLimit), Hint: "give 0 for no limit, or bytes > 0"})
	}
	rt.Checkpoints.validate(&faults, rt.Bucket != nil)
	return faults.Err()
}

// StartOption is an option of Runtime.Start.
type StartOption func(*startConfig)

type startConfig struct {
	harness *harness.Config
	restart supervise.Policy
	recover checkpoint.Options // what start options say of it
	saved   bool               // FromSavepoint is given
	atEnd   func()             // called after the job has ended for good, or did not start; may be nil
	faults  fault.List
}

// Restart starts a failed job again from its last sealed epoch, at most max times in a row; the first time after backoff, which doubles with
// each further one up to a minute. A job that ran for ten minutes has a new row. Rows that were written since that epoch are written again, but for sinks that commit in two phases.
// A job that another process has claimed meanwhile is not taken back: it ends with ErrFenced or, with Standby, waits until that one has ended.
// Defaults to 0: a failed job stays failed. The first start is never tried again.
func Restart(max int, backoff time.Duration) StartOption {
	return func(c *startConfig) {
		if max < 0 || backoff < 0 {
			c.faults.Add(&Fault{Path: "restart", Problem: fmt.Sprintf("%d restarts after %s are out of range", max, backoff), Hint: "give 0 or more of both"})
		}
		c.restart = supervise.Policy{Max: max, Backoff: backoff}
	}
}

// Harness is for package arkflowtest: it replaces sources and sinks and hooks into the engine.
func Harness(h *harness.Config) StartOption {
	return func(c *startConfig) { c.harness = h }
}

// StopError is the result of a job that did not end in time when it was stopped: it was cancelled, and what was in flight is
// lost. The last checkpoint stands.
type StopError struct {
	Job     string
	Timeout time.Duration
	Blocked []string // tasks that had not ended when the time was over, with what they were doing
}

func (e *StopError) Error() string {
	return fmt.Sprintf("job %q did not stop within %s and was canceled; blocked: %s", e.Job, e.Timeout, strings.Join(e.Blocked, "; "))
}

// Run runs the job in this process, in a zero Runtime, until its input ends or ctx does. See Runtime.Run.
func (j *Job) Run(ctx context.Context) error { return Runtime{}.Run(ctx, j) }

// Run runs a job until its input ends, it fails, or ctx ends. The end of ctx stops the job as Handle.Stop does; if that takes longer
// than StopTimeout the job is cancelled and the error is a *StopError. A clean end gives nil. Options are those of Start.
func (rt Runtime) Run(ctx context.Context, j *Job, opts ...StartOption) error {
	rt = rt.WithDefaults()
	h, err := rt.Start(ctx, j, opts...)
	if err != nil {
		return err
	}
	select {
	case <-h.x.Done():
		return h.Wait(ctx)
	case <-ctx.Done():
	}
	detached := context.WithoutCancel(ctx)
	h.warnStop()
	h.x.Stop()
	if h.doneWithin(rt.Clock, rt.StopTimeout) {
		return h.Wait(detached)
	}
	blocked := h.x.Blocked()
	h.x.Cancel()
	if h.doneWithin(rt.Clock, cancelGrace) {
		if err := h.Wait(detached); err != nil && !errors.Is(err, ErrCanceled) {
			return err
		}
	}
	return &StopError{Job: j.name, Timeout: rt.StopTimeout, Blocked: blocked}
}

// Start compiles a job, opens what it needs and starts it. ctx bounds the start only: the job runs until its input ends or the handle
// ends it. An error leaves nothing open.
func (rt Runtime) Start(ctx context.Context, j *Job, opts ...StartOption) (*Handle, error) {
	if err := rt.Validate(); err != nil {
		return nil, err
	}
	if ctx == nil {
		return nil, &Fault{Problem: "the context is nil", Hint: "give context.Background()"}
	}
	rt = rt.WithDefaults()
	var sc startConfig
	for _, o := range opts {
		if o != nil {
			o(&sc)
		}
	}
	sc.checkRecovery(rt.Bucket != nil)
	if err := sc.faults.Err(); err != nil {
		return nil, err
	}
	c, err := rt.compile(j, &sc)
	if err != nil {
		return nil, err
	}
	cfg := engine.Config{
		Plan: c.Plan, Graph: c.Graph, Bound: c.Bound, Streams: c.Streams, Open: c.Open,
		Bind: func(schemas map[string]*arrow.Schema) (map[string]operator.Bound, map[string][]operator.Stream, error) {
			return planner.Bind(c.Graph, schemas)
		},
		Clock: rt.Clock, Logger: rt.Logger, Tracer: rt.Tracer, MemoryLimit: rt.MemoryLimit, CheckpointEvery: j.checkpointEvery,
	}
	if h := sc.harness; h != nil {
		cfg.Hooks, cfg.Store, cfg.Restore, cfg.LinkBatches = h.Hooks, h.Store, h.Restore, h.LinkBatches
		if h.CheckpointEvery != 0 {
			cfg.CheckpointEvery = h.CheckpointEvery
		}
	}
	rt.hold(j, c, &sc, &cfg)
	for _, w := range c.Plan.Warnings {
		rt.Logger.Warn(w, "job", c.Plan.Job)
	}
	var started func(*engine.Execution)
	if sc.harness != nil {
		started = sc.harness.Started
	}
	x, err := supervise.Start(ctx, cfg, sc.restart, started)
	if sc.atEnd != nil && err != nil {
		sc.atEnd()
	}
	if err != nil {
		return nil, nameJob(c.Plan.Job, err)
	}
	if sc.atEnd != nil {
		x.AtEnd(sc.atEnd)
	}
	h := &Handle{x: x, job: c.Plan.Job, plan: &Plan{plan: c.Plan}, log: rt.Logger, durable: rt.Bucket != nil}
	if rt.Metrics != nil {
		x.AtEnd(rt.Metrics.JobStarted(h.job, h.Status))
	}
	return h, nil
}

// nameJob makes an error tell the job that it is of, once.
func nameJob(job string, err error) error {
	if strings.HasPrefix(err.Error(), fmt.Sprintf("job %q: ", job)) {
		return err
	}
	return fmt.Errorf("job %q: %w", job, err)
}

// compile compiles the job as it will run.
func (rt Runtime) compile(j *Job, sc *startConfig) (*planner.Compiled, error) {
	if j == nil {
		return nil, &Fault{Problem: "the job is nil", Hint: "make one with NewJob"}
	}
	if h := sc.harness; h != nil {
		if err := j.Err(); err != nil {
			return nil, err
		}
		g, err := h.Apply(j.graph())
		if err != nil {
			return nil, &Fault{Problem: err.Error()}
		}
		return planner.Compile(g)
	}
	c, err := j.compile()
	if err != nil {
		return nil, err
	}
	var faults fault.List
	for _, n := range c.Graph.Nodes {
		two, err := planner.TwoPhase(n.Sink)
		if err != nil {
			faults.Add(fault.Place(err, n.ID, n.At))
		}
		if two && rt.Bucket == nil {
			faults.Add(&Fault{Operator: n.ID, At: n.At, Problem: "the sink commits in two phases, and epochs are kept in memory only",
				Hint: "what it prepared would be lost with the process: give Runtime.Bucket, or use a sink that writes at least once"})
		}
	}
	if err := faults.Err(); err != nil {
		return nil, err
	}
	return c, nil
}

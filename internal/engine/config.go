package engine

import (
	"context"
	"log/slog"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/checkpoint"
	"github.com/arkflow-go/arkflow/internal/graph"
	"github.com/arkflow-go/arkflow/internal/life"
	"github.com/arkflow-go/arkflow/internal/plan"
	"github.com/arkflow-go/arkflow/internal/report"
	"github.com/arkflow-go/arkflow/operator"
)

// Defaults of a Config.
const (
	DefaultCheckpointEvery   = 10 * time.Second
	DefaultCheckpointTimeout = 10 * time.Minute
	DefaultLinkBatches       = 8
	DefaultFailures          = 5
)

// BindFunc binds the operators of the graph once the schemas of open sources are known.
type BindFunc func(schemas map[string]*arrow.Schema) (map[string]operator.Bound, map[string][]operator.Stream, error)

// Config is what an execution runs and what it may use of the world.
type Config struct {
	Plan    *plan.Plan
	Graph   *graph.Graph
	Bound   map[string]operator.Bound
	Streams map[string][]operator.Stream
	Open    []string // sources whose schema is open
	Bind    BindFunc // needed where Open is not empty

	Clock   operator.Clock   // defaults to the machine's
	Logger  *slog.Logger     // defaults to none
	Store   checkpoint.Store // defaults to one in memory that keeps the last epoch
	Restore *checkpoint.Epoch
	// Hold gives the hold on a bucket that takes the place of Store and Restore, anew for each execution. May be nil.
	// known is the plan's shape, nil while a schema is open.
	Hold func(ctx context.Context, known *checkpoint.Shape) (*checkpoint.Session, error)
	// Content is the fingerprint of the job as it was submitted. May be empty.
	Content string
	// Failures is how many epochs in a row may fail before the job does. Defaults to DefaultFailures.
	Failures          int
	CheckpointEvery   time.Duration // defaults to DefaultCheckpointEvery; negative means never
	CheckpointTimeout time.Duration // defaults to DefaultCheckpointTimeout
	MemoryLimit       int64         // bytes in batches and state; 0 means no limit
	LinkBatches       int           // batches that a link holds; defaults to DefaultLinkBatches
	Hooks             Hooks

	Tracer report.Tracer // is told of epochs and recovery; may be nil

	Feed *life.Feed // where events go, closed by who gave it; nil: one of the execution alone
}

// Hooks are for tests: they make runs differ, or stop them, where results must not depend on it. The zero value does nothing.
type Hooks struct {
	// PollOrder gives the index of the split, of n, that is polled first.
	PollOrder func(n int) int
	// BarrierEveryPoll makes a source task wait for a new epoch after each poll that gave rows.
	BarrierEveryPoll bool
	// Gather makes edges gather rows by key, where they can, whether it pays or not.
	Gather bool
	// Quiet is called when nothing can move until a clock, a source or a caller does. It must not block.
	Quiet func()
	// DebugPool makes the pool of the execution poison what comes back, and a leak an error of Wait.
	DebugPool bool
}

// WithDefaults gives a copy with every field set that has a default.
func (c Config) WithDefaults() Config {
	if c.Clock == nil {
		c.Clock = operator.SystemClock{}
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	if c.Store == nil {
		c.Store = &checkpoint.MemoryStore{}
	}
	if c.CheckpointEvery == 0 {
		c.CheckpointEvery = DefaultCheckpointEvery
	}
	if c.CheckpointTimeout == 0 {
		c.CheckpointTimeout = DefaultCheckpointTimeout
	}
	if c.Failures == 0 {
		c.Failures = DefaultFailures
	}
	if c.LinkBatches == 0 {
		c.LinkBatches = DefaultLinkBatches
	}
	return c
}

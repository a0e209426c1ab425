package engine

import (
	"log/slog"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/checkpoint"
	"github.com/arkflow-go/arkflow/internal/graph"
	"github.com/arkflow-go/arkflow/internal/life"
	"github.com/arkflow-go/arkflow/internal/plan"
	"github.com/arkflow-go/arkflow/operator"
)

// Defaults of a Config.
const (
	DefaultCheckpointEvery   = 10 * time.Second
	DefaultCheckpointTimeout = 10 * time.Minute
	DefaultLinkBatches       = 8
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

	Clock             operator.Clock   // defaults to the machine's
	Logger            *slog.Logger     // defaults to none
	Store             checkpoint.Store // defaults to one in memory that keeps the last epoch
	Restore           *checkpoint.Epoch
	CheckpointEvery   time.Duration // defaults to DefaultCheckpointEvery; negative means never
	CheckpointTimeout time.Duration // defaults to DefaultCheckpointTimeout
	MemoryLimit       int64         // bytes in batches and state; 0 means no limit
	LinkBatches       int           // batches that a link holds; defaults to DefaultLinkBatches
	Hooks             Hooks

	feed *life.Feed // of the Run that the execution belongs to; nil: its own
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

func (c Config) withDefaults() Config {
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
	if c.LinkBatches == 0 {
		c.LinkBatches = DefaultLinkBatches
	}
	return c
}

package arkflowtest

import (
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/arkflow-go/arkflow/operator"
)

// Option says what a test does with a job.
type Option func(*config)

// config is what options set. The zero value is a plain run.
type config struct {
	sources     map[string][]Split
	order       []string // of sources, as given
	sinks       map[string]bool
	parallelism int
	batch       int
	cutSeed     uint64
	cutRandom   bool
	pollSeed    uint64
	pollRandom  bool
	barriers    bool
	links       int
	every       time.Duration
	clock       operator.Clock
	plain       bool
	end         End
	timeout     time.Duration
	restore     *Snapshot
	sparse      bool // EveryRestore takes a third of the epochs
	stored      bool // epochs go through a bucket
	gather      bool // rows are gathered by key before they change tasks, whether it pays or not
	faults      []failure
	gates       map[string]*Gate
	wants       []want
	counts      []count
	leaks       bool
	logger      *slog.Logger
	live        bool
	err         error
}

// DefaultBatchRows is how many rows a scripted batch has at most where a test says nothing.
const DefaultBatchRows = 1024

// DefaultTimeout is how long, of the machine's time, a run may take where a test says nothing.
const DefaultTimeout = time.Minute

func newConfig(opts []Option) *config {
	c := &config{sources: map[string][]Split{}, gates: map[string]*Gate{}, batch: DefaultBatchRows, timeout: DefaultTimeout, every: -1}
	for _, o := range opts {
		if o != nil {
			o(c)
		}
	}
	return c
}

func (c *config) fail(format string, args ...any) {
	c.err = errors.Join(c.err, fmt.Errorf("arkflowtest: "+format, args...))
}

// From replaces the source of that ID by scripted splits. Sources that no From names stay as they are in the job.
func From(source string, splits ...Split) Option {
	return func(c *config) {
		if _, twice := c.sources[source]; twice {
			c.fail("source %q is given twice", source)
			return
		}
		if len(splits) == 0 {
			splits = []Split{{}}
		}
		c.sources[source] = splits
		c.order = append(c.order, source)
	}
}

// Sinks names the sinks that are replaced by collecting ones; the others stay as they are in the job. Defaults to all sinks.
func Sinks(ids ...string) Option {
	return func(c *config) {
		if c.sinks == nil {
			c.sinks = map[string]bool{}
		}
		for _, id := range ids {
			c.sinks[id] = true
		}
	}
}

// Parallelism is the number of tasks of every source, operator and sink, whatever the job says. Defaults to what the job says.
func Parallelism(n int) Option {
	return func(c *config) {
		if n < 1 {
			c.fail("parallelism %d is not positive", n)
		}
		c.parallelism = n
	}
}

// BatchRows is the greatest number of rows of a scripted batch. Defaults to DefaultBatchRows.
func BatchRows(n int) Option {
	return func(c *config) {
		if n < 1 {
			c.fail("batches of %d rows", n)
		}
		c.batch, c.cutRandom = n, false
	}
}

// RandomCuts makes scripted batches of random size; the same seed gives the same ones.
func RandomCuts(seed uint64) Option {
	return func(c *config) { c.cutSeed, c.cutRandom = seed, true }
}

// RandomPolling makes tasks read their splits in random order, by a seed. Defaults to in turn.
func RandomPolling(seed uint64) Option {
	return func(c *config) { c.pollSeed, c.pollRandom = seed, true }
}

// BarrierEveryRow takes an epoch after every single row.
func BarrierEveryRow() Option {
	return func(c *config) { c.barriers, c.batch, c.cutRandom = true, 1, false }
}

// BarrierEveryBatch takes an epoch after every batch of a scripted source.
func BarrierEveryBatch() Option { return func(c *config) { c.barriers = true } }

// LinkBatches is the number of batches that a link between two tasks holds before its sender waits. Defaults to the engine's 8.
func LinkBatches(n int) Option {
	return func(c *config) {
		if n < 1 {
			c.fail("links of %d batches", n)
		}
		c.links = n
	}
}

// CheckpointEvery is the time between epochs by the clock of the run. Defaults to never; see Checkpoint and BarrierEveryRow.
func CheckpointEvery(d time.Duration) Option {
	return func(c *config) {
		if d <= 0 {
			c.fail("checkpoints every %s", d)
		}
		c.every = d
	}
}

// UseClock is the clock of the run. Defaults to a Clock that shows ClockStart. With another clock than a *Clock, Advance steps do not work, and
// a job that cannot move is told only at the Timeout.
func UseClock(clock operator.Clock) Option { return func(c *config) { c.clock = clock } }

// SystemClock uses the machine's clock, as it is right inside testing/synctest.
func SystemClock() Option { return UseClock(operator.SystemClock{}) }

// AtLeastOnce makes collecting sinks show rows when they are flushed, in place of when their epoch is committed: a restored job shows
// twice what was written after its epoch.
func AtLeastOnce() Option { return func(c *config) { c.plain = true } }

// End is how a job is ended.
type End int

// The ends. See arkflow.Handle.
const (
	Drain  End = iota // as if all input had ended: windows are flushed
	Stop              // suspended: open windows stay in state
	Cancel            // what is in flight is dropped
)

func (e End) String() string { return [...]string{"drain", "stop", "cancel"}[e] }

// EndBy says how Run ends a job with a split that stays Open, once all has been read and nothing moves. Defaults to Drain.
func EndBy(e End) Option { return func(c *config) { c.end = e } }

// Timeout is how long, of the machine's time, a run may take before it is given up; of a job that a test drives step by step, each
// step. Defaults to DefaultTimeout.
func Timeout(d time.Duration) Option {
	return func(c *config) {
		if d <= 0 {
			c.fail("timeout %s is not positive", d)
		}
		c.timeout = d
	}
}

// Restore starts the job from an epoch of an earlier run: scripted sources go on where they were (give them the same scripts, step by step;
// further steps may follow), the clock shows what it showed, and
// collecting sinks hold what was committed up to that epoch.
func Restore(s *Snapshot) Option {
	return func(c *config) {
		if s == nil {
			c.fail("restore: there is no snapshot")
		}
		c.restore = s
	}
}

// Gated lets a gate hold up the writes of a sink.
func Gated(sink string, g *Gate) Option { return func(c *config) { c.gates[sink] = g } }

// NoLeaks makes a goroutine that the run leaves behind an error. It cannot be used in tests that run in parallel.
func NoLeaks() Option { return func(c *config) { c.leaks = true } }

// Logger gets the job's log. Defaults to none.
func Logger(l *slog.Logger) Option { return func(c *config) { c.logger = l } }

// Want is what a sink must hold at the end, in any order. Rows are structs or maps, as for Rows; columns and values must be the same,
// numbers by value whatever their type.
func Want[T any](sink string, rows ...T) Option {
	texts, err := textsOf(rows) // once, not in each run
	return func(c *config) {
		if err != nil {
			c.fail("want of sink %q: %v", sink, err)
		}
		c.wants = append(c.wants, want{sink: sink, rows: texts})
	}
}

// WantLines is Want with rows as Result.Lines gives them.
func WantLines(sink string, lines ...string) Option {
	return func(c *config) { c.wants = append(c.wants, want{sink: sink, lines: lines}) }
}

// Counts says that a column of a sink counts the rows that a window took: over a run that ended for good they must add up to its rows in
// less the late and dropped ones.
func Counts(window, sink, column string) Option {
	return func(c *config) { c.counts = append(c.counts, count{window, sink, column}) }
}

type want struct {
	sink  string
	lines []string
	rows  []map[string]string // nil: lines
}

type count struct{ window, sink, column string }

// pollOrder is the hook for RandomPolling.
func (c *config) pollOrder() func(int) int {
	if !c.pollRandom {
		return nil
	}
	var mu sync.Mutex
	r := rand.New(rand.NewPCG(c.pollSeed, 1))
	return func(n int) int {
		mu.Lock()
		defer mu.Unlock()
		return r.IntN(n)
	}
}

package arkflowtest

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/checkpoint"
	"github.com/arkflow-go/arkflow/internal/engine"
	"github.com/arkflow-go/arkflow/internal/harness"
	"github.com/arkflow-go/arkflow/operator"
	"go.uber.org/goleak"
)

// run is one execution of a job under test. It is driven by the goroutine of the test.
type run struct {
	ctx    context.Context // its end gives the run up
	cfg    *config
	job    *arkflow.Job
	clock  operator.Clock
	fake   *Clock // nil: another clock
	feed   *feed
	into   *collector
	faults *faults
	notify chan struct{}
	handle *arkflow.Handle
	exec   *engine.Execution
	wild   bool // the job has sources that are not scripted
	ended  bool // an end was asked for
	sinks  []string
	leak   goleak.Option
	hard   *time.Timer

	bucket bucket // of a run whose epochs are stored; one seal at a time

	mu    sync.Mutex // guards snaps
	snaps []*Snapshot
}

// Snapshot is an epoch of a run that a job can be restored from.
type Snapshot struct {
	epoch *checkpoint.Epoch
	clock time.Time
	into  *collector
}

// Epoch is its number.
func (s *Snapshot) Epoch() int64 { return s.epoch.Number }

// start compiles and starts a job under test.
func start(ctx context.Context, job *arkflow.Job, cfg *config) (*run, error) {
	if cfg.err != nil {
		return nil, cfg.err
	}
	r := &run{ctx: ctx, cfg: cfg, job: job, notify: make(chan struct{}, 1), into: newCollector(), faults: &faults{calls: map[string]int{}}}
	r.feed = &feed{notify: r.wake}
	for i := range cfg.faults {
		f := cfg.faults[i]
		r.faults.list = append(r.faults.list, &f)
	}
	r.clock = cfg.clock
	if r.clock == nil {
		r.clock = NewClock(ClockStart)
	}
	if r.fake, _ = r.clock.(*Clock); r.fake != nil {
		r.fake.mu.Lock()
		r.fake.notify = r.wake
		r.fake.mu.Unlock()
	}
	h := &harness.Config{
		Source: r.source, Sink: r.sink, Parallelism: cfg.parallelism, LinkBatches: cfg.links, CheckpointEvery: cfg.every,
		Hooks: engine.Hooks{PollOrder: cfg.pollOrder(), BarrierEveryPoll: cfg.barriers, Gather: cfg.gather, Quiet: r.wake, DebugPool: true},
		Store: r, Started: func(x *engine.Execution) { r.exec = x }, Applied: r.known,
	}
	if s := cfg.restore; s != nil {
		h.Restore = s.epoch
		r.into = s.into.fork(s.epoch.Number)
		if r.fake != nil && cfg.clock == nil {
			r.fake.to(s.clock)
		}
	}
	for _, g := range cfg.gates {
		g.mu.Lock()
		g.told = r.wake
		g.mu.Unlock()
	}
	if cfg.leaks {
		r.leak = goleak.IgnoreCurrent()
	}
	r.hard = time.NewTimer(cfg.timeout)
	var err error
	r.handle, err = arkflow.Runtime{Clock: r.clock, Logger: cfg.logger}.Start(ctx, job, arkflow.Harness(h))
	return r, err
}

// known reports names of options that are not in the job, once its sources and sinks have been replaced.
func (r *run) known() error {
	var unknown []string
	for _, id := range r.cfg.order {
		if !slices.ContainsFunc(r.feed.splits, func(s *splitRun) bool { return s.source == id }) {
			unknown = append(unknown, fmt.Sprintf("source %q", id))
		}
	}
	for id := range r.cfg.sinks {
		if !slices.Contains(r.sinks, id) {
			unknown = append(unknown, fmt.Sprintf("sink %q", id))
		}
	}
	for id := range r.cfg.gates {
		if !slices.Contains(r.sinks, id) {
			unknown = append(unknown, fmt.Sprintf("sink %q", id))
		}
	}
	for _, w := range r.cfg.wants {
		if !slices.Contains(r.sinks, w.sink) {
			unknown = append(unknown, fmt.Sprintf("sink %q", w.sink))
		}
	}
	if unknown == nil {
		return nil
	}
	slices.Sort(unknown)
	return fmt.Errorf("arkflowtest: the job has no %s", strings.Join(slices.Compact(unknown), ", no "))
}

// wake makes the driver look again.
func (r *run) wake() {
	select {
	case r.notify <- struct{}{}:
	default:
	}
}

// Seal implements checkpoint.Store.
func (r *run) Seal(ctx context.Context, e *checkpoint.Epoch) error {
	if err := r.faults.call(opSeal, ""); err != nil {
		return err
	}
	var err error
	if r.cfg.stored {
		e, err = r.bucket.through(ctx, e)
	} else {
		err = e.Settle()
	}
	if err != nil {
		return err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.snaps = append(r.snaps, &Snapshot{epoch: e, clock: r.clock.Now(), into: r.into})
	return nil
}

// Release implements checkpoint.Store: snapshots stay readable.
func (r *run) Release(context.Context, *checkpoint.Epoch) {}

// source stands in for a source of the job.
func (r *run) source(id string, had operator.Source, _ operator.TimePolicy) (operator.Source, error) {
	splits, ok := r.cfg.sources[id]
	if !ok {
		r.wild = true
		return nil, nil
	}
	schema, err := schemaOf(had, splits)
	if err != nil {
		return nil, err
	}
	s := &scripted{schema: schema, onOpen: func() error { return r.faults.call(opOpen, id) }}
	for i, sp := range splits {
		out := &splitRun{feed: r.feed, source: id, index: i, schema: schema, steps: slices.Clone(sp.steps), open: r.cfg.live,
			w: operator.MinWatermark, ready: make(chan struct{}, 1), cut: cutAt(r.cfg.batch), fail: r.faults.poll(id)}
		if r.cfg.cutRandom {
			out.cut = cutRandom(r.cfg.cutSeed, uint64(i)+math.MaxUint32*uint64(len(r.feed.splits)))
		}
		for k, st := range out.steps {
			out.own = out.own || st.kind == stepWatermark
			if st.kind == stepOpen {
				out.steps, out.open = out.steps[:k], true
				break
			}
		}
		s.splits = append(s.splits, out)
		r.feed.splits = append(r.feed.splits, out)
	}
	return s, nil
}

// schemaOf finds the schema of a scripted source: that of its rows; maps take that of the source that they stand in for.
func schemaOf(had operator.Source, splits []Split) (*arrow.Schema, error) {
	var schema *arrow.Schema
	var maps []*mapRows
	for i, sp := range splits {
		for _, st := range sp.steps {
			if st.kind != stepRows {
				continue
			}
			s, err := st.rows.own()
			if err != nil {
				return nil, err
			}
			switch m, isMap := st.rows.(*mapRows); {
			case isMap:
				maps = append(maps, m)
			case schema != nil && !schema.Equal(s):
				return nil, fmt.Errorf("split %d has rows of another schema than those before:\n%s\nafter\n%s", i, s, schema)
			default:
				schema = s
			}
		}
	}
	if schema == nil {
		schema = had.Schema()
	}
	if schema == nil && len(maps) > 0 {
		return infer(maps)
	}
	if schema == nil {
		return nil, fmt.Errorf("its script has no rows and the source's own schema is open: give Table(schema) for its columns")
	}
	return schema, nil
}

// sink stands in for a sink of the job.
func (r *run) sink(id string, _ operator.Sink) operator.Sink {
	if r.cfg.sinks != nil && !r.cfg.sinks[id] {
		return nil
	}
	r.sinks = append(r.sinks, id)
	return &collecting{id: id, into: r.into, plain: r.cfg.plain, faults: r.faults, gate: r.cfg.gates[id]}
}

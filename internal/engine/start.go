package engine

import (
	"context"
	"errors"
	"fmt"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/checkpoint"
	"github.com/arkflow-go/arkflow/internal/align"
	"github.com/arkflow-go/arkflow/internal/graph"
	"github.com/arkflow-go/arkflow/internal/life"
	"github.com/arkflow-go/arkflow/internal/link"
	"github.com/arkflow-go/arkflow/internal/plan"
	"github.com/arkflow-go/arkflow/internal/preagg"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/shuffle"
	"github.com/arkflow-go/arkflow/state"
)

// Start opens what the plan needs (sinks before sources), restores it, and starts the tasks. ctx bounds the start only. On an
// error everything that was opened is closed again, and the execution has never run.
func Start(ctx context.Context, cfg Config) (*Execution, error) {
	cfg = cfg.WithDefaults()
	x := &Execution{cfg: cfg, clock: cfg.Clock, log: cfg.Logger, hooks: cfg.Hooks, state: life.Created, done: make(chan struct{}),
		schemas: map[string]*arrow.Schema{}}
	if x.events = cfg.Feed; x.events == nil {
		x.events = &life.Feed{}
	}
	x.activity.Quiet = cfg.Hooks.Quiet
	x.box.wake = make(chan struct{}, 1)
	x.started, x.pool = x.clock.Now(), newPool(cfg.Hooks)
	x.ctx, x.cancel = context.WithCancelCause(context.WithoutCancel(ctx))
	x.move(life.Starting)
	// What is opened gets the context of the execution: during the start it ends with that of the caller.
	started := context.AfterFunc(ctx, func() { x.cancel(context.Cause(ctx)) })
	err := x.recover(ctx)
	if !started() {
		err = canceled(ctx, err)
	}
	if err != nil {
		x.cancel(err)
		x.endSession()
		x.err = err
		x.move(life.Failed)
		x.closeEvents()
		close(x.done)
		return x, err
	}
	x.move(life.Running)
	m := x.newMaster()
	x.activity.Set(len(x.tasks)) // before the first goroutine can pause
	for _, t := range x.tasks {
		t.heldBy.Store(-1)
		x.group.Go(func() {
			pprof.Do(t.ctx, pprof.Labels("job", cfg.Plan.Job, "task", t.id.String()), func(context.Context) {
				err := errGoexit
				defer func() {
					if errors.Is(err, errGoexit) {
						err = &OperatorError{Operator: t.culprit(), Task: t.id.String(), Err: err}
					}
					x.post(evExited{task: t.id, err: err})
					x.activity.Pause()
				}()
				err = t.run()
			})
		})
	}
	go pprof.Do(x.ctx, pprof.Labels("job", cfg.Plan.Job, "task", "master"), func(context.Context) { m.run() })
	return x, nil
}

type nodeKey struct {
	operator string
	subtask  int
}

// builder makes the tasks of an execution.
type builder struct {
	x       *Execution
	ctx     context.Context
	bound   map[string]operator.Bound
	streams map[string][]operator.Stream
	sources map[string]operator.Source // with their schemas
	tasksOf map[string][]*task
	nodeOf  map[nodeKey]*node
	splits  map[string][]operator.Split // of each source, once enumerated

	operator, task string // whose code runs
}

// canceled is the error of a start whose context has ended; err is what came of that, or nil.
func canceled(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	switch {
	case err == nil:
		return fmt.Errorf("start: %w", cause)
	case errors.Is(err, cause) || !errors.Is(err, context.Canceled):
		return err
	}
	return fmt.Errorf("start: %w: %w", cause, err)
}

// call runs code of an operator.
func (b *builder) call(operator, task string, f func() error) error {
	b.operator, b.task = operator, task
	return guarded(operator, task, f)
}

func (b *builder) build() error {
	if err := b.schemas(); err != nil {
		return err
	}
	if err := b.fit(); err != nil {
		return err
	}
	b.makeTasks()
	if err := b.connect(); err != nil {
		return err
	}
	steps := []func(*node, *graph.Node) error{b.openDeadLetters, b.openSink, b.makeInstance, b.openSource}
	for _, step := range steps {
		for _, t := range b.x.tasks {
			for _, n := range t.nodes {
				if b.ctx.Err() != nil {
					return canceled(b.ctx, nil)
				}
				err := b.call(n.id, t.id.String(), func() error { return step(n, b.x.cfg.Graph.Node(n.id)) })
				if err != nil {
					return err
				}
			}
		}
	}
	b.makeDrift()
	if err := b.recommit(); err != nil {
		return err
	}
	return b.recover()
}

// makeDrift keeps the splits of all event-time sources together where one of them asks for it.
func (b *builder) makeDrift() {
	var tasks []*task
	wanted := false
	for _, t := range b.x.tasks {
		if t.source != nil && t.source.policy.Mode() == operator.EventTime && len(t.source.splits) > 0 {
			tasks = append(tasks, t)
			wanted = wanted || t.source.maxDrift > 0
		}
	}
	if wanted {
		b.x.drift = newDrift(tasks)
	}
}

// schemas finds the schemas of open sources, and binds the operators to them.
func (b *builder) schemas() error {
	cfg := &b.x.cfg
	for _, n := range cfg.Graph.Nodes {
		if n.Source != nil {
			b.sources[n.ID] = n.Source
		}
	}
	b.bound, b.streams = cfg.Bound, cfg.Streams
	if len(cfg.Open) == 0 {
		return nil
	}
	for _, id := range cfg.Open {
		src := b.sources[id].(operator.Inferrer)
		var s *arrow.Schema
		if cfg.Restore != nil {
			s = cfg.Restore.Schemas[id]
		}
		if s == nil {
			err := b.call(id, "start", func() (err error) {
				if s, err = src.Infer(b.ctx); err != nil {
					err = &OperatorError{Operator: id, Task: "start", Err: fmt.Errorf("infer the schema: %w", err)}
				}
				return err
			})
			if err != nil {
				return err
			}
		}
		if s != nil { // nil: no record at all, so no operator behind it will see a row
			b.x.schemas[id] = s
			b.sources[id] = src.WithSchema(s)
		}
	}
	var err error
	b.bound, b.streams, err = cfg.Bind(b.x.schemas)
	return err
}

func (b *builder) makeTasks() {
	x := b.x
	for _, c := range x.cfg.Plan.Chains {
		for i := range c.Parallelism {
			t := &task{id: checkpoint.TaskID{Chain: c.ID, Subtask: i}, exec: x, ctx: x.ctx, in: link.New(&x.activity)}
			for _, id := range c.Operators {
				n := b.makeNode(t, id, c.Parallelism)
				t.nodes = append(t.nodes, n)
				b.nodeOf[nodeKey{id, i}] = n
			}
			x.tasks = append(x.tasks, t)
			b.tasksOf[c.ID] = append(b.tasksOf[c.ID], t)
		}
	}
}

func (b *builder) makeNode(t *task, id string, parallelism int) *node {
	x := b.x
	max := x.cfg.Plan.MaxParallelism
	n := &node{task: t, id: id, w: operator.MinWatermark}
	n.wNow.Store(operator.MinWatermark)
	n.ctx = &operator.Context{
		Context: x.ctx, Job: x.cfg.Plan.Job, Run: x.run(), Operator: id, Subtask: t.id.Subtask, Parallelism: parallelism, MaxParallelism: max,
		KeyGroups: state.OwnedBy(t.id.Subtask, parallelism, max), Pool: x.pool, Clock: x.clock, Logger: x.log,
		OnError: x.cfg.Graph.Node(id).OnError, Counters: &n.counters,
		SetTimer: func(at time.Time) { n.timerAt = at },
		Wake:     t.in.Call,
		Moving:   x.activity.Add,
		Degraded: func(reason string) { x.degrade(id, reason) },
		Pause:    t.pause,
	}
	return n
}

// connect makes calls of fused edges and links of the others.
func (b *builder) connect() error {
	for _, e := range b.x.cfg.Plan.Edges {
		from := b.x.cfg.Plan.Chain(b.x.cfg.Plan.Operator(e.From).Chain)
		to := b.x.cfg.Plan.Chain(b.x.cfg.Plan.Operator(e.To).Chain)
		for i := range from.Parallelism {
			n := b.nodeOf[nodeKey{e.From, i}]
			for len(n.ports) <= e.Port {
				n.ports = append(n.ports, port{})
			}
			p := &n.ports[e.Port]
			if e.Ship == plan.Fused {
				p.local = append(p.local, call{b.nodeOf[nodeKey{e.To, i}], e.In})
				continue
			}
			keys, err := b.keyColumns(e)
			if err != nil {
				return err
			}
			var links []*link.Link
			for j, t := range b.tasksOf[to.ID] {
				if e.Ship == plan.Forward && j != i {
					continue
				}
				l := t.in.Connect(b.x.cfg.LinkBatches)
				l.From = fmt.Sprintf("operator %q subtask %d", e.From, i)
				links = append(links, l)
				t.ports = append(t.ports, e.In)
			}
			edge := newOutEdge(n.task, e, keys, links, b.x.cfg.Plan.MaxParallelism)
			if m, ok := b.bound[e.To].(preagg.Maker); ok && edge.split != nil {
				edge.stage, edge.always = m.PreAggregate(b.x.pool), b.x.hooks.Gather
			}
			p.edges = append(p.edges, edge)
			n.task.edges = append(n.task.edges, edge)
		}
	}
	for _, t := range b.x.tasks {
		t.merge = align.NewMerge(t.in.Links())
		if t.in.Links() > 0 {
			t.align = align.NewAligner(t.in.Links())
		}
	}
	return nil
}

// keyColumns finds the key columns of a hash edge; none while the schema is not known, for then no row will come.
func (b *builder) keyColumns(e plan.Edge) (keys []int, err error) {
	streams := b.streams[e.From]
	if e.Ship != plan.Hash || e.Port >= len(streams) {
		return nil, nil
	}
	for _, k := range e.Key {
		at := streams[e.Port].Schema.FieldIndices(k)
		if len(at) == 0 {
			return nil, fmt.Errorf("edge %s -> %s: no key column %q", e.From, e.To, k)
		}
		keys = append(keys, at[0])
	}
	return keys, nil
}

// stream gives what a node reads from its input; ok is false where the schema is not known.
func (b *builder) stream(id string) (operator.Stream, bool) {
	for _, e := range b.x.cfg.Graph.Inputs(id) {
		if s := b.streams[e.From]; e.Port < len(s) && s[e.Port].Schema != nil {
			return s[e.Port], true
		}
	}
	return operator.Stream{}, false
}

func (b *builder) openSink(n *node, g *graph.Node) error {
	if g.Sink == nil {
		return nil
	}
	in, ok := b.stream(n.id)
	if !ok {
		in = operator.Stream{Schema: arrow.NewSchema(nil, nil)}
	}
	w, err := g.Sink.Open(n.ctx, in)
	if err != nil {
		return &OperatorError{Operator: n.id, Task: n.task.id.String(), Err: fmt.Errorf("open sink: %w", err)}
	}
	if w == nil {
		return &OperatorError{Operator: n.id, Task: n.task.id.String(), Err: errors.New("open sink: it gave no writer and no error")}
	}
	n.writer = w
	n.pace.PerSecond = g.MaxRate / float64(n.ctx.Parallelism)
	b.x.closers = append(b.x.closers, closer{n, w.Close})
	return b.restore(n)
}

func (b *builder) makeInstance(n *node, g *graph.Node) error {
	if g.Operator == nil {
		return nil
	}
	bound := b.bound[n.id]
	if bound == nil {
		return nil // an open schema that never came
	}
	inst, err := bound.New(n.ctx)
	if err != nil {
		return &OperatorError{Operator: n.id, Task: n.task.id.String(), Err: err}
	}
	if inst == nil {
		return &OperatorError{Operator: n.id, Task: n.task.id.String(), Err: errors.New("its New gave no instance and no error")}
	}
	n.inst, n.outputs = inst, len(bound.Outputs())
	n.marks, _ = inst.(operator.WatermarkHandler)
	n.timer, _ = inst.(operator.TimerHandler)
	n.take(inst, g.Operator)
	if m, ok := bound.(preagg.Maker); ok {
		n.weigh = m.Weigh
	}
	if c, ok := inst.(operator.Closer); ok {
		b.x.closers = append(b.x.closers, closer{n, c.Close})
	}
	return b.restore(n)
}

func (b *builder) restore(n *node) error {
	if b.x.cfg.Restore == nil {
		return nil
	}
	return n.restore(b.x.cfg.Restore)
}

// openSource opens the splits that a task of a source reads: in the order of their IDs, each to one task in turn.
func (b *builder) openSource(n *node, g *graph.Node) error {
	if g.Source == nil {
		return nil
	}
	if err := b.restore(n); err != nil {
		return err
	}
	fail := func(what string, err error) error {
		return &OperatorError{Operator: n.id, Task: n.task.id.String(), Err: fmt.Errorf("%s: %w", what, err)}
	}
	src := b.sources[n.id]
	s := &sourceStage{task: n.task, node: n, policy: g.Time, column: -1, maxDrift: g.MaxDrift, driftIndex: -1}
	s.pace.PerSecond = g.MaxRate / float64(n.ctx.Parallelism)
	n.task.source = s
	if src.Schema() == nil { // no record at all
		n.task.merge = align.NewMerge(0)
		return nil
	}
	if g.Time.Kind == operator.EventTimePolicy {
		at := src.Schema().FieldIndices(g.Time.Column)
		if len(at) == 0 {
			return fail("event time", fmt.Errorf("no column %q", g.Time.Column))
		}
		s.column = at[0]
	}
	splits, err := b.splitsOf(n.id, src)
	if err != nil {
		return fail("list splits", err)
	}
	for i, sp := range splits {
		if i%n.ctx.Parallelism != n.ctx.Subtask {
			continue
		}
		if err := b.openSplit(s, src, sp); err != nil {
			return fail(fmt.Sprintf("open split %q", sp.ID), err)
		}
	}
	n.task.merge = align.NewMerge(len(s.splits))
	for i, sp := range s.splits {
		if sp.done {
			n.task.merge.Status[i] = shuffle.Finished
		}
		n.task.merge.Watermark(i, sp.w)
	}
	return nil
}

// splitsOf enumerates the splits of a source, once a job and in the order of their IDs.
func (b *builder) splitsOf(id string, src operator.Source) ([]operator.Split, error) {
	if splits, ok := b.splits[id]; ok {
		return splits, nil
	}
	splits, err := src.Splits(b.ctx)
	if err != nil {
		return nil, err
	}
	splits = slices.Clone(splits)
	slices.SortFunc(splits, func(a, b operator.Split) int { return strings.Compare(a.ID, b.ID) })
	for i := 1; i < len(splits); i++ {
		if splits[i-1].ID == splits[i].ID {
			return nil, fmt.Errorf("two splits have the ID %q", splits[i].ID)
		}
	}
	if b.x.session != nil {
		has := func(split string) bool {
			return slices.ContainsFunc(splits, func(s operator.Split) bool { return s.ID == split })
		}
		if err := b.x.session.CheckSplits(id, has); err != nil {
			return nil, err
		}
	}
	b.splits[id] = splits
	return splits, nil
}

func (b *builder) openSplit(s *sourceStage, src operator.Source, sp operator.Split) error {
	out := &split{id: sp.ID, w: operator.MinWatermark}
	var position []byte
	if r := b.x.cfg.Restore; r != nil {
		if saved := r.Split(s.node.id, sp.ID); saved != nil {
			position, out.done, out.last = saved.Position, saved.Done, saved.Position
			out.max, out.has = saved.MaxTime, saved.HasTime
			if out.has {
				out.w = minusSaturating(out.max, s.policy.OutOfOrderness.Milliseconds())
			}
		}
	}
	if !out.done {
		r, err := src.Open(s.node.ctx, sp, position)
		if err != nil {
			return err
		}
		if r == nil {
			return errors.New("the source gave no reader and no error")
		}
		out.reader = r
		b.x.closers = append(b.x.closers, closer{s.node, r.Close})
		if l, ok := r.(operator.RowLimiter); ok && s.pace.PerSecond > 0 {
			l.LimitRows(s.pace.Batch())
		}
		if own, ok := r.(operator.WatermarkReader); ok {
			if w, ok := own.Watermark(); ok {
				out.w = w
			}
		}
	}
	s.splits = append(s.splits, out)
	return nil
}

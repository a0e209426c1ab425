package engine

import (
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"github.com/arkflow-go/arkflow/checkpoint"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/pace"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/state"
)

// node is one operator, source or sink in a task.
type node struct {
	task *task
	id   string
	ctx  *operator.Context

	inst   operator.Instance // nil: a source, a sink, or an operator whose input's schema never came
	marks  operator.WatermarkHandler
	timer  operator.TimerHandler
	weigh  func(b *column.Batch) int // rows that a batch stands for; nil: its own
	side   side                      // what the instance does beside the task's goroutine
	writer operator.Writer           // sinks
	pace   pace.Pace                 // sinks: MaxRate
	// unsealed is what a two-phase writer has prepared and not committed yet, oldest first. An epoch that is aborted leaves
	// its part to the next one: its rows are behind the positions that one seals.
	unsealed []checkpoint.Prepared

	ports   []port
	outputs int   // number of output ports
	w       int64 // watermark of the operator
	resumed bool  // w is that of the epoch the job was restored from, and has not been told to those behind
	timerAt time.Time

	counters operator.Counters
	rowsIn   atomic.Int64
	rowsOut  atomic.Int64
	bytesIn  atomic.Int64
	bytesOut atomic.Int64
	batches  atomic.Int64
	wNow     atomic.Int64 // w, for Status
	entries  atomic.Int64
	bytes    atomic.Int64
	peak     atomic.Int64 // greatest number of bytes per 1,000 entries seen with the most entries
	peakEnts atomic.Int64
	peek     peeks
	dead     *deadLetters // nil where the error policy is another
}

// port is where the rows of an output port go.
type port struct {
	local []call
	edges []*outEdge
}

// call is a fused edge.
type call struct {
	to *node
	in int
}

// OperatorError says in which operator of which task something went wrong.
type OperatorError struct {
	Operator string
	Task     string
	Err      error
	Stack    []byte // of a panic; nil otherwise
}

func (e *OperatorError) Error() string {
	return fmt.Sprintf("operator %q (task %s): %v", e.Operator, e.Task, e.Err)
}

func (e *OperatorError) Unwrap() error { return e.Err }

// PanicError is a panic in an operator, turned into an error.
type PanicError struct{ Value any }

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// wrap names the operator in an error that does not name one yet.
func (n *node) wrap(err error) error {
	if err == nil {
		return nil
	}
	var named *OperatorError
	if errors.As(err, &named) || n.task.ctx.Err() != nil {
		return err
	}
	return &OperatorError{Operator: n.id, Task: n.task.id.String(), Err: err}
}

// guard runs f and turns a panic in the current operator into an error (DESIGN E5).
func (t *task) guard(f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			stack := debug.Stack()
			if p, ok := v.(*operator.Panic); ok {
				v, stack = p.Value, p.Stack
			}
			err = &OperatorError{Operator: t.culprit(), Task: t.id.String(), Err: &PanicError{v}, Stack: stack}
		}
	}()
	return f()
}

// culprit is the operator whose code was left without a return.
func (t *task) culprit() string {
	if t.current != nil {
		return t.current.id
	}
	return t.id.Chain
}

// guarded runs code of an operator outside its task and turns a panic into an error.
func guarded(operator, task string, f func() error) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &OperatorError{Operator: operator, Task: task, Err: &PanicError{v}, Stack: debug.Stack()}
		}
	}()
	return f()
}

var errGoexit = errors.New("user code ended its goroutine by runtime.Goexit, as FailNow of package testing does; return an error instead")

// apart runs f on a goroutine of its own, so that code which ends its goroutine does not end that of the caller.
func apart(f func() error) error {
	result := make(chan error, 1)
	go func() {
		err := errGoexit
		defer func() { result <- err }()
		err = f()
	}()
	return <-result
}

// failure is what is logged of a failed job: its error and, after a panic, the stack.
func failure(job string, err error) []any {
	args := []any{"job", job, "error", err}
	var named *OperatorError
	if errors.As(err, &named) && named.Stack != nil {
		args = append(args, "stack", string(named.Stack))
	}
	return args
}

// enter notes that the code of n runs, for guard; the result goes to leave.
func (n *node) enter() *node {
	prev := n.task.current
	n.task.current = n
	n.task.inside.Store(n)
	return prev
}

func (n *node) leave(prev *node) {
	n.task.current = prev
	n.task.inside.Store(prev)
}

// process drives a batch, borrowed, through the operator and everything fused behind it.
func (n *node) process(in int, b *column.Batch) error {
	if b.Len() == 0 {
		return nil
	}
	rows := b.Len()
	if n.weigh != nil {
		rows = n.weigh(b)
	}
	n.rowsIn.Add(int64(rows))
	n.bytesIn.Add(int64(b.SizeBytes()))
	prev := n.enter()
	var err error
	if n.writer != nil {
		err = n.write(b)
	} else if n.inst != nil {
		if err = n.inst.Process(in, b, n); n.task.exec.cfg.MemoryLimit > 0 {
			n.meter()
		}
	}
	n.leave(prev)
	if err == nil && n.side.keeper != nil {
		err = n.keepTime()
	}
	return n.wrap(err)
}

// write gives a batch to the sink, again where the error policy says so.
func (n *node) write(b *column.Batch) error {
	if err := n.task.hold(&n.pace); err != nil {
		return err
	}
	err := n.task.write(n.writer, b)
	for attempt := 0; err != nil && n.task.ctx.Err() == nil && n.ctx.Again(attempt); attempt++ {
		n.ctx.Warn("write failed, tried again", "attempt", attempt+2, "error", err)
		err = n.task.write(n.writer, b)
	}
	switch {
	case err == nil:
		n.rowsOut.Add(int64(b.Len()))
		if n.pace.PerSecond > 0 {
			n.pace.Passed(b.Len(), n.task.exec.clock.Now())
		}
		return nil
	case n.task.ctx.Err() != nil:
		return err
	case n.dead == nil:
		return n.ctx.Reject(b.Len(), err)
	}
	rows := make([]uint32, b.Len())
	for i := range rows {
		rows[i] = uint32(b.Row(i))
	}
	return n.ctx.RejectRows(b, rows, func(int) error { return err })
}

// Emit implements operator.Output.
func (n *node) Emit(port int, b *column.Batch) error {
	if b.Len() == 0 {
		return nil
	}
	if p := n.peek.Load(); p != nil && port == operator.Main {
		n.look(p, b)
	}
	if port == operator.Main {
		n.rowsOut.Add(int64(b.Len()))
		n.bytesOut.Add(int64(b.SizeBytes()))
		n.batches.Add(1)
	}
	if port >= len(n.ports) || port < 0 {
		if port < 0 || port >= n.outputs {
			return n.wrap(fmt.Errorf("it emits on port %d and has %d", port, n.outputs))
		}
		return nil
	}
	if port != operator.Main && n.side.tagged {
		n.rowsOut.Add(int64(b.Len()))
	}
	p := &n.ports[port]
	for _, c := range p.local {
		if err := c.to.process(c.in, b); err != nil {
			return err
		}
	}
	for _, e := range p.edges {
		if err := e.emit(b); err != nil {
			return err
		}
	}
	return nil
}

// watermark tells the operator of its watermark, then everything behind it.
func (n *node) watermark(w int64) error {
	if n.side.keeper != nil && w != operator.MaxWatermark {
		return n.keepTime()
	}
	if w < n.w || w == n.w && !n.resumed {
		return nil
	}
	n.resumed = false
	forward := w
	if n.marks != nil {
		prev := n.enter()
		n.meter()
		f, err := n.marks.OnWatermark(w, n)
		if n.task.exec.cfg.MemoryLimit > 0 {
			n.meter() // what was freed
		}
		n.leave(prev)
		if err != nil {
			return n.wrap(err)
		}
		forward = min(f, w)
	}
	n.w = w
	n.wNow.Store(w)
	return n.forward(forward)
}

// forward tells those behind of a watermark; MinWatermark is none.
func (n *node) forward(forward int64) error {
	if forward == operator.MinWatermark {
		return nil
	}
	for i := range n.ports {
		for _, c := range n.ports[i].local {
			if err := c.to.watermark(forward); err != nil {
				return err
			}
		}
		if forward == operator.MaxWatermark {
			continue // the end of data is told by the status
		}
		for _, e := range n.ports[i].edges {
			if err := e.watermark(forward); err != nil {
				return err
			}
		}
	}
	return nil
}

// drain makes operators that no watermark drives give what they hold, upstream first.
func (n *node) drain() error {
	if d, ok := n.inst.(operator.Drainer); ok {
		prev := n.enter()
		err := d.OnDrain(n)
		n.leave(prev)
		if err != nil {
			return n.wrap(err)
		}
	}
	return nil
}

// onTimer calls the operator if its timer is due.
func (n *node) onTimer(now time.Time) error {
	if n.timer == nil || n.timerAt.IsZero() || now.Before(n.timerAt) {
		return nil
	}
	n.timerAt = time.Time{}
	prev := n.enter()
	err := n.timer.OnTimer(now, n)
	if n.task.exec.cfg.MemoryLimit > 0 {
		n.meter()
	}
	n.leave(prev)
	return n.wrap(err)
}

// snapshot adds what the operator is at a barrier.
func (n *node) snapshot(epoch int64, into *checkpoint.TaskSnapshot) error {
	prev := n.enter()
	err := n.takeSnapshot(epoch, into)
	n.leave(prev)
	return err
}

func (n *node) takeSnapshot(epoch int64, into *checkpoint.TaskSnapshot) error {
	s := checkpoint.OperatorSnapshot{Operator: n.id, Subtask: n.task.id.Subtask, Watermark: n.w}
	if st, ok := n.inst.(operator.Stateful); ok {
		taken := state.NewSnapshot()
		s.State = taken
		if err := st.Snapshot(taken); err != nil {
			return n.wrap(fmt.Errorf("snapshot of epoch %d: %w", epoch, err))
		}
		n.meter()
	}
	switch w := n.writer.(type) {
	case nil:
	case operator.TwoPhaseWriter:
		p, err := w.Prepare(epoch)
		if err != nil {
			return n.wrap(fmt.Errorf("prepare epoch %d: %w", epoch, err))
		}
		n.unsealed = append(n.unsealed, checkpoint.Prepared{Epoch: epoch, Data: p})
		s.Prepared = slices.Clone(n.unsealed)
	default:
		if err := w.Flush(); err != nil {
			return n.wrap(fmt.Errorf("flush at epoch %d: %w", epoch, err))
		}
	}
	if err := n.dead.flush(); err != nil {
		return n.wrap(err)
	}
	into.Operators = append(into.Operators, s)
	return nil
}

// restore gives the operator what the epoch holds for it.
func (n *node) restore(e *checkpoint.Epoch) error {
	saved := e.Operators[n.id]
	if len(saved) == 0 {
		return nil
	}
	n.w = operator.MaxWatermark
	merged := state.Merged{Own: n.ctx.KeyGroups, Max: n.ctx.MaxParallelism}
	for _, s := range saved {
		n.w = min(n.w, s.Watermark)
		if s.State != nil {
			merged.Tasks = append(merged.Tasks, s.State)
		}
	}
	n.wNow.Store(n.w)
	n.resumed = n.w != operator.MinWatermark
	if st, ok := n.inst.(operator.Stateful); ok && len(merged.Tasks) > 0 {
		if err := st.Restore(merged); err != nil {
			return &OperatorError{Operator: n.id, Task: n.task.id.String(), Err: fmt.Errorf("restore epoch %d: %w", e.Number, err)}
		}
		n.meter()
	}
	return nil
}

// meter notes the size of the operator's state.
func (n *node) meter() {
	s, ok := n.inst.(operator.Sized)
	if !ok {
		return
	}
	entries, bytes := s.StateSize()
	n.entries.Store(entries)
	n.bytes.Store(bytes)
	if entries >= n.peakEnts.Load() {
		n.peakEnts.Store(entries)
		n.peak.Store(bytes)
	}
}

package arkflowtest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
)

// The calls that can be made to fail.
const (
	opOpen    = "open"
	opPoll    = "poll"
	opWrite   = "write"
	opFlush   = "flush"
	opPrepare = "prepare"
	opCommit  = "commit"
	opClose   = "close"
	opSeal    = "seal"
)

// faults are the failures of a run. Safe for concurrent use; nil has none.
type faults struct {
	mu    sync.Mutex
	list  []*failure
	calls map[string]int
}

// failure is one call that fails.
type failure struct {
	op, id string
	n      int // opPoll: after so many rows of a split; else: the n-th call over all tasks, from 1
	err    error
	done   bool
}

// call counts a call and gives its failure.
func (f *faults) call(op, id string) error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	key := op + " " + id
	f.calls[key]++
	n := f.calls[key]
	var hit error
	for _, x := range f.list {
		if x.op == op && x.id == id && x.n == n && !x.done {
			x.done, hit = true, x.err
		}
	}
	f.mu.Unlock()
	return raise(hit)
}

// poll gives how many rows a split may still give before it fails, or its failure.
func (f *faults) poll(source string) func(given int) (int, error) {
	return func(given int) (int, error) {
		f.mu.Lock()
		defer f.mu.Unlock()
		left := int(^uint(0) >> 1)
		for _, x := range f.list {
			if x.op != opPoll || x.id != source || x.done || given > x.n {
				continue
			}
			if given == x.n {
				x.done = true
				return 0, raise(x.err)
			}
			left = min(left, x.n-given)
		}
		return left, nil
	}
}

// raise panics where the failure is a panic.
func raise(err error) error {
	if p := (panicValue{}); errors.As(err, &p) {
		panic(p.v)
	}
	return err
}

type panicValue struct{ v any }

func (p panicValue) Error() string { return fmt.Sprintf("panic: %v", p.v) }

// Panic gives an error that makes the call panic with v in place of failing.
func Panic(v any) error { return panicValue{v} }

// FailOpen makes opening a source or sink fail, at the n-th call from 1 over all splits or tasks.
func FailOpen(id string, n int, err error) Option { return fault(opOpen, id, n, err) }

// FailPoll makes reading a source fail once, when a split has given so many rows.
func FailPoll(source string, rows int, err error) Option { return fault(opPoll, source, rows, err) }

// FailWrite makes the n-th Write of a sink fail, from 1 over all its tasks.
func FailWrite(sink string, n int, err error) Option { return fault(opWrite, sink, n, err) }

// FailFlush makes the n-th Flush of a sink fail, from 1 over all its tasks. Only sinks that are AtLeastOnce are flushed.
func FailFlush(sink string, n int, err error) Option { return fault(opFlush, sink, n, err) }

// FailPrepare makes the n-th Prepare of a sink fail, from 1 over all its tasks.
func FailPrepare(sink string, n int, err error) Option { return fault(opPrepare, sink, n, err) }

// FailCommit makes the n-th Commit of a sink fail, from 1 over all its tasks.
func FailCommit(sink string, n int, err error) Option { return fault(opCommit, sink, n, err) }

// FailClose makes the n-th Close of a sink's writers fail, from 1 over all its tasks.
func FailClose(sink string, n int, err error) Option { return fault(opClose, sink, n, err) }

// FailSeal makes sealing the n-th epoch fail, from 1.
func FailSeal(n int, err error) Option { return fault(opSeal, "", n, err) }

func fault(op, id string, n int, err error) Option {
	return func(c *config) { c.faults = append(c.faults, failure{op: op, id: id, n: n, err: err}) }
}

// Gate holds up the writes of a sink while it is shut: back-pressure. The zero value is open.
type Gate struct {
	held atomic.Int64
	mu   sync.Mutex
	shut chan struct{} // closed by Open; nil while open
	told func()
}

// Shut makes writes wait from now on.
func (g *Gate) Shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut == nil {
		g.shut = make(chan struct{})
	}
}

// Open lets them go on.
func (g *Gate) Open() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.shut != nil {
		g.held.Store(0) // those that wait move again from here on
		close(g.shut)
		g.shut = nil
	}
}

// pass waits while the gate is shut.
func (g *Gate) pass(ctx context.Context) error {
	if g == nil {
		return nil
	}
	g.mu.Lock()
	shut, told := g.shut, g.told
	if shut != nil {
		g.held.Add(1)
	}
	g.mu.Unlock()
	if shut == nil {
		return nil
	}
	if told != nil {
		told()
	}
	select {
	case <-shut:
		return nil
	case <-ctx.Done():
		g.mu.Lock()
		defer g.mu.Unlock()
		if g.shut == shut {
			g.held.Add(-1)
		}
		return context.Cause(ctx)
	}
}

package engine

import (
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/arkflow-go/arkflow/internal/life"
	"github.com/arkflow-go/arkflow/operator"
)

const (
	memoryTick  = 100 * time.Millisecond
	memoryGrace = time.Minute // over the limit for so long, although sources have paused: the job fails
)

// MemoryLimitError says that a job stayed over its memory limit although its sources had paused.
type MemoryLimitError struct {
	Limit, Used int64    // bytes
	Largest     []string // operators with the most state, largest first, with their bytes
}

func (e *MemoryLimitError) Error() string {
	return fmt.Sprintf("over the memory limit of %d bytes for %s: %d bytes are in use (largest: %s); raise MemoryLimit, shorten windows or bound keys",
		e.Limit, memoryGrace, e.Used, strings.Join(e.Largest, ", "))
}

// memoryMonitor keeps a job under its limit (DESIGN E10): over it sources pause, until a tenth is free again.
type memoryMonitor struct {
	x     *Execution
	timer operator.Timer
	since time.Time // over the limit since then; zero where it is not
}

func (x *Execution) newMemoryMonitor() *memoryMonitor {
	if x.cfg.MemoryLimit <= 0 {
		return nil
	}
	return &memoryMonitor{x: x, timer: x.clock.NewTimer(memoryTick)}
}

func (m *memoryMonitor) tick() <-chan time.Time {
	if m == nil {
		return nil
	}
	return m.timer.C()
}

// check looks at what is in use; an error says that pausing did not help.
func (m *memoryMonitor) check() error {
	m.timer.Reset(memoryTick)
	limit, used := m.x.cfg.MemoryLimit, m.x.memory()
	switch {
	case used > limit && m.since.IsZero():
		m.since = m.x.clock.Now()
		m.x.over.Store(true)
		m.x.log.Warn("over the memory limit: sources pause", "job", m.x.cfg.Plan.Job, "limit", limit, "used", used)
		m.x.emit(life.Event{Kind: life.EventMemory, Message: fmt.Sprintf("over the memory limit of %d bytes: %d in use, sources pause", limit, used)})
	case used <= limit-limit/10 && !m.since.IsZero():
		m.since = time.Time{}
		m.x.over.Store(false)
		for _, t := range m.x.tasks {
			t.in.Poke()
		}
		m.x.emit(life.Event{Kind: life.EventMemory, Message: fmt.Sprintf("under the memory limit again: %d bytes in use", used)})
	case !m.since.IsZero() && m.x.clock.Now().Sub(m.since) >= memoryGrace:
		return &MemoryLimitError{Limit: limit, Used: used, Largest: m.x.largest()}
	}
	return nil
}

func (m *memoryMonitor) stop() {
	if m != nil {
		m.timer.Stop()
	}
}

// memory is what batches in flight and state take, in bytes.
func (x *Execution) memory() int64 {
	n := int64(x.pool.Lent())
	for _, t := range x.tasks {
		for _, o := range t.nodes {
			n += o.bytes.Load()
		}
	}
	return n
}

// largest names the operators with the most state, and the batches in flight.
func (x *Execution) largest() (out []string) {
	type size struct {
		name  string
		bytes int64
	}
	all := []size{{"batches in flight", int64(x.pool.Lent())}}
	status := x.Status()
	for _, o := range status.Operators {
		if o.StateBytes > 0 {
			all = append(all, size{fmt.Sprintf("operator %q", o.ID), o.StateBytes})
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].bytes > all[j].bytes })
	for _, s := range all[:min(3, len(all))] {
		out = append(out, fmt.Sprintf("%s %d bytes", s.name, s.bytes))
	}
	return out
}

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
	memoryRest  = time.Second // under it for so long, if only just: sources go on
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

// memoryMonitor keeps a job under its limit (DESIGN E10): over it sources pause, until a tenth is free again or what is in use has
// settled below the limit.
type memoryMonitor struct {
	x     *Execution
	timer operator.Timer
	since time.Time // sources pause since then; zero where they do not
	under time.Time // while they pause: not over the limit since then; zero where it is over
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
	limit, used, now := m.x.cfg.MemoryLimit, m.x.memory(), m.x.clock.Now()
	switch {
	case used > limit && m.since.IsZero():
		m.since = now
		m.x.over.Store(true)
		m.x.log.Warn("over the memory limit: sources pause", "job", m.x.cfg.Plan.Job, "limit", limit, "used", used)
		m.x.emit(life.Event{Kind: life.EventMemory, Message: fmt.Sprintf("over the memory limit of %d bytes: %d in use, sources pause", limit, used)})
	case used > limit && now.Sub(m.since) >= memoryGrace:
		return &MemoryLimitError{Limit: limit, Used: used, Largest: m.x.largest()}
	case used > limit:
		m.under = time.Time{}
	case m.since.IsZero():
	case m.under.IsZero() && used > limit-limit/10:
		m.under = now
	case used <= limit-limit/10 || now.Sub(m.under) >= memoryRest:
		m.since, m.under = time.Time{}, time.Time{}
		m.x.over.Store(false)
		for _, t := range m.x.tasks {
			t.in.Poke()
		}
		m.x.emit(life.Event{Kind: life.EventMemory, Message: fmt.Sprintf("under the memory limit again: %d bytes in use", used)})
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
		for _, e := range t.edges {
			n += e.held.Load()
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

package engine

import (
	"fmt"
	"io"
	"reflect"
	"time"

	"github.com/arkflow-go/arkflow/checkpoint"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/pace"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/shuffle"
)

// sourceStage reads the splits of one task of a source, gives their rows event time and keeps their watermarks.
type sourceStage struct {
	task   *task
	node   *node // the source
	policy operator.TimePolicy
	column int // EventTimePolicy: index of the event-time column
	splits []*split
	next   int       // split to poll first
	paused bool      // a test waits for a barrier: do not poll
	pace   pace.Pace // MaxRate

	maxDrift   time.Duration // 0: no limit
	driftIndex int           // of the task in Execution.drift
	cases      []reflect.SelectCase
	late       []column.LatePair // scratch of observe
	tick       time.Time         // IngestionTimePolicy: when the clock moves the watermark on
}

// split is one split in the task that reads it.
type split struct {
	id        string
	reader    operator.Reader // nil: it had ended before the epoch that the job was restored from
	last      []byte          // reader == nil: its last position
	done      bool
	max       int64     // greatest event time seen
	has       bool      // there was one
	w         int64     // watermark: what J of the next row is
	dry       bool      // the last poll gave nothing
	failures  int       // polls that failed in a row
	notBefore time.Time // the next one is not tried before; zero where the last one did not fail
	ahead     bool      // not polled: more than MaxDrift ahead of the slowest split
	dryFrom   time.Duration
}

// IngestionTick is how often the watermark of an ingestion-time source moves on while no row comes.
const IngestionTick = 100 * time.Millisecond

// readSplits polls the splits in turn until one has rows, and drives them through the chain; it waits where none has. A task without
// splits has finished from the start: no split will come later. It must not be idle first: a task behind it that has read all of another
// input would be idle too, with rows that it has not fired, and those behind would go on without them.
func (t *task) readSplits() error {
	s := t.source
	if t.phase != phaseOpen || s.paused {
		return t.wait(s)
	}
	if s.heldUp() { // by MaxRate, or over MemoryLimit: the monitor pokes when there is room again
		if err := s.quietTime(true); err != nil {
			return err
		}
		return t.wait(s)
	}
	first := s.next
	if order := t.exec.hooks.PollOrder; order != nil && len(s.splits) > 0 {
		first = order(len(s.splits))
	}
	open := false
	for k := range s.splits {
		i := (first + k) % len(s.splits)
		sp := s.splits[i]
		if sp.done {
			continue
		}
		open = true
		if sp.failures > 0 && t.exec.clock.Now().Before(sp.notBefore) {
			continue
		}
		if sp.ahead = s.tooFarAhead(sp); sp.ahead {
			sp.dry = false // being held up is not idleness
			continue
		}
		got, err := s.poll(i, sp)
		if err != nil {
			return err
		}
		if d := t.exec.drift; d != nil {
			d.publish(s)
		}
		if got {
			s.next = (i + 1) % len(s.splits)
			return s.afterRows()
		}
	}
	if !open {
		return t.advance()
	}
	if err := s.quietTime(false); err != nil {
		return err
	}
	for _, sp := range s.splits {
		if !sp.done && !sp.dry && !sp.ahead && sp.failures == 0 {
			return nil // a split has just ended or woken
		}
	}
	return t.wait(s)
}

// resume tells those behind of the watermark that the task had in the epoch that the job was restored from: a link begins
// without one, and a split that is silent now would hold them back for ever.
func (t *task) resume() error {
	for _, n := range t.nodes {
		if n.side.keeper == nil {
			continue
		}
		if err := n.keepTime(); err != nil {
			return err
		}
	}
	root := t.root()
	if t.source == nil || !root.resumed || root.w == operator.MaxWatermark {
		return nil
	}
	w, _ := t.merge.Result() // that of the operator is the least over its tasks
	if w == operator.MaxWatermark {
		w = root.w
	}
	return root.watermark(max(w, root.w))
}

// poll reads from split i and drives what it gives; false where it gave nothing.
func (s *sourceStage) poll(i int, sp *split) (bool, error) {
	prev := s.node.enter()
	dropped := s.node.counters.DroppedRows()
	b, err := sp.reader.Poll()
	s.node.leave(prev)
	s.node.rowsIn.Add(s.node.counters.DroppedRows() - dropped) // what could not be decoded has been read as well
	if err != nil {
		if b != nil {
			b.Release()
		}
		end := err == io.EOF //nolint:errorlint // an error that wraps it is no end: rows would be missing without a word
		if !end && s.again(sp, err) {
			return false, nil
		}
		if !end {
			return false, s.node.wrap(fmt.Errorf("split %q: %w", sp.id, err))
		}
		sp.done, sp.dry = true, false
		s.task.merge.Status[i] = shuffle.Finished
		return false, s.task.advance()
	}
	sp.failures = 0
	if b == nil {
		if err := s.readWatermark(i, sp); err != nil {
			return false, err
		}
		now := s.pollClock()
		if !sp.dry {
			sp.dry, sp.dryFrom = true, now
		} else if s.policy.IdleTimeout > 0 && now-sp.dryFrom >= s.policy.IdleTimeout && s.task.merge.Status[i] == shuffle.Active {
			s.task.merge.Status[i] = shuffle.Idle
			return false, s.task.advance()
		}
		return false, nil
	}
	sp.dry = false
	if s.task.merge.Status[i] == shuffle.Idle {
		s.task.merge.Status[i] = shuffle.Active
		if err := s.task.advance(); err != nil {
			b.Release()
			return false, err
		}
	}
	s.node.rowsIn.Add(int64(b.Len()))
	if s.pace.PerSecond > 0 {
		s.pace.Passed(b.Len(), s.task.exec.clock.Now())
	}
	timed, err := s.stamp(sp, b)
	b.Release()
	if err != nil {
		return false, s.node.wrap(err)
	}
	err = s.node.Emit(operator.Main, timed)
	timed.Release()
	if err != nil {
		return false, err
	}
	if err := s.readWatermark(i, sp); err != nil {
		return false, err
	}
	if sp.w > s.task.merge.At(i) {
		s.task.merge.Watermark(i, sp.w)
		return true, s.task.advance()
	}
	return true, nil
}

// again says whether a poll that failed is to be tried once more, after a time in which other splits are read.
func (s *sourceStage) again(sp *split, err error) bool {
	n, _ := s.node.ctx.OnError.Retries()
	if sp.failures >= n {
		return false
	}
	now := s.task.exec.clock.Now()
	sp.notBefore = now.Add(s.node.ctx.OnError.RetryAfter(sp.failures))
	sp.failures++
	sp.dry = false // what could not be read is not idle
	s.node.ctx.Warn("read failed, tried again", "split", sp.id, "attempt", sp.failures+1, "error", err)
	return true
}

// readWatermark asks a reader that knows its own watermark.
func (s *sourceStage) readWatermark(i int, sp *split) error {
	r, ok := sp.reader.(operator.WatermarkReader)
	if !ok {
		return nil
	}
	if w, ok := r.Watermark(); ok && w > sp.w {
		sp.w = w
		s.task.merge.Watermark(i, w)
		return s.task.advance()
	}
	return nil
}

// pollClock is the time that the task did not spend waiting for space: being held up by others is not idleness (DESIGN T6).
func (s *sourceStage) pollClock() time.Duration {
	return s.task.exec.clock.Now().Sub(s.task.exec.started) - s.task.blocked
}

// quietTime moves the watermark of an ingestion-time source on by the clock, over the splits that had no row, or all of them where they
// are held: rows that are read later are stamped later.
func (s *sourceStage) quietTime(held bool) error {
	if s.policy.Kind != operator.IngestionTimePolicy {
		return nil
	}
	now := s.task.exec.clock.Now()
	if now.Before(s.tick) {
		return nil
	}
	s.tick = now.Add(IngestionTick)
	for i, sp := range s.splits {
		if !sp.done && (sp.dry || held) {
			sp.max, sp.has = max(sp.max, now.UnixMilli()), true
			sp.w = max(sp.w, sp.max)
			s.task.merge.Watermark(i, sp.w)
		}
	}
	return s.task.advance()
}

// heldUp reports whether the task waits because it may not read, not because there is nothing to read.
func (s *sourceStage) heldUp() bool {
	return s.paused || s.task.exec.over.Load() || !s.pace.Open(s.task.exec.clock.Now())
}

// deadline is when the source stage wants to look again although nothing happened; zero for never.
func (s *sourceStage) deadline() (at time.Time) {
	if s.task.phase != phaseOpen || s.paused {
		return at
	}
	if s.policy.Kind == operator.IngestionTimePolicy {
		at = s.tick
	}
	if s.task.exec.over.Load() {
		return at
	}
	if !s.pace.Open(s.task.exec.clock.Now()) {
		if at.IsZero() || s.pace.Ready.Before(at) {
			at = s.pace.Ready
		}
		return at
	}
	for _, sp := range s.splits {
		if sp.failures > 0 && !sp.done && (at.IsZero() || sp.notBefore.Before(at)) {
			at = sp.notBefore
		}
	}
	if s.policy.IdleTimeout <= 0 {
		return at
	}
	now, clock := s.task.exec.clock.Now(), s.pollClock()
	for i, sp := range s.splits {
		if sp.done || !sp.dry || s.task.merge.Status[i] != shuffle.Active {
			continue
		}
		if d := now.Add(s.policy.IdleTimeout - (clock - sp.dryFrom)); at.IsZero() || d.Before(at) {
			at = d
		}
	}
	return at
}

// await waits for the inbox, a time or a split that is ready. It reports whether the inbox woke it.
func (s *sourceStage) await(wake <-chan struct{}, due <-chan time.Time) bool {
	var ready []<-chan struct{}
	if s.task.phase == phaseOpen && !s.heldUp() {
		ready = s.readyChannels()
	}
	if len(ready) <= 1 {
		var one <-chan struct{}
		if len(ready) == 1 {
			one = ready[0]
		}
		select {
		case <-wake:
			return true
		case <-one:
		case <-due:
		case <-s.task.ctx.Done():
		}
		return false
	}
	s.cases = s.cases[:0]
	add := func(c any) {
		s.cases = append(s.cases, reflect.SelectCase{Dir: reflect.SelectRecv, Chan: reflect.ValueOf(c)})
	}
	add(wake)
	add(s.task.ctx.Done())
	add(due)
	for _, c := range ready {
		add(c)
	}
	chosen, _, _ := reflect.Select(s.cases)
	return chosen == 0
}

// readyChannels gives the channels of the splits that had nothing, each once.
func (s *sourceStage) readyChannels() (out []<-chan struct{}) {
	seen := map[<-chan struct{}]bool{}
	for _, sp := range s.splits {
		if sp.done || sp.ahead || sp.failures > 0 {
			continue
		}
		if c := sp.reader.Ready(); c != nil && !seen[c] {
			seen[c] = true
			out = append(out, c)
		}
	}
	return out
}

// drain ends reading as if all input had ended.
func (s *sourceStage) drain() error {
	for i := range s.splits {
		s.task.merge.Status[i] = shuffle.Finished
	}
	return s.task.advance()
}

// snapshot adds the positions of the splits.
func (s *sourceStage) snapshot(into *checkpoint.TaskSnapshot) error {
	for _, sp := range s.splits {
		pos := sp.last
		if sp.reader != nil {
			prev := s.node.enter()
			p, err := sp.reader.Position()
			s.node.leave(prev)
			if err != nil {
				return s.node.wrap(fmt.Errorf("split %q: position: %w", sp.id, err))
			}
			pos = p
		}
		into.Splits = append(into.Splits, checkpoint.SplitSnapshot{Source: s.node.id, Split: sp.id, Position: pos,
			Done: sp.done, MaxTime: sp.max, HasTime: sp.has})
	}
	return nil
}

// afterRows is what tests want after each poll that gave rows: a barrier before anything else.
func (s *sourceStage) afterRows() error {
	if !s.task.exec.hooks.BarrierEveryPoll {
		return nil
	}
	t := s.task
	before := t.lastBar
	t.exec.post(evTrigger{result: make(chan CheckpointResult, 1)})
	for t.lastBar == before && t.phase == phaseOpen && t.ctx.Err() == nil {
		if err := t.obey(); err != nil {
			return err
		}
		if t.lastBar != before || t.phase != phaseOpen {
			break
		}
		if err := t.answerWake(); err != nil {
			return err
		}
		s.paused = true
		err := t.wait(s)
		s.paused = false
		if err != nil {
			return err
		}
	}
	return nil
}

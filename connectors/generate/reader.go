package generate

import (
	"io"
	"math"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
)

// reader makes the rows of one split.
type reader struct {
	ctx   *operator.Context
	maker maker
	pace  pace
	wake  *waker
	first int64        // number of the split's first row
	step  int64        // from one row of the split to the next
	count int64        // rows of the split; math.MaxInt64 where they have no end
	from  int64        // rows that were made before the split was opened
	made  atomic.Int64 // rows made since the beginning
}

// LimitRows implements operator.RowLimiter.
func (r *reader) LimitRows(n int) { r.pace.most = min(r.pace.most, n) }

// Poll implements operator.Reader.
func (r *reader) Poll() (*column.Batch, error) {
	for made := r.made.Load(); made < r.count; made = r.made.Load() {
		n, wait := r.pace.due(r.ctx.Clock.Now())
		if n == 0 {
			r.wake.after(wait)
			return nil, nil
		}
		n = int(min(int64(n), r.count-made))
		b, err := r.maker.make(r.first+made*r.step, r.step, n)
		if err != nil {
			return nil, err
		}
		r.made.Add(int64(n))
		r.pace.took(n)
		if b != nil {
			return b, nil
		}
	}
	return nil, io.EOF
}

// Ready implements operator.Reader.
func (r *reader) Ready() <-chan struct{} { return r.wake.ready }

// Position implements operator.Reader.
func (r *reader) Position() ([]byte, error) { return strconv.AppendInt(nil, r.made.Load(), 10), nil }

// Lag implements operator.LagReader: rows that the rate has made due, else those up to the end. It is not known at an interval, which drops what it
// was too late for, and at full speed without an end.
func (r *reader) Lag() (int64, bool) {
	made := r.made.Load()
	left := max(0, r.count-made)
	switch {
	case r.pace.interval > 0:
		return 0, false
	case r.pace.rate > 0:
		due := r.ctx.Clock.Now().Sub(r.pace.start).Seconds()*r.pace.rate + 1 - float64(made-r.from)
		return int64(max(0, min(due, float64(min(left, 1<<53))))), true
	}
	return left, r.count < math.MaxInt64
}

// Close implements operator.Reader.
func (r *reader) Close() error {
	r.wake.close()
	r.maker.close()
	return nil
}

// pace says when rows are due. It is driven by the times that it is given.
type pace struct {
	batch    int
	most     int // rows made at a time
	interval time.Duration
	rate     float64 // rows a second of this split

	start time.Time
	next  time.Time // interval: when the next batch is due
	owed  int       // interval: rows of the last interval that have not been taken
	taken int64     // rows taken since start
}

func newPace(s Source, now time.Time) pace {
	return pace{batch: s.BatchSize, most: min(s.BatchSize, MaxBatchRows), interval: s.Interval, rate: s.Rate / float64(s.NumSplits), start: now, next: now}
}

// shortestWait keeps a high rate from waking up for every row.
const shortestWait = time.Millisecond

// due gives the number of rows to make now, or how long to wait until there is one.
func (p *pace) due(now time.Time) (n int, wait time.Duration) {
	most := p.most
	switch {
	case p.interval > 0:
		if p.owed == 0 {
			if now.Before(p.next) {
				return 0, p.next.Sub(now)
			}
			p.owed = p.batch
			if p.next = p.next.Add(p.interval); p.next.Before(now) {
				p.next = now.Add(p.interval)
			}
		}
		return min(p.owed, most), 0
	case p.rate > 0:
		elapsed := now.Sub(p.start).Seconds()
		if n := min(elapsed*p.rate+1-float64(p.taken), float64(most)); n >= 1 {
			return int(n), 0
		}
		seconds := float64(p.taken)/p.rate - elapsed
		if seconds > (24 * time.Hour).Seconds() {
			return 0, 24 * time.Hour
		}
		wait = time.Duration(seconds*float64(time.Second)) + 1
		if p.rate > 1/shortestWait.Seconds() {
			wait = max(wait, shortestWait)
		}
		return 0, wait
	}
	return most, 0
}

// took says that rows were made.
func (p *pace) took(n int) {
	p.taken += int64(n)
	p.owed = max(0, p.owed-n)
}

// waker turns a timer of the clock into the channel of Ready. At most one goroutine waits; close ends it.
type waker struct {
	clock   operator.Clock
	ready   chan struct{}
	waiting atomic.Bool
	done    chan struct{}
	end     sync.Once
	running sync.WaitGroup
}

func newWaker(ctx *operator.Context) *waker {
	return &waker{clock: ctx.Clock, ready: make(chan struct{}, 1), done: make(chan struct{})}
}

// after gives ready a value after d, unless that is under way.
func (w *waker) after(d time.Duration) {
	if w.waiting.Swap(true) {
		return
	}
	timer := w.clock.NewTimer(d)
	w.running.Go(func() {
		select {
		case <-timer.C():
		case <-w.done:
			timer.Stop()
			return
		}
		w.waiting.Store(false)
		select {
		case w.ready <- struct{}{}:
		default:
		}
	})
}

func (w *waker) close() {
	w.end.Do(func() { close(w.done) })
	w.running.Wait()
}

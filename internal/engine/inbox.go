package engine

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/arkflow-go/arkflow/shuffle"
)

// inbox is what a task waits on: its input links and the commands of the master. The task is its only reader.
//
// mu guards everything below it, in the links too. It is held for a few instructions only, never while somebody waits.
type inbox struct {
	activity *activity
	wake     chan struct{} // has a value when the task may have something to do
	idle     atomic.Bool   // the task is waiting and has nothing to read: a sender need not collect rows
	commands atomic.Bool   // there may be commands
	woken    atomic.Bool   // an operator was woken from beside the task

	mu      sync.Mutex
	links   []*link
	pending []command
	next    int // link to look at first
}

// link is one way from an output of a task into an inbox. It has one sender.
type link struct {
	in       *inbox
	index    int
	from     string        // the operator and subtask that sends, for Status
	capacity int           // batches
	space    chan struct{} // has a value when the sender may try again

	queue    []shuffle.Element // ring
	head, n  int
	data     int  // batches in the queue
	blocked  bool // by alignment
	starving bool // the sender waits for space
}

func newInbox(a *activity) *inbox { return &inbox{activity: a, wake: make(chan struct{}, 1)} }

// connect adds a link; all are added before the task starts.
func (in *inbox) connect(capacity int) *link {
	l := &link{in: in, index: len(in.links), capacity: capacity, space: make(chan struct{}, 1), queue: make([]shuffle.Element, capacity+8)}
	in.links = append(in.links, l)
	return l
}

// send hands an element over. A batch waits while the link is full; control elements never do. A watermark replaces one
// that was not read yet. On an error the element is still the caller's.
func (l *link) send(ctx context.Context, e shuffle.Element) error {
	in := l.in
	in.mu.Lock()
	for e.Kind == shuffle.Data && l.data >= l.capacity {
		l.starving = true
		in.mu.Unlock()
		in.activity.pause()
		select {
		case <-l.space: // who made space has counted us as moving
		case <-ctx.Done():
			in.activity.resume()
			return context.Cause(ctx)
		}
		in.mu.Lock()
	}
	defer in.mu.Unlock()
	if e.Kind == shuffle.Watermark && l.n > 0 {
		if last := &l.queue[(l.head+l.n-1)%len(l.queue)]; last.Kind == shuffle.Watermark {
			last.Time = e.Time
			return nil
		}
	}
	if l.n == len(l.queue) {
		l.grow()
	}
	l.queue[(l.head+l.n)%len(l.queue)] = e
	l.n++
	if e.Kind == shuffle.Data {
		l.data++
	}
	if !l.blocked {
		in.wakeLocked()
	}
	return nil
}

func (l *link) grow() {
	next := make([]shuffle.Element, 2*len(l.queue))
	for i := range l.n {
		next[i] = l.queue[(l.head+i)%len(l.queue)]
	}
	l.queue, l.head = next, 0
}

// full reports whether a batch would have to wait.
func (l *link) full() bool {
	l.in.mu.Lock()
	defer l.in.mu.Unlock()
	return l.data >= l.capacity
}

// wakeLocked makes the task look again, if it waits.
func (in *inbox) wakeLocked() {
	if in.idle.CompareAndSwap(true, false) {
		in.activity.resume()
		in.wake <- struct{}{} // never blocks: only a waiting task has an empty channel and idle set
	}
}

// command gives the task a command; it is taken before any further element.
func (in *inbox) command(c command) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.pending = append(in.pending, c)
	in.commands.Store(true)
	in.wakeLocked()
}

// poke makes a task that waits look again.
func (in *inbox) poke() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.wakeLocked()
}

// call makes the task look at what was done beside it, soon.
func (in *inbox) call() {
	if in.woken.Load() {
		return // it will look, and has not begun to
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.woken.Store(true)
	in.wakeLocked()
}

// takeCommands gives the commands since the last call.
func (in *inbox) takeCommands() []command {
	if !in.commands.Load() {
		return nil
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	c := in.pending
	in.pending = nil
	in.commands.Store(false)
	return c
}

// pop gives the next element of any link that is not blocked, each in turn. The element is owned by the caller.
func (in *inbox) pop() (input int, e shuffle.Element, ok bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for k := range in.links {
		i := in.next + k
		if i >= len(in.links) {
			i -= len(in.links)
		}
		l := in.links[i]
		if l.blocked || l.n == 0 {
			continue
		}
		in.next = i + 1
		if in.next == len(in.links) {
			in.next = 0
		}
		e = l.queue[l.head]
		l.queue[l.head] = shuffle.Element{}
		l.head = (l.head + 1) % len(l.queue)
		l.n--
		if e.Kind == shuffle.Data {
			l.data--
			if l.starving {
				l.starving = false
				in.activity.resume()
				l.space <- struct{}{} // the sender takes it before it can starve again
			}
		}
		return i, e, true
	}
	return 0, e, false
}

// rest says that the task is going to wait on in.wake; false where there is something to do after all.
func (in *inbox) rest() bool {
	in.mu.Lock()
	defer in.mu.Unlock()
	if len(in.pending) > 0 || in.woken.Load() {
		return false
	}
	for _, l := range in.links {
		if !l.blocked && l.n > 0 {
			return false
		}
	}
	in.idle.Store(true)
	return true
}

// rise ends a rest that was not ended through the wake channel. A wake-up that came at the same moment is taken along, so
// that the task is counted once.
func (in *inbox) rise() {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.idle.CompareAndSwap(true, false) {
		in.activity.resume()
		return
	}
	<-in.wake
}

// block stops reading a link, unblock reads all again.
func (in *inbox) block(i int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.links[i].blocked = true
}

func (in *inbox) unblock() {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, l := range in.links {
		l.blocked = false
	}
}

// discard gives the batches that nobody will read back to their pool. The task and all its senders have ended.
func (in *inbox) discard() {
	for {
		in.unblock()
		_, e, ok := in.pop()
		if !ok {
			return
		}
		if e.Batch != nil {
			e.Batch.Release()
		}
	}
}

// command is what the master tells a task.
type command struct {
	kind  commandKind
	epoch int64
	ends  bool
}

type commandKind uint8

const (
	cmdBarrier commandKind = iota + 1 // sources: inject the barrier of an epoch
	cmdAbort                          // give up an epoch
	cmdCommit                         // commit what two-phase writers prepared for an epoch
	cmdDrain                          // sources: read no more, as if all input had ended
	cmdExit                           // the task ends
)

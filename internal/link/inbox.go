package link

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/arkflow-go/arkflow/shuffle"
)

// Inbox is what a task waits on: its input links and the commands of the master. The task is its only reader.
//
// mu guards everything below it, in the links too. It is held for a few instructions only, never while somebody waits.
type Inbox struct {
	activity *Activity
	wake     chan struct{} // has a value when the task may have something to do
	idle     atomic.Bool   // the task is waiting and has nothing to read: a sender need not collect rows
	commands atomic.Bool   // there may be commands
	woken    atomic.Bool   // an operator was woken from beside the task

	mu      sync.Mutex
	links   []*Link
	pending []Command
	next    int // link to look at first
}

// MaxBytes is what the columns of the batches in a link take, from which on it is full whatever their number.
const MaxBytes = 32 << 20

// Link is one way from an output of a task into an inbox. It has one sender.
type Link struct {
	in       *Inbox
	index    int
	From     string        // the operator and subtask that sends, for Status
	capacity int           // batches, of MaxBytes together
	space    chan struct{} // has a value when the sender may try again

	queue    []shuffle.Element // ring
	head, n  int
	data     int  // batches in the queue
	bytes    int  // of their columns
	blocked  bool // by alignment
	starving bool // the sender waits for space
}

// New gives an inbox without links.
func New(a *Activity) *Inbox { return &Inbox{activity: a, wake: make(chan struct{}, 1)} }

// Connect adds a link; all are added before the task starts.
func (in *Inbox) Connect(capacity int) *Link {
	l := &Link{in: in, index: len(in.links), capacity: capacity, space: make(chan struct{}, 1), queue: make([]shuffle.Element, 2)}
	in.links = append(in.links, l)
	return l
}

// Send hands an element over. A batch waits while the link is full; control elements never do. A watermark replaces one
// that was not read yet. On an error the element is still the caller's.
func (l *Link) Send(ctx context.Context, e shuffle.Element) error {
	in, size := l.in, 0
	if e.Kind == shuffle.Data {
		size = e.Batch.SizeBytes()
	}
	in.mu.Lock()
	for e.Kind == shuffle.Data && l.full() {
		l.starving = true
		in.mu.Unlock()
		in.activity.Pause()
		select {
		case <-l.space: // who made space has counted us as moving
		case <-ctx.Done():
			in.activity.Resume()
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
		l.bytes += size
	}
	if !l.blocked {
		in.wakeLocked()
	}
	return nil
}

func (l *Link) grow() {
	next := make([]shuffle.Element, 2*len(l.queue))
	for i := range l.n {
		next[i] = l.queue[(l.head+i)%len(l.queue)]
	}
	l.queue, l.head = next, 0
}

// Full reports whether a batch would have to wait.
func (l *Link) Full() bool {
	l.in.mu.Lock()
	defer l.in.mu.Unlock()
	return l.full()
}

// full is Full with mu held. A batch of any size fits into an empty link.
func (l *Link) full() bool { return l.data >= l.capacity || l.bytes >= MaxBytes }

// wakeLocked makes the task look again, if it waits.
func (in *Inbox) wakeLocked() {
	if in.idle.CompareAndSwap(true, false) {
		in.activity.Resume()
		in.wake <- struct{}{} // never blocks: only a waiting task has an empty channel and idle set
	}
}

// Command gives the task a command; it is taken before any further element.
func (in *Inbox) Command(c Command) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.pending = append(in.pending, c)
	in.commands.Store(true)
	in.wakeLocked()
}

// Poke makes a task that waits look again.
func (in *Inbox) Poke() {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.wakeLocked()
}

// Call makes the task look at what was done beside it, soon.
func (in *Inbox) Call() {
	if in.woken.Load() {
		return // it will look, and has not begun to
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.woken.Store(true)
	in.wakeLocked()
}

// TakeCommands gives the commands since the last call.
func (in *Inbox) TakeCommands() []Command {
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

// Pop gives the next element of any link that is not blocked, each in turn. The element is owned by the caller.
func (in *Inbox) Pop() (input int, e shuffle.Element, ok bool) {
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
			l.bytes -= e.Batch.SizeBytes()
			if l.starving {
				l.starving = false
				in.activity.Resume()
				l.space <- struct{}{} // the sender takes it before it can starve again
			}
		}
		return i, e, true
	}
	return 0, e, false
}

// Rest says that the task is going to wait on in.wake; false where there is something to do after all.
func (in *Inbox) Rest() bool {
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

// Rise ends a rest that was not ended through the wake channel. A wake-up that came at the same moment is taken along, so
// that the task is counted once.
func (in *Inbox) Rise() {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.idle.CompareAndSwap(true, false) {
		in.activity.Resume()
		return
	}
	<-in.wake
}

// Block stops reading a link, unblock reads all again.
func (in *Inbox) Block(i int) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.links[i].blocked = true
}

func (in *Inbox) Unblock() {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, l := range in.links {
		l.blocked = false
	}
}

// Discard gives the batches that nobody will read back to their pool. The task and all its senders have ended.
func (in *Inbox) Discard() {
	for {
		in.Unblock()
		_, e, ok := in.Pop()
		if !ok {
			return
		}
		if e.Batch != nil {
			e.Batch.Release()
		}
	}
}

// Command is what the master tells a task.
type Command struct {
	Kind  CommandKind
	Epoch int64
	Ends  bool
}

type CommandKind uint8

const (
	CmdBarrier CommandKind = iota + 1 // sources: inject the barrier of an epoch
	CmdAbort                          // give up an epoch
	CmdCommit                         // commit what two-phase writers prepared for an epoch
	CmdDrain                          // sources: read no more, as if all input had ended
	CmdExit                           // the task ends
)

// Idle reports whether the task waits and has nothing to read.
func (in *Inbox) Idle() bool { return in.idle.Load() }

// Wake has a value when a task that rests must look again; after taking it the task need not call Rise.
func (in *Inbox) Wake() <-chan struct{} { return in.wake }

// Woken reports whether an operator was woken from beside the task since the last call.
func (in *Inbox) Woken() bool { return in.woken.Swap(false) }

// Links is the number of links.
func (in *Inbox) Links() int { return len(in.links) }

// From names who sends on a link.
func (in *Inbox) From(i int) string { return in.links[i].From }

// Waiting reports whether the receiver waits and has nothing to read.
func (l *Link) Waiting() bool { return l.in.Idle() }

// Fill is how full the fullest link is, 0 to 1.
func (in *Inbox) Fill() (f float64) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, l := range in.links {
		f = max(f, float64(l.data)/float64(l.capacity), min(1, float64(l.bytes)/MaxBytes))
	}
	return f
}

// Describe says what the links hold: for the message of a test that is stuck.
func (in *Inbox) Describe() string {
	in.mu.Lock()
	defer in.mu.Unlock()
	var b strings.Builder
	b.WriteString("busy or blocked on a full link")
	if in.Idle() {
		b.Reset()
		b.WriteString("waiting for input")
	}
	for i, l := range in.links {
		blocked := ""
		if l.blocked {
			blocked = ", blocked by alignment"
		}
		fmt.Fprintf(&b, "; link %d: %d elements (%d batches)%s", i, l.n, l.data, blocked)
	}
	return b.String()
}

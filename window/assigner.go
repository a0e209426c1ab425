package window

import (
	"fmt"
	"time"

	"github.com/arkflow-go/arkflow/internal/fault"
)

// DefaultMaxBufferedKeys is the number of live (window, key) entries that an operator holds where nothing else is said.
const DefaultMaxBufferedKeys = 65_536

// LatePolicy says what happens to rows that come after their window has fired.
type LatePolicy uint8

// The late policies.
const (
	Drop  LatePolicy = iota // counted as late; the default
	Route                   // emitted as they are on the late port, and counted as late
)

// FullPolicy says what happens when a new (window, key) entry would exceed MaxBufferedKeys.
type FullPolicy uint8

// The policies at MaxBufferedKeys.
const (
	// Evict drops the oldest window whole. It emits nothing, its rows and all later rows of it are counted as evicted.
	Evict FullPolicy = iota
	// Fail ends the job with an error.
	Fail
)

// Assigner says which window a row belongs to, how much is kept and what happens to late rows. It is a value: its methods
// give changed copies. Mistakes are reported when the job is compiled.
type Assigner struct {
	size      time.Duration
	sliding   bool
	slide     time.Duration
	offset    time.Duration
	lateness  time.Duration
	late      LatePolicy
	full      FullPolicy
	maxKeys   int // 0: default
	unbounded bool
	maxSet    bool
}

// Tumbling gives windows of a fixed size that follow each other: [offset + k·size, offset + (k+1)·size) for every
// whole k. The size is a positive whole number of milliseconds.
func Tumbling(size time.Duration) Assigner { return Assigner{size: size} }

// Sliding gives windows of a size that begin at every multiple of slide: [offset + k·slide, offset + k·slide + size) for every
// whole k. A row belongs to each window that contains it. Both are positive whole numbers of milliseconds, of any proportion: where
// the slide is greater than the size there are gaps between the windows, and rows in gaps are dropped and counted (DropGap).
func Sliding(size, slide time.Duration) Assigner {
	return Assigner{size: size, slide: slide, sliding: true}
}

// Lateness keeps windows for so long after their end, a whole number of milliseconds: a row that comes in that time corrects the
// result. The full result of its key is emitted again, once for each batch that changes it, and the bool column UpdateColumn says
// whether a row replaces an earlier one of its key and window. Rows that come later still follow the late policy. Defaults to
// 0: no corrections, and no such column.
func (a Assigner) Lateness(d time.Duration) Assigner {
	a.lateness = d
	return a
}

// Offset moves the windows' edges by a whole number of milliseconds, which may be negative or exceed the size. A day
// window with offset −2h begins at 22:00 UTC. Defaults to 0: edges are counted from the Unix epoch.
func (a Assigner) Offset(d time.Duration) Assigner {
	a.offset = d
	return a
}

// MaxBufferedKeys bounds the live (window, key) entries of the operator, shared over its tasks in proportion to their key
// groups. Defaults to DefaultMaxBufferedKeys. See OnFull for what happens at the bound, and Unbounded.
func (a Assigner) MaxBufferedKeys(n int) Assigner {
	a.maxKeys, a.maxSet, a.unbounded = n, true, false
	return a
}

// OnFull says what happens at MaxBufferedKeys. Defaults to Evict.
func (a Assigner) OnFull(p FullPolicy) Assigner {
	a.full = p
	return a
}

// Unbounded lifts the bound on live entries: memory grows with the number of keys.
func (a Assigner) Unbounded() Assigner {
	a.unbounded, a.maxSet, a.maxKeys = true, false, 0
	return a
}

// OnLate says what happens to late rows. Defaults to Drop. Reading the late rows of a window in the builder chooses Route.
func (a Assigner) OnLate(p LatePolicy) Assigner {
	a.late = p
	return a
}

// check adds the mistakes of an assigner to a list.
func (a Assigner) check(faults *fault.List) {
	switch {
	case a.size <= 0:
		faults.Add(&fault.Fault{Path: "window.size", Problem: fmt.Sprintf("size %q is not positive", a.size), Hint: "give a size of at least 1ms"})
	case a.size%time.Millisecond != 0:
		faults.Add(&fault.Fault{Path: "window.size", Problem: fmt.Sprintf("size %q is not a whole number of milliseconds", a.size),
			Hint: "event time is held in milliseconds: round the size"})
	}
	switch {
	case a.sliding && a.slide <= 0:
		faults.Add(&fault.Fault{Path: "window.slide", Problem: fmt.Sprintf("slide %q is not positive", a.slide), Hint: "give a slide of at least 1ms"})
	case a.slide%time.Millisecond != 0:
		faults.Add(&fault.Fault{Path: "window.slide", Problem: fmt.Sprintf("slide %q is not a whole number of milliseconds", a.slide),
			Hint: "event time is held in milliseconds: round the slide"})
	}
	switch {
	case a.lateness < 0:
		faults.Add(&fault.Fault{Path: "window.lateness", Problem: fmt.Sprintf("lateness %q is negative", a.lateness), Hint: "give 0 or more"})
	case a.lateness%time.Millisecond != 0:
		faults.Add(&fault.Fault{Path: "window.lateness", Problem: fmt.Sprintf("lateness %q is not a whole number of milliseconds", a.lateness),
			Hint: "event time is held in milliseconds: round the lateness"})
	}
	if a.offset%time.Millisecond != 0 {
		faults.Add(&fault.Fault{Path: "window.offset", Problem: fmt.Sprintf("offset %q is not a whole number of milliseconds", a.offset),
			Hint: "event time is held in milliseconds: round the offset"})
	}
	if a.maxSet && a.maxKeys <= 0 {
		faults.Add(&fault.Fault{Path: "window.max_buffered_keys", Problem: fmt.Sprintf("bound %d is not positive", a.maxKeys),
			Hint: "give at least 1, or Unbounded()"})
	}
	if a.late > Route {
		faults.Add(&fault.Fault{Path: "window.late_policy", Problem: fmt.Sprintf("no late policy %d", a.late), Hint: "use window.Drop or window.Route"})
	}
	if a.full > Fail {
		faults.Add(&fault.Fault{Path: "window.on_full", Problem: fmt.Sprintf("no policy %d at the bound", a.full), Hint: "use window.Evict or window.Fail"})
	}
}

// step is how far apart windows begin.
func (a Assigner) step() time.Duration {
	if a.sliding {
		return a.slide
	}
	return a.size
}

// bound is the number of entries that the operator as a whole may hold; 0 means unbounded.
func (a Assigner) bound() int {
	switch {
	case a.unbounded:
		return 0
	case a.maxSet:
		return a.maxKeys
	}
	return DefaultMaxBufferedKeys
}

func (a Assigner) String() string {
	s := fmt.Sprintf("tumbling %s", a.size)
	if a.sliding {
		s = fmt.Sprintf("sliding %s every %s", a.size, a.slide)
	}
	if a.lateness != 0 {
		s += fmt.Sprintf(" lateness %s", a.lateness)
	}
	if a.offset != 0 {
		s += fmt.Sprintf(" offset %s", a.offset)
	}
	return s
}

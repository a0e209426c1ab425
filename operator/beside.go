package operator

// Settler is an Instance that works on rows beside its task's goroutine, such as calls in flight.
type Settler interface {
	// Settle waits until every row that the instance was given is done, and emits what is left; that leaves before the
	// watermark that Settle returns (see WatermarkHandler). It is called before the snapshot of a barrier, operators upstream
	// first, and before the task tells that it is idle. At the end of input OnWatermark(MaxWatermark) does the same.
	Settle(out Output) (forward int64, err error)
}

// WakeHandler is an Instance that Context.Wake calls.
type WakeHandler interface {
	// OnWake is called by the task's goroutine soon after a Wake; several may be answered by one call. What it emits leaves
	// before the watermark that it returns, as from OnWatermark; MinWatermark where there is nothing to tell.
	OnWake(out Output) (forward int64, err error)
}

// Timekeeper is an Instance that gives its stream a new watermark in place of the one that comes in (T9). The engine
// asks after each Process. It never goes back; MinWatermark where there is none yet. At the end of all input the engine ends
// time whatever it says.
type Timekeeper interface {
	Watermark() int64
}

// Tagged is an Operator whose output ports have names of their own: Tags()[p] is that of port p. Every row that it emits
// counts as a row out, and each of its ports must be read. An operator that is not Tagged, or has no tags, has the ports "main"
// and "late".
type Tagged interface{ Tags() []string }

// RowLimiter is a Reader that can give smaller batches: the engine asks for that where a source has a MaxRate.
type RowLimiter interface {
	// LimitRows is called once, before the first Poll: no batch has more than n rows from then on, n >= 1.
	LimitRows(n int)
}

// Panic is a panic of user code on a goroutine that works for an instance. The instance panics with it on its task's
// goroutine, so that it fails the job with the stack of where it happened.
type Panic struct {
	Value any
	Stack []byte
}

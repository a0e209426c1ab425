package align

// Aligner decides what a barrier on one of several inputs means. It is pure: the task blocks, unblocks and takes
// snapshots as it says.
type Aligner struct {
	got   []bool // inputs that have delivered the barrier of the pending epoch; they are blocked
	count int
	epoch int64 // pending, 0 where there is none
	past  int64 // the last epoch that was completed or given up
}

// Alignment is what is to be done after a barrier or a cancel.
type Alignment struct {
	Block    bool  // stop reading the input that delivered
	Unblock  bool  // read all inputs again
	Snapshot int64 // take the snapshot of this epoch and forward the barrier, before unblocking
	Aborted  int64 // this epoch was subsumed by a newer one or cancelled
}

// NewAligner begins with every input active and no epoch pending.
func NewAligner(inputs int) *Aligner { return &Aligner{got: make([]bool, inputs)} }

// Barrier takes the barrier of an epoch from input i. One of an epoch that is past is ignored; one of a newer epoch than
// the pending one subsumes it.
func (a *Aligner) Barrier(i int, epoch int64) (out Alignment) {
	if epoch <= a.past || epoch < a.epoch {
		return out
	}
	if epoch > a.epoch {
		if a.epoch != 0 {
			out.Aborted, out.Unblock = a.epoch, true
			a.giveUp()
		}
		a.epoch = epoch
	}
	if a.got[i] {
		return out
	}
	a.got[i] = true
	a.count++
	if a.count < len(a.got) {
		out.Block = true
		return out
	}
	out.Snapshot, out.Unblock = epoch, true
	a.giveUp()
	return out
}

// Cancel gives up an epoch; barriers of it that still come are ignored.
func (a *Aligner) Cancel(epoch int64) (out Alignment) {
	if epoch < a.epoch || epoch <= a.past {
		return out
	}
	if a.epoch == epoch {
		out.Aborted, out.Unblock = epoch, true
	}
	if a.epoch == 0 || a.epoch == epoch {
		a.epoch = epoch
		a.giveUp()
	}
	return out
}

// giveUp makes the pending epoch past.
func (a *Aligner) giveUp() {
	a.past = a.epoch
	a.epoch, a.count = 0, 0
	clear(a.got)
}

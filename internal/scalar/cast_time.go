package scalar

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/internal/calc"
	"github.com/arkflow-go/arkflow/internal/tree"
)

// times casts between instants, times of day and durations. Finer units are cut down to coarser ones. Dates and times of day are
// those that a clock in the timestamp's zone shows, and a date becomes the instant at which its day begins there.
func (c *cast) times(out *Out, args []Vec) {
	var buf [calc.BlockRows]int64
	from, to := tree.UnitOf(c.from), tree.UnitOf(c.to)
	zone := newClock(c.zone)
	day := c.to.ID() == arrow.DATE32 || c.to.ID() == arrow.DATE64
	stamped := c.from.ID() == arrow.TIMESTAMP
	for i, v := range wide(&args[0], c.fromKind, &buf) {
		sec, nanos := splitUnit(v, from)
		switch {
		case tree.ClassOf(c.from) != tree.ClassInstant:
		case tree.ClassOf(c.to) == tree.ClassTimeOfDay:
			if stamped {
				sec = zone.local(sec)
			}
			sec = floorMod(sec, secondsPerDay)
		case day && stamped:
			sec, nanos = floorDiv(zone.local(sec), secondsPerDay)*secondsPerDay, 0
		case !day && !stamped:
			sec = zone.first(sec)
		}
		if !c.storeTime(out, i, sec, nanos, to) {
			if c.clear(out, i); !out.Skip(i) {
				c.miss(out, i, tree.LiteralFrom(c.from, calc.Int128{uint64(v), 0}).Short())
			}
		}
	}
}

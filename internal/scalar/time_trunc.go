package scalar

import (
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/calc"
	"github.com/arkflow-go/arkflow/internal/tree"
)

// nanosOf are the units of fixed length, in ns.
var nanosOf = map[timeUnit]int64{nanosecond: 1, microsecond: 1e3, millisecond: 1e6, second: 1e9, minute: 60e9, hour: 3600e9, day: 86400e9, week: 7 * 86400e9}

// bindDateTrunc is date_trunc: the beginning of the unit in which an instant lies, by a clock in the zone. Weeks begin on Mondays. Where
// clocks are put back it is the last beginning that is not after the instant; where they are put forward over it, the moment at
// which they are.
func bindDateTrunc(c *Call) error {
	unit, err := named(c, 0, truncUnits)
	if err != nil {
		return err
	}
	t := c.Args[1].Type
	zone, err := c.zone(2, t)
	if err != nil {
		return err
	}
	own := tree.UnitOf(t)
	cut := &cast{from: t, to: t, fromKind: column.KindOf(t), toKind: column.KindOf(t)}
	cut.low, cut.high = rangeOf(cut.toKind)
	step := nanosOf[unit]
	simple := step > 0 && unit != week && (zone == time.UTC || unit <= second)
	c.Fails = true
	return c.gives(t, func(out *Out, args []Vec) {
		var buf [calc.BlockRows]int64
		from := wide(&args[1], cut.fromKind, &buf)
		if simple {
			cut.truncSimple(out, from, max(step/own, 1))
			return
		}
		at := newClock(zone)
		for i, v := range from {
			sec, _ := splitUnit(v, own)
			begin := at.truncate(sec, unit)
			if begin > sec || !cut.storeTime(out, i, begin, 0, own) { // greater where it has wrapped
				if cut.clear(out, i); !out.Skip(i) {
					cut.miss(out, i, "the beginning of "+intText(v)+" of "+t.String())
				}
			}
		}
	})
}

// truncSimple rounds down to a number of units.
func (c *cast) truncSimple(out *Out, from []int64, step int64) {
	for i, v := range from {
		r := v - floorMod(v, step)
		if c.store(out, i, r); (r > v || r < c.low) && !out.Skip(i) {
			c.miss(out, i, "the beginning of "+intText(v)+" of "+c.from.String())
		}
	}
}

// truncate gives the beginning of a unit, from minutes on.
func (c *clock) truncate(sec int64, unit timeUnit) int64 {
	local := c.local(sec)
	days := floorDiv(local, secondsPerDay)
	switch unit {
	case minute:
		local -= floorMod(local, 60)
		return c.last(local, sec)
	case hour:
		local -= floorMod(local, 3600)
		return c.last(local, sec)
	case week:
		days -= floorMod(days+3, 7)
	case month, quarter, year:
		y, m, _ := dateOf(days)
		switch unit {
		case quarter:
			m -= (m - 1) % 3
		case year:
			m = 1
		}
		days = daysOf(y, m, 1)
	}
	return c.last(days*secondsPerDay, sec)
}

// bindExtract is extract: a part of what a clock in the zone shows, as a whole number.
func bindExtract(c *Call) error {
	unit, err := named(c, 0, extractUnits)
	if err != nil {
		return err
	}
	t := c.Args[1].Type
	zone, err := c.zone(2, t)
	if err != nil {
		return err
	}
	own, kind := tree.UnitOf(t), column.KindOf(t)
	return c.gives(arrow.PrimitiveTypes.Int64, func(out *Out, args []Vec) {
		var buf [calc.BlockRows]int64
		to := column.View[int64](out.Data)
		at := newClock(zone)
		for i, v := range wide(&args[1], kind, &buf) {
			sec, nanos := splitUnit(v, own)
			if unit == epoch {
				to[i] = sec
				continue
			}
			to[i] = part(at.local(sec), nanos, unit)
		}
	})
}

// part gives a part of a local time.
func part(local, nanos int64, unit timeUnit) int64 {
	switch unit {
	case nanosecond:
		return nanos
	case microsecond:
		return nanos / 1e3
	case millisecond:
		return nanos / 1e6
	case second:
		return floorMod(local, 60)
	case minute:
		return floorMod(local, 3600) / 60
	case hour:
		return floorMod(local, secondsPerDay) / 3600
	}
	days := floorDiv(local, secondsPerDay)
	switch unit {
	case weekdayOf:
		return weekday(days)
	case isoWeekdayOf:
		return floorMod(days+3, 7) + 1
	case week:
		_, w := weekOf(days)
		return w
	case isoYear:
		y, _ := weekOf(days)
		return y
	}
	y, m, d := dateOf(days)
	switch unit {
	case year:
		return y
	case quarter:
		return (m-1)/3 + 1
	case month:
		return m
	case dayOfYear:
		return days - daysOf(y, 1, 1) + 1
	}
	return d
}

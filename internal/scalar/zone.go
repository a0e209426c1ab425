package scalar

import (
	"math"
	"time"
)

// clock tells what a clock in a zone shows at an instant, and the way back. It remembers the last period of the zone that it was
// asked about, so it is made for a block and not shared. All times are in seconds since the epoch, local ones as if they were of UTC.
type clock struct {
	zone       *time.Location
	start, end int64 // the period: start <= t < end
	offset     int64 // of it, to be added to get local time
}

func newClock(zone *time.Location) clock {
	c := clock{zone: zone, start: math.MaxInt64, end: math.MinInt64}
	if zone == time.UTC {
		c.start, c.end = math.MinInt64, math.MaxInt64
	}
	return c
}

// maxZoned bounds the instants that zones are asked about, in seconds either way; beyond it the offset of the bound holds.
const maxZoned = 1 << 62

// seek finds the period of an instant.
func (c *clock) seek(t int64) {
	if t >= c.start && t < c.end || c.zone == time.UTC {
		return
	}
	at := time.Unix(min(max(t, -maxZoned), maxZoned), 0).In(c.zone)
	_, offset := at.Zone()
	start, end := at.ZoneBounds()
	c.offset, c.start, c.end = int64(offset), math.MinInt64, math.MaxInt64
	if !start.IsZero() {
		c.start = start.Unix()
	}
	if !end.IsZero() {
		c.end = end.Unix()
	}
}

// local gives what the clock shows at an instant.
func (c *clock) local(t int64) int64 {
	c.seek(t)
	l := t + c.offset
	if (t^l)&(c.offset^l) < 0 { // at the ends of time
		return t
	}
	return l
}

// last gives the last instant that is not after t at which the clock showed a local time that it shows no later than at t: where the
// clock never showed it, because it was put forward, the instant after the gap.
func (c *clock) last(local, t int64) int64 {
	c.seek(t)
	for local-c.offset < c.start {
		gap := c.start
		c.seek(gap - 1)
		if local-c.offset >= gap {
			return gap
		}
	}
	return local - c.offset
}

// first gives the first instant at which the clock shows a local time, or the instant after the gap that it falls into.
func (c *clock) first(local int64) int64 {
	c.seek(local - 86400) // no zone is a day away from UTC
	for local-c.offset >= c.end {
		gap := c.end
		c.seek(gap)
		if local-c.offset < gap {
			return gap
		}
	}
	return local - c.offset
}

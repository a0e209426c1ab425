package scalar

import (
	"strings"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/internal/tree"
)

// timeUnit is a part of a date or a time.
type timeUnit uint8

const (
	noUnit timeUnit = iota
	nanosecond
	microsecond
	millisecond
	second
	minute
	hour
	day
	week
	month
	quarter
	year
	weekdayOf    // 0 on Sundays
	isoWeekdayOf // 1 on Mondays, 7 on Sundays
	dayOfYear
	isoYear // the year of the ISO week
	epoch   // seconds since 1970
)

// unitNames are the units that a function takes, by name.
var (
	truncUnits = map[string]timeUnit{"nanosecond": nanosecond, "microsecond": microsecond, "millisecond": millisecond, "second": second, "minute": minute,
		"hour": hour, "day": day, "week": week, "month": month, "quarter": quarter, "year": year}
	extractUnits = map[string]timeUnit{"nanosecond": nanosecond, "microsecond": microsecond, "millisecond": millisecond, "second": second, "minute": minute,
		"hour": hour, "day": day, "week": week, "month": month, "quarter": quarter, "year": year, "dow": weekdayOf, "isodow": isoWeekdayOf, "doy": dayOfYear,
		"isoyear": isoYear, "epoch": epoch}
	epochUnits = map[string]arrow.TimeUnit{"s": arrow.Second, "second": arrow.Second, "ms": arrow.Millisecond, "millisecond": arrow.Millisecond,
		"us": arrow.Microsecond, "µs": arrow.Microsecond, "microsecond": arrow.Microsecond, "ns": arrow.Nanosecond, "nanosecond": arrow.Nanosecond}
)

// named gives the unit that a constant names.
func named[U any](c *Call, i int, units map[string]U) (U, error) {
	name := strings.ToLower(c.text(i))
	u, ok := units[name]
	if !ok {
		var all []string
		for n := range units {
			all = append(all, n)
		}
		f := fault.Unknown("unit", name, all)
		return u, argError(i, f.Hint, "is no unit of time")
	}
	return u, nil
}

// zone gives the time zone that a constant names, or that of the instant's type where there is no operand i.
func (c *Call) zone(i int, t arrow.DataType) (*time.Location, error) {
	name := ""
	if ts, ok := t.(*arrow.TimestampType); ok {
		name = ts.TimeZone
	}
	if i < len(c.Args) {
		name = c.text(i)
	} else {
		i = 1
	}
	zone, err := tree.LoadZone(name)
	if err != nil {
		return nil, argError(i, "write it as Europe/Berlin, UTC or +02:00", "is no time zone: %q", name)
	}
	if t.ID() != arrow.TIMESTAMP { // a date is what it is everywhere
		zone = time.UTC
	}
	return zone, nil
}

package engine

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
)

// stamp gives the rows of a split their event time and finds those that may be late (DESIGN T1–T4). The result is owned
// by the caller; b is borrowed.
func (s *sourceStage) stamp(sp *split, b *column.Batch) (*column.Batch, error) {
	d := b.Compact()
	if d == b {
		d = b.Derive()
		b.Release() // Compact retained it; Derive did too
	}
	var err error
	switch s.policy.Kind {
	case operator.ProcessingTimePolicy:
		d.Times, d.TimeValid, d.Late = nil, nil, nil
		return d, nil
	case operator.IngestionTimePolicy:
		now := s.task.exec.clock.Now().UnixMilli()
		if sp.has {
			now = max(now, sp.max)
		}
		d.Times, d.TimeValid = column.Alloc[int64](d, d.Rows), nil
		for i := range d.Times {
			d.Times[i] = now
		}
	default:
		if d, err = s.readTimes(sp, d); err != nil {
			return nil, err
		}
	}
	s.observe(sp, d)
	return d, nil
}

// observe finds the rows with time < J and moves the split's watermark on. A reader that gives watermarks of its own sets J.
func (s *sourceStage) observe(sp *split, d *column.Batch) {
	d.Late = nil
	times := d.Times
	if _, own := sp.reader.(operator.WatermarkReader); own {
		s.observeOwn(sp, d)
		return
	}
	delay := s.policy.OutOfOrderness.Milliseconds()
	if s.policy.Kind == operator.IngestionTimePolicy {
		delay = 0
	}
	limit := s.futureLimit(d)
	if d.TimeValid == nil && len(times) > 0 && inOrder(times) && (!sp.has || times[0] >= sp.w) && times[len(times)-1] <= limit {
		sp.max, sp.has = max(times[len(times)-1], sp.maxOr(math.MinInt64)), true
		sp.w = max(sp.w, minusSaturating(sp.max, delay))
		return
	}
	late := s.late[:0]
	m, j, has := sp.maxOr(math.MinInt64), sp.w, sp.has
	future := 0
	for i, t := range times {
		if d.TimeValid != nil && !column.Bit(d.TimeValid, i) {
			continue
		}
		switch {
		case t > limit:
			future++
		case t > m || !has:
			m, has = t, true
			j = max(j, minusSaturating(m, delay))
		case t < j:
			late = append(late, column.LatePair{Row: int32(i), J: j})
		}
	}
	if future > 0 {
		s.node.counters.AddFuture(future)
		s.node.ctx.Warn("rows are further ahead of the clock than MaxFutureSkew: they do not move the watermark", "rows", future)
	}
	sp.max, sp.has, sp.w = m, has, j
	s.keepLate(d, late)
}

// futureLimit is the greatest time that may move the watermark (DESIGN T10); it notes by how much rows are ahead of the clock.
func (s *sourceStage) futureLimit(d *column.Batch) int64 {
	if s.policy.Kind != operator.EventTimePolicy || d.TimeValid != nil && s.policy.MaxFutureSkew <= 0 || d.Rows == 0 {
		return math.MaxInt64
	}
	now := s.task.exec.clock.Now().UnixMilli()
	if last := d.Times[d.Rows-1]; d.TimeValid == nil && last > now {
		s.node.counters.NoteLead(last - now)
	}
	if s.policy.MaxFutureSkew <= 0 {
		return math.MaxInt64
	}
	return addSaturating(now, s.policy.MaxFutureSkew.Milliseconds())
}

// keepLate gives the batch its pairs; they were gathered in memory that the stage uses again.
func (s *sourceStage) keepLate(d *column.Batch, late []column.LatePair) {
	s.late = late
	if len(late) == 0 {
		return
	}
	d.Late = column.Alloc[column.LatePair](d, len(late))
	copy(d.Late, late)
}

func (s *sourceStage) observeOwn(sp *split, d *column.Batch) {
	late := s.late[:0]
	for i, t := range d.Times {
		if (d.TimeValid == nil || column.Bit(d.TimeValid, i)) && t < sp.w {
			late = append(late, column.LatePair{Row: int32(i), J: sp.w})
		}
	}
	s.keepLate(d, late)
}

func (sp *split) maxOr(none int64) int64 {
	if !sp.has {
		return none
	}
	return sp.max
}

// inOrder reports whether times never go back.
func inOrder(ts []int64) bool {
	for len(ts) > 8 {
		t := (*[9]int64)(ts)
		if t[1] < t[0] || t[2] < t[1] || t[3] < t[2] || t[4] < t[3] || t[5] < t[4] || t[6] < t[5] || t[7] < t[6] || t[8] < t[7] {
			return false
		}
		ts = ts[8:] // the last is compared with the next
	}
	prev := ts[0]
	for _, t := range ts {
		if t < prev {
			return false
		}
		prev = t
	}
	return true
}

// minusSaturating is a − b for b >= 0, not below the least int64 + 1: the least itself means "none".
func minusSaturating(a, b int64) int64 {
	if a < math.MinInt64+1+b {
		return math.MinInt64 + 1
	}
	return a - b
}

// readTimes fills the hidden time vector from the event-time column. It owns d, and gives it back or a batch that lacks
// the rows whose time does not fit (under Skip).
func (s *sourceStage) readTimes(sp *split, d *column.Batch) (*column.Batch, error) {
	c := &d.Cols[s.column]
	values := column.Values[int64](c)
	d.TimeValid = nil
	if c.Nulls > 0 {
		d.TimeValid = c.Valid
	}
	unit := arrow.Millisecond
	if t, ok := c.Type.(*arrow.TimestampType); ok {
		unit = t.Unit
	}
	switch unit {
	case arrow.Millisecond:
		d.Times = values
	case arrow.Second:
		return s.secondsToMillis(sp, d, c, values)
	case arrow.Microsecond:
		d.Times = floorDiv(column.Alloc[int64](d, len(values)), values, 1_000)
	case arrow.Nanosecond:
		d.Times = floorDiv(column.Alloc[int64](d, len(values)), values, 1_000_000)
	}
	return d, nil
}

func floorDiv(dst, src []int64, by int64) []int64 {
	for i, v := range src {
		q := v / by
		if v%by < 0 {
			q--
		}
		dst[i] = q
	}
	return dst
}

// secondsToMillis multiplies, and applies the source's error policy to rows that do not fit.
func (s *sourceStage) secondsToMillis(sp *split, d *column.Batch, c *column.Column, values []int64) (*column.Batch, error) {
	const most = math.MaxInt64 / 1000
	d.Times = column.Alloc[int64](d, len(values))
	var keep []uint32
	for i, v := range values {
		if (v > most || v < -most) && !c.IsNull(i) {
			if keep == nil {
				keep = make([]uint32, i, len(values))
				for k := range keep {
					keep[k] = uint32(k)
				}
			}
			err := &operator.RowError{Field: fmt.Sprintf("event-time column %q", d.Schema.Field(s.column).Name), Value: fmt.Sprint(v),
				Place: fmt.Sprintf("split %q, row %d of a batch", sp.id, i), Problem: "seconds do not fit into int64 milliseconds"}
			if err := s.node.ctx.Reject(1, err); err != nil {
				d.Release()
				return nil, err
			}
			continue
		}
		d.Times[i] = v * 1000
		if keep != nil {
			keep = append(keep, uint32(i))
		}
	}
	if keep == nil {
		return d, nil
	}
	defer d.Release()
	return d.Take(keep), nil
}

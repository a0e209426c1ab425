package operator

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/state"
)

// timestampsTask gives the rows of one task their time and keeps its watermark.
type timestampsTask struct {
	ctx    *Context
	policy TimePolicy
	column int
	max    int64 // greatest time that moved the watermark
	has    bool  // there was one
	w      int64 // watermark: what J of the next row is
	late   []column.LatePair
}

// Watermark implements Timekeeper.
func (t *timestampsTask) Watermark() int64 { return t.w }

const timestampsState = "time"

// ownState is the name under which a task finds its own time again where the parallelism is the same.
func (t *timestampsTask) ownState() string {
	return fmt.Sprintf("%s of %d of %d", timestampsState, t.ctx.Subtask, t.ctx.Parallelism)
}

// Snapshot implements Stateful.
func (t *timestampsTask) Snapshot(w state.Writer) error {
	if t.has {
		v := binary.LittleEndian.AppendUint64(nil, uint64(t.max))
		w.Value(timestampsState, v)
		w.Value(t.ownState(), v)
	}
	return nil
}

// Restore implements Stateful: a task goes on at its own time. Where it has none to find, as at another parallelism, the slowest of all
// counts.
func (t *timestampsTask) Restore(r state.Reader) error {
	saved := r.Values(t.ownState())
	if len(saved) == 0 {
		saved = r.Values(timestampsState)
	}
	for _, v := range saved {
		if len(v) != 8 {
			return fmt.Errorf("the greatest time is %d bytes and not 8", len(v))
		}
		if m := int64(binary.LittleEndian.Uint64(v)); !t.has || m < t.max {
			t.max, t.has = m, true
		}
	}
	if t.has {
		t.w = watermarkOf(t.max, t.policy.OutOfOrderness.Milliseconds())
	}
	return nil
}

// watermarkOf is max − delay for delay >= 0, saturating above MinWatermark, which means none.
func watermarkOf(maximum, delay int64) int64 {
	if maximum < math.MinInt64+1+delay {
		return math.MinInt64 + 1
	}
	return maximum - delay
}

// Process implements Instance.
func (t *timestampsTask) Process(_ int, b *column.Batch, out Output) error {
	d := b.Derive()
	defer d.Release()
	d.Late, d.TimeValid = nil, nil
	c := &d.Cols[t.column]
	if c.Nulls > 0 {
		d.TimeValid = c.Valid
	}
	if bad := t.read(d, c); bad != nil {
		if err := t.refuse(d, c, bad); err != nil || d.Len() == 0 {
			return err
		}
	}
	t.observe(d)
	return out.Emit(Main, d)
}

// read fills the times of d from the column. It gives the physical rows whose value, if it is one, does not fit.
func (t *timestampsTask) read(d *column.Batch, c *column.Column) (bad []uint32) {
	values := column.Values[int64](c)[:d.Rows]
	unit := arrow.Millisecond
	if ts, ok := c.Type.(*arrow.TimestampType); ok {
		unit = ts.Unit
	}
	if unit == arrow.Millisecond {
		d.Times = values
		return nil
	}
	d.Times = column.Alloc[int64](d, len(values))
	if unit != arrow.Second {
		by := int64(1_000)
		if unit == arrow.Nanosecond {
			by = 1_000_000
		}
		for i, v := range values {
			q := v / by
			if v%by < 0 {
				q--
			}
			d.Times[i] = q
		}
		return nil
	}
	const most = math.MaxInt64 / 1000
	for i, v := range values {
		if v > most || v < -most {
			d.Times[i] = 0
			bad = append(bad, uint32(i))
			continue
		}
		d.Times[i] = v * 1000
	}
	return bad
}

// refuse applies the error policy to the rows that are there among bad, and takes them out of d.
func (t *timestampsTask) refuse(d *column.Batch, c *column.Column, bad []uint32) error {
	sel := column.Alloc[uint32](d, d.Len())[:0]
	var refused []uint32
	for i := range d.Len() {
		r := uint32(d.Row(i))
		for len(bad) > 0 && bad[0] < r {
			bad = bad[1:]
		}
		if len(bad) == 0 || bad[0] != r || c.IsNull(int(r)) {
			sel = append(sel, r)
		} else {
			refused = append(refused, r)
		}
	}
	if refused == nil {
		return nil
	}
	d.Sel = sel
	return t.ctx.RejectRows(d, refused, func(i int) error {
		return &RowError{Field: fmt.Sprintf("event-time column %q", t.policy.Column),
			Value: fmt.Sprint(column.Values[int64](c)[refused[i]]), Problem: "seconds do not fit into int64 milliseconds"}
	})
}

// observe finds the rows that come after the watermark had passed them, and moves that on.
func (t *timestampsTask) observe(d *column.Batch) {
	delay := t.policy.OutOfOrderness.Milliseconds()
	limit := int64(math.MaxInt64)
	if t.policy.MaxFutureSkew > 0 {
		if now, skew := t.ctx.Clock.Now().UnixMilli(), t.policy.MaxFutureSkew.Milliseconds(); now <= math.MaxInt64-skew {
			limit = now + skew
		}
	}
	late := t.late[:0]
	m, j, has, future := t.max, t.w, t.has, 0
	for i := range d.Len() {
		r := d.Row(i)
		if d.TimeValid != nil && !column.Bit(d.TimeValid, r) {
			continue
		}
		switch v := d.Times[r]; {
		case v > limit:
			future++
		case v > m || !has:
			m, has = v, true
			j = max(j, watermarkOf(m, delay))
		case v < j:
			late = append(late, column.LatePair{Row: int32(r), J: j})
		}
	}
	t.max, t.w, t.has, t.late = m, j, has, late
	if future > 0 {
		t.ctx.Counters.AddFuture(future)
		t.ctx.Warn("rows are further ahead of the clock than MaxFutureSkew: they do not move the watermark", "rows", future)
	}
	if len(late) > 0 {
		d.Late = column.Alloc[column.LatePair](d, len(late))
		copy(d.Late, late)
	}
}

package window

import (
	"encoding/json"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/kernel"
	"github.com/arkflow-go/arkflow/state"
)

// The state of a window operator, format 1: the value "window" (JSON, see saved), the table "windows" with the open
// windows (see kernel.Dump), each a part, and the table "evicted" with one row for each tombstone and key group: window_start Int64, ms.
//
// Where windows overlap there are the tables "slices" and "stragglers" in place of "windows", each slice a part: window_start is the first
// instant of the slice, #from the start of the first window that has it. Windows that start before the task's `opened` were closed. A
// row of "evicted" is the last window of a key group that was evicted.
const (
	stateFormat  = 1
	stateValue   = "window"
	stateWindows = "windows"
	stateEvicted = "evicted"
	stateSlices  = "slices"
	stateStrays  = "stragglers"
)

// saved is what a task knows beside its tables.
type saved struct {
	Format    int   `json:"format"`
	Watermark int64 `json:"watermark,string"` // W of the operator; the least is taken where tasks are merged
	Opened    int64 `json:"opened,string"`    // start of the first window that W had not closed
	Clock     int64 `json:"clock,string"`     // processing time; the greatest is taken
	SizeMs    int64 `json:"size_ms"`
	SlideMs   int64 `json:"slide_ms,omitempty"` // of windows that do not follow each other without overlap or gap
	OffsetMs  int64 `json:"offset_ms"`
}

// saved gives what the task knows.
func (x *task) saved() saved {
	s := saved{stateFormat, x.watermark, x.opened, x.clock, x.grid.size, 0, x.grid.offset}
	if x.grid.step != x.grid.size {
		s.SlideMs = x.grid.step
	}
	return s
}

// save writes what the task knows.
func (x *task) save(w state.Writer) error {
	v, err := json.Marshal(x.saved())
	if err == nil {
		w.Value(stateValue, v)
	}
	return err
}

// restore reads what tasks knew, and gives what each had opened.
func (x *task) restore(r state.Reader) (opened []int64, err error) {
	want := x.saved()
	for i, v := range r.Values(stateValue) {
		var s saved
		if err := json.Unmarshal(v, &s); err != nil {
			return nil, fmt.Errorf("restore window: %w", err)
		}
		switch {
		case s.Format != stateFormat:
			return nil, fmt.Errorf("restore window: state has format %d, this version reads %d", s.Format, stateFormat)
		case s.SizeMs != want.SizeMs || s.OffsetMs != want.OffsetMs || s.SlideMs != want.SlideMs:
			return nil, fmt.Errorf("restore window: state is of %s, the job's are %s", s, want)
		}
		if i == 0 {
			x.watermark = s.Watermark
		}
		x.watermark, x.clock = min(x.watermark, s.Watermark), max(x.clock, s.Clock)
		opened = append(opened, s.Opened)
	}
	x.advance(x.watermark)
	return opened, nil
}

func (s saved) String() string {
	if s.SlideMs != 0 {
		return fmt.Sprintf("windows of %d ms every %d ms with offset %d ms", s.SizeMs, s.SlideMs, s.OffsetMs)
	}
	return fmt.Sprintf("windows of %d ms with offset %d ms", s.SizeMs, s.OffsetMs)
}

var evictedSchema = arrow.NewSchema([]arrow.Field{{Name: "window_start", Type: arrow.PrimitiveTypes.Int64}}, nil)

// Snapshot implements operator.Stateful.
func (x *instance) Snapshot(w state.Writer) error {
	if err := x.save(w); err != nil {
		return err
	}
	for i := range x.open {
		o := &x.open[i]
		if o.id == 0 {
			x.lastID++
			o.id = x.lastID
		}
		w.Part(stateWindows, o.id, o.pane.View(o.start, x.maxParallelism(), x.ctx.Pool))
	}
	if len(x.evicted) > 0 {
		w.Table(stateEvicted, x.evictedTable())
	}
	return nil
}

func (x *instance) evictedTable() state.Table {
	t := state.Table{Schema: evictedSchema}
	var starts []int64
	own := x.owned()
	for _, e := range x.evicted {
		for g := own.First; g < own.End; g++ {
			if e.groups == nil || e.groups[g] {
				starts = append(starts, e.start)
				t.Groups = append(t.Groups, uint16(g))
			}
		}
	}
	t.Rows = len(starts)
	t.Cols = []column.Column{{Type: arrow.PrimitiveTypes.Int64, Kind: column.Int64, Data: column.BytesOf(starts)}}
	return t
}

// Restore implements operator.Stateful.
func (x *instance) Restore(r state.Reader) error {
	if _, err := x.restore(r); err != nil {
		return err
	}
	load := kernel.NewLoad(x.agg, x.owned(), func(start int64) (*kernel.Pane, error) { return x.pane(start), nil })
	for t, err := range r.Tables(stateWindows) {
		if err == nil {
			err = load.Add(t)
		}
		if err != nil {
			return fmt.Errorf("restore window: %w", err)
		}
	}
	if x.processing {
		x.arm()
	}
	return x.restoreEvicted(r)
}

func (x *instance) restoreEvicted(r state.Reader) error {
	own := x.owned()
	at := map[int64]int{}
	for t, err := range r.Tables(stateEvicted) {
		if err != nil {
			return fmt.Errorf("restore window: %w", err)
		}
		starts := column.Values[int64](&t.Cols[0])
		for i, g := range t.Groups {
			if !own.Contains(int(g)) {
				continue
			}
			j, ok := at[starts[i]]
			if !ok {
				j = len(x.evicted)
				at[starts[i]] = j
				x.evicted = append(x.evicted, tombstone{starts[i], map[int]bool{}})
			}
			x.evicted[j].groups[int(g)] = true
		}
	}
	for i := range x.evicted {
		if len(x.evicted[i].groups) == own.Len() {
			x.evicted[i].groups = nil
		}
	}
	return nil
}

package align

import (
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/shuffle"
)

// Merge keeps the watermark and the status of a task's inputs (in a source task: of its splits) and gives those of the
// task (DESIGN T5). It is pure.
type Merge struct {
	w      []int64
	Status []shuffle.Status // of each input; set by who owns the merge
	out    int64
}

// NewMerge begins with every input active and without a watermark.
func NewMerge(inputs int) *Merge {
	m := &Merge{w: make([]int64, inputs), Status: make([]shuffle.Status, inputs), out: operator.MinWatermark}
	for i := range m.w {
		m.w[i] = operator.MinWatermark
	}
	return m
}

// Watermark notes that input i has reached w; one that went back is ignored.
func (m *Merge) Watermark(i int, w int64) { m.w[i] = max(m.w[i], w) }

// Result gives the watermark of the task, MinWatermark while there is none, and its status: the least over active inputs;
// the greatest over idle ones where none is active; MaxWatermark when all have finished. It never goes back.
func (m *Merge) Result() (int64, shuffle.Status) {
	least, most := operator.MaxWatermark, operator.MinWatermark
	active, idle := 0, 0
	for i, s := range m.Status {
		switch s {
		case shuffle.Active:
			active++
			least = min(least, m.w[i])
		case shuffle.Idle:
			idle++
			most = max(most, m.w[i])
		}
	}
	switch {
	case active > 0:
		m.out = max(m.out, least)
		return m.out, shuffle.Active
	case idle > 0:
		m.out = max(m.out, most)
		return m.out, shuffle.Idle
	}
	m.out = operator.MaxWatermark
	return m.out, shuffle.Finished
}

// Holder gives the active input with the least watermark, and that; -1 where no input is active.
func (m *Merge) Holder() (input int, w int64) {
	input, w = -1, operator.MaxWatermark
	for i, s := range m.Status {
		if s == shuffle.Active && (input < 0 || m.w[i] < w) {
			input, w = i, m.w[i]
		}
	}
	return input, w
}

// At is the watermark of input i.
func (m *Merge) At(i int) int64 { return m.w[i] }

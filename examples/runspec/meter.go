package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/arkflow-go/arkflow"
)

// meter says how a job is doing, and remembers what it said.
type meter struct {
	job            string
	sources, sinks []string
	rows           int64 // read when progress was told last
	at             time.Time
}

func newMeter(spec arkflow.JobSpec, now time.Time) *meter {
	m := &meter{job: spec.ID, at: now}
	for _, s := range spec.Sources {
		m.sources = append(m.sources, s.OperatorID)
	}
	for _, s := range spec.Sinks {
		m.sinks = append(m.sinks, s.OperatorID)
	}
	return m
}

// rowsIn sums the rows that operators took.
func rowsIn(s arkflow.Status, ids []string) (n int64) {
	for _, id := range ids {
		if o := s.Operator(id); o != nil {
			n += o.RowsIn
		}
	}
	return n
}

// progress is a line about the time since the last one: rows read a second, and the least watermark at a sink with the greatest lag.
func (m *meter) progress(s arkflow.Status, now time.Time) string {
	rows, rate := rowsIn(s, m.sources), 0.0
	if d := now.Sub(m.at).Seconds(); d > 0 {
		rate = float64(rows-m.rows) / d
	}
	m.rows, m.at = rows, now
	mark, lag := m.watermark(s)
	line := fmt.Sprintf("job %s: %s, %.0f rows/s, %d rows in, watermark %s, lag %s", m.job, strings.ToLower(string(s.State)), rate, rows, mark, lag)
	if s.Degraded != "" {
		line += ", degraded: " + s.Degraded
	}
	return line
}

func (m *meter) watermark(s arkflow.Status) (mark, lag string) {
	least, most := int64(math.MaxInt64), time.Duration(0)
	for _, id := range m.sinks {
		o := s.Operator(id)
		if o == nil || !o.HasWatermark {
			return "-", "-"
		}
		least, most = min(least, o.Watermark), max(most, o.Lag)
	}
	if least == math.MaxInt64 {
		return "at the end of time", "-"
	}
	return time.UnixMilli(least).UTC().Format("2006-01-02T15:04:05.000Z"), most.Round(time.Millisecond).String()
}

// summary is the last line about a job.
func (m *meter) summary(s arkflow.Status) string {
	late, dropped := int64(0), map[string]int64{}
	for _, o := range s.Operators {
		late += o.Late
		for reason, n := range o.Dropped {
			dropped[reason] += n
		}
	}
	took := s.Ended.Sub(s.Started)
	rows := rowsIn(s, m.sources)
	line := fmt.Sprintf("job %s: %s after %s: %d rows in, %d rows out", m.job, strings.ToLower(string(s.State)), took.Round(time.Millisecond), rows, rowsIn(s, m.sinks))
	if late > 0 {
		line += fmt.Sprintf(", %d late", late)
	}
	for _, reason := range slices.Sorted(maps.Keys(dropped)) {
		if dropped[reason] > 0 {
			line += fmt.Sprintf(", %d dropped (%s)", dropped[reason], reason)
		}
	}
	if took > 0 {
		line += fmt.Sprintf("; %.0f rows/s", float64(rows)/took.Seconds())
	}
	return line
}

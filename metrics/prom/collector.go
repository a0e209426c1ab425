package prom

import (
	"sync"

	"github.com/arkflow-go/arkflow"
	"github.com/prometheus/client_golang/prometheus"
)

// Collector is a prometheus.Collector and an arkflow.Metrics. A job is shown from its start until it has ended and its last numbers have
// been scraped once. Safe for concurrent use.
type Collector struct {
	mu   sync.Mutex
	jobs map[*job]bool
}

// job is a job that runs, or that has ended and was not scraped since.
type job struct {
	status func() arkflow.Status
	last   *arkflow.Status // once it has ended
}

// New gives a collector that knows no job yet.
func New() *Collector { return &Collector{jobs: map[*job]bool{}} }

// JobStarted implements arkflow.Metrics.
func (c *Collector) JobStarted(_ string, status func() arkflow.Status) (ended func()) {
	j := &job{status: status}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.jobs[j] = true
	return func() {
		last := status()
		c.mu.Lock()
		defer c.mu.Unlock()
		j.last = &last
	}
}

// family is one metric and how it is read off a Status.
type family struct {
	desc *prometheus.Desc
	kind prometheus.ValueType
	read func(s *arkflow.Status, emit func(v float64, labels ...string))
}

func metric(name, help string, kind prometheus.ValueType, labels []string, read func(s *arkflow.Status, emit func(v float64, labels ...string))) family {
	return family{prometheus.NewDesc("arkflow_"+name, help, append([]string{"job"}, labels...), nil), kind, read}
}

// perOperator reads one number off each operator; ok is false where the operator has none.
func perOperator(name, help string, kind prometheus.ValueType, read func(o *arkflow.OperatorStatus) (v float64, ok bool)) family {
	return metric(name, help, kind, []string{"operator"}, func(s *arkflow.Status, emit func(float64, ...string)) {
		for i := range s.Operators {
			if v, ok := read(&s.Operators[i]); ok {
				emit(v, s.Operators[i].ID)
			}
		}
	})
}

func perJob(name, help string, kind prometheus.ValueType, read func(s *arkflow.Status) float64) family {
	return metric(name, help, kind, nil, func(s *arkflow.Status, emit func(float64, ...string)) { emit(read(s)) })
}

// families lists every metric.
func families() []family {
	const counter, gauge = prometheus.CounterValue, prometheus.GaugeValue
	always := func(f func(o *arkflow.OperatorStatus) float64) func(*arkflow.OperatorStatus) (float64, bool) {
		return func(o *arkflow.OperatorStatus) (float64, bool) { return f(o), true }
	}
	seconds := func(f func(o *arkflow.OperatorStatus) interface{ Seconds() float64 }) func(*arkflow.OperatorStatus) (float64, bool) {
		return func(o *arkflow.OperatorStatus) (float64, bool) { return f(o).Seconds(), true }
	}
	return []family{
		metric("job_state", "1 for the state that the job is in.", gauge, []string{"state"}, func(s *arkflow.Status, emit func(float64, ...string)) { emit(1, string(s.State)) }),
		perJob("job_restarts_total", "Restarts after a failure.", counter, func(s *arkflow.Status) float64 { return float64(s.Restarts) }),
		perJob("job_memory_bytes", "Bytes in batches in flight and in state.", gauge, func(s *arkflow.Status) float64 { return float64(s.Memory) }),
		perJob("job_degraded", "1 where results may be missing, such as after an eviction.", gauge, func(s *arkflow.Status) float64 { return truth(s.Degraded != "") }),
		perJob("checkpoints_completed_total", "Epochs that were sealed and committed.", counter, func(s *arkflow.Status) float64 { return float64(s.Checkpoints.Completed) }),
		perJob("checkpoints_aborted_total", "Epochs that were given up.", counter, func(s *arkflow.Status) float64 { return float64(s.Checkpoints.Aborted) }),
		perJob("checkpoint_last_duration_seconds", "Time from the trigger of the last epoch until it was sealed and committed.", gauge, func(s *arkflow.Status) float64 { return s.Checkpoints.LastDuration.Seconds() }),
		perJob("checkpoint_last_alignment_seconds", "Longest time that a task waited for the barrier of the last epoch on its other inputs.", gauge, func(s *arkflow.Status) float64 { return s.Checkpoints.LastAligned.Seconds() }),
		perJob("checkpoint_last_bytes", "Bytes written to the bucket for the last epoch.", gauge, func(s *arkflow.Status) float64 { return float64(s.Checkpoints.LastBytes) }),
		perJob("checkpoint_last_entries", "Rows of state in the last epoch.", gauge, func(s *arkflow.Status) float64 { return float64(s.Checkpoints.LastEntries) }),
		perOperator("operator_rows_in_total", "Rows that an operator took.", counter, always(func(o *arkflow.OperatorStatus) float64 { return float64(o.RowsIn) })),
		perOperator("operator_rows_out_total", "Rows that an operator emitted; a sink: wrote.", counter, always(func(o *arkflow.OperatorStatus) float64 { return float64(o.RowsOut) })),
		perOperator("operator_bytes_in_total", "Memory of the columns of the batches that an operator took.", counter, always(func(o *arkflow.OperatorStatus) float64 { return float64(o.BytesIn) })),
		perOperator("operator_bytes_out_total", "Memory of the columns of the batches that an operator emitted.", counter, always(func(o *arkflow.OperatorStatus) float64 { return float64(o.BytesOut) })),
		perOperator("operator_late_total", "Rows that the late policy was applied to.", counter, always(func(o *arkflow.OperatorStatus) float64 { return float64(o.Late) })),
		metric("operator_dropped_total", "Rows that went no further, by reason.", counter, []string{"operator", "reason"}, func(s *arkflow.Status, emit func(float64, ...string)) {
			for i := range s.Operators {
				for reason, n := range s.Operators[i].Dropped {
					emit(float64(n), s.Operators[i].ID, reason)
				}
			}
		}),
		perOperator("operator_unknown_fields_total", "Fields of records that the schema has no column for.", counter, always(func(o *arkflow.OperatorStatus) float64 { return float64(o.Unknown) })),
		perOperator("source_lag_records", "Records that are there and that a source has not read; absent where it does not know.", gauge, func(o *arkflow.OperatorStatus) (float64, bool) {
			return float64(o.SourceLag), o.HasSourceLag
		}),
		perOperator("operator_future_rows_total", "Rows too far ahead of the clock to move the watermark.", counter, always(func(o *arkflow.OperatorStatus) float64 { return float64(o.Future) })),
		perOperator("operator_busy_seconds_total", "Time that tasks worked, summed over tasks.", counter, seconds(func(o *arkflow.OperatorStatus) interface{ Seconds() float64 } { return o.Busy })),
		perOperator("operator_idle_seconds_total", "Time that tasks waited for input, summed over tasks.", counter, seconds(func(o *arkflow.OperatorStatus) interface{ Seconds() float64 } { return o.Idle })),
		perOperator("operator_backpressured_seconds_total", "Time that tasks were held up by those downstream, by a rate or by a limit, summed over tasks.", counter, seconds(func(o *arkflow.OperatorStatus) interface{ Seconds() float64 } { return o.Blocked })),
		perOperator("operator_queue_fill_ratio", "How full the fullest link into an operator is, 0 to 1.", gauge, always(func(o *arkflow.OperatorStatus) float64 { return o.QueueFill })),
		perOperator("operator_watermark_seconds", "The watermark, as seconds since 1970; absent before one is known and at the end of time.", gauge, func(o *arkflow.OperatorStatus) (float64, bool) {
			return float64(o.Watermark) / 1000, o.HasWatermark && o.Lag != 0
		}),
		perOperator("operator_watermark_lag_seconds", "The clock minus the watermark.", gauge, func(o *arkflow.OperatorStatus) (float64, bool) { return o.Lag.Seconds(), o.HasWatermark && o.Lag != 0 }),
		perOperator("operator_state_entries", "Live entries of state.", gauge, always(func(o *arkflow.OperatorStatus) float64 { return float64(o.StateEntries) })),
		perOperator("operator_state_bytes", "Bytes of state.", gauge, always(func(o *arkflow.OperatorStatus) float64 { return float64(o.StateBytes) })),
	}
}

func truth(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

// Describe implements prometheus.Collector.
func (c *Collector) Describe(ch chan<- *prometheus.Desc) {
	for _, f := range families() {
		ch <- f.desc
	}
}

// Collect implements prometheus.Collector. Jobs of one name that run at once are added up where they count, and the last one shows where
// they do not.
func (c *Collector) Collect(ch chan<- prometheus.Metric) {
	c.mu.Lock()
	jobs := make([]*job, 0, len(c.jobs))
	for j := range c.jobs {
		jobs = append(jobs, j)
		if j.last != nil {
			delete(c.jobs, j)
		}
	}
	c.mu.Unlock()
	all := make([]arkflow.Status, 0, len(jobs))
	for _, j := range jobs {
		if j.last != nil {
			all = append(all, *j.last)
		} else {
			all = append(all, j.status())
		}
	}
	for _, f := range families() {
		f.collect(all, ch)
	}
}

// collect gives one metric of all jobs, each set of labels once.
func (f family) collect(all []arkflow.Status, ch chan<- prometheus.Metric) {
	type sample struct {
		v      float64
		labels []string
	}
	var order []string
	samples := map[string]*sample{}
	for i := range all {
		f.read(&all[i], func(v float64, labels ...string) {
			labels = append([]string{all[i].Job}, labels...)
			key := ""
			for _, l := range labels {
				key += l + "\x00"
			}
			s := samples[key]
			switch {
			case s == nil:
				samples[key] = &sample{v, labels}
				order = append(order, key)
			case f.kind == prometheus.CounterValue:
				s.v += v
			default:
				s.v = v
			}
		})
	}
	for _, key := range order {
		s := samples[key]
		m, err := prometheus.NewConstMetric(f.desc, f.kind, s.v, s.labels...)
		if err != nil {
			m = prometheus.NewInvalidMetric(f.desc, err)
		}
		ch <- m
	}
}

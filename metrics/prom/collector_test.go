package prom

import (
	"strings"
	"testing"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/window"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
)

type row struct {
	Key string `arkflow:"key"`
	TS  int64  `arkflow:"ts"`
}

func run(t *testing.T, c *Collector, rows ...row) {
	t.Helper()
	job := arkflow.NewJob("orders")
	job.Source("in", memory.Of(rows), arkflow.EventTime("ts")).
		KeyBy("key").
		Window("w", window.Tumbling(10_000_000), window.Count()).
		Sink("out", memory.NewSink())
	require.NoError(t, arkflow.Runtime{Metrics: c}.Run(t.Context(), job))
}

func TestCollectorShowsTheNumbersOfAJob(t *testing.T) {
	c := New()
	reg := prometheus.NewPedanticRegistry()
	require.NoError(t, reg.Register(c))
	run(t, c, row{"a", 1}, row{"b", 25}, row{"b", 3})
	require.NoError(t, testutil.GatherAndCompare(reg, strings.NewReader(`
# HELP arkflow_operator_late_total Rows that the late policy was applied to.
# TYPE arkflow_operator_late_total counter
arkflow_operator_late_total{job="orders",operator="in"} 0
arkflow_operator_late_total{job="orders",operator="out"} 0
arkflow_operator_late_total{job="orders",operator="w"} 1
# HELP arkflow_operator_rows_in_total Rows that an operator took.
# TYPE arkflow_operator_rows_in_total counter
arkflow_operator_rows_in_total{job="orders",operator="in"} 3
arkflow_operator_rows_in_total{job="orders",operator="out"} 2
arkflow_operator_rows_in_total{job="orders",operator="w"} 3
# HELP arkflow_job_state 1 for the state that the job is in.
# TYPE arkflow_job_state gauge
arkflow_job_state{job="orders",state="Finished"} 1
`), "arkflow_operator_late_total", "arkflow_operator_rows_in_total", "arkflow_job_state"))
}

func TestSourceLagIsShownWhereItIsKnown(t *testing.T) {
	c := New()
	reg := prometheus.NewPedanticRegistry()
	require.NoError(t, reg.Register(c))
	status := arkflow.Status{Job: "orders", Operators: []arkflow.OperatorStatus{{ID: "known", SourceLag: 12, HasSourceLag: true}, {ID: "unknown"}}}
	c.JobStarted("orders", func() arkflow.Status { return status })
	require.NoError(t, testutil.GatherAndCompare(reg, strings.NewReader(`
# HELP arkflow_source_lag_records Records that are there and that a source has not read; absent where it does not know.
# TYPE arkflow_source_lag_records gauge
arkflow_source_lag_records{job="orders",operator="known"} 12
`), "arkflow_source_lag_records"))
}

func TestCollectorForgetsAJobAfterItsLastNumbersWereScraped(t *testing.T) {
	c := New()
	run(t, c, row{"a", 1})
	require.Positive(t, testutil.CollectAndCount(c))
	require.Zero(t, testutil.CollectAndCount(c))
}

func TestCollectorAddsUpJobsOfOneName(t *testing.T) {
	c := New()
	reg := prometheus.NewPedanticRegistry()
	require.NoError(t, reg.Register(c))
	run(t, c, row{"a", 1})
	run(t, c, row{"a", 1}, row{"a", 2})
	require.NoError(t, testutil.GatherAndCompare(reg, strings.NewReader(`
# HELP arkflow_operator_rows_in_total Rows that an operator took.
# TYPE arkflow_operator_rows_in_total counter
arkflow_operator_rows_in_total{job="orders",operator="in"} 3
arkflow_operator_rows_in_total{job="orders",operator="out"} 2
arkflow_operator_rows_in_total{job="orders",operator="w"} 3
`), "arkflow_operator_rows_in_total"))
}

func TestEveryMetricIsDescribedAndLinted(t *testing.T) {
	c := New()
	run(t, c, row{"a", 1})
	problems, err := testutil.CollectAndLint(c)
	require.NoError(t, err)
	require.Empty(t, problems)
}

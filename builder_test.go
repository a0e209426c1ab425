package arkflow_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/connectors/file"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/window"
	"github.com/hashicorp/go-multierror"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

type order struct {
	TS       int64   `arkflow:"ts"`
	Customer string  `arkflow:"customer_id"`
	Status   string  `arkflow:"status"`
	Amount   float64 `arkflow:"amount"`
}

var (
	status = expr.Field(func(o *order) *string { return &o.Status })
	amount = expr.Field(func(o *order) *float64 { return &o.Amount })
)

func orders(j *arkflow.Job) arkflow.Stream {
	return j.Source("orders", memory.Of([]order{}), arkflow.EventTime("ts", arkflow.OutOfOrderness(2*time.Second), arkflow.IdleTimeout(time.Minute)))
}

// rollup is a job with every verb.
func rollup(opts ...arkflow.JobOption) *arkflow.Job {
	j := arkflow.NewJob("orders-rollup", opts...)
	perMinute := orders(j).
		Filter("paid", status.Eq("paid").And(amount.Gt(0))).
		With(arkflow.OnError(arkflow.Skip())).
		Select("slim", "customer_id", amount.Mul(2).As("double"), expr.Col("status")).
		Rename("named", map[string]string{"customer_id": "customer"}).
		Drop("less", "status").
		KeyBy("customer").
		Window("per-minute", window.Tumbling(time.Minute), window.Count().As("orders"), window.Sum("double").As("total"))
	perMinute.Sink("out", drop.Sink{}, arkflow.Tasks(1))
	perMinute.Late().Sink("late", drop.Sink{})
	return j
}

// messages gives each fault as text; all must be faults.
func messages(t *testing.T, err error) (out []string) {
	t.Helper()
	if err == nil {
		return nil
	}
	errs := []error{err}
	var many *multierror.Error
	if errors.As(err, &many) {
		errs = many.Errors
	}
	for _, e := range errs {
		var f *arkflow.Fault
		require.ErrorAs(t, e, &f)
		out = append(out, e.Error())
	}
	return out
}

// here gives file:line of a line of the caller, as faults do.
func here(offset int) string {
	_, file, line, _ := runtime.Caller(1)
	return fmt.Sprintf("%s:%d", filepath.Base(file), line+offset)
}

func TestB1_verbsChainAndStreamsFanOut(t *testing.T) {
	p, err := rollup(arkflow.Parallelism(2), arkflow.MaxParallelism(64)).Compile()
	require.NoError(t, err)
	assert.Equal(t, `job orders-rollup: 5 tasks in 3 chains, 64 key groups

chain orders (2 tasks)
  orders [source memory] event time ts, out of order by up to 2s, idle after 1m0s
    columns: ts int64, customer_id utf8, status utf8, amount float64
  paid [filter] where status = 'paid' and amount > 0; rows in error are skipped
    from orders: fused
    columns: ts int64, customer_id utf8, status utf8, amount float64
  slim [select] customer_id, amount * 2 as double, status
    from paid: fused
    columns: customer_id utf8, double float64, status utf8
  named [rename] customer_id to customer
    from slim: fused
    columns: customer utf8, double float64, status utf8
  less [drop] status
    from named: fused
    columns: customer utf8, double float64

chain per-minute (2 tasks)
  per-minute [window] tumbling 1m0s: count() as orders, sum(double) as total
    from less: hash by customer
    columns: customer utf8, window_start timestamp[ms, tz=UTC], window_end timestamp[ms, tz=UTC], orders int64, total float64
  late [sink drop]
    from per-minute (late rows): fused

chain out (1 task)
  out [sink drop]
    from per-minute: rebalance
`, p.Explain())
	assert.Contains(t, p.DOT(), `"less" -> "per-minute" [label="hash by customer"]`)
	assert.Contains(t, p.Mermaid(), `-->|"late, fused"|`)
	assert.Empty(t, p.Warnings())
}

func TestB1_optionTypesAreDistinct(t *testing.T) {
	node, job := any(arkflow.Tasks(1)), any(arkflow.Parallelism(1))
	timed := any(arkflow.OutOfOrderness(1))
	is := func(_ any, ok bool) bool { return ok }
	jobOption := func(x any) bool { _, ok := x.(arkflow.JobOption); return is(nil, ok) }
	operatorOption := func(x any) bool { _, ok := x.(arkflow.OperatorOption); return is(nil, ok) }
	sourceOption := func(x any) bool { _, ok := x.(arkflow.SourceOption); return is(nil, ok) }
	sinkOption := func(x any) bool { _, ok := x.(arkflow.SinkOption); return is(nil, ok) }
	timeOption := func(x any) bool { _, ok := x.(arkflow.TimeOption); return is(nil, ok) }
	assert.True(t, operatorOption(node) && sourceOption(node) && sinkOption(node))
	assert.False(t, jobOption(node) || timeOption(node))
	assert.True(t, jobOption(job))
	assert.False(t, operatorOption(job) || sourceOption(job) || sinkOption(job) || timeOption(job))
	assert.True(t, timeOption(timed))
	assert.False(t, jobOption(timed) || operatorOption(timed) || sourceOption(timed) || sinkOption(timed))
}

func TestB1_identifiers(t *testing.T) {
	for _, id := range []string{"", "a b", "ä", "a/b", strings.Repeat("x", 129), "\x001"} {
		j := arkflow.NewJob("job")
		s := j.Source(id, memory.Of([]order{}), arkflow.ProcessingTime())
		at := here(-1)
		s.Sink("out", drop.Sink{})
		got := messages(t, j.Err())
		require.Len(t, got, 1, "%q", id)
		assert.Contains(t, got[0], "operator ID")
		assert.Contains(t, got[0], "("+at+")")
		require.Len(t, messages(t, compileErr(j)), 1, "%q", id)
	}
	j := arkflow.NewJob("job")
	j.Source(strings.Repeat("x", 128), memory.Of([]order{}), arkflow.ProcessingTime()).Sink("A-z_09", drop.Sink{})
	require.NoError(t, j.Err())
}

func compileErr(j *arkflow.Job) error {
	_, err := j.Compile()
	return err
}

func TestB2_timePoliciesAreInThePlan(t *testing.T) {
	for text, p := range map[string]arkflow.TimePolicy{
		"event time ts, out of order by up to 0s": arkflow.EventTime("ts"),
		"ingestion time":  arkflow.IngestionTime(),
		"processing time": arkflow.ProcessingTime(),
	} {
		j := arkflow.NewJob("job")
		j.Source("in", memory.Of([]order{}), p).Sink("out", drop.Sink{})
		plan, err := j.Compile()
		require.NoError(t, err)
		assert.Contains(t, plan.Explain(), "in [source memory] "+text+"\n")
	}
	j := arkflow.NewJob("job")
	j.Source("a", memory.Of([]order{}), arkflow.EventTime("tss", arkflow.OutOfOrderness(time.Second))).Sink("out-a", drop.Sink{})
	j.Source("b", memory.Of([]order{}), arkflow.EventTime("customer_id")).Sink("out-b", drop.Sink{})
	j.Source("c", memory.Of([]order{}), arkflow.EventTime("ts", arkflow.OutOfOrderness(-1), nil)).Sink("out-c", drop.Sink{})
	at := here(-3)
	got := messages(t, compileErr(j))
	require.Len(t, got, 3)
	assert.Contains(t, got[0]+got[1]+got[2], `operator "a": time.timestamp_field: no column "tss"; did you mean "ts"? (`+at+`)`)
	assert.Contains(t, got[0]+got[1]+got[2], `operator "b": time.timestamp_field: column "customer_id" is utf8`)
	assert.Contains(t, got[0]+got[1]+got[2], `operator "c": time.out_of_orderness: -1ns is negative`)
}

func TestB3_nothingIsAFaultAndNoPanic(t *testing.T) {
	var zero arkflow.Job
	zero.Source("in", memory.Of([]order{}), arkflow.ProcessingTime()).Sink("out", drop.Sink{})
	require.ErrorContains(t, zero.Run(t.Context()), "job name is empty")
	var none *arkflow.Job
	none.Source("in", memory.Of([]order{}), arkflow.ProcessingTime()).Sink("out", drop.Sink{})
	require.ErrorContains(t, none.Run(t.Context()), "the job is nil")
	job := arkflow.NewJob("job")
	job.Source("in", memory.Of([]order{}), arkflow.ProcessingTime()).Sink("out", drop.Sink{})
	var noContext context.Context
	require.ErrorContains(t, job.Run(noContext), "the context is nil")
}

func TestB3_faultsComeTogetherWithTheirPlace(t *testing.T) {
	j := arkflow.NewJob("bad name", arkflow.Parallelism(0), nil)
	at := here(-1)
	in := j.Source("in", memory.Of([]order{}), arkflow.ProcessingTime())
	in.Filter("typo", expr.Col("amuont").Gt(1)).Sink("o1", drop.Sink{})
	typo := here(-1)
	in.Filter("typo", amount.Gt(1)).Sink("o2", drop.Sink{})
	twice := here(-1)
	in.Apply("nothing", nil).Sink("o3", drop.Sink{})
	in.Filter("dangling", amount.Gt(1))
	dangling := here(-1)
	in.KeyBy().Window("w", window.Tumbling(time.Minute), window.Count()).Sink("o4", drop.Sink{})
	in.Sink("o5", nil, arkflow.Tasks(0), nil)
	j.Source("none", nil, arkflow.ProcessingTime()).Sink("o6", drop.Sink{})
	in.Drop("gone", "statsu").With(arkflow.Tasks(1000)).Sink("o7", drop.Sink{})

	want := []string{
		`job name "bad name" is not allowed; use 1 to 128 of A-Z a-z 0-9 _ - (` + at + `)`,
		`parallelism: 0 is out of range; give 1 or more (` + at + `)`,
		`operator "typo": the ID is used twice; the first is at ` + typo + `; choose another ID (` + twice + `)`,
		`operator "nothing": the operator is nil; give one, such as operator.Map(fn)`,
		`operator "dangling": nobody reads its rows; end the stream in a Sink (connectors/drop throws rows away), or remove it (` + dangling + `)`,
		`key: KeyBy over "in" has no columns; name one or more key columns`,
		`operator "o5": the sink is nil`,
		`operator "o5": parallelism: 0 is out of range`,
		`operator "none": the source is nil`,
		`operator "gone": parallelism: 1000 is more than max_parallelism, which is 128`,
	}
	got := strings.Join(messages(t, j.Err()), "\n")
	for _, w := range want {
		assert.Contains(t, got, w)
	}
	assert.Len(t, messages(t, j.Err()), len(want), "%s", got)

	deep := strings.Join(messages(t, compileErr(j)), "\n")
	assert.Contains(t, deep, `no column "amuont"; did you mean "amount"? (`+typo+`)`)
	assert.Len(t, messages(t, compileErr(j)), len(want)+1, "%s", deep)
	var f *arkflow.Fault
	require.ErrorAs(t, compileErr(j), &f)
}

func TestB3_theBuilderNeverPanics(t *testing.T) {
	var none *arkflow.Job
	require.EqualError(t, none.Err(), "the job is nil; begin one with arkflow.NewJob")
	require.Error(t, compileErr(none))
	assert.Empty(t, none.Name())
	var zero arkflow.Stream
	for _, s := range []arkflow.Stream{zero, none.Source("in", nil, arkflow.ProcessingTime())} {
		s.Filter("a", nil).Select("b", nil, 5).Rename("c", nil).Drop("d").Apply("e", nil, s).With(nil, arkflow.Tasks(1)).Sink("f", nil)
		w := s.KeyBy().Window("w", window.Assigner{})
		w.With(nil).Late().Sink("g", nil)
		arkflow.KeyedStream{}.Apply("x", nil, arkflow.KeyedStream{}).Sink("h", nil)
	}
	j := arkflow.NewJob("job", arkflow.Parallelism(2))
	s := orders(j)
	s.Filter("a", nil).Select("b", nil, 5).Rename("c", nil).Drop("d").Apply("e", nil, zero).With(nil).Sink("f", nil, nil)
	s.Filter("a2", expr.Expr{}).Sink("f2", drop.Sink{})
	s.Select("b2", 5).Sink("f3", drop.Sink{})
	s.KeyBy("").Window("w", window.Assigner{}).Late().Sink("g", (*memory.Sink)(nil))
	other := arkflow.NewJob("other")
	s.Apply("mixed", operator.Drop("ts"), orders(other)).Sink("f4", drop.Sink{})
	err := compileErr(j)
	got := strings.Join(messages(t, err), "\n")
	assert.Contains(t, got, `operator "mixed": input 1 is a stream of another job, "other"; streams cannot be mixed over jobs`)
	assert.Contains(t, got, `operator "e": input 1 is the zero Stream`)
	assert.Contains(t, got, `operator "g": the sink is nil`)
	assert.Contains(t, got, `operator "w": key: a key column has no name`)
}

func TestB3_checkpointIntervalAndMaxParallelism(t *testing.T) {
	j := arkflow.NewJob("job", arkflow.CheckpointEvery(0), arkflow.MaxParallelism(40000))
	orders(j).Sink("out", drop.Sink{})
	assert.Equal(t, []string{
		`checkpoint.interval_ms: 0s is too short; give 1ms or more (` + here(-3) + `)`,
		`max_parallelism: 40000 is out of range; give 1 to 32768 (` + here(-4) + `)`,
	}, messages(t, j.Err()))
}

func TestB3_lateOfAnythingButAWindowDoesNotExist(t *testing.T) {
	j := arkflow.NewJob("job")
	w := arkflow.Windowed{Stream: orders(j)}
	w.Sink("out", drop.Sink{})
	w.Late().Sink("late", drop.Sink{})
	assert.Contains(t, compileErr(j).Error(), `operator "late": edge "orders" -> "late": "orders" has no output port 1`)
}

func TestB6_compileLeavesNoTrace(t *testing.T) {
	dir := t.TempDir()
	j := arkflow.NewJob("job")
	in := file.Source{URL: filepath.Join(dir, "none", "*.jsonl"), Format: codec.JSONOf[order]()}
	j.Source("in", in, arkflow.EventTime("ts")).Sink("out", file.Sink{URL: filepath.Join(dir, "out.jsonl")})
	_, err := j.Compile()
	require.NoError(t, err)
	left, err := os.ReadDir(dir)
	require.NoError(t, err)
	assert.Empty(t, left)
}

func TestB6_faultsOfComponentsComeFromCompile(t *testing.T) {
	j := arkflow.NewJob("job")
	j.Source("in", memory.Of([]order{}).InSplits(0), arkflow.ProcessingTime()).Sink("out", drop.Sink{})
	assert.Contains(t, compileErr(j).Error(), `operator "in": splits: 0 splits`)
}

// A job is only read once it is built: it compiles from many goroutines at once.
func TestB10_aJobCompilesManyTimesAtOnce(t *testing.T) {
	j := rollup(arkflow.Parallelism(3))
	want, err := j.Compile()
	require.NoError(t, err)
	var wg sync.WaitGroup
	texts, errs := make([]string, 8), make([]error, 8)
	for i := range texts {
		wg.Go(func() {
			p, err := j.Compile()
			if err == nil {
				texts[i] = p.Explain()
			}
			_, specErr := j.Spec()
			errs[i] = errors.Join(err, j.Err(), specErr)
		})
	}
	wg.Wait()
	for i := range texts {
		assert.Equal(t, want.Explain(), texts[i])
		require.ErrorContains(t, errs[i], "rows that are given in Go cannot be written in a spec")
		assert.NotContains(t, errs[i].Error(), "nobody")
	}
}

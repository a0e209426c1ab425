package arkflowtest_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"github.com/arkflow-go/arkflow"
	. "github.com/arkflow-go/arkflow/arkflowtest"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/connectors/file"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/window"
	"github.com/stretchr/testify/require"
)

type event struct {
	Key string `arkflow:"key"`
	TS  int64  `arkflow:"ts"`
	N   int64  `arkflow:"n"`
}

type counted struct {
	Key   string    `arkflow:"key"`
	Start time.Time `arkflow:"window_start"`
	End   time.Time `arkflow:"window_end"`
	Rows  int64     `arkflow:"rows"`
	Sum   int64     `arkflow:"sum"`
}

func ms(v int64) time.Time { return time.UnixMilli(v).UTC() }

// tumble is: rows with n > 0, per key and 10 ms, with late rows to a sink of their own.
func tumble(d time.Duration, opts ...arkflow.TimeOption) *arkflow.Job {
	job := arkflow.NewJob("tumble")
	w := job.Source("in", memory.Of[event](), arkflow.EventTime("ts", append([]arkflow.TimeOption{arkflow.OutOfOrderness(d)}, opts...)...)).
		Filter("positive", expr.Col("n").Gt(expr.Lit(int64(0)))).
		KeyBy("key").
		Window("w", window.Tumbling(10*time.Millisecond), window.Count().As("rows"), window.Sum("n").As("sum"))
	w.Sink("out", drop.Sink{})
	w.Late().Sink("late", drop.Sink{})
	return job
}

func TestRunCollectsWhatSinksGet(t *testing.T) {
	r := Run(t, tumble(0),
		From("in", Rows(event{"a", 1, 2}, event{"b", 3, 1}, event{"a", 2, 5}, event{"a", 15, 1}, event{"a", 4, 1}, event{"b", 16, -1})),
		Want("out", counted{"a", ms(0), ms(10), 2, 7}, counted{"b", ms(0), ms(10), 1, 1}, counted{"a", ms(10), ms(20), 1, 1}),
		Want("late", event{"a", 4, 1}),
		Counts("w", "out", "rows"))
	require.Equal(t, arkflow.Finished, r.Status().State)
	require.ElementsMatch(t, []string{"out", "late"}, r.Sinks())
	require.Equal(t, []event{{"a", 4, 1}}, RowsOf[event](t, r, "late"))
	require.Equal(t, []Row{{"key": "a", "ts": int64(4), "n": int64(1)}}, r.Rows("late"))
	require.Equal(t, []string{`key="a" ts=4 n=1`}, r.Lines("late"))
	require.Len(t, r.Snapshots(), 1, "the final epoch")
}

func TestVerifyRunsEveryRegime(t *testing.T) {
	Verify(t, tumble(5*time.Millisecond),
		From("in",
			Rows(event{"a", 1, 2}, event{"b", 3, 1}, event{"a", 7, 5}, event{"a", 15, 1}, event{"a", 4, 1}),
			Rows(event{"a", 2, 2}, event{"b", 30, 1}, event{"b", 29, 5}, event{"a", 19, 1})),
		Want("out", counted{"a", ms(0), ms(10), 3, 9}, counted{"b", ms(0), ms(10), 1, 1}, counted{"a", ms(10), ms(20), 1, 1}, counted{"b", ms(20), ms(30), 1, 5},
			counted{"b", ms(30), ms(40), 1, 1}),
		Want("late", event{"a", 4, 1}, event{"a", 19, 1}),
		Counts("w", "out", "rows"))
}

func TestFaultsEndTheJobWithTheirError(t *testing.T) {
	boom := errors.New("boom")
	input := From("in", Rows(event{"a", 1, 2}, event{"b", 3, 1}, event{"a", 25, 5}))
	for name, c := range map[string]struct {
		opts []Option
		text string
	}{
		"poll":    {[]Option{FailPoll("in", 2, boom)}, `operator "in"`},
		"script":  {[]Option{Sinks("out")}, ""},
		"open":    {[]Option{FailOpen("out", 1, boom)}, `open sink`},
		"source":  {[]Option{FailOpen("in", 1, boom)}, `open split "split-000"`},
		"write":   {[]Option{FailWrite("out", 2, boom)}, `operator "out"`},
		"prepare": {[]Option{FailPrepare("late", 1, boom)}, `prepare epoch 1`},
		"commit":  {[]Option{FailCommit("out", 1, boom)}, `commit of epoch 1`},
		"flush":   {[]Option{AtLeastOnce(), FailFlush("out", 1, boom)}, `flush at epoch 1`},
		"close":   {[]Option{FailClose("out", 1, boom)}, `close`},
		"seal":    {[]Option{FailSeal(1, boom)}, `seal`},
		"panic":   {[]Option{FailWrite("out", 1, Panic("boom"))}, `panic: boom`},
	} {
		t.Run(name, func(t *testing.T) {
			r, err := Try(t.Context(), tumble(0), append(c.opts, input, NoLeaks(), Parallelism(1))...)
			if c.text == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.text)
			require.ErrorContains(t, err, "boom")
			require.Equal(t, err, r.Err())
			if name != "commit" && name != "close" {
				require.Empty(t, r.Rows("out"))
			}
		})
	}
}

func TestOptionsThatCannotWorkAreErrors(t *testing.T) {
	job := tumble(0)
	for name, c := range map[string]struct {
		opts []Option
		text string
	}{
		"source":      {[]Option{From("inn", Rows(event{}))}, `no source "inn"`},
		"twice":       {[]Option{From("in"), From("in")}, `given twice`},
		"sink":        {[]Option{From("in"), Sinks("oot")}, `no sink "oot"`},
		"want":        {[]Option{From("in"), Want("oot", event{})}, `no sink "oot"`},
		"gate":        {[]Option{From("in"), Gated("oot", &Gate{})}, `no sink "oot"`},
		"batch":       {[]Option{BatchRows(0)}, `batches of 0`},
		"parallelism": {[]Option{Parallelism(0)}, `parallelism 0`},
		"links":       {[]Option{LinkBatches(0)}, `links of 0`},
		"timeout":     {[]Option{Timeout(0)}, `not positive`},
		"every":       {[]Option{CheckpointEvery(0)}, `checkpoints every`},
		"restore":     {[]Option{Restore(nil)}, `no snapshot`},
		"schemas":     {[]Option{From("in", Rows(event{}), Rows(struct{ X int }{}))}, `another schema`},
		"columns":     {[]Option{From("in", Rows(struct{ X int }{}))}, `"ts"`},
		"value":       {[]Option{From("in", Rows(Row{"key": 5}))}, `row 0, column "key"`},
		"column":      {[]Option{From("in", Rows(Row{"kay": "x"}))}, `no column "kay"`},
		"wants":       {[]Option{From("in"), Want("out", struct{ F func() }{})}, `want of sink "out"`},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Try(t.Context(), job, c.opts...)
			require.ErrorContains(t, err, c.text)
		})
	}
}

// A source whose name is misspelled in From would be opened as the job has it: the name is what must be told, not what came of it.
func TestAWrongNameIsToldBeforeAnythingIsOpened(t *testing.T) {
	job := arkflow.NewJob("names")
	job.Source("in", file.Source{URL: filepath.Join(t.TempDir(), "none.jsonl"), Format: codec.JSONOf[event]()}, arkflow.EventTime("ts")).
		Sink("out", drop.Sink{})
	_, err := Try(t.Context(), job, From("inn", Rows(event{"a", 1, 2})))
	require.ErrorContains(t, err, `the job has no source "inn"`)
}

func TestWrongResultsAreShownAsADiff(t *testing.T) {
	_, err := Try(t.Context(), tumble(0), From("in", Rows(event{"a", 1, 2})),
		Want("out", counted{"a", ms(0), ms(10), 1, 3}, counted{"zz", ms(20), ms(30), 5, 5}))
	require.EqualError(t, err, `sink "out" does not hold what it should:
2 rows wanted, 1 there: 2 missing (-), 1 unexpected (+)
- key="a" window_start=1970-01-01T00:00:00Z window_end=1970-01-01T00:00:00.01Z rows=1 sum=3
+ key="a" window_start=1970-01-01T00:00:00Z window_end=1970-01-01T00:00:00.01Z rows=1 sum=2
- key="zz" window_start=1970-01-01T00:00:00.02Z window_end=1970-01-01T00:00:00.03Z rows=5 sum=5
`)
}

func TestAJobThatCannotMoveFailsAtOnceWithItsTasks(t *testing.T) {
	job := arkflow.NewJob("stuck")
	job.Source("in", memory.Of[event](), arkflow.ProcessingTime()).
		Apply("wait", blocking{}).
		Sink("out", drop.Sink{})
	begin := time.Now()
	_, err := Try(t.Context(), job, From("in", Rows(event{"a", 1, 2})), Timeout(200*time.Millisecond))
	var stuck *StuckError
	require.ErrorAs(t, err, &stuck)
	require.Contains(t, stuck.Tasks, "task in/0")
	require.Less(t, time.Since(begin), 30*time.Second)
}

// blocking never gives anything back until its task ends.
type blocking struct{}

func (blocking) Kind() string                                      { return "blocking" }
func (blocking) Bind(in []operator.Stream) (operator.Bound, error) { return blockingBound{in[0]}, nil }

type blockingBound struct{ in operator.Stream }

func (b blockingBound) Outputs() []operator.Stream { return []operator.Stream{b.in} }
func (b blockingBound) New(ctx *operator.Context) (operator.Instance, error) {
	return &blockingInstance{ctx}, nil
}

type blockingInstance struct{ ctx *operator.Context }

func (b *blockingInstance) Process(int, *column.Batch, operator.Output) error {
	<-b.ctx.Done()
	return b.ctx.Err()
}

package golden

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/arkflow-go/arkflow"
	. "github.com/arkflow-go/arkflow/arkflowtest"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/state"
	"github.com/arkflow-go/arkflow/window"
	"github.com/stretchr/testify/require"
)

// probe hands rows and watermarks on and refuses a row behind the watermark that its own split did not make late.
type probe struct {
	rows *atomic.Int64
	in   []operator.Stream
}

func (probe) Kind() string { return "probe" }
func (p probe) Bind(in []operator.Stream) (operator.Bound, error) {
	return probe{p.rows, in}, nil
}
func (p probe) Outputs() []operator.Stream { return p.in }
func (p probe) New(*operator.Context) (operator.Instance, error) {
	return &probing{rows: p.rows, w: operator.MinWatermark}, nil
}

type probing struct {
	rows *atomic.Int64
	w    int64
}

func (p *probing) Process(_ int, b *column.Batch, out operator.Output) error {
	late := map[int]bool{}
	for _, l := range b.Late {
		late[int(l.Row)] = true
	}
	for i := range b.Len() {
		row := i
		if b.Sel != nil {
			row = int(b.Sel[i])
		}
		if b.Times[row] < p.w && !late[row] {
			return fmt.Errorf("row of %d behind the watermark %d", b.Times[row], p.w)
		}
		p.rows.Add(1)
	}
	return out.Emit(operator.Main, b)
}

func (p *probing) OnWatermark(w int64, _ operator.Output) (int64, error) {
	if w < p.w {
		return w, fmt.Errorf("watermark %d after %d", w, p.w)
	}
	p.w = w
	return w, nil
}
func (*probing) StateSize() (entries, bytes int64) { return 0, 0 }
func (*probing) Snapshot(state.Writer) error       { return nil }
func (*probing) Restore(state.Reader) error        { return nil }

// T7: no row comes after a watermark that says that it has been seen, behind a source, a chain, an exchange, a window, a window of slides
// and a union; and no watermark goes back.
func TestT7NoRowComesBehindTheWatermarkThatPromisesIt(t *testing.T) {
	var rows atomic.Int64
	look := func(s arkflow.Stream, id string) arkflow.Stream { return s.Apply(id, probe{rows: &rows}) }
	job := arkflow.NewJob("order")
	src := look(job.Source("orders", source(orderSchema), arkflow.EventTime("ts", arkflow.OutOfOrderness(30*msec))), "read").
		Filter("paid", expr.Col("status").Eq("paid"))
	first := look(src.KeyBy("customer").Window("first", window.Tumbling(20*msec), window.Count().As("rows")).Stream, "fired")
	second := look(first.KeyBy("rows").Window("second", window.Sliding(60*msec, 20*msec), window.Count().As("n")).Stream, "slid")
	second.Sink("out", drop.Sink{})
	look(first.Union("both", first.Filter("some", expr.Col("rows").Gt(1))), "all").
		KeyBy("customer").Window("third", window.Tumbling(40*msec), window.Sum("rows").As("rows")).Sink("totals", drop.Sink{})
	in := orders(120, 3, 12, 120, 71)
	Verify(t, job, in.from("orders"))
	require.NotZero(t, rows.Load())
}

// T8: a watermark is in the snapshot of each operator; a restored one that is lower does not count.
func TestT8AWatermarkIsRestoredAndALowerOneIsIgnored(t *testing.T) {
	script := func(then ...Split) Option {
		return From("in", Script(append([]Split{at("a", 3), WatermarkAt(16), Checkpoint()}, then...)...))
	}
	for _, p := range []int{1, 2} {
		r := Run(t, tens(0), script(Open()), Parallelism(p), EndBy(Stop))
		j := Start(t, tens(0), script(Open()), Parallelism(p), Restore(r.Snapshots()[0]))
		j.Settle()
		w := func() (all []int64) {
			for _, id := range []string{"in", "w"} {
				o := j.Status().Operator(id)
				require.True(t, o.HasWatermark, id)
				all = append(all, o.Watermark)
			}
			return all
		}
		require.Equal(t, []int64{16, 16}, w())
		j.Send("in", Script(WatermarkAt(12), at("a", 9)))
		j.Settle()
		require.Equal(t, []int64{16, 16}, w(), "12 is lower")
		require.Equal(t, int64(1), j.Status().Operator("w").Late, "[0,10) had fired")
		j.Send("in", WatermarkAt(17))
		j.Settle()
		require.Equal(t, []int64{17, 17}, w())
		j.Cancel()
	}
}

// T6: the timer of a silent split runs while it is polled and empty, and not while MaxRate, an alignment or a barrier holds its task.
func TestT6TheIdleTimerRunsOnlyWhileASplitIsPolled(t *testing.T) {
	start := func(t *testing.T, opts ...arkflow.SourceOption) *Running {
		job := arkflow.NewJob("idle")
		job.Source("in", source(keyed), arkflow.EventTime("ts", arkflow.IdleTimeout(time.Minute)), append(opts, arkflow.Tasks(1))...).
			KeyBy("k").Window("w", window.Tumbling(10*msec), window.Count().As("rows")).Sink("out", drop.Sink{})
		return Start(t, job, From("in", at("a", 1), Split{}))
	}
	t.Run("polled", func(t *testing.T) {
		j := start(t)
		j.SendTo("in", 1, at("b", 50))
		j.Settle()
		j.Advance(59 * time.Second)
		j.SendTo("in", 1, at("b", 51))
		j.Settle()
		require.Empty(t, j.Written("out"), "59 s are less than a minute")
		j.Advance(2 * time.Second)
		require.Len(t, j.Written("out"), 1, "split 0 is idle")
		j.Cancel()
	})
	t.Run("held by MaxRate", func(t *testing.T) {
		j := start(t, arkflow.MaxRate(1))
		j.Advance(2 * time.Second)
		j.Settle()
		many := make([]int64, 300)
		for i := range many {
			many[i] = 50 + int64(i)
		}
		j.SendTo("in", 1, at("b", many...))
		j.Settle()
		j.Advance(4 * time.Minute) // the batch of 300 rows holds the source for five minutes
		j.Settle()
		require.Empty(t, j.Written("out"), "split 0 was not polled")
		j.Send("in", at("a", 3))
		j.SendTo("in", 1, at("b", 400))
		j.Advance(70 * time.Second)
		j.EndInput("in")
		j.Settle()
		for range 10 {
			j.Advance(time.Minute)
		}
		require.Zero(t, j.Wait().Status().Operator("w").Late)
	})
}

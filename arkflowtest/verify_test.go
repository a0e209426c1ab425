package arkflowtest

import (
	"strings"
	"testing"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/state"
	"github.com/stretchr/testify/require"
)

type number struct {
	N int64 `arkflow:"n"`
}

// job applies an operator of a few wrong ones to numbers.
func job(op operator.Operator) *arkflow.Job {
	j := arkflow.NewJob("wrong")
	j.Source("in", memory.Of[number](), arkflow.ProcessingTime()).Apply("op", op).Sink("out", drop.Sink{})
	return j
}

var input = From("in", Rows(number{1}, number{2}, number{3}, number{4}), Rows(number{5}, number{6}))

// found gives what Verify says of an operator in one of its ways, of which it takes some alone under the race detector, others each time.
func found(t *testing.T, op operator.Operator, way string) (said string) {
	for range 100 {
		if said = failing(t, func(t TB) { Verify(t, job(op), input) }); strings.Contains(said, way) {
			break
		}
	}
	require.Contains(t, said, way)
	return said
}

func TestVerifyFindsAnOperatorThatDependsOnBatches(t *testing.T) {
	said := found(t, firstOfEach{"first"}, "batches of 1, parallelism 1")
	require.Contains(t, said, `sink "out" differs`)
}

func TestVerifyFindsAnOperatorThatForgetsItsState(t *testing.T) {
	said := found(t, forgetful{}, "restore after every row, parallelism 1")
	require.Contains(t, said, "restored from epoch 1 of")
	said = failing(t, func(t TB) { EveryRestore(t, job(forgetful{}), input) })
	require.Contains(t, said, "restored from epoch")
}

func TestRunFindsALeak(t *testing.T) {
	said := failing(t, func(t TB) { Run(t, job(leaking{}), input) })
	require.Contains(t, said, "was not returned")
}

func TestRunFindsARowThatIsNotAccountedFor(t *testing.T) {
	said := failing(t, func(t TB) { Run(t, job(firstOfEach{"filter"}), input) })
	require.Contains(t, said, `operator "op" read 6, wrote 2 and dropped 0`)
}

func TestAsyncFailuresOfALiveJobFailItsTest(t *testing.T) {
	said := failing(t, func(t TB) {
		j := Start(t, job(firstOfEach{"first"}), input, FailWrite("out", 1, failed("boom")))
		j.Settle()
		j.Wait()
	})
	require.Contains(t, said, "boom")
	require.Contains(t, failing(t, func(t TB) {
		j := Start(t, job(firstOfEach{"first"}), input)
		defer j.Cancel()
		j.Send("in", Rows(struct{ X int }{1}))
	}), "another schema")
	require.Contains(t, failing(t, func(t TB) {
		j := Start(t, job(firstOfEach{"first"}), input)
		defer j.Cancel()
		j.SendTo("in", 9, Rows(number{1}))
	}), "no scripted split 9")
	require.Contains(t, failing(t, func(t TB) {
		j := Start(t, job(firstOfEach{"first"}), input)
		defer j.Cancel()
		j.Send("in", WatermarkAt(5))
	}), "begin it with a WatermarkAt")
}

type failed string

func (c failed) Error() string { return string(c) }

// same is an operator of one input and one output of the same rows.
type same struct {
	in  operator.Stream
	new func(*operator.Context) operator.Instance
}

func (o same) Outputs() []operator.Stream { return []operator.Stream{o.in} }
func (o same) New(ctx *operator.Context) (operator.Instance, error) {
	return o.new(ctx), nil
}

// firstOfEach keeps the first row of each batch.
type firstOfEach struct{ kind string }

func (f firstOfEach) Kind() string { return f.kind }
func (f firstOfEach) Bind(in []operator.Stream) (operator.Bound, error) {
	return same{in[0], func(*operator.Context) operator.Instance { return f }}, nil
}
func (f firstOfEach) Process(_ int, b *column.Batch, out operator.Output) error {
	d := b.Slice(0, 1)
	defer d.Release()
	return out.Emit(operator.Main, d)
}

// forgetful holds rows until the end of input and saves nothing.
type forgetful struct{}

func (forgetful) Kind() string { return "forgetful" }
func (forgetful) Bind(in []operator.Stream) (operator.Bound, error) {
	return same{in[0], func(ctx *operator.Context) operator.Instance {
		return &forgetfulTask{rows: column.NewBuilder(ctx.Pool, in[0].Schema)}
	}}, nil
}

type forgetfulTask struct{ rows *column.Builder }

func (f *forgetfulTask) Process(_ int, b *column.Batch, _ operator.Output) error {
	f.rows.AppendRows(b, nil)
	return nil
}

func (f *forgetfulTask) OnDrain(out operator.Output) error {
	d := f.rows.Finish()
	defer d.Release()
	return out.Emit(operator.Main, d)
}

func (f *forgetfulTask) Snapshot(state.Writer) error { return nil }
func (f *forgetfulTask) Restore(state.Reader) error  { return nil }

// leaking gives no batch back.
type leaking struct{}

func (leaking) Kind() string { return "leaking" }
func (leaking) Bind(in []operator.Stream) (operator.Bound, error) {
	return same{in[0], func(*operator.Context) operator.Instance { return leaking{} }}, nil
}
func (leaking) Process(_ int, b *column.Batch, out operator.Output) error {
	return out.Emit(operator.Main, b.Derive())
}

func TestAJobThatNothingMovesFailsAtOnceWithTheStateOfItsTasks(t *testing.T) {
	begin := time.Now()
	said := failing(t, func(t TB) { Start(t, job(firstOfEach{"first"}), input, Parallelism(2)).Wait() }) // nobody has ended its input
	require.Contains(t, said, "the job cannot move any more: its scripts are over and it has not ended")
	require.Contains(t, said, "task in/1: waiting for input\n  in: in 2, out 2, watermark none\n  op: in 2, out 1, watermark none")
	require.Less(t, time.Since(begin), DefaultTimeout/2)
}

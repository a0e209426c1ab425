package golden

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/arkflow-go/arkflow"
	. "github.com/arkflow-go/arkflow/arkflowtest"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/window"
	"github.com/stretchr/testify/require"
)

// B91: while a barrier is waited for on one input, the other, at full speed, is held back by what the links take, for as long as it lasts; the timeout of
// the epoch lets it go on, and no row is missing.
func TestB91AlignmentHoldsTheFastInputBack(t *testing.T) {
	type numbered struct {
		N int64 `arkflow:"n"`
	}
	const rows = 2000
	synctest.Test(t, func(t *testing.T) {
		gate := make(chan struct{})
		job := arkflow.NewJob("align")
		slow := job.Source("slow", memory.Of[numbered](), arkflow.ProcessingTime()).
			Apply("wait", operator.Map(func(n numbered) numbered { <-gate; return n }))
		job.Source("fast", memory.Of[numbered](), arkflow.ProcessingTime()).Union("both", slow).
			KeyBy("n").Window("w", window.Tumbling(time.Hour), window.Count().As("rows")).Sink("out", drop.Sink{})
		j := Start(t, job, From("slow", Rows(numbered{-1})), From("fast", Rows[numbered]()), BatchRows(1), SystemClock())
		synctest.Wait()
		failed := make(chan error, 1)
		go func() {
			_, err := j.Handle().Checkpoint(t.Context())
			failed <- err
		}()
		synctest.Wait()
		var more []numbered
		for n := range int64(rows) {
			more = append(more, numbered{n})
		}
		j.Send("fast", Rows(more...))
		synctest.Wait()
		read, memory := j.Status().Operator("fast").RowsOut, j.Status().Memory
		require.LessOrEqual(t, read, int64(16), "a link holds 8 batches")
		time.Sleep(time.Minute)
		synctest.Wait()
		require.Equal(t, read, j.Status().Operator("fast").RowsOut)
		require.Equal(t, memory, j.Status().Memory)
		require.Empty(t, failed)
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		require.ErrorContains(t, <-failed, "timed out")
		require.EqualValues(t, rows, j.Status().Operator("fast").RowsOut)
		close(gate)
		require.Len(t, j.Drain().Rows("out"), rows+1)
	})
}

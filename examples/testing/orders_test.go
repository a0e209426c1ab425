package main

import (
	"errors"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/arkflow-go/arkflow/arkflowtest"
)

// Total is a row of the sink "out".
type Total struct {
	Customer string    `arkflow:"customer_id"`
	Start    time.Time `arkflow:"window_start"`
	End      time.Time `arkflow:"window_end"`
	Orders   int64     `arkflow:"orders"`
	Total    float64   `arkflow:"total"`
}

func at(seconds int) time.Time { return time.Unix(int64(seconds), 0).UTC() }

func total(customer string, minute, orders int, sum float64) Total {
	return Total{customer, at(60 * minute), at(60*minute + 60), int64(orders), sum}
}

// TestPaidOrdersAreSummedByMinute runs the job in all the ways that must not matter: batch sizes, parallelism, polling
// order, an epoch and a restore after every row.
func TestPaidOrdersAreSummedByMinute(t *testing.T) {
	arkflowtest.Verify(t, newJob("unused", "unused"),
		arkflowtest.From("orders",
			arkflowtest.Rows(
				Order{"ada", "paid", 10, at(5)},
				Order{"bob", "open", 99, at(6)},
				Order{"ada", "paid", 2.5, at(59)},
				Order{"bob", "paid", 1, at(62)}),
			arkflowtest.Rows(
				Order{"ada", "paid", 4, at(61)},
				Order{"ada", "paid", 7, at(60)})), // a second behind the row before: on time
		arkflowtest.Want("out", total("ada", 0, 2, 12.5), total("ada", 1, 2, 11), total("bob", 1, 1, 1)),
		arkflowtest.Want[Order]("late"))
}

func TestALateOrderGoesToItsOwnSink(t *testing.T) {
	late := Order{"ada", "paid", 5, at(59)}
	arkflowtest.Verify(t, newJob("unused", "unused"),
		arkflowtest.From("orders", arkflowtest.Rows(
			Order{"ada", "paid", 10, at(5)},
			Order{"ada", "paid", 20, at(63)}, // more than 2 s after the end of the minute
			late)),
		arkflowtest.Want("out", total("ada", 0, 1, 10), total("ada", 1, 1, 20)),
		arkflowtest.Want("late", late))
}

func TestAFailingSinkFailsTheJob(t *testing.T) {
	full := errors.New("no space left on device")
	_, err := arkflowtest.Try(t.Context(), newJob("unused", "unused"),
		arkflowtest.From("orders", arkflowtest.Rows(Order{"ada", "paid", 10, at(5)})),
		arkflowtest.FailWrite("out", 1, full))
	require.ErrorIs(t, err, full)
	require.ErrorContains(t, err, `operator "out"`)
}

// TestTheReadmeShowsThisJob keeps the example of the README compiling: each of its lines stands in orders.go.
func TestTheReadmeShowsThisJob(t *testing.T) {
	readme, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	shown := regexp.MustCompile("(?s)```go\n(.*?)```").FindSubmatch(readme)
	require.NotNil(t, shown)
	source, err := os.ReadFile("orders.go")
	require.NoError(t, err)
	replace := strings.NewReplacer(`"orders/*.jsonl"`, "in", `"late.jsonl"`, "late")
	for _, line := range strings.Split(string(shown[1]), "\n") {
		line = strings.TrimSpace(replace.Replace(line))
		if line == "" || strings.Contains(line, "job.Run(ctx)") || line == "return err" {
			continue
		}
		assert.Contains(t, string(source), line)
	}
}

package arkflow_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/connectors/drop"
	"github.com/arkflow-go/arkflow/connectors/generate"
	"github.com/arkflow-go/arkflow/connectors/stdout"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/window"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// Whatever is chained compiles or gives faults; it never panics. What compiles is the same job after a way through its spec.
func TestB3B5_anyChainOfVerbs(t *testing.T) {
	compiled := 0
	rapid.Check(t, func(rt *rapid.T) {
		j := anyJob(rt)
		want, err := j.Compile()
		if err != nil {
			require.NotEmpty(rt, err.Error())
			_, err = j.Spec()
			if early := j.Err(); early != nil {
				require.EqualError(rt, err, early.Error())
			}
			return
		}
		compiled++
		require.NoError(rt, j.Err())
		spec, err := j.Spec()
		require.NoError(rt, err)
		text, err := arkflow.FormatSpecs(spec)
		require.NoError(rt, err)
		specs, err := arkflow.LoadSpecs(text)
		require.NoError(rt, err, "%s", text)
		back, err := arkflow.FromSpec(nil, specs[0])
		require.NoError(rt, err, "%s", text)
		got, err := back.Compile()
		require.NoError(rt, err)
		require.Equal(rt, want.Explain(), got.Explain())
		require.Equal(rt, want.DOT(), got.DOT())
	})
	require.Greater(t, compiled, 5, "some of the jobs are right")
}

func anyJob(rt *rapid.T) *arkflow.Job {
	wild := rapid.IntRange(0, 2).Draw(rt, "wild") == 0
	number := func(what string, least, most int) int {
		if wild {
			least, most = least-2, most+200
		}
		return rapid.IntRange(least, most).Draw(rt, what)
	}
	column := func() string {
		names := []string{"ts", "customer_id", "status", "amount"}
		if wild {
			names = append(names, "", "amuont", "window_end", "ü")
		}
		return rapid.SampledFrom(names).Draw(rt, "column")
	}
	n := 0
	id := func() string {
		if n++; wild && rapid.IntRange(0, 9).Draw(rt, "odd") == 0 {
			return rapid.SampledFrom([]string{"", "n1", "a b", "\x00"}).Draw(rt, "id")
		}
		return fmt.Sprintf("n%d", n)
	}
	j := arkflow.NewJob(id(), arkflow.Parallelism(number("parallelism", 1, 3)))
	template := generate.Source{Context: `{"ts": 1, "customer_id": "c", "status": "s", "amount": 1.5}`, Count: 3}
	policies := []arkflow.TimePolicy{arkflow.EventTime("ts"), arkflow.EventTime("ts", arkflow.OutOfOrderness(time.Duration(number("d", 0, 5)))), arkflow.IngestionTime()}
	streams := []arkflow.Stream{j.Source(id(), template, rapid.SampledFrom(policies).Draw(rt, "time"))}
	if wild {
		streams = append(streams, arkflow.Stream{})
	}
	for range rapid.IntRange(0, 6).Draw(rt, "verbs") {
		s := rapid.SampledFrom(streams).Draw(rt, "from")
		switch rapid.IntRange(0, 5).Draw(rt, "verb") {
		case 0:
			s = s.Filter(id(), expr.Col(column()).IsNotNull())
		case 1:
			s = s.Select(id(), "ts", "customer_id", "status", "amount", expr.Col(column()).IsNull().As("null"))
		case 2:
			s = s.Rename(id(), map[string]string{column(): "ren"}).Rename(id(), map[string]string{"ren": column()})
		case 3:
			s = s.Drop(id(), column())
		case 4:
			s.KeyBy(column()).Window(id(), window.Tumbling(time.Duration(number("ms", 1, 9))*time.Millisecond), window.Max(column())).
				With(arkflow.Tasks(number("tasks", 1, 3)), arkflow.OnError(arkflow.Skip())).Sink(id(), drop.Sink{})
		case 5:
			w := s.KeyBy(column()).Window(id(), window.Tumbling(time.Second), window.Count())
			w.Sink(id(), stdout.Sink{}, arkflow.Tasks(number("tasks", 1, 3)))
			s = w.Late()
		}
		streams = append(streams, s)
	}
	for _, s := range streams {
		s.Sink(id(), drop.Sink{})
	}
	return j
}

package guides_test

import (
	"context"
	"fmt"
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/connectors/generate"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/connectors/stdout"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/window"
)

// The programs of docs/time.md and docs/windows.md.

func Example_lateness() {
	type Hit struct {
		Page string    `arkflow:"page"`
		At   time.Time `arkflow:"at"`
	}
	at := func(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }
	hits := []Hit{
		{"home", at(3)},
		{"home", at(14)}, // the watermark is 14 s - 5 s = 9 s
		{"home", at(9)},  // behind by 5 s: on time
		{"home", at(16)}, // the watermark is 11 s: [0 s, 10 s) is over
		{"home", at(4)},  // late for it
	}
	job := arkflow.NewJob("hits")
	perWindow := job.Source("hits", memory.Of(hits), arkflow.EventTime("at", arkflow.OutOfOrderness(5*time.Second))).
		KeyBy("page").
		Window("per-window", window.Tumbling(10*time.Second), window.Count().As("hits"))
	perWindow.Select("results", "page", "window_start", "hits").Sink("out", stdout.Sink{})
	perWindow.Late().Sink("late", stdout.Sink{})
	if err := job.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Unordered output:
	// {"page":"home","window_start":"1970-01-01T00:00:00Z","hits":2}
	// {"page":"home","window_start":"1970-01-01T00:00:10Z","hits":2}
	// {"page":"home","at":"1970-01-01T00:00:04Z"}
}

func Example_corrections() {
	type Bid struct {
		Auction int64     `arkflow:"auction"`
		At      time.Time `arkflow:"at"`
	}
	type Result struct {
		Auction int64     `arkflow:"auction"`
		Start   time.Time `arkflow:"window_start"`
		Bids    int64     `arkflow:"bids"`
		Update  bool      `arkflow:"__arkflow_window_update"`
	}
	at := func(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }
	bids := []Bid{{1, at(7)}, {1, at(15)}, {1, at(8)}, {1, at(90)}}
	one := generate.Func(func(i int64) Bid { return bids[i] }, generate.Count(4), generate.BatchSize(1)) // each row is a batch

	out := memory.NewSink()
	job := arkflow.NewJob("corrections")
	job.Source("bids", one, arkflow.EventTime("at")).
		KeyBy("auction").
		Window("hot", window.Sliding(10*time.Second, 5*time.Second).Lateness(time.Minute), window.Count().As("bids")).
		Sink("out", out)
	if err := job.Run(context.Background()); err != nil {
		fmt.Println(err)
		return
	}
	rows, err := memory.Collect[Result](out)
	if err != nil {
		fmt.Println(err)
		return
	}
	valid := map[int64]int64{} // the last row of each window
	for _, r := range rows {
		fmt.Println(r.Start.Unix(), r.Bids, r.Update)
		valid[r.Start.Unix()] = r.Bids
	}
	fmt.Println(valid)
	// Output:
	// 0 1 false
	// 5 1 false
	// 0 2 true
	// 5 2 true
	// 10 1 false
	// 15 1 false
	// 85 1 false
	// 90 1 false
	// map[0:2 5:2 10:1 15:1 85:1 90:1]
}

func Example_hot() {
	type Bid struct {
		Auction int64     `arkflow:"auction"`
		At      time.Time `arkflow:"at"`
	}
	at := func(seconds int64) time.Time { return time.Unix(seconds, 0).UTC() }
	job := arkflow.NewJob("hot-auctions")
	bids := job.Source("bids", memory.Of([]Bid{{1, at(1)}, {2, at(1)}, {2, at(3)}, {1, at(3)}, {3, at(3)}}), arkflow.EventTime("at"))
	hot := bids.KeyBy("auction").
		Window("count", window.Sliding(4*time.Second, 2*time.Second), window.Count().As("n")).
		Select("counted", "auction", "n", expr.Col("window_end").As("end")).
		KeyBy("end").
		Window("hot", window.Tumbling(2*time.Second), window.ArgMax("n", "auction", "n").As("hot").Ties())
	hot.Select("shown", "end", "hot_auction", "hot_n").Sink("out", stdout.Sink{})
	if err := job.Run(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Unordered output:
	// {"end":"1970-01-01T00:00:02Z","hot_auction":1,"hot_n":1}
	// {"end":"1970-01-01T00:00:02Z","hot_auction":2,"hot_n":1}
	// {"end":"1970-01-01T00:00:04Z","hot_auction":1,"hot_n":2}
	// {"end":"1970-01-01T00:00:04Z","hot_auction":2,"hot_n":2}
	// {"end":"1970-01-01T00:00:06Z","hot_auction":1,"hot_n":1}
	// {"end":"1970-01-01T00:00:06Z","hot_auction":2,"hot_n":1}
	// {"end":"1970-01-01T00:00:06Z","hot_auction":3,"hot_n":1}
}

package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/window"
)

// ysbSuite is the Yahoo Streaming Benchmark: views by campaign over 10 s.
func ysbSuite() []benchmark {
	run := func(name string, n int64, make func(p int, in operator.Source, out operator.Sink) *arkflow.Job, feed func() feed) benchmark {
		return benchmark{name, n, func(ctx context.Context, o options, n int64) (figure, error) {
			f := feed()
			return measureJob(ctx, o, n, false, func(p int, n int64) (*arkflow.Job, *ring, *foldRows) {
				in, out := &ring{feed: f, n: n, splits: p, live: o.live}, ysbFold()
				return make(p, in, out), in, out
			})
		}}
	}
	return []benchmark{
		run("binary", 50_000_000, ysbBinary, func() feed { return newYSBTuples() }),
		run("json", 2_000_000, ysbJSON, func() feed { return newYSBLines() }),
	}
}

func ysbFold() *foldRows {
	return &foldRows{columns: []string{"campaign_id", "window_end", "seen_count", "time_updated"}}
}

// ysbBinary counts tuples of numbers.
func ysbBinary(p int, in operator.Source, out operator.Sink) *arkflow.Job {
	job := arkflow.NewJob("binary", arkflow.Parallelism(p))
	views := job.Source("events", in, arkflow.EventTime("event_time")).
		Filter("views", expr.T("event_type = 0")).
		Select("ad", "ad_id", "event_time")
	count(views.Apply("campaign", ysbJoin(findBytes())), out)
	return job
}

// ysbJSON counts lines of JSON, whose times are texts.
func ysbJSON(p int, in operator.Source, out operator.Sink) *arkflow.Job {
	job := arkflow.NewJob("json", arkflow.Parallelism(p))
	views := job.Source("events", in, arkflow.ProcessingTime()).
		Filter("views", expr.T("event_type = 'view'")).
		Select("ad", "ad_id", expr.T("from_epoch(cast(event_time as int64), 'ms')").As("event_time")).
		Apply("time", operator.WithTimestamps(operator.TimePolicy{Kind: operator.EventTimePolicy, Column: "event_time"}))
	count(views.Apply("campaign", ysbJoin(findTexts())), out)
	return job
}

func count(views arkflow.Stream, out operator.Sink) {
	views.KeyBy("campaign_id").
		Window("count", window.Tumbling(10*time.Second).Unbounded(), window.Count().As("seen_count"), window.Max("event_time").As("time_updated")).
		Sink("out", out)
}

// ysbJoin puts the number of the campaign in the place of the advertisement. find looks a column of these up.
func ysbJoin(find func(ads arrow.Array, campaigns []int64) error) operator.Operator {
	joined := func(in *arrow.Schema) (*arrow.Schema, error) {
		return arrow.NewSchema([]arrow.Field{{Name: "campaign_id", Type: arrow.PrimitiveTypes.Int64}, in.Field(1)}, nil), nil
	}
	return operator.MapBatch(joined, func(in arrow.RecordBatch) (arrow.RecordBatch, error) {
		schema, err := joined(in.Schema())
		if err != nil {
			return nil, err
		}
		found := make([]int64, in.NumRows())
		if err := find(in.Column(0), found); err != nil {
			return nil, err
		}
		data := array.NewData(arrow.PrimitiveTypes.Int64, len(found), []*memory.Buffer{nil, memory.NewBufferBytes(column.BytesOf(found))}, nil, 0, 0)
		defer data.Release()
		campaigns := array.NewInt64Data(data)
		defer campaigns.Release()
		return array.NewRecordBatch(schema, []arrow.Array{campaigns, in.Column(1)}, in.NumRows()), nil
	})
}

// adTable is a hash table of ids, which are random: the low bits of an id are its hash.
type adTable [2048]struct {
	id       [2]uint64
	campaign int64 // and one: 0 is an empty place
}

func newAdTable() *adTable {
	t := &adTable{}
	for ad := range ysbAds {
		id := ysbID(ysbAdID, ad)
		lo, hi := binary.LittleEndian.Uint64(id[:8]), binary.LittleEndian.Uint64(id[8:])
		at := lo % uint64(len(t))
		for t[at].campaign != 0 {
			at = (at + 1) % uint64(len(t))
		}
		t[at].id, t[at].campaign = [2]uint64{lo, hi}, int64(ad/10)+1
	}
	return t
}

// find gives the campaign of an id; -1 where it has none.
func (t *adTable) find(lo, hi uint64) int64 {
	at := lo % uint64(len(t))
	for {
		e := &t[at]
		if e.id[0] == lo && e.id[1] == hi || e.campaign == 0 {
			return e.campaign - 1
		}
		at = (at + 1) % uint64(len(t))
	}
}

// findBytes looks up ids of 128 bits.
func findBytes() func(ads arrow.Array, campaigns []int64) error {
	t := newAdTable()
	return func(ads arrow.Array, campaigns []int64) error {
		ids := ads.(*array.Binary).ValueBytes()
		for i := range campaigns {
			id := ids[i*len(uuid{}):][:len(uuid{})]
			c := t.find(binary.LittleEndian.Uint64(id), binary.LittleEndian.Uint64(id[8:]))
			if c < 0 {
				return fmt.Errorf("no campaign has the advertisement %x", id)
			}
			campaigns[i] = c
		}
		return nil
	}
}

// findTexts looks up ids that are written out.
func findTexts() func(ads arrow.Array, campaigns []int64) error {
	m := make(map[string]int64, ysbAds)
	for ad := range ysbAds {
		m[ysbID(ysbAdID, ad).text()] = int64(ad / 10)
	}
	return func(ads arrow.Array, campaigns []int64) error {
		ids := ads.(*array.String)
		for i := range campaigns {
			c, ok := m[ids.Value(i)]
			if !ok {
				return fmt.Errorf("no campaign has the advertisement %q", ids.Value(i))
			}
			campaigns[i] = c
		}
		return nil
	}
}

package main

import (
	"context"
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
	count(views.Apply("campaign", ysbJoin(func(id uuid) string { return string(id[:]) })), out)
	return job
}

// ysbJSON counts lines of JSON, whose times are texts.
func ysbJSON(p int, in operator.Source, out operator.Sink) *arkflow.Job {
	job := arkflow.NewJob("json", arkflow.Parallelism(p))
	views := job.Source("events", in, arkflow.ProcessingTime()).
		Filter("views", expr.T("event_type = 'view'")).
		Select("ad", "ad_id", expr.T("from_epoch(cast(event_time as int64), 'ms')").As("event_time")).
		Apply("time", operator.WithTimestamps(operator.TimePolicy{Kind: operator.EventTimePolicy, Column: "event_time"}))
	count(views.Apply("campaign", ysbJoin(uuid.text)), out)
	return job
}

func count(views arkflow.Stream, out operator.Sink) {
	views.KeyBy("campaign_id").
		Window("count", window.Tumbling(10*time.Second).Unbounded(), window.Count().As("seen_count"), window.Max("event_time").As("time_updated")).
		Sink("out", out)
}

// ysbJoin puts the campaign in the place of the advertisement. The ids of both are of one type: bytes or text, as id gives them.
func ysbJoin(id func(uuid) string) operator.Operator {
	campaigns := make(map[string][]byte, ysbAds)
	for ad := range ysbAds {
		campaigns[id(ysbID(ysbAdID, ad))] = []byte(id(ysbID(ysbCampaignID, ad/10)))
	}
	size := len(id(uuid{}))
	schema := func(in *arrow.Schema) (*arrow.Schema, error) {
		return arrow.NewSchema([]arrow.Field{{Name: "campaign_id", Type: in.Field(0).Type}, in.Field(1)}, nil), nil
	}
	return operator.MapBatch(schema, func(in arrow.RecordBatch) (arrow.RecordBatch, error) {
		ads, n := in.Column(0).Data(), int(in.NumRows())
		offsets, texts := column.View[int32](ads.Buffers()[1].Bytes())[ads.Offset():], ads.Buffers()[2].Bytes()
		found, ends := make([]byte, 0, n*size), make([]int32, n+1)
		for i := range n {
			ad := texts[offsets[i]:offsets[i+1]]
			campaign, ok := campaigns[string(ad)]
			if !ok {
				return nil, fmt.Errorf("no campaign has the advertisement %x", ad)
			}
			found = append(found, campaign...)
			ends[i+1] = int32(len(found))
		}
		made := array.NewData(ads.DataType(), n, []*memory.Buffer{nil, memory.NewBufferBytes(column.BytesOf(ends)), memory.NewBufferBytes(found)}, nil, 0, 0)
		defer made.Release()
		ids := array.MakeFromData(made)
		defer ids.Release()
		to, err := schema(in.Schema())
		if err != nil {
			return nil, err
		}
		return array.NewRecordBatch(to, []arrow.Array{ids, in.Column(1)}, in.NumRows()), nil
	})
}

package main

import (
	"context"
	"encoding/binary"
	"fmt"
	"slices"
	"sync"
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
	schema := arrow.NewSchema([]arrow.Field{{Name: "campaign_id", Type: arrow.PrimitiveTypes.Int64}, {Name: "event_time", Type: arrow.FixedWidthTypes.Timestamp_ms, Nullable: true}}, nil)
	memories := &recycled{}
	return operator.MapBatch(operator.Columns(schema), func(in arrow.RecordBatch) (arrow.RecordBatch, error) {
		n := int(in.NumRows())
		buf := memory.NewBufferWithAllocator(memories.Allocate(8*n), memories)
		defer buf.Release()
		if err := find(in.Column(0), column.View[int64](buf.Bytes())); err != nil {
			return nil, err
		}
		data := array.NewData(arrow.PrimitiveTypes.Int64, n, []*memory.Buffer{nil, buf}, nil, 0, 0)
		defer data.Release()
		campaigns := array.NewInt64Data(data)
		defer campaigns.Release()
		return array.NewRecordBatch(schema, []arrow.Array{campaigns, in.Column(1)}, in.NumRows()), nil
	})
}

// recycled is an allocator of Arrow memory that uses again what was freed.
type recycled struct{ idle sync.Pool }

// Allocate implements memory.Allocator. What is in the memory is undefined.
func (r *recycled) Allocate(size int) []byte {
	if b, ok := r.idle.Get().(*[]byte); ok && cap(*b) >= size {
		return (*b)[:size]
	}
	return memory.DefaultAllocator.Allocate(size)
}

// Reallocate implements memory.Allocator.
func (r *recycled) Reallocate(size int, b []byte) []byte {
	if size <= cap(b) {
		return b[:size]
	}
	bigger := r.Allocate(size)
	copy(bigger, b)
	r.Free(b)
	return bigger
}

// Free implements memory.Allocator.
func (r *recycled) Free(b []byte) { r.idle.Put(&b) }

// adTable is the campaigns by the ids of their advertisements: a perfect hash table. The ads of a bucket are moved together to
// places that no other ad has, so a look-up has one place to compare and nothing to guess.
type adTable struct {
	moved     [512]uint16 // by bucket
	ids       [1024]uuid
	campaigns [1024]int16
}

func newAdTable() *adTable {
	t := &adTable{}
	var buckets [len(t.moved)][]uuid
	campaigns := make(map[uuid]int16, ysbAds)
	for ad := range ysbAds {
		id := ysbID(ysbAdID, ad)
		at, _ := id.hash()
		buckets[at] = append(buckets[at], id)
		campaigns[id] = int16(ad / 10)
	}
	order := make([]int, len(buckets))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return len(buckets[b]) - len(buckets[a]) })
	for i := range t.campaigns {
		t.campaigns[i] = -1
	}
	for _, at := range order {
		t.place(campaigns, at, buckets[at])
	}
	return t
}

// place finds places for the ids of a bucket, the full ones first. Where there is none, they are not found.
func (t *adTable) place(campaigns map[uuid]int16, bucket int, ids []uuid) {
search:
	for by := range len(t.ids) {
		t.moved[bucket] = uint16(by)
		var places []uint64
		for i := range ids {
			at := t.at(&ids[i])
			if t.campaigns[at] >= 0 || slices.Contains(places, at) {
				continue search
			}
			places = append(places, at)
		}
		for i, at := range places {
			t.ids[at], t.campaigns[at] = ids[i], campaigns[ids[i]]
		}
		return
	}
}

// hash gives parts of an id, which is random, as a bucket and as a number.
func (id *uuid) hash() (bucket, number uint64) {
	lo := binary.LittleEndian.Uint64(id[:])
	return lo % uint64(len(adTable{}.moved)), lo >> 32
}

// at gives the place where an id is if it is anywhere.
func (t *adTable) at(id *uuid) uint64 {
	bucket, number := id.hash()
	return (number + uint64(t.moved[bucket])) % uint64(len(t.ids))
}

// find gives the campaign of each id, and the number of the first that has none, or -1.
func (t *adTable) find(campaigns []int64, ids []uuid) (unknown int) {
	campaigns = campaigns[:len(ids)]
	var other uint64
	var least int64
	for i := range ids {
		id := &ids[i]
		at := t.at(id)
		is := &t.ids[at]
		other |= binary.LittleEndian.Uint64(id[:8]) ^ binary.LittleEndian.Uint64(is[:8])
		other |= binary.LittleEndian.Uint64(id[8:]) ^ binary.LittleEndian.Uint64(is[8:])
		c := int64(t.campaigns[at])
		campaigns[i] = c
		least |= c
	}
	if other == 0 && least >= 0 {
		return -1
	}
	return slices.IndexFunc(ids, func(id uuid) bool { at := t.at(&id); return t.ids[at] != id || t.campaigns[at] < 0 })
}

// findBytes looks up ids of 128 bits.
func findBytes() func(ads arrow.Array, campaigns []int64) error {
	t := newAdTable()
	return func(ads arrow.Array, campaigns []int64) error {
		ids := column.View[uuid](ads.(*array.Binary).ValueBytes())
		if len(ids) != len(campaigns) {
			return fmt.Errorf("%d rows have %d advertisements of %d bytes", len(campaigns), len(ids), len(uuid{}))
		}
		if i := t.find(campaigns, ids); i >= 0 {
			return fmt.Errorf("no campaign has the advertisement %x", ids[i])
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

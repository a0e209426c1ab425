package main

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/operator"
)

// ysbModel counts views by campaign and 10 s, one event after the other.
func ysbModel(n int64) []row {
	type key struct{ campaign, window int }
	type value struct{ count, latest int }
	counts := map[key]value{}
	for i := range n {
		e := ysbOf(i)
		if ysbEventTypes[e.eventType] != "view" {
			continue
		}
		k := key{e.ad / 10, e.time / 10_000}
		v := counts[k]
		counts[k] = value{v.count + 1, max(v.latest, e.time)}
	}
	var out []row
	for k, v := range counts {
		r := row{"campaign_id": int64(k.campaign), "seen_count": int64(v.count), "time_updated": at(int64(v.latest)),
			"window_start": at(int64(k.window) * 10_000), "window_end": at(int64(k.window+1) * 10_000)}
		out = append(out, r)
	}
	return out
}

func TestCampaignsAreCountedAsAModelDoes(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, job := range []struct {
		name string
		n    int64
		make func(p int, in operator.Source, out operator.Sink) *arkflow.Job
		feed func() feed
	}{
		{"binary", 1_050_000, ysbBinary, func() feed { return newYSBTuples() }},
		{"json", 30_000, ysbJSON, func() feed { return newYSBLines() }},
	} {
		want := ysbModel(job.n)
		require.GreaterOrEqual(t, len(want), ysbCampaigns)
		for _, rows := range []int64{611, 8192} {
			for _, p := range []int{1, 2} {
				out := memory.NewSink()
				_, err := runJob(t.Context(), job.make(p, &ring{feed: job.feed(), n: job.n, rows: rows, splits: p}, out))
				require.NoError(t, err)
				require.Equal(t, sorted(want), sorted(out.Rows()), "%s in batches of %d over %d tasks", job.name, rows, p)
			}
		}
	}
}

func TestLinesHoldTheSameEventsAsTuples(t *testing.T) {
	f := newYSBLines()
	views := 0
	for i := range int64(3000) {
		e := ysbOf(i)
		var line map[string]string
		require.NoError(t, json.Unmarshal(f.appendLine(nil, e), &line))
		assert.Equal(t, map[string]string{"user_id": ysbID(ysbUserID, e.user).text(), "page_id": ysbID(ysbPageID, e.page).text(), "ad_id": ysbID(ysbAdID, e.ad).text(),
			"ad_type": ysbAdTypes[e.adType], "event_type": ysbEventTypes[e.eventType], "event_time": fmt.Sprint(e.time), "ip_address": "1.2.3.4"}, line)
		if e.eventType == 0 {
			views++
		}
	}
	assert.InDelta(t, 1000, views, 80)
}

func TestBothBenchmarksOfYSBAgree(t *testing.T) {
	defer goleak.VerifyNone(t)
	one := lines(t, "-suite", "ysb", "-n", "30000")
	two := lines(t, "-suite", "ysb", "-n", "30000", "-p", "2", "-source", "live")
	for _, name := range []string{"binary", "json"} {
		require.NotNil(t, one[name])
		assert.Equal(t, one[name]["checksum"], two[name]["checksum"])
		assert.EqualValues(t, ysbCampaigns, one[name]["rows_out"])
		assert.Positive(t, one[name]["rows_per_cpu_s"])
		assert.Positive(t, two[name]["speedup"])
	}
}

func TestAnUnknownAdvertisementIsAnError(t *testing.T) {
	f := newYSBTuples()
	f.ads[7] = uuid{1}
	_, err := runJob(t.Context(), ysbBinary(1, &ring{feed: f, n: 8192, splits: 1}, memory.NewSink()))
	require.ErrorContains(t, err, `operator "campaign"`)
	require.ErrorContains(t, err, "no campaign has the advertisement 01000000")
}

func TestEachAdvertisementHasItsCampaign(t *testing.T) {
	table := newAdTable()
	ids, campaigns := make([]uuid, ysbAds), make([]int64, ysbAds)
	for ad := range ids {
		ids[ad] = ysbID(ysbAdID, ad)
	}
	require.Equal(t, -1, table.find(campaigns, ids))
	for ad, c := range campaigns {
		require.EqualValues(t, ad/10, c)
	}
	for at := range len(uuid{}) * 8 { // a bit is another
		other := ids[17]
		other[at/8] ^= 1 << (at % 8)
		require.Equal(t, 2, table.find(campaigns, []uuid{ids[0], ids[17], other, other}))
	}
	require.Zero(t, table.find(campaigns, []uuid{{}}))
	for number := range 3 * len(table.ids) { // every place, those that are free among them
		require.Zero(t, table.find(campaigns, []uuid{{4: byte(number), 5: byte(number >> 8)}}))
	}
}

func TestMemoryThatIsUsedAgainHasTheSizeAskedFor(t *testing.T) {
	r := &recycled{}
	b := r.Reallocate(100, append(r.Allocate(3)[:0], 1, 2, 3))
	require.Len(t, b, 100)
	require.Equal(t, []byte{1, 2, 3}, b[:3])
	require.Len(t, r.Reallocate(50, b), 50)
	r.Free(b)
	require.Len(t, r.Allocate(80), 80)
	require.Len(t, r.Allocate(1000), 1000)
}

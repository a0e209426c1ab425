package main

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/arkflow-go/arkflow/bench/baseline"
	"github.com/arkflow-go/arkflow/bench/events"
	"github.com/arkflow-go/arkflow/bench/nexmark"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/connectors/memory"
	"github.com/arkflow-go/arkflow/operator"
)

// bid is a bid as a row.
type bid struct {
	auction, bidder, price, time int64
	channel, url, extra          string
}

// slowRate is a number of events in a second by which windows have few.
const slowRate = 1_000

func bidsOf(n, rate int64) (list []bid) {
	b := nexmark.NewBatch()
	nexmark.New(rate).Fill(b, 0, int(n))
	for i, k := range b.Kind {
		if k == nexmark.Bid {
			list = append(list, bid{b.BidAuction[i], b.BidBidder[i], b.BidPrice[i], b.Time[i], string(b.Text(nexmark.BidChannel, i)),
				string(b.Text(nexmark.BidURL, i)), string(b.Text(nexmark.BidExtra, i))})
		}
	}
	return list
}

type row = map[string]any

// inEuros is a thousand times the price in another currency as text.
func inEuros(price int64) string {
	m := price * 908
	return fmt.Sprintf("%d.%03d", m/1000, m%1000)
}

func at(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// bidModels gives what a query makes of one bid, nil where it is left out.
var bidModels = map[string]func(b bid) row{
	"q0": func(b bid) row {
		return row{"auction": b.auction, "bidder": b.bidder, "price": b.price, "date_time": at(b.time), "extra": b.extra}
	},
	"q1": func(b bid) row {
		return row{"auction": b.auction, "bidder": b.bidder, "price": inEuros(b.price), "date_time": at(b.time), "extra": b.extra}
	},
	"q2": func(b bid) row {
		if b.auction%123 != 0 {
			return nil
		}
		return row{"auction": b.auction, "price": b.price}
	},
	"q14": func(b bid) row {
		if m := b.price * 908; m <= 1_000_000_000 || m >= 50_000_000_000 {
			return nil
		}
		period := "otherTime"
		switch h := at(b.time).Hour(); {
		case h >= 8 && h <= 18:
			period = "dayTime"
		case h <= 6 || h >= 20:
			period = "nightTime"
		}
		return row{"auction": b.auction, "bidder": b.bidder, "price": inEuros(b.price), "bid_time_type": period, "date_time": at(b.time), "extra": b.extra,
			"c_counts": int64(strings.Count(b.extra, "c"))}
	},
	"q21": func(b bid) row {
		id, ok := map[string]string{"apple": "0", "google": "1", "facebook": "2", "baidu": "3"}[strings.ToLower(b.channel)]
		if !ok {
			m := channelID.FindStringSubmatch(b.url)
			if m == nil {
				return nil
			}
			id = m[2]
		}
		return row{"auction": b.auction, "bidder": b.bidder, "price": b.price, "channel": b.channel, "channel_id": id}
	},
	"q22": func(b bid) row {
		dirs := strings.Split(b.url, "/")
		return row{"auction": b.auction, "bidder": b.bidder, "price": b.price, "channel": b.channel, "dir1": dirs[3], "dir2": dirs[4], "dir3": dirs[5]}
	},
}

var channelID = regexp.MustCompile(`(&|^)channel_id=([^&]*)`)

const modelSecond = 1000

// modelQ5 counts for each auction and each window that contains it.
func modelQ5(bids []bid) (out []row) {
	type key struct{ start, auction int64 }
	counts, most := map[key]int64{}, map[int64]int64{}
	for _, b := range bids {
		for start := b.time / (2 * modelSecond) * 2 * modelSecond; start > b.time-10*modelSecond; start -= 2 * modelSecond {
			k := key{start, b.auction}
			counts[k]++
			most[start] = max(most[start], counts[k])
		}
	}
	for k, n := range counts {
		if n == most[k.start] {
			out = append(out, row{"auction": k.auction, "num": n})
		}
	}
	return out
}

// modelQ7 looks for the highest price first, then for its bids.
func modelQ7(bids []bid) (out []row) {
	best := map[int64]int64{}
	for _, b := range bids {
		w := b.time / (10 * modelSecond)
		best[w] = max(best[w], b.price)
	}
	for _, b := range bids {
		if best[b.time/(10*modelSecond)] == b.price {
			out = append(out, bidModels["q0"](b))
		}
	}
	return out
}

func modelOf(name string, bids []bid) (out []row) {
	switch name {
	case "q5":
		return modelQ5(bids)
	case "q7":
		return modelQ7(bids)
	}
	for _, b := range bids {
		if r := bidModels[name](b); r != nil {
			out = append(out, r)
		}
	}
	return out
}

func sorted(rows []row) []string {
	out := make([]string, len(rows))
	for i, r := range rows {
		out[i] = fmt.Sprint(r)
	}
	slices.Sort(out)
	return out
}

// modelChecksum is what the fold makes of rows.
func modelChecksum(columns []string, rows []row) (sum uint64) {
	for _, r := range rows {
		term := uint64(0)
		for _, name := range columns {
			word := uint64(foldNull)
			switch v := r[name].(type) {
			case int64:
				word = uint64(v)
			case time.Time:
				word = uint64(v.UnixMilli())
			case string:
				word = foldText([]byte(v))
			}
			term = term*foldFactor + word
		}
		sum += events.Mix(term)
	}
	return sum
}

// feedOf gives events in batches of that many rows, made when they are asked for or before.
func feedOf(g *nexmark.Generator, rows, n int64, live bool) feed {
	if live {
		return &liveFeed{g}
	}
	return newTape(g, rows).ensure(n)
}

// Of 30 s of events a part of the windows ends while there are events, a part with the input.
func TestQueriesGiveWhatAModelGives(t *testing.T) {
	defer goleak.VerifyNone(t)
	const n = 30_000
	bids, g := bidsOf(n, slowRate), nexmark.New(slowRate)
	for _, q := range queries() {
		if q.processing {
			continue
		}
		n, want := int64(n), []string(nil)
		if q.name == "q5" || q.name == "q7" {
			want = sorted(modelOf(q.name, bids))
		} else {
			n = 3000
			want = sorted(modelOf(q.name, bidsOf(n, slowRate)))
		}
		require.NotEmpty(t, want)
		for i, rows := range []int64{n / 3000, 7 * n / 3000, 1000, 8192, 1 + rand.Int64N(3000)} {
			for _, p := range []int{1, 2} {
				live := (i+p)%2 == 0
				out := memory.NewSink()
				in := &ring{feed: feedOf(g, rows, n, live), n: n, rows: rows, round: nexmarkRound, splits: p, live: live}
				_, err := runJob(t.Context(), q.job(p, in, out))
				require.NoError(t, err)
				require.Equal(t, want, sorted(out.Rows()), "%s in batches of %d over %d tasks", q.name, rows, p)
			}
		}
	}
}

func TestQ12CountsEachBidOnce(t *testing.T) {
	const n = 50_000
	var q query
	for _, each := range queries() {
		if each.processing {
			q = each
		}
	}
	want := map[int64]int64{}
	for _, b := range bidsOf(n, nexmarkRate) {
		want[b.bidder]++
	}
	for _, p := range []int{1, 2} {
		out := memory.NewSink()
		_, err := runJob(t.Context(), q.job(p, newNexmarkFeeds().source(n, p, false), out))
		require.NoError(t, err)
		got := map[int64]int64{}
		for _, r := range out.Rows() {
			got[r["bidder"].(int64)] += r["bid_count"].(int64)
			assert.Equal(t, 10*time.Second, r["window_end"].(time.Time).Sub(r["window_start"].(time.Time)))
		}
		assert.Equal(t, want, got)
	}
}

func TestEveryQueryOfTheSuiteRuns(t *testing.T) {
	defer goleak.VerifyNone(t)
	replay := lines(t, "-suite", "nexmark", "-n", "30000")
	live := lines(t, "-suite", "nexmark", "-n", "30000", "-source", "live", "-p", "2")
	require.Len(t, replay, len(queries()))
	bids := bidsOf(30_000, nexmarkRate)
	for _, q := range queries() {
		r, l := replay[q.name], live[q.name]
		require.NotNil(t, r, q.name)
		for _, field := range []string{"rows_per_s", "rows_per_cpu_s", "rows_out"} {
			assert.Positive(t, r[field], "%s of %s", field, q.name)
		}
		assert.Equal(t, r["checksum"], l["checksum"], q.name)
		assert.Positive(t, l["speedup"], q.name)
		if !q.processing {
			assert.Equal(t, r["rows_out"], l["rows_out"], q.name)
			want := modelOf(q.name, bids)
			assert.EqualValues(t, len(want), r["rows_out"], q.name)
			if q.name != "q1" && q.name != "q14" { // decimals are folded by their words
				assert.Equal(t, fmt.Sprint(modelChecksum(q.fold, want)), r["checksum"], q.name)
			}
		}
	}
}

// Each round of the tape gives the events of the first one with later times and greater ids.
func TestRoundsOfTheTapeMoveOn(t *testing.T) {
	pool := column.NewDebugPool()
	const n = nexmarkRound + 20_000
	in := newNexmarkFeeds().source(n, 1, false)
	batches := int64(0)
	for start := int64(0); start < nexmarkRound; batches++ {
		_, n := in.span(batches)
		start += int64(n)
	}
	r, err := in.Open(&operator.Context{Context: t.Context(), Pool: pool}, operator.Split{ID: "0"}, binary.LittleEndian.AppendUint64(nil, uint64(batches)))
	require.NoError(t, err)
	want, rows := bidsOf(20_000, nexmarkRate), 0
	for {
		b, err := r.Poll()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
		for i, kind := range column.Values[int32](b.Column("event_type")) {
			if rows++; kind != nexmark.Bid {
				continue
			}
			got := bid{column.Values[int64](b.Column("bid_auction"))[i] - nexmarkRound/50*3, column.Values[int64](b.Column("bid_bidder"))[i] - nexmarkRound/50,
				column.Values[int64](b.Column("bid_price"))[i], column.Values[int64](b.Column("bid_date_time"))[i] - nexmarkRound/100,
				b.Column("bid_channel").String(i), b.Column("bid_url").String(i), b.Column("bid_extra").String(i)}
			require.Equal(t, want[0], got)
			want = want[1:]
		}
		b.Release()
	}
	assert.Empty(t, want)
	assert.Equal(t, 20_000, rows)
	assert.Positive(t, in.fillCPU())
	require.NoError(t, r.Close())
	require.NoError(t, pool.Check())
}

func TestSpansOfARingCoverItsEventsOnce(t *testing.T) {
	for _, s := range []*ring{{n: 100_000}, {n: 8192 * 3, rows: 1000}, {n: 25_000, rows: 999, round: 10_000}, {n: 20_000, rows: 1000, round: 10_000}, {n: 5, rows: 10, round: 10}} {
		at := int64(0)
		for k := int64(0); ; k++ {
			start, n := s.span(k)
			if n == 0 {
				break
			}
			require.Equal(t, at, start)
			at += int64(n)
			if s.round > 0 {
				require.Equal(t, start/s.round, (at-1)/s.round, "a batch within a round")
			}
		}
		require.Equal(t, s.n, at)
	}
}

func TestFoldOfRowsTakesWhatIsThere(t *testing.T) {
	pool := column.NewDebugPool()
	s := arrow.NewSchema([]arrow.Field{{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true}, {Name: "d", Type: &arrow.Decimal128Type{Precision: 20}, Nullable: true},
		{Name: "t", Type: arrow.BinaryTypes.String, Nullable: true}}, nil)
	bld := column.NewBuilder(pool, s)
	var rows []row
	for i := range int64(20) {
		r := row{}
		if i%3 > 0 {
			r["n"] = i - 5
			bld.Int64(0, i-5)
		}
		if i%4 > 0 {
			r["d"] = i // its low word
			bld.Col(1).Decimal(uint64(i), 0)
		}
		if i%5 > 0 {
			r["t"] = strings.Repeat("x", int(i)) + "yz"
			bld.String(2, r["t"].(string))
		}
		bld.EndRow()
		rows = append(rows, r)
	}
	b := bld.Finish()
	in := operator.Stream{Schema: s}
	sink := &foldRows{columns: []string{"t", "d", "n"}}
	require.NoError(t, sink.Check(in))
	w, err := sink.Open(nil, in)
	require.NoError(t, err)
	require.NoError(t, w.Write(b))
	some := b.Derive()
	some.Sel = []uint32{3, 4, 11}
	require.NoError(t, w.Write(some))
	require.NoError(t, w.Flush())
	require.NoError(t, w.Close())
	want := modelChecksum(sink.columns, rows) + modelChecksum(sink.columns, []row{rows[3], rows[4], rows[11]})
	assert.Equal(t, baseline.Result{Rows: 23, Checksum: want}, sink.total())
	some.Release()
	b.Release()
	require.NoError(t, pool.Check())
	require.ErrorContains(t, (&foldRows{columns: []string{"x"}}).Check(in), `the fold needs one column "x", there are 0`)
	s = arrow.NewSchema([]arrow.Field{{Name: "b", Type: arrow.FixedWidthTypes.Boolean}}, nil)
	require.ErrorContains(t, (&foldRows{columns: []string{"b"}}).Check(operator.Stream{Schema: s}), `takes no column "b" of type bool`)
}

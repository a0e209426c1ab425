package nexmark_test

import (
	"math"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/arkflow-go/arkflow/bench/nexmark"
	"github.com/arkflow-go/arkflow/column"
)

const (
	rate = 100_000
	many = 60_000
)

func filled(start int64, n int) *nexmark.Batch {
	b := nexmark.NewBatch()
	nexmark.New(rate).Fill(b, start, n)
	return b
}

// row gives the values of a row, as text.
func row(t *testing.T, b *column.Batch, i int) map[string]any {
	t.Helper()
	out := map[string]any{}
	for k := range b.Cols {
		c := &b.Cols[k]
		out[b.Schema.Field(k).Name] = c.Cell(i, func(c *column.Column, i int) any {
			switch c.Kind {
			case column.Int32:
				return int64(column.Values[int32](c)[i])
			case column.Int64:
				return column.Values[int64](c)[i]
			}
			require.Equal(t, column.Bytes, c.Kind)
			return string(c.Bytes(i))
		})
	}
	return out
}

func viewed(p *column.Pool, b *nexmark.Batch) *column.Batch {
	out := column.NewBatch(p, nexmark.Schema(), b.Rows())
	b.View(out)
	return out
}

func TestEventsAreAFunctionOfTheirNumber(t *testing.T) {
	pool := column.NewDebugPool()
	require.NoError(t, column.CheckSchema(nexmark.Schema()))
	const n = 1000
	whole := viewed(pool, filled(0, n))
	again := nexmark.NewBatch()
	g := nexmark.New(rate)
	g.Fill(again, 77, 500) // its memory is used again
	for at := 0; at < n; {
		for _, size := range []int{1, 7, 64, 300} {
			size = min(size, n-at)
			if size == 0 {
				break
			}
			g.Fill(again, int64(at), size)
			part := viewed(pool, again)
			for i := range size {
				require.Equal(t, row(t, whole, at+i), row(t, part, i), "event %d", at+i)
			}
			part.Release()
			at += size
		}
	}
	whole.Release()
	require.NoError(t, pool.Check())
}

func TestARowHasTheColumnsOfItsKindAlone(t *testing.T) {
	pool := column.NewDebugPool()
	b := viewed(pool, filled(0, 200))
	for i := range b.Rows {
		r := row(t, b, i)
		mine := []string{"person_", "auction_", "bid_"}[r["event_type"].(int64)]
		for name, v := range r {
			if name != "event_type" && name != "date_time" {
				assert.Equal(t, strings.HasPrefix(name, mine), v != nil, "%s of event %d", name, i)
			}
		}
		assert.Equal(t, r["date_time"], r[mine+"date_time"])
	}
	for i := range b.Cols {
		c := &b.Cols[i]
		if c.Valid != nil {
			assert.Equal(t, column.CountZeros(c.Valid, b.Rows), c.Nulls, b.Schema.Field(i).Name)
		}
	}
	b.Release()
	require.NoError(t, pool.Check())
}

func TestKindsAndTimesGoByTheNumber(t *testing.T) {
	b := filled(0, many)
	var count [3]int
	for i, k := range b.Kind {
		count[k]++
		assert.Equal(t, nexmark.BaseTime+int64(i+1)/100, b.Time[i])
	}
	assert.Equal(t, [3]int{many / 50, many / 50 * 3, many / 50 * 46}, count)
	assert.Equal(t, []int32{nexmark.Auction, nexmark.Auction, nexmark.Bid}, b.Kind[:3], "event 0 has the id 2")
	assert.Equal(t, nexmark.Person, b.Kind[48])
}

func TestIdsGrowAndChoicesStayNear(t *testing.T) {
	b := filled(0, many)
	person, auction := int64(1000), int64(1000)
	var bids, hotAuction, hotBidder, auctions, hotSeller float64
	for i, k := range b.Kind {
		lastPerson, lastAuction := person-1000, auction-1000
		switch k {
		case nexmark.Person:
			person++
			require.Equal(t, person, b.PersonID[i])
		case nexmark.Auction:
			auction++
			require.Equal(t, auction, b.AuctionID[i])
			auctions++
			hot := 1000 + lastPerson/100*100
			if b.AuctionSeller[i] == hot {
				hotSeller++
			} else {
				require.GreaterOrEqual(t, b.AuctionSeller[i], 1000+max(lastPerson-999, 0))
				require.LessOrEqual(t, b.AuctionSeller[i], 1000+lastPerson+10)
			}
			require.Contains(t, []int64{10, 11, 12, 13, 14}, b.AuctionCategory[i])
			require.Greater(t, b.AuctionReserve[i], b.AuctionInitialBid[i])
			open := b.AuctionExpires[i] - b.Time[i]
			require.Greater(t, open, int64(0))
			require.LessOrEqual(t, open, int64(34), "twice the time of 1,666 events")
		default:
			bids++
			if b.BidAuction[i] == 1000+lastAuction/100*100 {
				hotAuction++
			} else {
				require.GreaterOrEqual(t, b.BidAuction[i], 1000+max(lastAuction-100, 0))
				require.LessOrEqual(t, b.BidAuction[i], 1000+lastAuction+10)
			}
			if b.BidBidder[i] == 1001+lastPerson/100*100 {
				hotBidder++
			} else {
				require.GreaterOrEqual(t, b.BidBidder[i], 1000+max(lastPerson-999, 0))
				require.LessOrEqual(t, b.BidBidder[i], 1000+lastPerson+10)
			}
		}
	}
	assert.InDelta(t, 0.5, hotAuction/bids, 0.01)
	assert.InDelta(t, 0.75, hotBidder/bids, 0.01)
	assert.InDelta(t, 0.75, hotSeller/auctions, 0.02)
}

func TestPricesAreUniformInTheirLogarithm(t *testing.T) {
	b := filled(0, many)
	var decade [6]float64
	bids := 0.0
	for i, k := range b.Kind {
		if k == nexmark.Bid {
			bids++
			require.GreaterOrEqual(t, b.BidPrice[i], int64(100))
			require.LessOrEqual(t, b.BidPrice[i], int64(100_000_000))
			decade[min(int(math.Log10(float64(b.BidPrice[i])/100)), 5)]++
		}
	}
	for d, n := range decade {
		assert.InDelta(t, 1.0/6, n/bids, 0.01, "decade %d", d)
	}
}

func TestTexts(t *testing.T) {
	b := filled(0, many)
	url := regexp.MustCompile(`^https://www\.nexmark\.com/[a-z_]{3,4}/[a-z_]{3,4}/[a-z_]{3,4}/item\.htm\?query=1(&channel_id=(\d+))?$`)
	person := regexp.MustCompile(`^[A-Z][a-z]+ [A-Z][a-z]+\|[a-z ]{0,6}@[a-z ]{0,4}\.com\|\d{4} \d{4} \d{4} \d{4}\|[A-Z][A-Za-z ]+\|[A-Z]{2}$`)
	var bids, hot, rest, numbered, bidExtra, personBytes, auctionBytes float64
	urls := map[string]string{}
	for i, k := range b.Kind {
		text := func(f nexmark.Field) string { return string(b.Text(f, i)) }
		switch k {
		case nexmark.Person:
			list := []string{text(nexmark.PersonName), text(nexmark.PersonEmail), text(nexmark.PersonCreditCard), text(nexmark.PersonCity), text(nexmark.PersonState)}
			require.Regexp(t, person, strings.Join(list, "|"))
			personBytes += float64(8 + len(strings.Join(list, "")) + len(text(nexmark.PersonExtra)))
		case nexmark.Auction:
			require.LessOrEqual(t, len(text(nexmark.AuctionItem)), 19)
			require.LessOrEqual(t, len(text(nexmark.AuctionDescription)), 99)
			require.Equal(t, strings.TrimSpace(text(nexmark.AuctionItem)), text(nexmark.AuctionItem))
			auctionBytes += float64(48 + len(text(nexmark.AuctionItem)+text(nexmark.AuctionDescription)+text(nexmark.AuctionExtra)))
		default:
			bids++
			m := url.FindStringSubmatch(text(nexmark.BidURL))
			require.NotNil(t, m, text(nexmark.BidURL))
			name := text(nexmark.BidChannel)
			if old, ok := urls[name]; ok {
				require.Equal(t, old, m[0], "a channel has one url")
			}
			urls[name] = m[0]
			if strings.HasPrefix(name, "channel-") {
				rest++
				if m[2] != "" {
					numbered++
				}
			} else {
				require.Contains(t, []string{"Google", "Facebook", "Baidu", "Apple"}, name)
				hot++
			}
			require.GreaterOrEqual(t, len(text(nexmark.BidExtra)), 54)
			require.Less(t, len(text(nexmark.BidExtra)), 82)
			bidExtra += float64(len(text(nexmark.BidExtra)))
		}
	}
	assert.InDelta(t, 0.5, hot/bids, 0.01)
	assert.InDelta(t, 0.9, numbered/rest, 0.01)
	assert.InDelta(t, 67.5, bidExtra/bids, 0.5)
	assert.InDelta(t, 200, personBytes/many*50, 5)
	assert.InDelta(t, 500, auctionBytes/many*50/3, 10)
}

func TestEventsThatAreMovedOnStandAsBefore(t *testing.T) {
	g := nexmark.New(rate)
	first, moved, later := nexmark.NewBatch(), nexmark.NewBatch(), nexmark.NewBatch()
	const start, n, by = 60_000, 7_000, 40 * nexmark.Period
	g.Fill(first, start, n)
	before := append([]int64(nil), first.BidAuction...)
	g.MoveOn(moved, first, by)
	g.Fill(later, start+by, n)
	assert.Equal(t, before, first.BidAuction, "the events that are moved on stay")
	assert.Equal(t, later.Kind, moved.Kind)
	assert.Equal(t, later.Time, moved.Time)
	for i, k := range moved.Kind {
		switch k {
		case nexmark.Person:
			require.Equal(t, later.PersonID[i], moved.PersonID[i])
			require.Equal(t, first.Text(nexmark.PersonName, i), moved.Text(nexmark.PersonName, i))
		case nexmark.Auction:
			require.Equal(t, later.AuctionID[i], moved.AuctionID[i])
			require.Equal(t, first.AuctionExpires[i]-first.Time[i], moved.AuctionExpires[i]-moved.Time[i])
			require.Equal(t, first.AuctionSeller[i]+by/50, moved.AuctionSeller[i])
			require.Equal(t, first.AuctionReserve[i], moved.AuctionReserve[i])
		default:
			require.Equal(t, first.BidAuction[i]+by/50*3, moved.BidAuction[i])
			require.Equal(t, first.BidBidder[i]+by/50, moved.BidBidder[i])
			require.Equal(t, first.BidPrice[i], moved.BidPrice[i])
			require.Equal(t, first.Text(nexmark.BidExtra, i), moved.Text(nexmark.BidExtra, i))
		}
	}
}

func BenchmarkFill(b *testing.B) {
	g, batch := nexmark.New(rate), nexmark.NewBatch()
	for i := 0; b.Loop(); i++ {
		g.Fill(batch, int64(i)*8192, 8192)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/8192, "ns/row")
}

package main

import (
	"time"

	"github.com/arkflow-go/arkflow"
	"github.com/arkflow-go/arkflow/expr"
	"github.com/arkflow-go/arkflow/window"
)

// query is a query of Nexmark: what it makes of the bids.
type query struct {
	name       string
	n          int64
	processing bool // its windows go by the clock
	build      func(bids arkflow.Stream) arkflow.Stream
	fold       []string // columns of the result that its checksum is made of
}

// Columns of bids.
var (
	auction  = expr.Col("bid_auction").As("auction")
	bidder   = expr.Col("bid_bidder").As("bidder")
	price    = expr.Col("bid_price").As("price")
	channel  = expr.Col("bid_channel").As("channel")
	dateTime = expr.Col("bid_date_time").As("date_time")
	extra    = expr.Col("bid_extra").As("extra")
	euros    = expr.T("cast(0.908 * bid_price as decimal(23, 3))")
)

func queries() []query {
	return []query{
		{name: "q0", n: 20_000_000, build: q0, fold: []string{"auction", "bidder", "price", "date_time", "extra"}},
		{name: "q1", n: 20_000_000, build: q1, fold: []string{"auction", "bidder", "price", "date_time", "extra"}},
		{name: "q2", n: 20_000_000, build: q2, fold: []string{"auction", "price"}},
		{name: "q5", n: 10_000_000, build: q5, fold: []string{"auction", "num"}},
		{name: "q7", n: 20_000_000, build: q7, fold: []string{"auction", "bidder", "price", "date_time", "extra"}},
		{name: "q12", n: 20_000_000, build: q12, processing: true, fold: []string{"bidder", "bid_count"}},
		{name: "q14", n: 10_000_000, build: q14, fold: []string{"auction", "bidder", "price", "bid_time_type", "date_time", "extra", "c_counts"}},
		{name: "q21", n: 5_000_000, build: q21, fold: []string{"auction", "bidder", "price", "channel", "channel_id"}},
		{name: "q22", n: 5_000_000, build: q22, fold: []string{"auction", "bidder", "price", "channel", "dir1", "dir2", "dir3"}},
	}
}

// q0 passes bids through.
func q0(bids arkflow.Stream) arkflow.Stream {
	return bids.Select("bid", auction, bidder, price, dateTime, extra)
}

// q1 converts prices.
func q1(bids arkflow.Stream) arkflow.Stream {
	return bids.Select("convert", auction, bidder, euros.As("price"), dateTime, extra)
}

// q2 selects some auctions.
func q2(bids arkflow.Stream) arkflow.Stream {
	return bids.Filter("some", expr.T("mod(bid_auction, 123) = 0")).Select("bid", auction, price)
}

// q5 gives the auctions with most bids over 10 s, every 2 s. The results of one window of the count have one event time, so they meet in
// one window of the choice, whose size is the slide.
func q5(bids arkflow.Stream) arkflow.Stream {
	return bids.Select("bid", auction).
		KeyBy("auction").
		Window("count", window.Sliding(10*time.Second, 2*time.Second).Unbounded(), window.Count().As("num")).
		Select("counted", "auction", "num", expr.Col("window_end").As("end")).
		KeyBy("end").
		Window("hot", window.Tumbling(2*time.Second).Unbounded(), window.ArgMax("num", "auction", "num").Ties()).
		Select("result", expr.Col("argmax_auction").As("auction"), expr.Col("argmax_num").As("num"))
}

// q7 gives the bids of the highest price of each 10 s: the greatest row of a window in one pass, where the text of the query joins the maximum
// with the bids.
func q7(bids arkflow.Stream) arkflow.Stream {
	return bids.Select("bid", auction, bidder, price, dateTime, extra, expr.Lit(0).As("all")).
		KeyBy("all").
		Window("highest", window.Tumbling(10*time.Second).Unbounded(), window.ArgMax("price", "auction", "bidder", "price", "date_time", "extra").Ties().As("bid")).
		Select("result", expr.Col("bid_auction").As("auction"), expr.Col("bid_bidder").As("bidder"), expr.Col("bid_price").As("price"),
			expr.Col("bid_date_time").As("date_time"), expr.Col("bid_extra").As("extra"))
}

// q12 counts the bids of each bidder over 10 s of the clock.
func q12(bids arkflow.Stream) arkflow.Stream {
	return bids.Select("bid", bidder).
		KeyBy("bidder").
		Window("count", window.Tumbling(10*time.Second).Unbounded(), window.Count().As("bid_count")).Stream
}

// q14 filters and computes.
func q14(bids arkflow.Stream) arkflow.Stream {
	return bids.
		Filter("priced", expr.T("0.908 * bid_price > 1000000 and 0.908 * bid_price < 50000000")).
		Select("compute", auction, bidder, euros.As("price"),
			expr.T(`case when extract(hour from bid_date_time) between 8 and 18 then 'dayTime'
				when extract(hour from bid_date_time) <= 6 or extract(hour from bid_date_time) >= 20 then 'nightTime'
				else 'otherTime' end`).As("bid_time_type"),
			dateTime, extra,
			expr.T("length(bid_extra) - length(replace(bid_extra, 'c', ''))").As("c_counts"))
}

// q21 gives each bid the number of its channel, from its name or its url; bids that have neither are left out.
func q21(bids arkflow.Stream) arkflow.Stream {
	return bids.
		Select("number", auction, bidder, price, channel,
			expr.T(`case lower(bid_channel) when 'apple' then '0' when 'google' then '1' when 'facebook' then '2' when 'baidu' then '3'
				else regexp_extract(bid_url, '(&|^)channel_id=([^&]*)', 2) end`).As("channel_id")).
		Filter("numbered", expr.T("channel_id is not null"))
}

// q22 takes urls apart.
func q22(bids arkflow.Stream) arkflow.Stream {
	return bids.Select("dirs", auction, bidder, price, channel, expr.T("split_part(bid_url, '/', 4)").As("dir1"),
		expr.T("split_part(bid_url, '/', 5)").As("dir2"), expr.T("split_part(bid_url, '/', 6)").As("dir3"))
}

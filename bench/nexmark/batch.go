package nexmark

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/arkflow-go/arkflow/column"
)

// Field is a column of texts.
type Field int

// The columns of texts.
const (
	PersonName Field = iota
	PersonEmail
	PersonCreditCard
	PersonCity
	PersonState
	PersonExtra
	AuctionItem
	AuctionDescription
	AuctionExtra
	BidChannel
	BidURL
	BidExtra
	fields
)

// Text is the values of a column of texts: that of row i is Data[Offsets[i]:Offsets[i+1]].
type Text struct {
	Data    []byte
	Offsets []int32
}

// Batch is some events as columns, a value for each row; what stands in the columns of the other kinds is undefined.
type Batch struct {
	Kind []int32
	Time []int64 // ms

	PersonID                          []int64
	AuctionID                         []int64
	AuctionInitialBid, AuctionReserve []int64 // cents
	AuctionExpires                    []int64 // ms
	AuctionSeller, AuctionCategory    []int64
	BidAuction, BidBidder             []int64
	BidPrice                          []int64 // cents

	texts [fields]Text
	valid [3][]byte // by kind: bit i says that row i is of it
	nulls [3]int    // by kind: rows that are not of it
}

// NewBatch gives a batch without rows.
func NewBatch() *Batch { return &Batch{} }

// Rows is the number of events.
func (b *Batch) Rows() int { return len(b.Kind) }

// Text gives a text of row i. It lives until the batch is filled again.
func (b *Batch) Text(f Field, i int) []byte {
	t := &b.texts[f]
	return t.Data[t.Offsets[i]:t.Offsets[i+1]]
}

// numbers gives the columns that are of 64 bits.
func (b *Batch) numbers() [11]*[]int64 {
	return [...]*[]int64{&b.Time, &b.PersonID, &b.AuctionID, &b.AuctionInitialBid, &b.AuctionReserve, &b.AuctionExpires, &b.AuctionSeller,
		&b.AuctionCategory, &b.BidAuction, &b.BidBidder, &b.BidPrice}
}

func sized[T any](v []T, n int) []T {
	if cap(v) < n {
		return make([]T, n)
	}
	return v[:n]
}

// reset makes room for n rows.
func (b *Batch) reset(n int) {
	b.Kind = sized(b.Kind, n)
	for _, v := range b.numbers() {
		*v = sized(*v, n)
	}
	for k := range b.texts {
		t := &b.texts[k]
		t.Data, t.Offsets = t.Data[:0], sized(t.Offsets, n+1)
		t.Offsets[0] = 0
	}
	for kind := range b.valid {
		b.valid[kind] = sized(b.valid[kind], column.BitmapLen(n))
		clear(b.valid[kind])
	}
}

func (b *Batch) text(f Field) *[]byte { return &b.texts[f].Data }

// textBytes is the number of bytes of all texts.
func (b *Batch) textBytes() (n int) {
	for k := range b.texts {
		n += len(b.texts[k].Data)
	}
	return n
}

// Period is the number of events after which ids and times stand to each other as before: MoveOn takes multiples of it.
const Period = Total * hotEvery

// MoveOn makes b the events of from with times, and ids of persons and auctions, as they are so many events later, a multiple of Period.
// Everything else is shared with from, which must not be filled again while b is used.
func (g *Generator) MoveOn(b, from *Batch, events int64) {
	n := from.Rows()
	people, auctions := events/Total*Persons, events/Total*Auctions
	time := events * 1000 / g.perSecond
	moved := func(to *[]int64, v []int64, by int64) {
		*to = sized(*to, n)
		d := *to
		for i, x := range v {
			d[i] = x + by
		}
	}
	moved(&b.Time, from.Time, time)
	moved(&b.PersonID, from.PersonID, people)
	moved(&b.AuctionID, from.AuctionID, auctions)
	moved(&b.AuctionExpires, from.AuctionExpires, time)
	moved(&b.AuctionSeller, from.AuctionSeller, people)
	moved(&b.BidAuction, from.BidAuction, auctions)
	moved(&b.BidBidder, from.BidBidder, people)
	b.Kind, b.AuctionInitialBid, b.AuctionReserve, b.AuctionCategory, b.BidPrice = from.Kind, from.AuctionInitialBid, from.AuctionReserve, from.AuctionCategory, from.BidPrice
	b.texts, b.valid, b.nulls = from.texts, from.valid, from.nulls
}

// Schema is that of the union of the three kinds of events.
func Schema() *arrow.Schema {
	var list []arrow.Field
	for _, c := range columns {
		list = append(list, arrow.Field{Name: c.name, Type: c.typ, Nullable: c.kind != all})
	}
	return arrow.NewSchema(list, nil)
}

const all int32 = -1 // of a column that each event has

// source is a column of the union: its numbers or its texts.
type source struct {
	name    string
	typ     arrow.DataType
	kind    int32
	numbers func(b *Batch) []int64
	text    Field
}

var columns = func() (list []source) {
	number := func(kind int32, name string, numbers func(b *Batch) []int64) {
		list = append(list, source{name, arrow.PrimitiveTypes.Int64, kind, numbers, 0})
	}
	instant := func(kind int32, name string, numbers func(b *Batch) []int64) {
		list = append(list, source{name, arrow.FixedWidthTypes.Timestamp_ms, kind, numbers, 0})
	}
	text := func(kind int32, name string, f Field) {
		list = append(list, source{name, arrow.BinaryTypes.String, kind, nil, f})
	}
	times := func(b *Batch) []int64 { return b.Time }
	list = append(list, source{"event_type", arrow.PrimitiveTypes.Int32, all, nil, 0})
	number(Person, "person_id", func(b *Batch) []int64 { return b.PersonID })
	text(Person, "person_name", PersonName)
	text(Person, "person_email_address", PersonEmail)
	text(Person, "person_credit_card", PersonCreditCard)
	text(Person, "person_city", PersonCity)
	text(Person, "person_state", PersonState)
	instant(Person, "person_date_time", times)
	text(Person, "person_extra", PersonExtra)
	number(Auction, "auction_id", func(b *Batch) []int64 { return b.AuctionID })
	text(Auction, "auction_item_name", AuctionItem)
	text(Auction, "auction_description", AuctionDescription)
	number(Auction, "auction_initial_bid", func(b *Batch) []int64 { return b.AuctionInitialBid })
	number(Auction, "auction_reserve", func(b *Batch) []int64 { return b.AuctionReserve })
	instant(Auction, "auction_date_time", times)
	instant(Auction, "auction_expires", func(b *Batch) []int64 { return b.AuctionExpires })
	number(Auction, "auction_seller", func(b *Batch) []int64 { return b.AuctionSeller })
	number(Auction, "auction_category", func(b *Batch) []int64 { return b.AuctionCategory })
	text(Auction, "auction_extra", AuctionExtra)
	number(Bid, "bid_auction", func(b *Batch) []int64 { return b.BidAuction })
	number(Bid, "bid_bidder", func(b *Batch) []int64 { return b.BidBidder })
	number(Bid, "bid_price", func(b *Batch) []int64 { return b.BidPrice })
	text(Bid, "bid_channel", BidChannel)
	text(Bid, "bid_url", BidURL)
	instant(Bid, "bid_date_time", times)
	text(Bid, "bid_extra", BidExtra)
	instant(all, "date_time", times)
	return list
}()

// View makes to, a batch of Schema with as many rows, show the events. The memory stays that of b.
func (b *Batch) View(to *column.Batch) {
	for i, c := range columns {
		col := &to.Cols[i]
		if c.kind != all && b.nulls[c.kind] > 0 {
			col.Valid, col.Nulls = b.valid[c.kind], b.nulls[c.kind]
		}
		switch {
		case c.numbers != nil:
			col.Data = column.BytesOf(c.numbers(b))
		case i == 0:
			col.Data = column.BytesOf(b.Kind)
		default:
			col.Data, col.Offsets = b.texts[c.text].Data, b.texts[c.text].Offsets
		}
	}
}

package nexmark

// BaseTime is the time of the first event, in ms: midnight of 15 July 2015, UTC.
const BaseTime int64 = 1_436_918_400_000

// Generator makes events. It is immutable and may be used by several goroutines.
type Generator struct {
	perSecond int64
	prices    *prices
	texts     *texts
}

// New gives a generator of so many events a second of event time, from 1 to 1,000,000.
func New(perSecond int64) *Generator {
	return &Generator{perSecond: min(max(perSecond, 1), 1_000_000), prices: newPrices(), texts: newTexts()}
}

// TimeOf is the time of an event, in ms.
func (g *Generator) TimeOf(event int64) int64 { return BaseTime + (event+1)*1000/g.perSecond }

// Fill writes the n events that begin with event start. Memory of the batch is used again.
func (g *Generator) Fill(b *Batch, start int64, n int) {
	b.reset(n)
	for i := range n {
		event := start + int64(i)
		id := event + firstEvent
		r := randomOf(event)
		kind := kindOf(id)
		b.Kind[i], b.Time[i] = kind, g.TimeOf(event)
		b.valid[kind][i>>3] |= 1 << (i & 7)
		switch kind {
		case Person:
			g.person(b, i, id, &r)
		case Auction:
			g.auction(b, i, id, event, &r)
		default:
			g.bid(b, i, id, &r)
		}
		for k := range b.texts {
			b.texts[k].Offsets[i+1] = int32(len(b.texts[k].Data))
		}
	}
	for kind := range b.nulls {
		b.nulls[kind] = n
	}
	for _, kind := range b.Kind {
		b.nulls[kind]--
	}
}

func (g *Generator) person(b *Batch, i int, id int64, r *random) {
	b.PersonID[i] = FirstPerson + lastPerson(id)
	before := b.textBytes()
	name := b.text(PersonName)
	*name = append(append(append(*name, r.oneOf(firstNames)...), ' '), r.oneOf(lastNames)...)
	email := b.text(PersonEmail)
	*email = append(r.word(append(r.word(*email, 7, ' '), '@'), 5, ' '), ".com"...)
	card := b.text(PersonCreditCard)
	*card = r.creditCard(*card)
	city := b.text(PersonCity)
	*city = append(*city, r.oneOf(cities)...)
	state := b.text(PersonState)
	*state = append(*state, r.oneOf(states)...)
	extra := b.text(PersonExtra)
	*extra = g.texts.pad(*extra, r, 8+b.textBytes()-before, personBytes)
}

func (g *Generator) auction(b *Batch, i int, id, event int64, r *random) {
	b.AuctionID[i] = FirstAuction + lastAuction(id)
	before := b.textBytes()
	item := b.text(AuctionItem)
	*item = r.word(*item, 20, ' ')
	description := b.text(AuctionDescription)
	*description = r.word(*description, 100, ' ')
	b.AuctionInitialBid[i] = g.prices.of(r.next())
	b.AuctionReserve[i] = b.AuctionInitialBid[i] + g.prices.of(r.next())
	// The mean auction is open for as long as it takes to open so many others.
	horizon := g.TimeOf(event+openAuctions*Total/Auctions) - g.TimeOf(event)
	b.AuctionExpires[i] = g.TimeOf(event) + 1 + r.below(max(2*horizon, 1))
	seller := hot(lastPerson(id))
	if r.below(hotSellers) == 0 {
		seller = somePerson(r, id)
	}
	b.AuctionSeller[i] = FirstPerson + seller
	b.AuctionCategory[i] = FirstCategory + r.below(categories)
	extra := b.text(AuctionExtra)
	*extra = g.texts.pad(*extra, r, 48+b.textBytes()-before, auctionBytes)
}

func (g *Generator) bid(b *Batch, i int, id int64, r *random) {
	auction := hot(lastAuction(id))
	if r.below(hotAuctions) == 0 {
		auction = someAuction(r, id)
	}
	b.BidAuction[i] = FirstAuction + auction
	bidder := hot(lastPerson(id)) + 1
	if r.below(hotBidders) == 0 {
		bidder = somePerson(r, id)
	}
	b.BidBidder[i] = FirstPerson + bidder
	b.BidPrice[i] = g.prices.of(r.next())
	var c *channel
	if r.below(hotOfChannels) > 0 {
		c = &g.texts.hot[r.below(int64(len(g.texts.hot)))]
	} else {
		c = &g.texts.rest[r.below(channels)]
	}
	name, url, extra := b.text(BidChannel), b.text(BidURL), b.text(BidExtra)
	*name = append(*name, c.name...)
	*url = append(*url, c.url...)
	*extra = g.texts.pad(*extra, r, 32, bidBytes)
}

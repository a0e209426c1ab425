package nexmark

// Of Total events that follow each other so many are of each kind, in this order.
const (
	Persons  = 1
	Auctions = 3
	Bids     = 46
	Total    = Persons + Auctions + Bids
)

// The kinds of events, in event_type.
const (
	Person int32 = iota
	Auction
	Bid
)

// Ids begin here.
const (
	FirstPerson   = 1000
	FirstAuction  = 1000
	FirstCategory = 10
)

const (
	firstEvent = 2 // id of event 0: the first id and the first number are both 1

	categories    = 5
	activePeople  = 1000 // of the last so many one is chosen where it is not the hot one
	personLead    = 10   // people that are chosen but not yet born
	openAuctions  = 100
	auctionLead   = 10
	hotEvery      = 100 // ids of hot auctions, sellers and bidders are multiples of it (bidders: and one more)
	hotAuctions   = 2   // one choice of so many is not the hot one
	hotSellers    = 4
	hotBidders    = 4
	hotOfChannels = 2
	channels      = 10_000

	personBytes  = 200 // that extra fills a row up to, on average
	auctionBytes = 500
	bidBytes     = 100
)

// kindOf is the kind of the event of an id.
func kindOf(id int64) int32 {
	switch r := id % Total; {
	case r < Persons:
		return Person
	case r < Persons+Auctions:
		return Auction
	}
	return Bid
}

// lastPerson is the number of the person that was born last when the event of an id comes.
func lastPerson(id int64) int64 { return id / Total }

// lastAuction is the number of the auction that was opened last.
func lastAuction(id int64) int64 {
	epoch, off := id/Total, id%Total
	switch {
	case off < Persons:
		return epoch*Auctions - 1
	case off >= Persons+Auctions:
		return epoch*Auctions + Auctions - 1
	}
	return epoch*Auctions + off - Persons
}

// somePerson is the number of one of the active people, or of one that will be soon.
func somePerson(r *random, id int64) int64 {
	people := lastPerson(id) + 1
	active := min(people, activePeople)
	return people - active + r.below(active+personLead)
}

// someAuction is the number of one of the open auctions, or of one that will be soon.
func someAuction(r *random, id int64) int64 {
	last := lastAuction(id)
	first := max(last-openAuctions, 0)
	return first + r.below(last-first+1+auctionLead)
}

func hot(last int64) int64 { return last / hotEvery * hotEvery }

package main

import (
	"sync"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/arkflow-go/arkflow/bench/events"
	"github.com/arkflow-go/arkflow/bench/nexmark"
	"github.com/arkflow-go/arkflow/column"
)

const (
	// nexmarkRate is the number of events in a second of event time.
	nexmarkRate = 100_000
	// nexmarkRound is the number of events that are made once; each later round moves them on.
	nexmarkRound = 200 * nexmark.Period
)

// liveFeed makes each event when it is asked for.
type liveFeed struct{ events *nexmark.Generator }

func (f *liveFeed) schema() *arrow.Schema { return nexmark.Schema() }

func (f *liveFeed) slot() feedSlot {
	return &liveSlot{feed: f, rows: nexmark.NewBatch(), made: f.schema()}
}

type liveSlot struct {
	feed *liveFeed
	rows *nexmark.Batch
	made *arrow.Schema
}

func (s *liveSlot) fill(start int64, n int) { s.feed.events.Fill(s.rows, start, n) }

func (s *liveSlot) view(p *column.Pool) (*column.Batch, error) { return view(p, s.made, s.rows), nil }

func view(p *column.Pool, schema *arrow.Schema, rows *nexmark.Batch) *column.Batch {
	b := column.NewBatch(p, schema, rows.Rows())
	rows.View(b)
	return b
}

// tape is the events of the first round, made once for all runs.
type tape struct {
	events *nexmark.Generator
	rows   int64 // of a batch

	mu      sync.Mutex
	batches []*nexmark.Batch
}

func newTape(g *nexmark.Generator, rows int64) *tape { return &tape{events: g, rows: rows} }

// ensure makes what the first n events need of the tape.
func (t *tape) ensure(n int64) *tape {
	t.mu.Lock()
	defer t.mu.Unlock()
	for at := int64(len(t.batches)) * t.rows; at < min(n, nexmarkRound); at += t.rows {
		b := nexmark.NewBatch()
		t.events.Fill(b, at, int(min(t.rows, nexmarkRound-at)))
		t.batches = append(t.batches, b)
	}
	return t
}

func (t *tape) schema() *arrow.Schema { return nexmark.Schema() }

func (t *tape) slot() feedSlot { return &tapeSlot{tape: t, rows: nexmark.NewBatch(), made: t.schema()} }

// tapeSlot is a batch of the tape, moved on. That of the end of the input may be cut.
type tapeSlot struct {
	tape *tape
	rows *nexmark.Batch
	made *arrow.Schema
	n    int
}

func (s *tapeSlot) fill(start int64, n int) {
	round := start / nexmarkRound
	s.n = n
	s.tape.events.MoveOn(s.rows, s.tape.batches[start%nexmarkRound/s.tape.rows], round*nexmarkRound)
}

func (s *tapeSlot) view(p *column.Pool) (*column.Batch, error) {
	b := view(p, s.made, s.rows)
	if s.n == b.Rows {
		return b, nil
	}
	defer b.Release()
	return b.Slice(0, s.n), nil
}

// nexmarkFeeds gives the events of the suite.
type nexmarkFeeds struct {
	live   liveFeed
	replay *tape
}

func newNexmarkFeeds() *nexmarkFeeds {
	g := nexmark.New(nexmarkRate)
	return &nexmarkFeeds{liveFeed{g}, newTape(g, events.Rows)}
}

// source gives the first n events.
func (f *nexmarkFeeds) source(n int64, splits int, live bool) *ring {
	s := &ring{n: n, splits: splits, live: live, round: nexmarkRound}
	if live {
		s.feed = &f.live
	} else {
		s.feed = f.replay.ensure(n)
	}
	return s
}

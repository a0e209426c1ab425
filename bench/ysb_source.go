package main

import (
	"encoding/binary"
	"fmt"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/arkflow-go/arkflow/bench/events"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/column"
)

// The Yahoo Streaming Benchmark: 100 campaigns of 10 advertisements each, of which users see, click and buy.
const (
	ysbCampaigns = 100
	ysbAds       = 10 * ysbCampaigns
	ysbUsers     = 100
	ysbPages     = 100
)

var (
	ysbAdTypes    = []string{"banner", "modal", "sponsored-search", "mail", "mobile"}
	ysbEventTypes = []string{"view", "click", "purchase"}
)

// uuid is an id of 128 bits.
type uuid [16]byte

// Spaces of ids.
const (
	ysbUserID = iota
	ysbPageID
	ysbAdID
)

// ysbID is the id of thing number k of a space.
func ysbID(space, k int) (id uuid) {
	x := uint64(space)<<32 + uint64(k)
	binary.LittleEndian.PutUint64(id[:8], events.Mix(2*x))
	binary.LittleEndian.PutUint64(id[8:], events.Mix(2*x+1))
	return id
}

func (id uuid) text() string {
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// ysbEvent is event i by the numbers of what it speaks of.
type ysbEvent struct{ user, page, ad, adType, eventType, time int }

// ysbOf gives event i: 100 events in a millisecond, a third of them views.
func ysbOf(i int64) ysbEvent {
	m := events.Mix(uint64(i))
	// Each part of m is multiplied into its range.
	return ysbEvent{user: int(m & 0xFFF * ysbUsers >> 12), page: int(m >> 12 & 0xFFF * ysbPages >> 12), ad: int(m >> 24 & 0xFFFF * ysbAds >> 16),
		adType: int(m >> 40 & 0xFF * uint64(len(ysbAdTypes)) >> 8), eventType: int(m >> 48 * uint64(len(ysbEventTypes)) >> 16), time: int(i / events.PerMilli)}
}

// ysbTuples is the events as tuples of numbers: the ids have 128 bits.
type ysbTuples struct {
	users, pages, ads []uuid
	offsets           []int32 // of ids that follow each other
}

func newYSBTuples() *ysbTuples {
	f := &ysbTuples{users: make([]uuid, ysbUsers), pages: make([]uuid, ysbPages), ads: make([]uuid, ysbAds), offsets: make([]int32, events.Rows+1)}
	for space, list := range [][]uuid{ysbUserID: f.users, ysbPageID: f.pages, ysbAdID: f.ads} {
		for k := range list {
			list[k] = ysbID(space, k)
		}
	}
	for i := range f.offsets {
		f.offsets[i] = int32(i * len(uuid{}))
	}
	return f
}

func (f *ysbTuples) schema() *arrow.Schema {
	id := arrow.BinaryTypes.Binary
	return arrow.NewSchema([]arrow.Field{
		{Name: "event_time", Type: arrow.FixedWidthTypes.Timestamp_ms},
		{Name: "user_id", Type: id},
		{Name: "page_id", Type: id},
		{Name: "ad_id", Type: id},
		{Name: "ip_address", Type: id},
		{Name: "ad_type", Type: arrow.PrimitiveTypes.Int64},
		{Name: "event_type", Type: arrow.PrimitiveTypes.Int64},
	}, nil)
}

func (f *ysbTuples) slot() feedSlot { return &ysbTupleSlot{feed: f, made: f.schema()} }

type ysbTupleSlot struct {
	feed                    *ysbTuples
	made                    *arrow.Schema
	rows                    int
	time, adType, eventType [events.Rows]int64
	user, page, ad, ip      [events.Rows]uuid
}

func (s *ysbTupleSlot) fill(start int64, n int) {
	s.rows = n
	for i := range n {
		e := ysbOf(start + int64(i))
		s.time[i], s.adType[i], s.eventType[i] = int64(e.time), int64(e.adType), int64(e.eventType)
		s.user[i], s.page[i], s.ad[i] = s.feed.users[e.user], s.feed.pages[e.page], s.feed.ads[e.ad]
		s.ip[i] = uuid{1, 2, 3, 4}
	}
}

func (s *ysbTupleSlot) view(p *column.Pool) (*column.Batch, error) {
	b := column.NewBatch(p, s.made, s.rows)
	numbers := func(at int, v *[events.Rows]int64) { b.Cols[at].Data = column.BytesOf(v[:s.rows]) }
	ids := func(at int, v *[events.Rows]uuid) {
		b.Cols[at].Data, b.Cols[at].Offsets = column.BytesOf(v[:s.rows]), s.feed.offsets[:s.rows+1]
	}
	numbers(0, &s.time)
	ids(1, &s.user)
	ids(2, &s.page)
	ids(3, &s.ad)
	ids(4, &s.ip)
	numbers(5, &s.adType)
	numbers(6, &s.eventType)
	return b, nil
}

// ysbLines is the events as lines of JSON, which are decoded when a batch is read.
type ysbLines struct{ users, pages, ads []string }

func newYSBLines() *ysbLines {
	f := &ysbLines{users: make([]string, ysbUsers), pages: make([]string, ysbPages), ads: make([]string, ysbAds)}
	for space, list := range [][]string{ysbUserID: f.users, ysbPageID: f.pages, ysbAdID: f.ads} {
		for k := range list {
			list[k] = ysbID(space, k).text()
		}
	}
	return f
}

func (f *ysbLines) schema() *arrow.Schema {
	var list []arrow.Field
	for _, name := range []string{"user_id", "page_id", "ad_id", "ad_type", "event_type", "event_time", "ip_address"} {
		list = append(list, arrow.Field{Name: name, Type: arrow.BinaryTypes.String})
	}
	return arrow.NewSchema(list, nil)
}

func (f *ysbLines) slot() feedSlot { return &ysbLineSlot{feed: f} }

type ysbLineSlot struct {
	feed    *ysbLines
	lines   []byte
	decoder codec.Decoder
}

func (s *ysbLineSlot) fill(start int64, n int) {
	s.lines = s.lines[:0]
	for i := range n {
		e := ysbOf(start + int64(i))
		s.lines = s.feed.appendLine(s.lines, e)
	}
}

// appendLine appends an event as the generator of the benchmark writes it.
func (f *ysbLines) appendLine(to []byte, e ysbEvent) []byte {
	text := func(name, value string) {
		to = append(append(append(append(append(to, '"'), name...), `": "`...), value...), `", `...)
	}
	to = append(to, '{')
	text("user_id", f.users[e.user])
	text("page_id", f.pages[e.page])
	text("ad_id", f.ads[e.ad])
	text("ad_type", ysbAdTypes[e.adType])
	text("event_type", ysbEventTypes[e.eventType])
	to = strconv.AppendInt(append(to, `"event_time": "`...), int64(e.time), 10)
	return append(to, `", "ip_address": "1.2.3.4"}`+"\n"...)
}

func (s *ysbLineSlot) view(p *column.Pool) (*column.Batch, error) {
	if s.decoder == nil {
		d, err := codec.JSON(s.feed.schema()).NewDecoder(p)
		if err != nil {
			return nil, err
		}
		s.decoder = d
	}
	if _, err := s.decoder.DecodeLines(s.lines, true, codec.Limits{Rows: events.Rows}); err != nil {
		return nil, err
	}
	return s.decoder.Finish(), nil
}

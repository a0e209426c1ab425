package window

import (
	"encoding/binary"
	"log/slog"
	"math/bits"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/keys"
	"github.com/arkflow-go/arkflow/operator"
	"github.com/arkflow-go/arkflow/state"
)

// The events of the suites: 100,000 an event-second, key = mix(i) >> 33 % keys, price 16 bits.
type feed struct {
	keys uint64
	next uint64
	// perMilli is the number of events in a millisecond of event time.
	perMilli uint64
	late     bool // each tenth row 50 ms behind
	text     bool
	schema   *arrow.Schema
	ring     []*column.Batch
}

const (
	feedRows = 8192
	feedRing = 4
	warmup   = 256 // batches that are not timed: two windows, so that tables have their size
)

func mix(x uint64) uint64 { return keys.Mix64(x + 0x9E3779B97F4A7C15) }

func newFeed(keys uint64, text, late bool) *feed {
	f := &feed{keys: keys, text: text, late: late, perMilli: 100}
	var kt arrow.DataType = arrow.PrimitiveTypes.Int64
	if text {
		kt = arrow.BinaryTypes.String
	}
	f.schema = arrow.NewSchema([]arrow.Field{{Name: "key", Type: kt}, {Name: "price", Type: arrow.PrimitiveTypes.Int64}}, nil)
	for range feedRing {
		b := column.NewBatch(nil, f.schema, feedRows)
		b.Times = make([]int64, feedRows)
		b.Cols[1].Data = column.BytesOf(make([]int64, feedRows))
		if text {
			b.Cols[0].Data = make([]byte, 13*feedRows)
			b.Cols[0].Offsets = make([]int32, feedRows+1)
			for i := range b.Cols[0].Offsets {
				b.Cols[0].Offsets[i] = int32(13 * i)
			}
		} else {
			b.Cols[0].Data = column.BytesOf(make([]int64, feedRows))
		}
		f.ring = append(f.ring, b)
	}
	return f
}

// fill writes the next events into a batch.
func (f *feed) fill(b *column.Batch) {
	price, times := column.Values[int64](&b.Cols[1]), b.Times
	var key []int64
	if !f.text {
		key = column.Values[int64](&b.Cols[0])
	}
	b.Late = b.Late[:0]
	for i := range times {
		m := mix(f.next)
		k := m >> 33
		q, _ := bits.Mul64(k, ^uint64(0)/f.keys+1)
		k -= q * f.keys
		if f.text {
			s := b.Cols[0].Data[13*i : 13*i+13]
			copy(s, "user-")
			for j := 12; j >= 5; j-- {
				s[j] = byte('0' + k%10)
				k /= 10
			}
		} else {
			key[i] = int64(k)
		}
		price[i] = int64(m & 0xFFFF)
		times[i] = int64(f.next / f.perMilli)
		if f.late && f.next%10 == 9 {
			times[i] -= 50
			b.Late = append(b.Late, column.LatePair{Row: int32(i), J: int64((f.next - 1) / f.perMilli)})
		}
		f.next++
	}
}

// folding is the sink of the suites.
type folding struct {
	rows int64
	sum  uint64
	late int64
}

func (o *folding) Emit(port int, b *column.Batch) error {
	if port == operator.Late {
		o.late += int64(b.Len())
		return nil
	}
	o.rows += int64(b.Rows)
	end, count, sum := column.Values[int64](&b.Cols[2]), column.Values[int64](&b.Cols[3]), column.Values[int64](&b.Cols[4])
	if b.Cols[0].Kind == column.Bytes {
		for i := range end {
			k := b.Cols[0].Bytes(i)
			o.sum += mix(uint64(int64(k[12])*31 + end[i]*1000003 + count[i]*7919 + sum[i]))
		}
		return nil
	}
	key := column.Values[int64](&b.Cols[0])
	for i := range end {
		o.sum += mix(uint64(key[i]*31 + end[i]*1000003 + count[i]*7919 + sum[i]))
	}
	return nil
}

func benchContext() *operator.Context {
	return &operator.Context{Operator: "w", Parallelism: 1, MaxParallelism: 128, KeyGroups: state.Range{End: 128}, Pool: column.NewPool(),
		Clock: operator.SystemClock{}, Logger: slog.New(slog.DiscardHandler), Counters: &operator.Counters{}}
}

func newInstance(tb testing.TB, ctx *operator.Context, in operator.Stream, a Assigner, aggs ...Aggregate) windowed {
	tb.Helper()
	b, err := New(a, aggs...).Bind([]operator.Stream{in})
	if err != nil {
		tb.Fatal(err)
	}
	x, err := b.New(ctx)
	if err != nil {
		tb.Fatal(err)
	}
	return x.(windowed)
}

// BenchmarkTumble drives the operator with b.N batches of 8,192 rows; "bare" is the hand-written loop over the same batches
// that does the same work with a group index and one pass an aggregate.
func BenchmarkTumble(b *testing.B) {
	for _, c := range []struct {
		name       string
		keys       uint64
		text, late bool
	}{
		{"1k", 1_000, false, false}, {"100k", 100_000, false, false}, {"1m", 1_000_000, false, false},
		{"str100k", 100_000, true, false}, {"disorder100k", 100_000, false, true},
	} {
		b.Run(c.name+"/operator", func(b *testing.B) {
			f := newFeed(c.keys, c.text, c.late)
			x := newInstance(b, benchContext(), operator.Stream{Schema: f.schema, Key: []string{"key"}}, Tumbling(10*time.Second).Unbounded(), Count(), Sum("price"))
			out := &folding{}
			run(b, f, func(t *column.Batch) {
				if err := x.Process(0, t, out); err != nil {
					b.Fatal(err)
				}
				if _, err := x.OnWatermark(int64(f.next/100)-int64(feedRing*feedRows/100)-1, out); err != nil {
					b.Fatal(err)
				}
			}, func() {
				_, _ = x.OnWatermark(operator.MaxWatermark, out)
			})
			_, size := x.StateSize()
			b.ReportMetric(float64(size)/float64(c.keys), "B/key")
			b.ReportMetric(float64(out.rows), "rows_out")
		})
		b.Run(c.name+"/bare", func(b *testing.B) {
			f := newFeed(c.keys, c.text, c.late)
			bare := newBare(c.keys, c.text)
			run(b, f, bare.batch, bare.fire)
			b.ReportMetric(float64(bare.rows), "rows_out")
		})
		if c.keys < 1_000_000 {
			continue
		}
		b.Run(c.name+"/bare_buffered", func(b *testing.B) {
			f := newFeed(c.keys, false, false)
			bare := newBareBuffered()
			run(b, f, bare.batch, bare.fire)
			b.ReportMetric(float64(bare.rows), "rows_out")
		})
	}
}

// run times only the work on batches, as "replay" does.
func run(b *testing.B, f *feed, batch func(*column.Batch), end func()) {
	b.ReportAllocs()
	b.StopTimer()
	for i := 0; b.N > 1 && i < warmup; i++ {
		f.fill(f.ring[i%feedRing])
		batch(f.ring[i%feedRing])
	}
	b.ResetTimer()
	for i := 0; i < b.N; {
		n := min(feedRing, b.N-i)
		for _, t := range f.ring[:n] {
			f.fill(t)
		}
		b.StartTimer()
		for _, t := range f.ring[:n] {
			batch(t)
		}
		b.StopTimer()
		i += n
	}
	b.StartTimer()
	end()
	b.StopTimer()
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/feedRows, "ns/row")
}

// bare is the loop of the suites' baselines: {key, gid} slots, keys stay, one array an aggregate. Strings of at most 15 bytes
// are two words.
type bare struct {
	slots      []bareSlot
	shift      uint
	keys       []int64
	count, sum []int64
	gid        []uint32
	end        int64
	rows       int64
	fold       uint64
	text       bool
	tslots     []textSlot
	tkeys      [][2]uint64
}

type bareSlot struct {
	key, gid int64
}

type textSlot struct {
	k0, k1 uint64
	gid    uint64
}

const bareEmpty = -0x5bd1e9955bd1e995

func newBare(keys uint64, text bool) *bare {
	s := 16
	for s < 2*int(keys) {
		s *= 2
	}
	a := &bare{shift: uint(64 - bits.TrailingZeros(uint(s))), count: make([]int64, keys), sum: make([]int64, keys), gid: make([]uint32, feedRows), end: 10_000, text: text}
	if text {
		a.tslots = make([]textSlot, s)
		return a
	}
	a.slots = make([]bareSlot, s)
	for i := range a.slots {
		a.slots[i].key = bareEmpty
	}
	return a
}

func (a *bare) batch(b *column.Batch) {
	times := b.Times
	lo, n := 0, len(times)
	for lo < n {
		hi := n
		if times[n-1] >= a.end {
			for hi = lo; times[hi] < a.end; hi++ {
			}
		}
		a.add(b, lo, hi)
		if hi < n {
			a.fire()
		}
		lo = hi
	}
}

// bareBuffered appends rows to 512 partitions and groups each at the end of the window in one small table, with no branch on "new key".
type bareBuffered struct {
	bare
	buf    [][2]int64
	n      []uint32
	cap    uint32
	tab    []uint32
	groups []struct{ key, count, sum int64 }
}

func newBareBuffered() *bareBuffered {
	c := uint32(1_000_000>>9)*5/4 + 64
	a := &bareBuffered{buf: make([][2]int64, int(c)<<9), n: make([]uint32, 512), cap: c, tab: make([]uint32, 1<<13)}
	a.groups = make([]struct{ key, count, sum int64 }, c+2)
	a.end = 10_000
	return a
}

func (a *bareBuffered) batch(b *column.Batch) {
	times, lo := b.Times, 0
	for n := len(times); lo < n; {
		hi := n
		if times[n-1] >= a.end {
			for hi = lo; times[hi] < a.end; hi++ {
			}
		}
		key, price := column.Values[int64](&b.Cols[0])[lo:hi], column.Values[int64](&b.Cols[1])[lo:hi]
		for i, k := range key {
			p := uint64(k) * 0x9E3779B97F4A7C15 >> 55
			m := a.n[p]
			a.buf[uint32(p)*a.cap+m] = [2]int64{k, price[i]}
			a.n[p] = m + 1
		}
		if hi < n {
			a.fire()
		}
		lo = hi
	}
}

func (a *bareBuffered) fire() {
	mask := uint64(len(a.tab) - 1)
	for p, cnt := range a.n {
		n := uint32(1)
		for _, e := range a.buf[p*int(a.cap):][:cnt] {
			h := uint64(e[0]) * 0x9E3779B97F4A7C15 << 9 >> 51
			g := a.tab[h&mask]
			for (a.groups[g].key^e[0])&-int64((uint64(g)+1<<32-1)>>32) != 0 {
				h++
				g = a.tab[h&mask]
			}
			isNew := uint32((uint64(g) - 1) >> 63)
			g += n & -isNew
			n += isNew
			a.tab[h&mask] = g
			s := &a.groups[g]
			s.key = e[0]
			s.count++
			s.sum += e[1]
		}
		a.rows += int64(n - 1)
		for _, s := range a.groups[1:n] {
			a.fold += mix(uint64(s.key*31 + a.end*1000003 + s.count*7919 + s.sum))
		}
		clear(a.groups[:n])
		clear(a.tab)
		a.n[p] = 0
	}
	a.end += 10_000
}

func (a *bare) add(b *column.Batch, lo, hi int) {
	gid := a.gid[:hi-lo]
	if a.text {
		a.groupsText(gid, &b.Cols[0], lo)
	} else {
		a.groups(gid, column.Values[int64](&b.Cols[0])[lo:hi])
	}
	count := a.count
	for _, g := range gid {
		count[g]++
	}
	sum, price := a.sum, column.Values[int64](&b.Cols[1])[lo:hi]
	for i, g := range gid {
		sum[g] += price[i]
	}
}

func (a *bare) groups(gid []uint32, key []int64) {
	t, sh, mask := a.slots, a.shift&63, uint64(len(a.slots)-1)
	for i, k := range key {
		h := uint64(k) * 0x9E3779B97F4A7C15 >> sh
		for {
			e := &t[h&mask]
			if e.key == k {
				gid[i] = uint32(e.gid)
				break
			}
			if e.key == bareEmpty {
				e.key, e.gid = k, int64(len(a.keys))
				a.keys = append(a.keys, k)
				continue
			}
			h++
		}
	}
}

func (a *bare) groupsText(gid []uint32, c *column.Column, lo int) {
	t, sh, mask := a.tslots, a.shift&63, uint64(len(a.tslots)-1)
	for i := range gid {
		s := c.Bytes(lo + i)
		var k0, k1 uint64
		k0 = binary.LittleEndian.Uint64(s)
		k1 = binary.LittleEndian.Uint64(s[5:]) >> 24
		hi, l := bits.Mul64(k0^0xA0761D6478BD642F, k1^0xE7037ED1A0B428DB)
		h := (hi ^ l) >> sh
		for {
			e := &t[h&mask]
			if e.k0 == k0 && e.k1 == k1 && e.gid != 0 {
				gid[i] = uint32(e.gid - 1)
				break
			}
			if e.gid == 0 {
				a.tkeys = append(a.tkeys, [2]uint64{k0, k1})
				e.k0, e.k1, e.gid = k0, k1, uint64(len(a.tkeys))
				continue
			}
			h++
		}
	}
}

func (a *bare) fire() {
	n := max(len(a.keys), len(a.tkeys))
	for g := range n {
		if a.count[g] != 0 {
			a.rows++
			k := int64(0)
			if !a.text {
				k = a.keys[g]
			}
			a.fold += mix(uint64(k*31 + a.end*1000003 + a.count[g]*7919 + a.sum[g]))
		}
	}
	clear(a.count[:n])
	clear(a.sum[:n])
	a.end += 10_000
}

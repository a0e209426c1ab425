package events

import "math/bits"

const (
	// Rows is the number of rows of a full batch.
	Rows = 8192
	// PerMilli is the number of events in a millisecond of event time.
	PerMilli = 100
	// TextBytes is the length of a key as text: "key-" and nine digits.
	TextBytes = 13
)

// Mix is the finalizer of splitmix64.
func Mix(x uint64) uint64 {
	x += 0x9E3779B97F4A7C15
	x = (x ^ x>>30) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>27) * 0x94D049BB133111EB
	return x ^ x>>31
}

// WindowTerm is what the result of a window adds to the checksum. end is window_end in ms.
func WindowTerm(key, end, count, sum int64) uint64 {
	return Mix(uint64(key*31 + end*1000003 + count*7919 + sum))
}

// Batch is the columns of some events. Text is the key as text, TextBytes a row, and nil where nobody reads it.
type Batch struct {
	Key, Price, Time []int64
	Text             []byte
}

// NewBatch gives a batch with room for that many rows.
func NewBatch(rows int) *Batch {
	return &Batch{Key: make([]int64, 0, rows), Price: make([]int64, 0, rows), Time: make([]int64, 0, rows)}
}

// Generator makes the events of one benchmark.
type Generator struct {
	// PerMilli is the number of events in a millisecond of event time.
	PerMilli int64
	// Behind moves each tenth event back by so many ms. 0: all are in order.
	Behind int64
	// Hot gives the key 0 to all events with an odd price: half of them.
	Hot bool

	keys, inverse uint64
	texts         []byte
}

// NewGenerator gives a generator of keys in [0, keys), 1 < keys < 2^31, in order of time.
func NewGenerator(keys int64) *Generator {
	return &Generator{PerMilli: PerMilli, keys: uint64(keys), inverse: ^uint64(0)/uint64(keys) + 1}
}

// WithText makes Fill write the keys as text as well.
func (g *Generator) WithText() *Generator {
	g.texts = make([]byte, 0, g.keys*TextBytes)
	for k := range int64(g.keys) {
		g.texts = AppendText(g.texts, k)
	}
	return g
}

// Fill writes the n events that begin with event start. The batch must have room for them.
func (g *Generator) Fill(b *Batch, start int64, n int) {
	b.Key, b.Price, b.Time = b.Key[:n], b.Price[:n], b.Time[:n]
	key, price := b.Key, b.Price[:len(b.Key)]
	for i := range key {
		m := Mix(uint64(start) + uint64(i))
		x := m >> 33
		quotient, _ := bits.Mul64(x, g.inverse) // exact for x < 2^32
		key[i] = int64(x - quotient*g.keys)
		price[i] = int64(m & 0xFFFF)
	}
	if g.Hot {
		for i, v := range price {
			key[i] &= v&1 - 1
		}
	}
	g.fillTimes(b.Time, start)
	if g.texts != nil {
		b.Text = b.Text[:0]
		for _, k := range key {
			b.Text = append(b.Text, g.texts[k*TextBytes:(k+1)*TextBytes]...)
		}
	}
}

// fillTimes writes runs of equal times, then moves the rows that are behind.
func (g *Generator) fillTimes(t []int64, start int64) {
	now, left := start/g.PerMilli, int(g.PerMilli-start%g.PerMilli)
	for rest := t; len(rest) > 0; now, left = now+1, int(g.PerMilli) {
		run := rest[:min(left, len(rest))]
		for i := range run {
			run[i] = now
		}
		rest = rest[len(run):]
	}
	if g.Behind == 0 {
		return
	}
	for i := int(9 - start%10); i < len(t); i += 10 {
		t[i] -= g.Behind
	}
}

// AppendText appends a key as text.
func AppendText(to []byte, key int64) []byte {
	to = append(to, "key-000000000"...)
	for at := len(to) - 1; key > 0; at, key = at-1, key/10 {
		to[at] += byte(key % 10)
	}
	return to
}

// ParseText gives the key whose text begins with b.
func ParseText(b []byte) int64 {
	b = b[:TextBytes]
	n := int64(0)
	for _, c := range b[4:] {
		n = n*10 + int64(c-'0')
	}
	return n
}

// DistinctKeys is the number of different keys among the events [start, start+n).
func (g *Generator) DistinctKeys(start, n int64) int64 {
	seen := make([]bool, g.keys)
	count := int64(0)
	b := NewBatch(Rows)
	plain := *g
	plain.texts = nil
	for end := start + n; start < end; start += Rows {
		plain.Fill(b, start, int(min(Rows, end-start)))
		for _, k := range b.Key {
			if !seen[k] {
				seen[k] = true
				count++
			}
		}
	}
	return count
}

package baseline

import (
	"encoding/binary"
	"math/bits"

	"github.com/arkflow-go/arkflow/bench/events"
)

// TextColumns is Columns with the key as text. Keys of 8 to 16 bytes stand in the slot itself as two words, so that a
// row reads neither a string header nor memory elsewhere.
type TextColumns struct {
	slots []textSlot
	keys  []textKey
	count []int64
	sum   []int64
	group [events.Rows]uint32
}

// textKey is the first and the last 8 bytes, which overlap where there are fewer than 16.
type textKey struct{ first, last uint64 }

type textSlot struct {
	key   textKey
	group uint32
	size  uint32 // bytes of the key; 0: free
}

// NewTextColumns gives a table for so many keys of events.TextBytes bytes.
func NewTextColumns(keys int64) *TextColumns {
	return &TextColumns{
		slots: make([]textSlot, 1<<tableBits(keys, 0.5)), keys: make([]textKey, 0, keys),
		count: make([]int64, keys), sum: make([]int64, keys),
	}
}

func (c *TextColumns) add(b *events.Batch, from, to int) {
	group := c.group[:to-from]
	c.find(b.Text[from*events.TextBytes:to*events.TextBytes], group)
	for _, g := range group {
		c.count[g]++
	}
	price := b.Price[from:to][:len(group)]
	for i, g := range group {
		c.sum[g] += price[i]
	}
}

func (c *TextColumns) find(text []byte, group []uint32) {
	slots, mask := c.slots, uint64(len(c.slots)-1)
	for i := range group {
		t := text[i*events.TextBytes:][:events.TextBytes]
		k := textKey{binary.LittleEndian.Uint64(t), binary.LittleEndian.Uint64(t[events.TextBytes-8:])}
		for at := k.hash(); ; at++ {
			s := &slots[at&mask]
			if s.key == k && s.size == events.TextBytes {
				group[i] = s.group
				break
			}
			if s.size == 0 {
				*s = textSlot{k, uint32(len(c.keys)), events.TextBytes}
				c.keys = append(c.keys, k)
				group[i] = s.group
				break
			}
		}
	}
}

func (k textKey) hash() uint64 {
	hi, lo := bits.Mul64(k.first^fibonacci, k.last^0xE7037ED1A0B428DB)
	return hi ^ lo
}

func (c *TextColumns) fire(end int64, into *Result) {
	count, sum := c.count[:len(c.keys)], c.sum[:len(c.keys)]
	rows, checksum := int64(0), uint64(0)
	var text [events.TextBytes]byte
	for g, k := range c.keys {
		if count[g] != 0 {
			rows++
			binary.LittleEndian.PutUint64(text[:], k.first)
			binary.LittleEndian.PutUint64(text[events.TextBytes-8:], k.last)
			checksum += events.WindowTerm(events.ParseText(text[:]), end, count[g], sum[g])
		}
	}
	clear(count)
	clear(sum)
	into.Rows += rows
	into.Checksum += checksum
}

// TextMap groups by Go's own map, as one writes it first.
type TextMap struct{ groups map[string]*tally }

// NewTextMap gives an empty map.
func NewTextMap() *TextMap { return &TextMap{map[string]*tally{}} }

func (m *TextMap) add(b *events.Batch, from, to int) {
	for i := from; i < to; i++ {
		k := b.Text[i*events.TextBytes : (i+1)*events.TextBytes]
		t := m.groups[string(k)]
		if t == nil {
			t = &tally{}
			m.groups[string(k)] = t
		}
		t.count++
		t.sum += b.Price[i]
	}
}

func (m *TextMap) fire(end int64, into *Result) {
	for k, t := range m.groups {
		into.Rows++
		into.Checksum += events.WindowTerm(events.ParseText([]byte(k)), end, t.count, t.sum)
	}
	clear(m.groups)
}

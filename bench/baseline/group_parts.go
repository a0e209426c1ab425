package baseline

import "github.com/arkflow-go/arkflow/bench/events"

// Parts is for more keys than fit into the caches: the rows of a window are only appended to one of 512 parts by high bits of
// the key's hash, and each part is grouped when the window ends, in one small table that all share.
type Parts struct {
	rows   []keyPrice // parts of size room
	filled []uint32
	room   uint32
	table  []uint32 // group number by hash; 0 is free
	bits   uint     // logarithm of the table's size
	groups []wideSlot
}

type keyPrice struct{ key, price int64 }

const partBits = 9

// NewParts gives room for so many rows a window, with a quarter to spare in each part.
func NewParts(rows int64) *Parts {
	each := rows >> partBits
	room := each + each/4 + 64
	p := &Parts{
		rows: make([]keyPrice, room<<partBits), filled: make([]uint32, 1<<partBits), room: uint32(room),
		bits: tableBits(each, 0.3), groups: make([]wideSlot, room+2),
	}
	p.table = make([]uint32, 1<<p.bits)
	return p
}

func (p *Parts) add(b *events.Batch, from, to int) {
	rows, filled, room := p.rows, p.filled, p.room
	key := b.Key[from:to]
	price := b.Price[from:to][:len(key)]
	for i, k := range key {
		part := uint64(k) * fibonacci >> (64 - partBits)
		n := filled[part]
		if n == room {
			panic("baseline: a part is full: the window has more rows than NewParts was told")
		}
		rows[uint32(part)*room+n] = keyPrice{k, price[i]}
		filled[part] = n + 1
	}
}

func (p *Parts) fire(end int64, into *Result) {
	table, groups := p.table, p.groups
	mask, drop := uint64(len(table)-1), (64-p.bits)&63
	checksum := uint64(0)
	for part, n := range p.filled {
		free := uint32(1) // the next group number; groups from there on are zero
		at := part * int(p.room)
		for _, row := range p.rows[at : at+int(n)] {
			// The part took the highest bits of the hash: the table takes the next ones.
			h := uint64(row.key) * fibonacci << partBits >> drop
			g := table[h&mask]
			for (groups[g].key^row.key)&taken(g) != 0 {
				h++
				g = table[h&mask]
			}
			// A free slot (g = 0) takes the next number, by masks: whether a key is new cannot be predicted.
			fresh := uint32((uint64(g) - 1) >> 63)
			g += free & -fresh
			free += fresh
			table[h&mask] = g
			s := &groups[g]
			s.key = row.key
			s.count++
			s.sum += row.price
		}
		for i := range groups[1:free] {
			s := &groups[1+i]
			checksum += events.WindowTerm(s.key, end, s.count, s.sum)
		}
		into.Rows += int64(free - 1)
		clear(groups[:free])
		clear(table)
		p.filled[part] = 0
	}
	into.Checksum += checksum
}

// taken is all ones for a group number that is in use, and zero for 0.
func taken(g uint32) int64 { return -int64((uint64(g) + 1<<32 - 1) >> 32) }

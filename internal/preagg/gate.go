package preagg

// Pays is the number of rows an entry from which on gathering pays (DESIGN W10).
const Pays = 4

const (
	sample    = 8192      // rows, at least, that a judgement is made on
	shortRest = 256 << 10 // rows that go as they are after the first bad judgement
	longRest  = 64 << 20  // and at most
)

// Gate decides whether rows are gathered. It begins open, and closes where a running sample has fewer than Pays rows an entry, for
// a number of rows that grows fourfold each time. The zero value is ready.
type Gate struct {
	rows, entries int64 // since the last judgement
	rest          int64 // rows that still go as they are
	next          int64 // length of the next rest
}

// Open reports whether the next rows, that many, are gathered.
func (g *Gate) Open(rows int) bool {
	if g.rest <= 0 {
		return true
	}
	g.rest -= int64(rows)
	return false
}

// Left notes what has left the stage.
func (g *Gate) Left(rows, entries int64) {
	g.rows += rows
	g.entries += entries
	if g.rows < sample {
		return
	}
	if g.rows >= Pays*g.entries {
		g.next = 0
	} else {
		g.next = min(max(shortRest, 4*g.next), longRest)
		g.rest = g.next
	}
	g.rows, g.entries = 0, 0
}

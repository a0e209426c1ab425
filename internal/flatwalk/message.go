package flatwalk

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// ErrDamaged says that a description leads outside of itself, or says what cannot be.
var ErrDamaged = errors.New("damaged metadata")

// Types are kinds of types, one bit each, by their numbers in Arrow's Schema.fbs: Int is 2, Utf8 is 5. Bit 0 is a type that is missing or that
// nobody knows.
type Types uint64

// The numbers of types that have more in them than numbers.
const (
	typeTimestamp = 10 // a text: the zone
	typeUnion     = 14 // the numbers of its members
	lastType      = 26 // ListView and LargeListView are the last
)

// maxNesting bounds how deep types may lie in each other.
const maxNesting = 64

// Message is what the description of a message says.
type Message struct {
	Kind ipc.MessageType
	Body int64 // bytes behind it, >= 0
	// Types that the fields of a schema have, at any depth.
	Types Types
	// Rows of a record batch, >= 0; not of a dictionary, which is one within its message.
	Rows int64
	// Nodes of a record batch are length and nulls of each column, in depth-first order; Buffers are beginning and length of each in the
	// body. That they fit the body, or the schema, is not looked at.
	Nodes, Buffers Pairs
	// Compressed says that the buffers of a record batch are packed, each alone.
	Compressed bool
}

const pairWidth = 16

// Pairs are pairs of numbers that are still to be read, within the description. A copy reads on its own.
type Pairs struct{ b []byte }

// Len is how many there are.
func (p Pairs) Len() int { return len(p.b) / pairWidth }

// Next takes the first; ok is false where there is none.
func (p *Pairs) Next() (a, b int64, ok bool) {
	if len(p.b) == 0 {
		return 0, 0, false
	}
	a, b = int64(binary.LittleEndian.Uint64(p.b)), int64(binary.LittleEndian.Uint64(p.b[8:]))
	p.b = p.b[pairWidth:]
	return a, b, true
}

// Read walks through the description of a message, without the mark and the length before it. After an error, an ErrDamaged, arrow-go must not get it.
func Read(b []byte) (Message, error) {
	w := newWalk(b)
	m := Message{}
	root := w.follow(0)
	if !w.bad {
		root = w.table(root)
	}
	if w.bad {
		return m, ErrDamaged
	}
	m.Kind, m.Body = ipc.MessageType(w.u8(w.field(root, 1))), w.i64(w.field(root, 3))
	w.texts(root, 4)
	header := w.child(root, 2)
	switch {
	case w.bad || header == 0:
		return m, ErrDamaged
	case m.Body < 0:
		return m, fmt.Errorf("%w: a body of %d bytes", ErrDamaged, m.Body)
	}
	switch m.Kind {
	case ipc.MessageSchema:
		w.texts(header, 2)
		w.tables(header, 1, func(c int) { w.column(c, 0, &m.Types) })
	case ipc.MessageRecordBatch:
		w.batch(header, &m)
	case ipc.MessageDictionaryBatch:
		if header = w.child(header, 1); header == 0 {
			return m, ErrDamaged
		}
		w.batch(header, &Message{})
	default:
		return m, fmt.Errorf("%w: a message of type %d", ErrDamaged, m.Kind)
	}
	if w.bad {
		return m, ErrDamaged
	}
	if m.Rows < 0 {
		return m, fmt.Errorf("%w: %d rows", ErrDamaged, m.Rows)
	}
	return m, nil
}

// column walks through a field of a schema and those within it.
func (w *walk) column(c, depth int, types *Types) {
	if depth > maxNesting {
		w.fail()
	}
	if w.bad {
		return
	}
	w.vector(c, 0, 1)
	w.texts(c, 6)
	tag, typ := w.u8(w.field(c, 2)), w.child(c, 3)
	if typ == 0 || tag > lastType {
		*types |= 1
	} else {
		*types |= 1 << tag
	}
	if typ != 0 {
		w.fields(typ)
		switch tag {
		case typeTimestamp:
			w.vector(typ, 1, 1)
		case typeUnion:
			w.vector(typ, 1, 4)
		}
	}
	if dictionary := w.child(c, 4); dictionary != 0 {
		w.child(dictionary, 1)
	}
	w.tables(c, 5, func(child int) { w.column(child, depth+1, types) })
}

// batch walks through a record batch.
func (w *walk) batch(header int, m *Message) {
	m.Rows = w.i64(w.field(header, 0))
	m.Nodes, m.Buffers = w.pairs(header, 1), w.pairs(header, 2)
	m.Compressed = w.field(header, 3) != 0
	w.child(header, 3)
	w.vector(header, 4, 8) // how many buffers views have
}

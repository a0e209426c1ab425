package blocks

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// What arrow-go reads of a message's metadata, a flatbuffer, it trusts: a length in it that is wrong asks for any amount of memory, which
// ends the process, and no recover helps. So each table and vector that it walks through is looked at first.

var errMetadata = errors.New("damaged metadata")

// verifier checks that tables and vectors lie within a flatbuffer.
type verifier struct {
	b    []byte
	left int // tables that may still be looked at: more than the bytes can hold means that some are shared without end
}

// table is the position of a table, and of its vtable.
type table struct {
	at, fields, size int
}

// Message is what the metadata of a message says.
type Message struct {
	Kind ipc.MessageType
	Body int64 // bytes behind the metadata
	Rows int64 // of a record batch
}

// VerifyMessage checks the metadata of a message of Arrow IPC.
func VerifyMessage(b []byte) (m Message, err error) {
	v := verifier{b: b, left: len(b)/4 + 16}
	root, err := v.indirect(0)
	if err != nil {
		return m, err
	}
	t, err := v.table(root)
	if err != nil {
		return m, err
	}
	m.Kind = ipc.MessageType(v.byte(t, 1))
	m.Body = v.int64(t, 3)
	if m.Body < 0 {
		return m, fmt.Errorf("%w: a body of %d bytes", errMetadata, m.Body)
	}
	if err := v.pairs(t, 4); err != nil {
		return m, err
	}
	header, is, err := v.child(t, 2)
	if err != nil || !is {
		return m, errors.Join(err, errMetadata)
	}
	switch m.Kind {
	case ipc.MessageSchema:
		err = v.schema(header)
	case ipc.MessageRecordBatch:
		m.Rows, err = v.batch(header)
	case ipc.MessageDictionaryBatch:
		data, is, err := v.child(header, 1)
		if err != nil || !is {
			return m, errors.Join(err, errMetadata)
		}
		_, err = v.batch(data)
		return m, err
	default:
		err = fmt.Errorf("%w: a message of type %d", errMetadata, m.Kind)
	}
	return m, err
}

func (v *verifier) u32(at int) (int, error) {
	if at < 0 || at+4 > len(v.b) {
		return 0, errMetadata
	}
	return int(binary.LittleEndian.Uint32(v.b[at:])), nil
}

// indirect follows the offset at a position.
func (v *verifier) indirect(at int) (int, error) {
	n, err := v.u32(at)
	if err != nil || n == 0 || at+n+4 > len(v.b) {
		return 0, errMetadata
	}
	return at + n, nil
}

func (v *verifier) table(at int) (t table, err error) {
	if v.left--; v.left < 0 {
		return t, errMetadata
	}
	back, err := v.u32(at)
	if err != nil {
		return t, err
	}
	t = table{at: at, fields: at - int(int32(back))}
	if t.fields < 0 || t.fields+4 > len(v.b) {
		return t, errMetadata
	}
	t.size = int(binary.LittleEndian.Uint16(v.b[t.fields:]))
	if t.size < 4 || t.size%2 != 0 || t.fields+t.size > len(v.b) { // of an odd size arrow-go would read one field more than field does
		return t, errMetadata
	}
	return t, nil
}

// field gives the position of field n of a table that has width bytes; 0 where the table does not have it.
func (v *verifier) field(t table, n, width int) (int, error) {
	slot := 4 + 2*n
	if slot+2 > t.size {
		return 0, nil
	}
	off := int(binary.LittleEndian.Uint16(v.b[t.fields+slot:]))
	if off == 0 {
		return 0, nil
	}
	if t.at+off+width > len(v.b) {
		return 0, errMetadata
	}
	return t.at + off, nil
}

func (v *verifier) byte(t table, n int) byte {
	if at, err := v.field(t, n, 1); err == nil && at > 0 {
		return v.b[at]
	}
	return 0
}

func (v *verifier) int64(t table, n int) int64 {
	if at, err := v.field(t, n, 8); err == nil && at > 0 {
		return int64(binary.LittleEndian.Uint64(v.b[at:]))
	}
	return 0
}

// child gives the table that field n refers to.
func (v *verifier) child(t table, n int) (c table, is bool, err error) {
	at, err := v.field(t, n, 4)
	if err != nil || at == 0 {
		return c, false, err
	}
	if at, err = v.indirect(at); err != nil {
		return c, false, err
	}
	c, err = v.table(at)
	return c, true, err
}

// vector gives the position of the first element of field n and their number; each has width bytes.
func (v *verifier) vector(t table, n, width int) (at, count int, err error) {
	if at, err = v.field(t, n, 4); err != nil || at == 0 {
		return 0, 0, err
	}
	if at, err = v.indirect(at); err != nil {
		return 0, 0, err
	}
	if count, err = v.u32(at); err != nil || count > (len(v.b)-at-4)/width {
		return 0, 0, errMetadata
	}
	return at + 4, count, nil
}

// tables calls f for each table of a vector of tables.
func (v *verifier) tables(t table, n int, f func(table) error) error {
	at, count, err := v.vector(t, n, 4)
	if err != nil {
		return err
	}
	for i := range count {
		pos, err := v.indirect(at + 4*i)
		if err != nil {
			return err
		}
		c, err := v.table(pos)
		if err != nil {
			return err
		}
		if err := f(c); err != nil {
			return err
		}
	}
	return nil
}

// pairs checks a vector of keys and values.
func (v *verifier) pairs(t table, n int) error {
	return v.tables(t, n, func(c table) error {
		_, _, errKey := v.vector(c, 0, 1)
		_, _, errValue := v.vector(c, 1, 1)
		return errors.Join(errKey, errValue)
	})
}

func (v *verifier) schema(t table) error {
	if err := v.pairs(t, 2); err != nil {
		return err
	}
	return v.tables(t, 1, func(f table) error { return v.column(f, 0) })
}

// maxNesting bounds how deep types may lie in each other.
const maxNesting = 64

func (v *verifier) column(f table, depth int) error {
	if depth > maxNesting {
		return errMetadata
	}
	if _, _, err := v.vector(f, 0, 1); err != nil {
		return err
	}
	if err := v.pairs(f, 6); err != nil {
		return err
	}
	if typ, is, err := v.child(f, 3); err != nil {
		return err
	} else if is {
		if err := v.anyType(typ); err != nil {
			return err
		}
	}
	if d, is, err := v.child(f, 4); err != nil {
		return err
	} else if is {
		if _, _, err := v.child(d, 1); err != nil {
			return err
		}
	}
	return v.tables(f, 5, func(c table) error { return v.column(c, depth+1) })
}

// anyType checks the table of a type, of which the field that is longest is a vector of 4 bytes an element or a text at slot 1.
func (v *verifier) anyType(t table) error {
	for n := range (t.size - 4) / 2 {
		if _, err := v.field(t, n, 1); err != nil {
			return err
		}
	}
	return nil
}

// batch checks a record batch and gives its number of rows.
func (v *verifier) batch(t table) (rows int64, err error) {
	_, _, errNodes := v.vector(t, 1, 16)
	_, _, errBuffers := v.vector(t, 2, 16)
	_, _, errCompression := v.child(t, 3)
	_, _, errCounts := v.vector(t, 4, 8)
	if err := errors.Join(errNodes, errBuffers, errCompression, errCounts); err != nil {
		return 0, err
	}
	if rows = v.int64(t, 0); rows < 0 {
		return 0, fmt.Errorf("%w: %d rows", errMetadata, rows)
	}
	return rows, nil
}

package arrowipc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/arkflow-go/arkflow/codec/internal/blocks"
	"github.com/arkflow-go/arkflow/internal/flatwalk"
)

// metadataBytes bounds the description of a batch.
const metadataBytes = 64 << 20

// messages reads the messages of a stream one after the other, of which the file form holds one as well. Each is looked at before it
// reaches arrow-go. It is an ipc.MessageReader.
type messages struct {
	src     io.ReaderAt
	at, end int64
	limit   int64 // bytes of a body
	marked  bool  // the stream must have a mark of its end
	alloc   *blocks.Allocator
	last    *ipc.Message
	skip    int64 // record batches to pass over
	passed  int64 // rows of them
	fail    error
}

const (
	continuation = 0xFFFFFFFF
	footerEnd    = 10 // length of the footer, magic
)

// openMessages finds the stream in a file of either form.
func openMessages(src io.ReaderAt, size, limit int64, alloc *blocks.Allocator) (*messages, error) {
	m := &messages{src: src, end: size, limit: limit, alloc: alloc, marked: true}
	head := make([]byte, 8)
	if size < int64(len(head)) {
		return nil, fmt.Errorf("truncated: %d bytes are no file of this format", size)
	}
	if err := m.read(head); err != nil {
		return nil, err
	}
	m.at = 0
	if string(head[:len(ipc.Magic)]) != string(ipc.Magic) {
		return m, nil
	}
	tail := make([]byte, footerEnd)
	m.at = max(0, size-footerEnd)
	if err := m.read(tail); err != nil {
		return nil, err
	}
	footer := int64(binary.LittleEndian.Uint32(tail))
	if string(tail[4:]) != string(ipc.Magic) || footer > size-footerEnd-int64(len(head)) {
		return nil, errors.New("truncated: the file does not end with the table of its batches")
	}
	m.at, m.end, m.marked = int64(len(head)), size-footerEnd-footer, false
	return m, nil
}

// read reads exactly len(b) bytes.
func (m *messages) read(b []byte) error {
	if int64(len(b)) > m.end-m.at {
		return fmt.Errorf("truncated: %w", io.ErrUnexpectedEOF)
	}
	if n, err := m.src.ReadAt(b, m.at); n < len(b) {
		if errors.Is(err, io.EOF) {
			err = fmt.Errorf("truncated: %w", io.ErrUnexpectedEOF)
		}
		return err
	}
	m.at += int64(len(b))
	return nil
}

// Retain is part of ipc.MessageReader.
func (m *messages) Retain() {}

// Release is part of ipc.MessageReader.
func (m *messages) Release() {
	if m.last != nil {
		m.last.Release()
		m.last = nil
	}
}

// Message is part of ipc.MessageReader: io.EOF at the end of the stream. The message lives until the next call.
func (m *messages) Message() (*ipc.Message, error) {
	m.Release()
	if m.fail == nil {
		m.last, m.fail = m.next()
	}
	return m.last, m.fail
}

func (m *messages) next() (*ipc.Message, error) {
	for {
		meta, err := m.metadata()
		if err != nil {
			return nil, err
		}
		about, err := flatwalk.Read(meta)
		switch {
		case err != nil:
			return nil, err
		case about.Body > m.end-m.at:
			return nil, fmt.Errorf("truncated: a body of %d bytes, %d are left", about.Body, m.end-m.at)
		case about.Kind == ipc.MessageRecordBatch && m.skip > 0:
			m.skip--
			m.passed += about.Rows
			m.at += about.Body
			continue
		case about.Body > m.limit:
			return nil, &blocks.LimitError{Limit: m.limit, Need: about.Body}
		}
		body := memory.NewResizableBuffer(m.alloc)
		defer body.Release()
		body.Resize(int(about.Body))
		if err := m.read(body.Bytes()); err != nil {
			return nil, err
		}
		return ipc.NewMessage(memory.NewBufferBytes(meta), body), nil
	}
}

// metadata reads the description of the next message.
func (m *messages) metadata() ([]byte, error) {
	if m.at == m.end {
		if m.marked {
			return nil, errors.New("truncated: the stream has no mark of its end")
		}
		return nil, io.EOF
	}
	var word [4]byte
	if err := m.read(word[:]); err != nil {
		return nil, err
	}
	n := int64(binary.LittleEndian.Uint32(word[:]))
	if n == continuation {
		if err := m.read(word[:]); err != nil {
			return nil, err
		}
		n = int64(binary.LittleEndian.Uint32(word[:]))
	}
	switch {
	case n == 0 && m.marked && m.at < m.end:
		return nil, fmt.Errorf("damaged: %d bytes behind the mark of the end of the stream", m.end-m.at)
	case n == 0:
		return nil, io.EOF
	case n < 8 || n > metadataBytes:
		return nil, fmt.Errorf("not Arrow IPC, or damaged: metadata of %d bytes", n)
	case n > m.end-m.at:
		return nil, fmt.Errorf("truncated, or not Arrow IPC: metadata of %d bytes, %d are left", n, m.end-m.at)
	}
	meta := make([]byte, n)
	return meta, m.read(meta)
}

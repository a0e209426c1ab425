package codec

import (
	"bytes"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
)

// Format describes an encoding of rows. It is a value without resources and may be used by several jobs at once. Each is a
// RecordFormat or a BlockFormat.
type Format interface {
	// Kind is the word for it in a JobSpec: "json".
	Kind() string
	// Schema is that of the rows, or nil where it is open.
	Schema() *arrow.Schema
	// WithSchema gives the same format for rows of that schema.
	WithSchema(s *arrow.Schema) Format
	// Check reports all that is wrong with the description. It is free of side effects.
	Check() error
	// Config is the format as the codec section of a JobSpec, which FromConfig, or what is registered for its kind, reads back.
	Config() (map[string]any, error)
}

// RecordFormat is a Format of records that stand one after the other, in a file or each in a message: JSON, CSV.
type RecordFormat interface {
	Format
	// HasHeader says that a file begins with a record of column names, which belongs to the Header methods.
	HasHeader() bool
	// Cut gives the first record of a block, without its terminator, and how much of the block it takes; that is nothing where the
	// record is not whole. It is whole at the end of the block if final is set. A blank line is an empty record.
	Cut(block []byte, final bool) (record []byte, p Progress)
	// NewDecoder makes a decoder of one reader, whose batches come from the pool. The schema must not be open.
	NewDecoder(p *column.Pool) (Decoder, error)
	// NewEncoder makes an encoder of one writer for batches of that schema.
	NewEncoder(s *arrow.Schema) (Encoder, error)
	// NewInference begins to find the schema of records.
	NewInference() Inference
}

// Decoder builds batches out of records. It is used by one goroutine.
type Decoder interface {
	// Header takes the record that a file begins with, where the format HasHeader: the records behind it have its columns. Without one
	// they have the columns of the schema, in its order. An error is final: the records cannot be decoded.
	Header(record []byte) error
	// Append decodes one record. An error is a *RecordError of Line 1 and Offset 0; the rows are then as before. The bytes are not kept.
	Append(record []byte) error
	// DecodeLines decodes the records that block holds, until there are max.Rows rows, block holds no further whole
	// record, or one is in error: then Progress ends behind it, the *RecordError has Line and Offset relative to block,
	// and the next call may go on behind it. The last record needs no terminator if final is set. Blank lines are no
	// records.
	DecodeLines(block []byte, final bool, max Limits) (Progress, error)
	// Len is the number of rows since the last Finish.
	Len() int
	// Finish gives the rows as a batch that the caller owns, and empties the decoder.
	Finish() *column.Batch
	// Unknown is the number of fields, over all records so far, that the schema has no column for.
	Unknown() int64
	// Discard gives the memory of unfinished rows back. The decoder may be used again.
	Discard()
}

// Limits bound what DecodeLines takes.
type Limits struct {
	Rows        int // rows in the decoder, > 0
	RecordBytes int // bytes of one record without its terminator; a longer one is in error. 0 means any
	// Lines, where it is not nil, is extended by the number of the line within the block, the first is 1, at which each row begins.
	Lines *[]int64
}

// TooLong is the error of a record that is longer than limit bytes and begins with head.
func TooLong(limit int, head []byte) *RecordError {
	return &RecordError{Problem: fmt.Sprintf("longer than %d bytes", limit), Excerpt: excerpt(head)}
}

// Progress is how much of a block DecodeLines has consumed.
type Progress struct {
	Bytes int // consumed, terminators included
	Lines int // lines consumed, blank ones and those in error included
}

// Encoder writes rows as records. It is used by one goroutine.
type Encoder interface {
	// Header appends the record that a file begins with, and its terminator, where the format HasHeader; else nothing.
	Header(dst []byte) []byte
	// Encode appends the rows of b, each with its terminator, and gives the extended slice.
	Encode(dst []byte, b *column.Batch) ([]byte, error)
	// AppendRow appends physical row `row` of b as one record, without a terminator.
	AppendRow(dst []byte, b *column.Batch, row int) ([]byte, error)
}

// Inference finds a schema that fits records. It is used by one goroutine.
type Inference interface {
	// Header takes the record that a file begins with, where the format HasHeader. An error is final.
	Header(record []byte, at Place) error
	// Add looks at a record. A *RecordError says that it is malformed and was left out of account; any other error is final.
	Add(record []byte, at Place) error
	// Len is the number of records that were looked at.
	Len() int
	// Schema is the schema of all of them, all columns nullable, in the order in which fields were first seen.
	Schema() *arrow.Schema
	// Omitted names the fields that no column can hold, such as nested ones.
	Omitted() []string
}

// Place is where a record stands.
type Place struct {
	Source string // file or topic; may be empty
	Line   int64  // the first is 1
}

func (p Place) String() string {
	if p.Source == "" {
		return fmt.Sprintf("line %d", p.Line)
	}
	return fmt.Sprintf("%s line %d", p.Source, p.Line)
}

// RecordError says why a record could not be decoded.
type RecordError struct {
	Source  string // file or topic, filled in by the reader; may be empty
	Line    int64  // number of its line, the first is 1
	Offset  int64  // of its first byte, from the beginning of the uncompressed data
	Field   string // "" where the record as a whole is malformed
	Excerpt string // of the offending text, at most 60 bytes
	Problem string
}

func (e *RecordError) Error() string {
	s := Place{e.Source, e.Line}.String() + ": "
	if e.Field != "" {
		s += e.Field + ": "
	}
	s += e.Problem
	if e.Excerpt != "" {
		s += ": " + e.Excerpt
	}
	return s
}

// excerptBytes bounds how much of a record stands in an error.
const excerptBytes = 60

// excerpt cuts text to excerptBytes, at the beginning of a UTF-8 sequence.
func excerpt(text []byte) string {
	if len(text) <= excerptBytes {
		return string(text)
	}
	n := excerptBytes - len("…")
	for n > 0 && text[n]&0xC0 == 0x80 {
		n--
	}
	return string(text[:n]) + "…"
}

// excerptAt cuts a piece of a record around byte at.
func excerptAt(record []byte, at int) string {
	from := max(0, min(at, len(record))-excerptBytes/3)
	for from > 0 && from < len(record) && record[from]&0xC0 == 0x80 {
		from++
	}
	return excerpt(bytes.TrimSpace(record[from:]))
}

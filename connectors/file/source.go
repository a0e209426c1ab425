package file

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/operator"
)

// Source reads lines of files. Only URL is required.
//
// A line is a record of Format; blank lines, a byte order mark at the beginning and a carriage return at the end of a line
// are passed over, and the last line needs no newline. A line that cannot be decoded follows the error policy of the source,
// with file and line in the error. Damage below the lines (a broken gzip stream, an unreadable disk) ends the job.
//
// Files must not change while a job that reads them may be restored: a file that shrank, or whose text before the saved
// position differs, is an error. Lines that were appended are read.
type Source struct {
	// URL is a path, a file:// URL or a glob of path/filepath.Match, such as "in/*.jsonl". Directories that match a
	// glob are passed over; a name that exists as it stands is no glob. It must name at least one file.
	URL string
	// Format of the lines. Defaults to codec.JSON(nil): the schema is inferred from the first 1,000 records, files in the order of their
	// names; lines that cannot be decoded are left out of account.
	Format codec.Format
	// InOrder reads all files in the order of their names as one split. Defaults to false: each file is a split.
	InOrder bool
	// Compression of the files. Defaults to Auto: gzip for names that end in ".gz".
	Compression Compression
	// MaxLineBytes bounds a line, in bytes without its end; a longer one cannot be decoded. Defaults to 1 MiB.
	MaxLineBytes int
	// BatchRows is the greatest number of rows of a batch. Defaults to 8,192.
	BatchRows int
}

// Compression says how the bytes of a file are compressed.
type Compression string

// The compressions.
const (
	Auto Compression = ""     // by the ending of the name
	None Compression = "none" // not at all, whatever the name
	Gzip Compression = "gzip" // gzip, also of several members
)

const (
	defaultMaxLineBytes = 1 << 20
	greatestLineBytes   = 1 << 30
	defaultBatchRows    = 8192
	greatestBatchRows   = 1 << 20
	inferRecords        = 1000
)

// WithDefaults gives a copy in which every field has its value.
func (s Source) WithDefaults() Source {
	if s.Format == nil {
		s.Format = codec.JSON(nil)
	}
	if s.MaxLineBytes == 0 {
		s.MaxLineBytes = defaultMaxLineBytes
	}
	if s.BatchRows == 0 {
		s.BatchRows = defaultBatchRows
	}
	return s
}

// Check reports all that is wrong with the description. It looks at no file.
func (s Source) Check() error {
	var faults fault.List
	s = s.WithDefaults()
	faults.Add(checkURL(s.URL))
	faults.Add(s.Format.Check())
	faults.Add(s.Compression.check())
	faults.Add(checkRange("max_line_bytes", s.MaxLineBytes, greatestLineBytes))
	faults.Add(checkRange("batch_rows", s.BatchRows, greatestBatchRows))
	return faults.Err()
}

func checkRange(path string, v, most int) error {
	if v < 1 || v > most {
		return &fault.Fault{Path: path, Problem: fmt.Sprintf("%d is not within 1 and %d", v, most)}
	}
	return nil
}

func (c Compression) check() error {
	switch c {
	case Auto, None, Gzip:
		return nil
	}
	return &fault.Fault{Path: "compression", Problem: fmt.Sprintf("%q is none of auto, none, gzip", string(c))}
}

// Kind is part of operator.Source.
func (Source) Kind() string { return "file" }

// Schema is part of operator.Source.
func (s Source) Schema() *arrow.Schema { return s.WithDefaults().Format.Schema() }

// WithSchema is part of operator.Inferrer.
func (s Source) WithSchema(schema *arrow.Schema) operator.Source {
	s.Format = s.WithDefaults().Format.WithSchema(schema)
	return s
}

// Splits is part of operator.Source. It opens each file once to see that it can be read.
func (s Source) Splits(ctx context.Context) ([]operator.Split, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	files, err := findFiles(ctx, s.URL)
	if err != nil {
		return nil, err
	}
	if s.InOrder {
		return []operator.Split{{ID: s.URL, Data: encodeNames(files)}}, nil
	}
	splits := make([]operator.Split, len(files))
	for i, f := range files {
		splits[i].ID = f
	}
	return splits, nil
}

// Open is part of operator.Source. The file is opened at the first Poll and closed at its end.
func (s Source) Open(ctx *operator.Context, split operator.Split, saved []byte) (operator.Reader, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	s = s.WithDefaults()
	r := &reader{src: s, ctx: ctx, files: []string{split.ID}}
	if s.InOrder {
		names, err := decodeNames(split.Data)
		if err != nil {
			return nil, fmt.Errorf("split %q: %w", split.ID, err)
		}
		r.files, r.inOrder = names, true
	}
	if err := r.seek(saved); err != nil {
		return nil, err
	}
	if s.Format.Schema() == nil {
		return r, nil // there was no record when the schema was looked for
	}
	dec, err := s.Format.(codec.RecordFormat).NewDecoder(ctx.Pool)
	if err != nil {
		return nil, err
	}
	r.dec = dec
	return r, nil
}

// Infer is part of operator.Inferrer: it looks at the first 1,000 records. Where no line is a record, the error of the first
// line is returned.
func (s Source) Infer(ctx context.Context) (*arrow.Schema, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	s = s.WithDefaults()
	files, err := findFiles(ctx, s.URL)
	if err != nil {
		return nil, err
	}
	in := s.Format.(codec.RecordFormat).NewInference()
	var malformed error
	for _, name := range files {
		if in.Len() == inferRecords {
			break
		}
		first, err := s.inferFile(ctx, in, name)
		if err != nil {
			return nil, err
		}
		if malformed == nil {
			malformed = first
		}
	}
	if in.Len() == 0 {
		return nil, malformed
	}
	return in.Schema(), nil
}

// inferFile shows the records of a file to an inference; malformed is the error of the first that is none.
func (s Source) inferFile(ctx context.Context, in codec.Inference, name string) (malformed, err error) {
	f, err := openInput(ctx, name, s.Compression, s.MaxLineBytes, start)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.close() }() // it was only read
	for in.Len() < inferRecords {
		if err := ctx.Err(); err != nil {
			return malformed, err
		}
		line, ok, err := f.nextLine()
		if err == nil && !ok {
			return malformed, nil
		}
		if err == nil && len(line) > 0 {
			err = in.Add(line, codec.Place{Source: name, Line: f.at.line})
		}
		var bad *codec.RecordError
		switch {
		case errors.As(err, &bad):
			if malformed == nil {
				malformed = err
			}
		case err != nil:
			return malformed, err
		}
	}
	return malformed, nil
}

// statRegular says whether a path can be read as a file. What is none is not opened: that of a pipe waits for a writer.
func statRegular(name string) error {
	info, err := os.Stat(name)
	if err == nil && info.Mode().IsRegular() {
		var f *os.File
		if f, err = os.Open(name); err == nil {
			err = f.Close()
		}
	}
	switch {
	case err != nil:
		return err
	case info.IsDir():
		return fmt.Errorf("open %q: it is a directory; name the files in it, such as %q", name, name+"/*.jsonl")
	case !info.Mode().IsRegular():
		return fmt.Errorf("open %q: it is not a regular file", name)
	}
	return nil
}

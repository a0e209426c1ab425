package file

import (
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/connectors"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/operator"
)

// Source reads files. Only URL is required.
//
// The format says what is in a file. Of a format of records (JSON, CSV) a record is a line, or several where CSV has quotes; blank lines, a
// byte order mark at the beginning and a carriage return at the end of a line are passed over, and the last record needs no newline. A record
// that cannot be decoded follows the error policy of the source, with file and line in the error. Damage below the records (a broken gzip
// stream, a header without the columns, an unreadable disk) ends the job. Of a format made of blocks (Arrow IPC, Parquet) any damage does.
//
// Memory is bounded whatever a file claims to hold: a compressed file is unpacked as a stream, of which MaxLineBytes bounds a record;
// MaxBlockBytes bounds a block. A small file that unpacks to a huge one only takes its time, and can be cancelled at any moment.
//
// Files must not change while a job that reads them may be restored: a file that shrank, or whose text before the saved
// position differs, is an error, and one of blocks may not change at all. Records that were appended are read.
type Source struct {
	// URL is a path, a file:// URL or a glob of path/filepath.Match, such as "in/*.jsonl". Directories that match a
	// glob are passed over, and so are names that begin with a dot, unless the glob does; a name that exists as it stands is no glob. It must
	// name at least one file. Required.
	URL string
	// Format of the files: codec.JSON, codec.CSV, arrowipc.New, parquet.New. Defaults to codec.JSON(nil). Where it is open, the schema of
	// records is inferred from the first 1,000, files in the order of their names, records that cannot be decoded left out of account;
	// that of blocks is the schema of the first file.
	Format codec.Format
	// InOrder reads all files in the order of their names as one split. Defaults to false: each file is a split.
	InOrder bool
	// Compression of files of records. Defaults to Auto: by the ending of the name. Blocks compress themselves: there it must be Auto or None.
	Compression Compression
	// MaxLineBytes bounds a record, in bytes without its end; a longer one cannot be decoded. Defaults to 1 MiB.
	MaxLineBytes int
	// MaxBlockBytes bounds the memory, in bytes, about, that reading a block may take; a file that needs more ends the job. Defaults to 256 MiB.
	MaxBlockBytes int64
	// BatchRows is the greatest number of rows of a batch. Defaults to 8,192.
	BatchRows int
	// Metadata names columns that are added behind those of the format: connectors.MetaSource (the file), connectors.MetaPartition (the
	// split: the file, or with InOrder the URL), connectors.MetaOffset (the number of the line at which the record begins, or of the row in a
	// file of blocks; the first is 1) and connectors.MetaIngestTime (the clock when the batch was read). Defaults to none.
	Metadata []string
}

const (
	defaultMaxLineBytes  = 1 << 20
	greatestLineBytes    = 1 << 30
	defaultMaxBlockBytes = 256 << 20
	greatestBlockBytes   = 1 << 40
	defaultBatchRows     = 8192
	greatestBatchRows    = 1 << 20
	inferRecords         = 1000
)

// WithDefaults gives a copy in which every field has its value.
func (s Source) WithDefaults() Source {
	if s.Format == nil {
		s.Format = codec.JSON(nil)
	}
	if s.MaxLineBytes == 0 {
		s.MaxLineBytes = defaultMaxLineBytes
	}
	if s.MaxBlockBytes == 0 {
		s.MaxBlockBytes = defaultMaxBlockBytes
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
	if _, blocks := s.Format.(codec.BlockFormat); blocks && s.Compression != Auto && s.Compression != None {
		faults.Add(&fault.Fault{Path: "compression", Problem: fmt.Sprintf("files of %s are not compressed as a whole, their blocks are", s.Format.Kind()),
			Hint: "leave it out"})
	}
	faults.Add(checkRange("max_line_bytes", int64(s.MaxLineBytes), greatestLineBytes))
	faults.Add(checkRange("max_block_bytes", s.MaxBlockBytes, greatestBlockBytes))
	faults.Add(checkRange("batch_rows", int64(s.BatchRows), greatestBatchRows))
	faults.Add(connectors.CheckMeta(s.Metadata, connectors.MetaSource, connectors.MetaPartition, connectors.MetaOffset, connectors.MetaIngestTime))
	_, err := connectors.WithMeta(s.Format.Schema(), s.Metadata)
	faults.Add(err)
	return faults.Err()
}

func checkRange(path string, v, most int64) error {
	if v < 1 || v > most {
		return &fault.Fault{Path: path, Problem: fmt.Sprintf("%d is not within 1 and %d", v, most)}
	}
	return nil
}

// Kind is part of operator.Source.
func (Source) Kind() string { return "file" }

// Schema is part of operator.Source.
func (s Source) Schema() *arrow.Schema {
	schema, err := connectors.WithMeta(s.WithDefaults().Format.Schema(), s.Metadata)
	if err != nil {
		return nil // Check says why
	}
	return schema
}

// WithSchema is part of operator.Inferrer.
func (s Source) WithSchema(schema *arrow.Schema) operator.Source {
	s.Format = s.WithDefaults().Format.WithSchema(connectors.WithoutMeta(schema, s.Metadata))
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
func (s Source) Open(ctx *operator.Context, sp operator.Split, saved []byte) (operator.Reader, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	s = s.WithDefaults()
	files := split{src: s, ctx: ctx, id: sp.ID, files: []string{sp.ID}, schema: s.Schema()}
	if s.InOrder {
		names, err := decodeNames(sp.Data)
		if err != nil {
			return nil, fmt.Errorf("split %q: %w", sp.ID, err)
		}
		files.files, files.inOrder = names, true
	}
	if f, ok := s.Format.(codec.BlockFormat); ok {
		return closeFailed(openBlocks(files, f, saved))
	}
	return closeFailed(openRecords(files, s.Format.(codec.RecordFormat), saved))
}

// closeFailed closes a reader that could not be opened.
func closeFailed[R interface {
	*recordReader | *blockReader
	operator.Reader
}](r R, err error) (operator.Reader, error) {
	if err == nil {
		return r, nil
	}
	if r != nil {
		err = errors.Join(err, r.Close())
	}
	return nil, err
}

// Infer is part of operator.Inferrer: it looks at the first 1,000 records, or at the schema of the first file of blocks. Where no line is a
// record, the error of the first line is returned.
func (s Source) Infer(ctx context.Context) (*arrow.Schema, error) {
	if err := s.Check(); err != nil {
		return nil, err
	}
	s = s.WithDefaults()
	files, err := findFiles(ctx, s.URL)
	if err != nil {
		return nil, err
	}
	var found *arrow.Schema
	if f, ok := s.Format.(codec.BlockFormat); ok {
		found, err = s.blockSchema(ctx, f, files[0])
	} else {
		found, err = s.inferRecords(ctx, s.Format.(codec.RecordFormat), files)
	}
	if err != nil {
		return nil, err
	}
	return connectors.WithMeta(found, s.Metadata)
}

// blockSchema gives the schema of a file of blocks.
func (s Source) blockSchema(ctx context.Context, f codec.BlockFormat, name string) (schema *arrow.Schema, err error) {
	in, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, in.Close()) }()
	info, err := in.Stat()
	if err != nil {
		return nil, err
	}
	r, err := f.OpenBlocks(ctx, in, info.Size(), codec.BlockOptions{Rows: s.BatchRows, MaxBytes: s.MaxBlockBytes})
	if err != nil {
		return nil, fmt.Errorf("read %q: %w", name, err)
	}
	return r.Schema(), r.Close()
}

func (s Source) inferRecords(ctx context.Context, f codec.RecordFormat, files []string) (*arrow.Schema, error) {
	in := f.NewInference()
	var malformed error
	for _, name := range files {
		if in.Len() == inferRecords {
			break
		}
		first, err := s.inferFile(ctx, f, in, name)
		if err != nil {
			return nil, err
		}
		if malformed == nil {
			malformed = first
		}
	}
	if found := in.Schema(); in.Len() > 0 || malformed == nil && found.NumFields() > 0 {
		return found, nil
	}
	return nil, malformed
}

// inferFile shows the records of a file to an inference; malformed is the error of the first that is none.
func (s Source) inferFile(ctx context.Context, format codec.RecordFormat, in codec.Inference, name string) (malformed, err error) {
	header := func(record []byte) error { return in.Header(record, codec.Place{Source: name, Line: 1}) }
	f, err := s.opening(format, header).open(ctx, name, start)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.close() }() // it was only read
	for in.Len() < inferRecords {
		if err := ctx.Err(); err != nil {
			return malformed, err
		}
		at := f.at.line + 1
		record, ok, err := f.nextRecord()
		if err == nil && !ok {
			return malformed, nil
		}
		if err == nil && len(record) > 0 {
			err = in.Add(record, codec.Place{Source: name, Line: at})
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

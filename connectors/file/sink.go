package file

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/operator"
)

// Sink writes rows as lines of a file. Only URL is required.
//
// Rows are appended to what the file holds, so that a job that is restored or started again loses none (those since the last
// checkpoint may stand there twice). A last line without a newline is ended first; of a gzip file, a member that was cut off by
// a crash, which nobody can read, is cut off before the first row. At each barrier and at the end the rows are on the disk.
//
// Where the sink has several tasks each writes a file of its own: task 2 of "out.jsonl" writes "out-2.jsonl", tasks count from
// 0. The directory must exist.
type Sink struct {
	// URL is a path or a file:// URL. A name that ends in ".gz" is written as gzip: one member from barrier to barrier.
	URL string
	// Format of the lines. Defaults to codec.JSON(nil).
	Format codec.Format
	// Overwrite empties the file when the job starts, also when it is restored from a checkpoint. Defaults to false.
	Overwrite bool
	// Compression of the file. Defaults to Auto: gzip for names that end in ".gz".
	Compression Compression
}

// WithDefaults gives a copy in which every field has its value.
func (s Sink) WithDefaults() Sink {
	if s.Format == nil {
		s.Format = codec.JSON(nil)
	}
	return s
}

// Kind is part of operator.Sink.
func (Sink) Kind() string { return "file" }

// Check is part of operator.Sink. It looks at no file.
func (s Sink) Check(in operator.Stream) error {
	var faults fault.List
	s = s.WithDefaults()
	faults.Add(s.checkPlace())
	if err := s.Format.Check(); err != nil {
		faults.Add(err)
	} else if _, err := s.Format.(codec.RecordFormat).NewEncoder(in.Schema); err != nil {
		faults.Add(err)
	}
	return faults.Err()
}

func (s Sink) checkPlace() error {
	var faults fault.List
	faults.Add(s.checkURL())
	faults.Add(s.Compression.check())
	return faults.Err()
}

func (s Sink) checkURL() error {
	if s.URL == "" {
		return &fault.Fault{Path: "path", Problem: "no file is named", Hint: "give a path"}
	}
	path, err := pathOf(s.URL)
	switch {
	case err != nil:
		return &fault.Fault{Path: "path", Problem: fmt.Sprintf("%q: %s", s.URL, err)}
	case strings.HasSuffix(path, "/"):
		return &fault.Fault{Path: "path", Problem: fmt.Sprintf("%q is a directory", s.URL), Hint: "name a file in it"}
	}
	return nil
}

// Open is part of operator.Sink.
func (s Sink) Open(ctx *operator.Context, in operator.Stream) (operator.Writer, error) {
	if err := s.Check(in); err != nil {
		return nil, err
	}
	s = s.WithDefaults()
	path, err := pathOf(s.URL)
	if err != nil {
		return nil, err
	}
	enc, err := s.Format.(codec.RecordFormat).NewEncoder(in.Schema)
	if err != nil {
		return nil, err
	}
	if ctx.Parallelism > 1 {
		path = taskName(path, ctx.Subtask)
	}
	w := &writer{name: path, enc: enc, zipped: s.Compression == Gzip || s.Compression == Auto && strings.HasSuffix(path, ".gz")}
	if err := w.open(ctx, s.Overwrite); err != nil {
		return nil, err
	}
	return w, nil
}

// taskName puts the number of a task before the endings of a name: "a/out.jsonl.gz" becomes "a/out-2.jsonl.gz".
func taskName(path string, subtask int) string {
	dir, base := filepath.Split(path)
	name, ends := base, ""
	if at := strings.IndexByte(base[1:], '.'); at >= 0 {
		name, ends = base[:at+1], base[at+1:]
	}
	return fmt.Sprintf("%s%s-%d%s", dir, name, subtask, ends)
}

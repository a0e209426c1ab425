package file

import (
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/arkflow-go/arkflow/codec"
	"github.com/arkflow-go/arkflow/internal/fault"
	"github.com/arkflow-go/arkflow/operator"
)

// Sink writes rows to files. Only URL is required. It writes in one of two ways.
//
// It appends, where the format is one of records (JSON, CSV) and Rotate is nil: rows come behind what the file holds, so that a job that is
// restored or started again loses none (those since the last checkpoint may stand there twice). At each barrier and at the end the rows are
// on the disk. A last line without a newline is ended first, a CSV record that was cut off within quotes is cut off, and so is a gzip member
// or zstd frame that a crash left and nobody can read. A CSV header is written to an empty file; to append under another one is an error.
// Where the sink has several tasks each writes a file of its own: task 2 of "out.jsonl" writes "out-2.jsonl"; tasks count from 0.
//
// It writes parts, where Rotate is set or the format is made of blocks (Arrow IPC, Parquet), which nobody can append to: numbered files
// that are whole when they appear and are never touched again. A part is written under a hidden name in the same directory, brought to the
// disk, and given its name: "out.parquet" becomes "out-0-000000.parquet", "out-0-000001.parquet" of task 0. It ends at each barrier, as rows
// before a barrier must not be lost, at the end of the job, and at the limits of Rotate; there is no part without rows. So the interval of
// checkpoints bounds how large parts become. A job that starts again goes on behind the greatest number that it finds, and
// removes hidden files that a crash left.
//
// With ExactlyOnce it writes parts too, and each becomes visible with the checkpoint that its rows belong to: after any crash every row is
// there once. The names of parts say the epoch, and hold a random number, so that no two executions ever give the same:
// "out-0-000012-000000-5f3a9c1e.parquet" of task 0 and epoch 12. The sink never replaces a file, and removes only hidden ones of its own.
//
// The directory must exist.
type Sink struct {
	// URL is a path or a file:// URL. In its last element {task} stands for the number of the task and {seq} for the number of the part,
	// of six digits or more (with ExactlyOnce for epoch, number and random number): "part-{task}-{seq}.parquet". Parts need both or none of them; none means "-{task}-{seq}" before the ending.
	// Required.
	URL string
	// Format of the rows: codec.JSON, codec.CSV, arrowipc.New, parquet.New. Defaults to codec.JSON(nil).
	Format codec.Format
	// Overwrite empties the file, or removes the parts, when the job starts, also when it is restored from a checkpoint. Defaults to false.
	Overwrite bool
	// Compression of files of records. Defaults to Auto: by the ending of the name. A member (gzip) or frame (zstd) reaches from barrier to
	// barrier, or over a part. Blocks compress themselves: there it must be Auto or None.
	Compression Compression
	// Rotate writes parts in place of appending. Defaults to nil, for which blocks take the zero Rotation: parts end at barriers only.
	Rotate *Rotation
	// ExactlyOnce makes parts visible when the checkpoint is complete that they belong to, and not before. It needs parts and a job with a
	// bucket, and cannot be had with Overwrite. Defaults to false: rows are visible at each barrier, at least once.
	ExactlyOnce bool
}

// Rotation says when a part ends beside barriers and the end of the job. A limit that is 0 is none.
type Rotation struct {
	// Rows is the greatest number of rows of a part.
	Rows int64
	// Bytes ends a part that has got so many bytes, as they are in the file; the batch that passes the limit still belongs to it.
	Bytes int64
	// Age ends a part that began so long ago, by the clock of the job; it is looked at when rows come.
	Age time.Duration
}

func (r *Rotation) check() error {
	var faults fault.List
	for _, limit := range []struct {
		name string
		v    int64
	}{{"rows", r.Rows}, {"bytes", r.Bytes}, {"age", int64(r.Age)}} {
		if limit.v < 0 {
			faults.Add(&fault.Fault{Path: "rotate." + limit.name, Problem: "it is negative", Hint: "give 0 for no limit"})
		}
	}
	return faults.Err()
}

// WithDefaults gives a copy in which every field has its value.
func (s Sink) WithDefaults() Sink {
	if s.Format == nil {
		s.Format = codec.JSON(nil)
	}
	return s
}

// TwoPhase is part of operator.TwoPhaser.
func (s Sink) TwoPhase() bool { return s.ExactlyOnce }

// Kind is part of operator.Sink.
func (Sink) Kind() string { return "file" }

// Check is part of operator.Sink. It looks at no file.
func (s Sink) Check(in operator.Stream) error {
	var faults fault.List
	s = s.WithDefaults()
	faults.Add(s.checkPlace())
	if err := s.Format.Check(); err != nil {
		faults.Add(err)
		return faults.Err()
	}
	if f, ok := s.Format.(codec.BlockFormat); ok {
		faults.Add(f.CheckRows(in.Schema))
	} else {
		_, err := s.Format.(codec.RecordFormat).NewEncoder(in.Schema)
		faults.Add(err)
	}
	return faults.Err()
}

// checkPlace reports what is wrong beside the format and the rows.
func (s Sink) checkPlace() error {
	var faults fault.List
	faults.Add(s.checkURL())
	faults.Add(s.Compression.check())
	if s.Rotate != nil {
		faults.Add(s.Rotate.check())
	}
	if s.ExactlyOnce && !s.inParts() {
		faults.Add(&fault.Fault{Path: "exactly_once", Problem: "rows that were appended to a file cannot wait for their checkpoint",
			Hint: "write parts: set Rotate, of which the zero value ends parts at checkpoints only"})
	}
	if s.ExactlyOnce && s.Overwrite {
		faults.Add(&fault.Fault{Path: "overwrite", Problem: "it would remove at each restart what was delivered exactly once", Hint: "leave it out, and remove old parts yourself"})
	}
	if f, blocks := s.Format.(codec.BlockFormat); blocks && s.Compression != Auto && s.Compression != None {
		faults.Add(&fault.Fault{Path: "compression", Problem: fmt.Sprintf("files of %s are not compressed as a whole, their blocks are", f.Kind()),
			Hint: "set it on the format"})
	}
	return faults.Err()
}

func (s Sink) checkURL() error {
	if s.URL == "" {
		return &fault.Fault{Path: "path", Problem: "no file is named", Hint: "give a path"}
	}
	path, err := pathOf(s.URL)
	dir, base := filepath.Split(path)
	task, seq := strings.Count(base, taskMark), strings.Count(base, seqMark)
	f := &fault.Fault{Path: "path"}
	switch {
	case err != nil:
		f.Problem = fmt.Sprintf("%q: %s", s.URL, err)
	case base == "":
		f.Problem, f.Hint = fmt.Sprintf("%q is a directory", s.URL), "name a file in it"
	case strings.Contains(dir, taskMark) || strings.Contains(dir, seqMark):
		f.Problem = fmt.Sprintf("%q: only the last element may have %s and %s", s.URL, taskMark, seqMark)
	case task > 1 || seq > 1:
		f.Problem = fmt.Sprintf("%q: %s and %s stand in it once", s.URL, taskMark, seqMark)
	case !s.inParts() && seq > 0:
		f.Problem, f.Hint = fmt.Sprintf("%q: a file that is appended to has no %s", s.URL, seqMark), "set Rotate"
	case s.inParts() && task != seq:
		f.Problem = fmt.Sprintf("%q: parts need both of %s and %s, or none", s.URL, taskMark, seqMark)
	default:
		return nil
	}
	return f
}

// inParts says that parts are written, and nothing is appended.
func (s Sink) inParts() bool {
	_, blocks := s.Format.(codec.BlockFormat)
	return blocks || s.Rotate != nil
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
	make := contentOf(s.Format, in.Schema, s.Compression.of(path))
	if s.ExactlyOnce {
		return openExact(ctx, s, path, make)
	}
	if s.inParts() {
		return openParts(ctx, s, path, make)
	}
	switch {
	case strings.Contains(path, taskMark):
		path = strings.Replace(path, taskMark, strconv.Itoa(ctx.Subtask), 1)
	case ctx.Parallelism > 1:
		path = taskName(path, ctx.Subtask)
	}
	return openAppend(ctx, s, path, in.Schema, make)
}

// taskName puts the number of a task before the endings of a name: "a/out.jsonl.gz" becomes "a/out-2.jsonl.gz".
func taskName(path string, subtask int) string {
	return beforeEndings(path, fmt.Sprintf("-%d", subtask))
}

func beforeEndings(path, what string) string {
	dir, base := filepath.Split(path)
	name, ends := base, ""
	if at := strings.IndexByte(base[1:], '.'); at >= 0 {
		name, ends = base[:at+1], base[at+1:]
	}
	return dir + name + what + ends
}

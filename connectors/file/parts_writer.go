package file

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/step"
	"github.com/arkflow-go/arkflow/operator"
)

// partsWriter writes the rows of one task as parts. A part goes through two steps: sealed, it is whole and on the disk under its hidden
// name; published, it has its name. Flush does both.
type partsWriter struct {
	ctx    *operator.Context
	place  placing
	rotate Rotation
	make   newContent
	now    *part // nil while there is no row for one
	failed error // the first; all later calls fail too
}

// placing says where parts go.
type placing interface {
	// begin names the next part: what errors call it, and the hidden path under which it is written.
	begin() (name, hidden string)
	// end takes a sealed part.
	end(p *part) error
}

// part is a file that is being written.
type part struct {
	name   string
	hidden string
	file   *os.File
	to     content
	rows   int64
	bytes  int64 // once it is sealed
	born   time.Time
}

// numbered is the placing of parts that are published as soon as they are sealed, one number behind the other.
type numbered struct {
	names partNames
	seq   int64 // of the next part
	ctx   *operator.Context
}

func (n *numbered) begin() (name, path string) {
	name = n.names.name(n.seq)
	n.seq++
	return name, hidden(name)
}

func (n *numbered) end(p *part) error { return publish(n.ctx, p.name) }

// openParts makes a writer of parts, behind those that there are.
func openParts(ctx *operator.Context, s Sink, path string, make newContent) (*partsWriter, error) {
	place := &numbered{names: partNamesOf(path, ctx.Subtask), ctx: ctx}
	have, err := place.names.list()
	if err != nil {
		return nil, err
	}
	for _, f := range have {
		mine := f.task == ctx.Subtask || f.task >= ctx.Parallelism && ctx.Subtask == 0
		switch {
		case mine && (f.hidden || s.Overwrite):
			if err := os.Remove(f.path); err != nil {
				return nil, err
			}
		case f.task == ctx.Subtask:
			place.seq = max(place.seq, f.seq+1)
		}
	}
	return newPartsWriter(ctx, s, place, make), nil
}

func newPartsWriter(ctx *operator.Context, s Sink, place placing, make newContent) *partsWriter {
	w := &partsWriter{ctx: ctx, place: place, make: make}
	if s.Rotate != nil {
		w.rotate = *s.Rotate
	}
	return w
}

// Write is part of operator.Writer.
func (w *partsWriter) Write(b *column.Batch) error {
	if w.failed == nil {
		w.failed = w.write(b)
	}
	return w.failed
}

func (w *partsWriter) write(b *column.Batch) error {
	for done := 0; done < b.Len(); {
		if w.now != nil && w.rotate.Age > 0 && w.ctx.Clock.Now().Sub(w.now.born) >= w.rotate.Age {
			if err := w.end(); err != nil {
				return err
			}
		}
		if w.now == nil {
			if err := w.begin(); err != nil {
				return err
			}
		}
		n := b.Len() - done
		if w.rotate.Rows > 0 {
			n = int(min(int64(n), w.rotate.Rows-w.now.rows))
		}
		if err := at(w.ctx, "write part", func() error { return w.now.write(b, done, n) }); err != nil {
			return failure("write", w.now.name, err)
		}
		done += n
		if w.rotate.Rows > 0 && w.now.rows >= w.rotate.Rows || w.rotate.Bytes > 0 && w.now.to.size() >= w.rotate.Bytes {
			if err := w.end(); err != nil {
				return err
			}
		}
	}
	return nil
}

// write writes n rows of a batch from the at-th on.
func (p *part) write(b *column.Batch, at, n int) error {
	p.rows += int64(n)
	if n == b.Len() {
		return p.to.write(b)
	}
	d := b.Derive()
	defer d.Release()
	if b.Sel != nil {
		d.Sel = b.Sel[at : at+n]
		return p.to.write(d)
	}
	d.Sel = column.Alloc[uint32](d, n)
	for i := range d.Sel {
		d.Sel[i] = uint32(at + i)
	}
	return p.to.write(d)
}

// begin opens the next part.
func (w *partsWriter) begin() error {
	name, hidden := w.place.begin()
	var f *os.File
	err := at(w.ctx, "create part", func() (err error) {
		f, err = os.OpenFile(hidden, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o644)
		return err
	})
	if err != nil {
		return err
	}
	to, err := w.make(f)
	if err != nil {
		return errors.Join(failure("write", name, err), f.Close(), remove(hidden))
	}
	w.now = &part{name: name, hidden: hidden, file: f, to: to, born: w.ctx.Clock.Now()}
	return nil
}

// end seals the part and hands it on.
func (w *partsWriter) end() error {
	p := w.now
	w.now = nil
	if err := p.seal(w.ctx); err != nil {
		return err
	}
	return w.place.end(p)
}

// seal brings the whole part to the disk. After an error nothing is left of it.
func (p *part) seal(ctx *operator.Context) error {
	err := at(ctx, "finish part", p.to.finish)
	if err == nil {
		err = at(ctx, "sync part", p.file.Sync)
	}
	if info, stat := p.file.Stat(); stat == nil {
		p.bytes = info.Size()
	} else if err == nil {
		err = stat
	}
	if closed := p.file.Close(); err == nil {
		err = closed
	}
	if err != nil {
		return errors.Join(failure("write", p.name, err), remove(p.hidden))
	}
	return nil
}

// publish gives a sealed part its name, for good.
func publish(ctx *operator.Context, name string) error {
	if err := at(ctx, "publish part", func() error { return os.Rename(hidden(name), name) }); err != nil {
		return err
	}
	if err := at(ctx, "name part", func() error { return syncDir(filepath.Dir(name)) }); err != nil {
		return failure("sync", filepath.Dir(name), err)
	}
	return nil
}

// at does a step of writing, of which tests are told: see package step.
func at(ctx *operator.Context, op string, do func() error) error {
	return step.Do(ctx, ctx.Operator, op, do)
}

// syncDir brings the names in a directory to the disk, where the system can.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // a directory cannot be opened for that
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	if err = d.Sync(); errors.Is(err, errors.ErrUnsupported) {
		err = nil
	}
	return errors.Join(err, d.Close())
}

// Flush is part of operator.Writer: all rows are in parts that are there for good.
func (w *partsWriter) Flush() error {
	if w.failed == nil && w.now != nil {
		w.failed = w.end()
	}
	return w.failed
}

// Close is part of operator.Writer. Rows since the last Flush become a part, unless a write has failed: then nothing is left of them.
func (w *partsWriter) Close() error {
	if w.now == nil {
		return nil
	}
	if w.failed == nil {
		return w.end()
	}
	return w.giveUp()
}

// giveUp leaves nothing of the part that is being written.
func (w *partsWriter) giveUp() error {
	p := w.now
	if p == nil {
		return nil
	}
	w.now = nil
	p.to.discard()
	return errors.Join(p.file.Close(), remove(p.hidden))
}

// remove removes a file that may be gone already.
func remove(name string) error {
	if err := os.Remove(name); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	return nil
}

package file

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strconv"

	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/operator"
)

// exactWriter writes the rows of one task as parts that become visible with their epoch: Prepare seals them, Commit publishes them. It is
// an operator.TwoPhaseWriter and an operator.Recoverer.
type exactWriter struct {
	parts *partsWriter
	place *waiting
	pub   publisher
	run   int64
}

// waiting is the placing of parts whose epoch is not known yet.
type waiting struct {
	names  partNames
	owner  string // what the hidden names of the job's sink begin with
	run    int64
	token  string  // random, of this writer: no name is ever given twice
	begun  int64   // parts, which numbers the hidden names
	given  int64   // visible names, which numbers them
	sealed []*part // not prepared yet
}

// openExact makes a writer of parts that waits for commits. It touches no file.
func openExact(ctx *operator.Context, s Sink, path string, make newContent) (*exactWriter, error) {
	token := [4]byte{}
	if _, err := rand.Read(token[:]); err != nil {
		return nil, err
	}
	names := partNamesOf(path, ctx.Subtask)
	names.dir = filepath.Clean(names.dir)
	if info, err := os.Stat(names.dir); err != nil {
		return nil, err
	} else if !info.IsDir() {
		return nil, fmt.Errorf("%q is not a directory", names.dir)
	}
	place := &waiting{names: names, owner: ownerOf(ctx), run: ctx.Run, token: hex.EncodeToString(token[:])}
	return &exactWriter{parts: newPartsWriter(ctx, s, place, make), place: place, pub: publisher{ctx: ctx, dir: names.dir, link: os.Link}, run: ctx.Run}, nil
}

// ownerOf gives the beginning of the hidden names of a job's sink.
func ownerOf(ctx *operator.Context) string {
	sum := sha256.Sum256([]byte(ctx.Job + "\x00" + ctx.Operator))
	return ".arkflow-" + hex.EncodeToString(sum[:8])
}

// hiddenName is the form of hidden names: owner, run, task, token, number.
var hiddenName = regexp.MustCompile(`^(\.arkflow-[0-9a-f]{16})-([0-9]{1,19})-[0-9]{1,19}-[0-9a-f]{8}-[0-9]{1,19}\.part$`)

// isHidden reports whether a name is one under which a part waits.
func isHidden(name string) bool { return hiddenName.MatchString(name) }

func (n *waiting) begin() (name, path string) {
	path = filepath.Join(n.names.dir, fmt.Sprintf("%s-%d-%d-%s-%d.part", n.owner, n.run, n.names.task, n.token, n.begun))
	n.begun++
	return path, path
}

func (n *waiting) end(p *part) error {
	n.sealed = append(n.sealed, p)
	return nil
}

// Write is part of operator.Writer.
func (w *exactWriter) Write(b *column.Batch) error { return w.parts.Write(b) }

// Flush is part of operator.Writer. Rows wait for their epoch all the same.
func (w *exactWriter) Flush() error { return w.parts.failed }

// Prepare is part of operator.TwoPhaseWriter: the rows so far are in parts that are on the disk under their hidden names.
func (w *exactWriter) Prepare(epoch int64) ([]byte, error) {
	if err := w.parts.Flush(); err != nil { // seals the part that is being written
		return nil, err
	}
	out, err := w.prepare(epoch)
	if err != nil {
		w.parts.failed = err
		return nil, err
	}
	w.place.sealed = nil
	return out, nil
}

func (w *exactWriter) prepare(epoch int64) ([]byte, error) {
	n := w.place
	out := prepared{dir: n.names.dir}
	for _, p := range n.sealed {
		part := preparedPart{hidden: filepath.Base(p.hidden), name: n.names.base(fmt.Sprintf("%06d-%06d-%s", epoch, n.given, n.token)), bytes: p.bytes}
		n.given++
		if have, err := part.liesAt(p.hidden); err != nil {
			return nil, err
		} else if !have {
			return nil, fmt.Errorf("%q was removed while it was written: a newer execution of the job may have begun", p.hidden)
		}
		if to := filepath.Join(n.names.dir, part.name); exists(to) {
			return nil, fmt.Errorf("%q is there already and is not of this job: move it away", to)
		}
		out.parts = append(out.parts, part)
	}
	if len(out.parts) > 0 {
		if err := at(w.parts.ctx, "prepare part", func() error { return syncDir(n.names.dir) }); err != nil {
			return nil, failure("sync", n.names.dir, err)
		}
	}
	return out.encode(), nil
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// Commit is part of operator.TwoPhaseWriter. It works for a writer that has failed too.
func (w *exactWriter) Commit(_ int64, what []byte) error {
	p, err := decodePrepared(what)
	if err != nil {
		return err
	}
	return w.pub.publish(p)
}

// Abort is part of operator.TwoPhaseWriter.
func (w *exactWriter) Abort(_ int64, what []byte) error {
	p, err := decodePrepared(what)
	if err != nil {
		return err
	}
	return w.pub.remove(p)
}

// Recover is part of operator.Recoverer. Each run has hidden names of its own, so that it leaves alone what a newer one has begun, and
// what other sinks write to the directory.
func (w *exactWriter) Recover() error {
	dir, err := os.Open(w.place.names.dir)
	if err != nil {
		return err
	}
	defer func() { _ = dir.Close() }() // it was only read
	var left []string
	for {
		names, err := dir.Readdirnames(1024)
		for _, name := range names {
			m := hiddenName.FindStringSubmatch(name)
			if m == nil || m[1] != w.place.owner {
				continue
			}
			if run, err := strconv.ParseInt(m[2], 10, 64); err == nil && run <= w.run {
				left = append(left, filepath.Join(dir.Name(), name))
			}
		}
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return failure("list", dir.Name(), err)
		}
	}
	for _, path := range left { // after the listing, which removals may disturb
		if err := at(w.parts.ctx, "recover part", func() error { return remove(path) }); err != nil {
			return err
		}
	}
	return nil
}

// Close is part of operator.Writer. Parts that were not prepared are given up; those that were wait for the next execution.
func (w *exactWriter) Close() error {
	err := w.parts.giveUp()
	for _, p := range w.place.sealed {
		err = errors.Join(err, remove(p.hidden))
	}
	w.place.sealed = nil
	return err
}

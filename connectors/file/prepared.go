package file

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/arkflow-go/arkflow/operator"
)

// prepared says which parts become visible with an epoch: what Prepare gives and Commit takes (FORMAT.md).
type prepared struct {
	dir   string // in which they were written, as the sink named it
	parts []preparedPart
}

// preparedPart is a sealed part. Its names are those of files in one directory.
type preparedPart struct {
	hidden string
	name   string
	bytes  int64 // its size
}

const preparedVersion = 1

// encode gives nil where there are no parts.
func (p prepared) encode() []byte {
	if len(p.parts) == 0 {
		return nil
	}
	out := []byte{preparedVersion}
	text := func(s string) {
		out = binary.AppendUvarint(out, uint64(len(s)))
		out = append(out, s...)
	}
	text(p.dir)
	for _, part := range p.parts {
		text(part.hidden)
		text(part.name)
		out = binary.AppendUvarint(out, uint64(part.bytes))
	}
	return out
}

func decodePrepared(b []byte) (p prepared, err error) {
	if len(b) == 0 {
		return p, nil
	}
	if b[0] != preparedVersion {
		return p, fmt.Errorf("parts that were prepared have format %d, which this version does not know: use the one that prepared them", b[0])
	}
	damaged := errors.New("damaged list of parts")
	dir, b, ok := takeBytes(b[1:])
	if !ok || len(dir) == 0 || len(b) == 0 {
		return prepared{}, damaged
	}
	p.dir = string(dir)
	for len(b) > 0 {
		var hidden, name []byte
		if hidden, b, ok = takeBytes(b); ok {
			name, b, ok = takeBytes(b)
		}
		bytes, n := binary.Uvarint(b)
		if !ok || n <= 0 || bytes>>63 != 0 || !isHidden(string(hidden)) || !isBase(string(name)) {
			return prepared{}, damaged
		}
		b = b[n:]
		p.parts = append(p.parts, preparedPart{string(hidden), string(name), int64(bytes)})
	}
	return p, nil
}

// isBase reports whether a name is that of a file in a directory and leads nowhere else.
func isBase(name string) bool {
	return name != "" && name != "." && name != ".." && !strings.ContainsAny(name, "/\x00") && filepath.Base(name) == name
}

// publisher gives prepared parts their names.
type publisher struct {
	ctx  *operator.Context
	dir  string                              // of the sink, where parts are looked for too: files may have been moved as a whole
	link func(oldName, newName string) error // os.Link
}

// publish makes all parts visible, those that are already left as they are.
func (c publisher) publish(p prepared) error {
	var dirs []string
	for _, part := range p.parts {
		dir, err := c.publishPart(p, part)
		if err != nil {
			return err
		}
		if !slices.Contains(dirs, dir) {
			dirs = append(dirs, dir)
		}
	}
	for _, dir := range dirs {
		if err := at(c.ctx, "name part", func() error { return syncDir(dir) }); err != nil {
			return failure("sync", dir, err)
		}
	}
	return c.remove(p) // only now: a name that the disk may lose must not be the only one
}

// remove removes what lies under hidden names.
func (c publisher) remove(p prepared) error {
	for _, part := range p.parts {
		for _, dir := range c.dirs(p) {
			if err := at(c.ctx, "remove part", func() error { return remove(filepath.Join(dir, part.hidden)) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// dirs are the directories in which parts may lie.
func (c publisher) dirs(p prepared) []string {
	if p.dir == c.dir {
		return []string{c.dir}
	}
	return []string{p.dir, c.dir}
}

func (c publisher) publishPart(p prepared, part preparedPart) (dir string, err error) {
	for _, dir := range c.dirs(p) {
		done, err := c.publishIn(dir, part)
		if err != nil {
			return dir, fmt.Errorf("publish part %q: %w", part.name, err)
		}
		if done {
			return dir, nil
		}
	}
	return "", fmt.Errorf("publish part %q: it is neither visible nor prepared (%q) in %q: it was moved or removed; put it back, or start from a savepoint",
		part.name, part.hidden, p.dir)
}

// publishIn reports whether the part is visible in a directory, after it was made so where it lies there under its hidden name.
// A file under the visible name is never replaced. Another execution may do the same at the same time.
func (c publisher) publishIn(dir string, part preparedPart) (done bool, err error) {
	from, to := filepath.Join(dir, part.hidden), filepath.Join(dir, part.name)
	if have, err := part.liesAt(from); err != nil {
		return false, err
	} else if !have {
		return part.visibleAt(to)
	}
	err = at(c.ctx, "publish part", func() error { return c.link(from, to) })
	if err == nil {
		return true, nil
	}
	if errors.Is(err, os.ErrExist) || errors.Is(err, os.ErrNotExist) {
		return part.visibleAt(to)
	}
	// The file system may have no links. The name holds a random number: nobody else makes a file of it between these two calls.
	if have, err := part.visibleAt(to); have || err != nil {
		return have, err
	}
	if err := os.Rename(from, to); err != nil {
		if have, _ := part.liesAt(to); have {
			return true, nil // another execution was faster
		}
		return false, err
	}
	return true, nil
}

// visibleAt reports whether the part is visible.
func (part preparedPart) visibleAt(path string) (bool, error) {
	have, err := part.liesAt(path)
	if err != nil {
		err = fmt.Errorf("%w; move it away", err)
	}
	return have, err
}

// liesAt reports whether a file is the part. One that it cannot be is an error.
func (part preparedPart) liesAt(path string) (bool, error) {
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return false, nil
	case err != nil:
		return false, err
	case !info.Mode().IsRegular():
		return false, fmt.Errorf("%q is no regular file", path)
	case info.Size() != part.bytes:
		return false, fmt.Errorf("%q has %d bytes, and is not the part of %d bytes that was prepared", path, info.Size(), part.bytes)
	}
	return true, nil
}

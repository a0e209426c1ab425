package storage

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"

	"github.com/arkflow-go/arkflow/internal/step"
	"gocloud.dev/blob"
)

const tempSuffix = ".tmp" // checkName refuses what ends in it: such a file is no object

// fileStore writes the files of a bucket of files. Reads and deletes go through the bucket.
type fileStore struct {
	base string // what stands before an object's name in the path of its file; ends in a slash, or in the bucket's prefix
	// step is told of each step of a write before it is done, and may refuse it. Nil outside tests.
	step func(step, path string) error
}

// findFiles looks an object up that does not exist: a bucket of files answers with the path that it looked at. Nil for any other.
func findFiles(ctx context.Context, bucket *blob.Bucket, probe string) (*fileStore, error) {
	_, err := bucket.Attributes(ctx, probe)
	if err == nil {
		return nil, permanent("the bucket says that an object exists which nobody has written")
	}
	if !absent(err) {
		return nil, err
	}
	var at *os.PathError
	if !bucket.ErrorAs(err, &at) {
		return nil, nil
	}
	base, ok := strings.CutSuffix(at.Path, probe)
	var root os.FileInfo
	if !ok || !bucket.As(&root) || !inside(filepath.Dir(at.Path), root) {
		return nil, permanent("cannot find the directory of a bucket of files: open it with fileblob, or a prefix of it with blob.PrefixedBucket")
	}
	return &fileStore{base: base}, nil
}

// inside reports whether a directory, which may not exist yet, is a root or below it.
func inside(dir string, root os.FileInfo) bool {
	for {
		if at, err := os.Stat(dir); err == nil && os.SameFile(at, root) {
			return true
		}
		up := filepath.Dir(dir)
		if up == dir {
			return false
		}
		dir = up
	}
}

// at does a step of writing an object of a kind, or a directory.
func (s *fileStore) at(ctx context.Context, op, kind, path string, do func() error) error {
	if s.step != nil {
		if err := s.step(op, path); err != nil {
			return err
		}
	}
	return step.Do(ctx, "bucket", op+" "+kind, do)
}

// kindOf is what stands in the name of an object for its kind: "piece" in those of Names.Data.
func kindOf(name string) string {
	parts := strings.SplitN(name, "/", 3)
	return parts[min(1, len(parts)-1)]
}

// write makes one attempt: temporary file beside the target, sync, link (where nothing may be replaced) or rename, sync of the
// directory. The temporary file of a process that dies stays; listings leave it out.
func (s *fileStore) write(ctx context.Context, name string, ifAbsent bool, asked *bool, fill func(io.Writer) error) (err error) {
	path, kind := s.base+filepath.FromSlash(name), kindOf(name)
	if err := s.makeDir(ctx, filepath.Dir(path)); err != nil {
		return err
	}
	temp := path + "." + token() + tempSuffix
	var f *os.File
	err = s.at(ctx, "create", kind, temp, func() (err error) {
		f, err = os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		return err
	})
	if err != nil {
		return err
	}
	open, renamed := true, false
	defer func() {
		if open {
			_ = f.Close()
		}
		if !renamed {
			_ = os.Remove(temp)
		}
	}()
	if err := fill(&fileWriter{ctx: ctx, f: f, store: s, kind: kind}); err != nil {
		return err
	}
	if err := s.at(ctx, "sync", kind, temp, f.Sync); err != nil {
		return err
	}
	open = false
	if err := f.Close(); err != nil {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	err = s.at(ctx, "publish", kind, path, func() error {
		*asked = true
		if ifAbsent {
			return os.Link(temp, path)
		}
		err := os.Rename(temp, path)
		renamed = err == nil
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	// Also where the name exists: it may be our own of an attempt before, whose directory could not be synced.
	if err2 := s.syncDir(ctx, kind, filepath.Dir(path)); err2 != nil {
		return err2
	}
	return err
}

// makeDir makes a directory and those above it, each durable before it is used.
func (s *fileStore) makeDir(ctx context.Context, dir string) error {
	if at, err := os.Stat(dir); err == nil {
		if !at.IsDir() {
			return &os.PathError{Op: "mkdir", Path: dir, Err: syscall.ENOTDIR}
		}
		return nil
	}
	if up := filepath.Dir(dir); up != dir {
		if err := s.makeDir(ctx, up); err != nil {
			return err
		}
	}
	err := s.at(ctx, "make", "directory", dir, func() error { return os.Mkdir(dir, 0o777) })
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return s.syncDir(ctx, "directory", filepath.Dir(dir))
}

// syncDir makes the names in a directory durable. Windows has no such call: its file systems journal names.
func (s *fileStore) syncDir(ctx context.Context, kind, dir string) error {
	return s.at(ctx, "name", kind, dir, func() error {
		if runtime.GOOS == "windows" {
			return nil
		}
		d, err := os.Open(dir)
		if err != nil {
			return err
		}
		err = d.Sync()
		if err2 := d.Close(); err == nil {
			err = err2
		}
		return err
	})
}

// list walks the files itself: fileblob loses names between its pages. It gives those whose names are wanted.
func (s *fileStore) list(ctx context.Context, prefix string, want func(name string) bool) (out []Info, err error) {
	root := filepath.Dir(s.base + filepath.FromSlash(prefix) + "x")
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if errors.Is(err, fs.ErrNotExist) { // deleted meanwhile, or nothing was written yet
			return nil
		}
		if err != nil {
			return err
		}
		name, ok := strings.CutPrefix(path, s.base)
		if name = filepath.ToSlash(name); d.IsDir() || !ok || !strings.HasPrefix(name, prefix) || !want(name) {
			return nil
		}
		at, err := d.Info()
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
		out = append(out, Info{name, at.Size(), at.ModTime()})
		return nil
	})
	return out, err
}

// fileWriter stops to write when the context ends.
type fileWriter struct {
	ctx   context.Context
	f     *os.File
	store *fileStore
	kind  string
}

func (w *fileWriter) Write(p []byte) (n int, err error) {
	if w.ctx.Err() != nil {
		return 0, context.Cause(w.ctx)
	}
	err = w.store.at(w.ctx, "write", w.kind, w.f.Name(), func() (err error) {
		n, err = w.f.Write(p)
		return err
	})
	return n, err
}

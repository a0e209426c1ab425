package file

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/arkflow-go/arkflow/internal/fault"
)

// pathOf gives the path that a URL names.
func pathOf(name string) (string, error) {
	scheme, rest, is := strings.Cut(name, "://")
	if !is {
		return name, nil
	}
	if scheme != "file" {
		return "", fmt.Errorf("scheme %q is not supported: want a path or file:// URL", scheme)
	}
	path, err := url.PathUnescape(rest)
	if err != nil {
		return "", err
	}
	if !strings.HasPrefix(path, "/") {
		return "", fmt.Errorf("a file:// URL names no host and has an absolute path, such as %q", "file:///tmp/a.jsonl")
	}
	return path, nil
}

func checkURL(name string) error {
	f := &fault.Fault{Path: "path"}
	if name == "" {
		f.Problem, f.Hint = "no file is named", "give a path or a glob"
		return f
	}
	path, err := pathOf(name)
	if err == nil {
		_, err = filepath.Match(path, "")
	}
	if err != nil {
		f.Problem = fmt.Sprintf("%q: %s", name, err)
		return f
	}
	return nil
}

// findFiles lists the files that a URL names, in the order of their names, each of which can be read.
func findFiles(ctx context.Context, name string) ([]string, error) {
	path, err := pathOf(name)
	if err != nil {
		return nil, err
	}
	isGlob := strings.ContainsAny(path, `*?[\`)
	if _, err := os.Lstat(path); err == nil || !isGlob || !errors.Is(err, os.ErrNotExist) {
		return []string{path}, statRegular(path)
	}
	found, err := filepath.Glob(path)
	if err != nil {
		return nil, fmt.Errorf("glob %q: %w", path, err)
	}
	if !strings.HasPrefix(filepath.Base(path), ".") {
		found = slices.DeleteFunc(found, func(name string) bool { return strings.HasPrefix(filepath.Base(name), ".") })
	}
	found = slices.DeleteFunc(found, isDir)
	if len(found) == 0 {
		return nil, fmt.Errorf("glob %q: no file matches", path)
	}
	slices.Sort(found)
	for _, f := range found {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := statRegular(f); err != nil {
			return nil, err
		}
	}
	return found, nil
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// encodeNames writes a list of names as length and bytes each.
func encodeNames(names []string) []byte {
	var out []byte
	for _, n := range names {
		out = binary.AppendUvarint(out, uint64(len(n)))
		out = append(out, n...)
	}
	return out
}

func decodeNames(b []byte) ([]string, error) {
	var names []string
	for len(b) > 0 {
		name, rest, ok := takeBytes(b)
		if !ok {
			return nil, errors.New("damaged list of files")
		}
		names = append(names, string(name))
		b = rest
	}
	if len(names) == 0 {
		return nil, errors.New("no list of files")
	}
	return names, nil
}

// takeBytes reads a length and as many bytes.
func takeBytes(b []byte) (v, rest []byte, ok bool) {
	n, w := binary.Uvarint(b)
	if w <= 0 || n > uint64(len(b)-w) {
		return nil, nil, false
	}
	return b[w : w+int(n)], b[w+int(n):], true
}

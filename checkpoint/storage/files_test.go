package storage

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
)

// steps opens a bucket of files whose steps are noted, and refused by refuse.
func steps(t *testing.T, refuse func(step, path string) error) (*Bucket, string, *[]string) {
	dir := t.TempDir()
	b, err := Open(t.Context(), fileBucket(t, dir), quick)
	require.NoError(t, err)
	var seen []string
	b.files.step = func(step, path string) error {
		short, _ := filepath.Rel(dir, path)
		if at := strings.LastIndex(short, "/"); strings.HasSuffix(short, tempSuffix) {
			short = short[:at+1] + "temp"
		}
		seen = append(seen, step+" "+filepath.ToSlash(short))
		if refuse != nil {
			return refuse(step, path)
		}
		return nil
	}
	return b, dir, &seen
}

func TestFilesAreDurableInThisOrder(t *testing.T) {
	b, _, seen := steps(t, nil)
	require.NoError(t, b.PutIfAbsent(t.Context(), "a/b/1", []byte("x")))
	require.Equal(t, []string{
		"make a", "name .", "make a/b", "name a",
		"create a/b/temp", "write a/b/temp", "sync a/b/temp", "publish a/b/1", "name a/b",
	}, *seen)
	*seen = nil
	put(t, b, "a/b/1", "y")
	require.Equal(t, []string{"create a/b/temp", "write a/b/temp", "sync a/b/temp", "publish a/b/1", "name a/b"}, *seen)
}

// Whatever step fails, once or for good: the object is whole or absent, and no temporary file stays.
func TestFilesAreWholeOrAbsentWhicheverStepFails(t *testing.T) {
	for _, step := range []string{"make", "create", "write", "sync", "publish", "name"} {
		for _, cause := range []error{errFlaky, syscall.ENOSPC, syscall.EROFS} {
			t.Run(fmt.Sprint(step, " ", cause), func(t *testing.T) {
				fails := 1 << 30
				b, dir, _ := steps(t, func(at, path string) error {
					if at == step && fails > 0 && (step != "name" || strings.HasSuffix(path, "/a")) {
						fails--
						return cause
					}
					return nil
				})
				err := b.PutIfAbsent(t.Context(), "a/1", []byte("first"))
				require.ErrorIs(t, err, cause)
				require.ErrorContains(t, err, dir)
				require.Equal(t, step == "name" && cause == errFlaky, errors.Is(err, ErrUnsure))
				all, err := filepath.Glob(filepath.Join(dir, "a", "*"))
				require.NoError(t, err)
				for _, path := range all {
					require.Equal(t, filepath.Join(dir, "a", "1"), path)
				}
				fails = 1
				err = b.PutIfAbsent(t.Context(), "a/1", []byte("first"))
				if cause == errFlaky || fails > 0 {
					require.NoError(t, err)
				} else {
					require.ErrorIs(t, err, cause)
				}
			})
		}
	}
}

func TestFilesSayWhatToDo(t *testing.T) {
	for cause, want := range map[error]string{
		syscall.ENOSPC:  "free some space",
		syscall.EDQUOT:  "free some space",
		syscall.EFBIG:   "let the process write larger files",
		syscall.EROFS:   "the file system is read-only",
		syscall.EACCES:  "give the process the right",
		syscall.ENOTSUP: "one file system with hard links",
	} {
		b, _, _ := steps(t, func(step, _ string) error {
			if step == "publish" {
				return &os.LinkError{Op: "link", Err: cause}
			}
			return nil
		})
		require.ErrorContains(t, b.PutIfAbsent(t.Context(), "a/1", []byte("x")), want)
	}
	b, _, _ := steps(t, nil)
	put(t, b, "a", "x")
	_, err := b.Put(t.Context(), "a/1", bytesOf(nil))
	require.ErrorContains(t, err, "not a directory")
}

// B83: a file that a dead process left is no object, and keeps nobody from writing.
func TestFilesOfDeadWritersAreLeftOut(t *testing.T) {
	b, dir, _ := steps(t, nil)
	put(t, b, "a/1", "x")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "a", "2.0123.tmp"), []byte("half"), 0o644))
	require.Equal(t, []string{"a/1"}, names(t, b, ""))
	require.NoError(t, b.PutIfAbsent(t.Context(), "a/2", []byte("whole")))
	require.Equal(t, []string{"a/1", "a/2"}, names(t, b, ""))
}

func TestFilesAreFoundThroughPrefixes(t *testing.T) {
	dir := t.TempDir()
	for prefix, want := range map[string]string{"team/": "team/a/1", "team-": "team-a/1", "team/x-": "team/x-a/1"} {
		b, err := Open(t.Context(), blob.PrefixedBucket(fileBucket(t, dir), prefix), quick)
		require.NoError(t, err)
		require.NotNil(t, b.files)
		put(t, b, "a/1", prefix)
		got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(want)))
		require.NoError(t, err)
		require.Equal(t, prefix, string(got))
		require.Equal(t, []string{"a/1"}, names(t, b, ""))
		require.Equal(t, []string{"a/1"}, names(t, b, "a"))
	}
}

func TestFilesNameTheDirectory(t *testing.T) {
	dir := t.TempDir()
	b, err := Open(t.Context(), fileBucket(t, dir), quick)
	require.NoError(t, err)
	require.Equal(t, dir, filepath.Clean(b.Name()))
	single, err := fileblob.OpenBucket(dir, nil)
	require.NoError(t, err)
	_, err = Open(context.Background(), blob.SingleKeyBucket(single, "only"), quick)
	require.ErrorContains(t, err, "cannot find the directory")
}

package storage_test

import (
	"net/url"
	"testing"

	"github.com/arkflow-go/arkflow/checkpoint/storage/storagetest"
	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"
	"gocloud.dev/blob/fileblob"
	"gocloud.dev/blob/memblob"
)

func openFiles(t *testing.T, options string) *blob.Bucket {
	b, err := blob.OpenBucket(t.Context(), "file://"+(&url.URL{Path: t.TempDir()}).EscapedPath()+options)
	require.NoError(t, err)
	return b
}

// The suite on every kind of bucket that needs no server.
func TestBucket(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) *blob.Bucket{
		"mem":           func(*testing.T) *blob.Bucket { return memblob.OpenBucket(nil) },
		"folder of mem": func(*testing.T) *blob.Bucket { return blob.PrefixedBucket(memblob.OpenBucket(nil), "team/") },
		"file":          func(t *testing.T) *blob.Bucket { return openFiles(t, "?no_tmp_dir=true&metadata=skip") },
		"file with its defaults": func(t *testing.T) *blob.Bucket {
			b, err := fileblob.OpenBucket(t.TempDir(), nil)
			require.NoError(t, err)
			return b
		},
		"folder of file": func(t *testing.T) *blob.Bucket { return blob.PrefixedBucket(openFiles(t, ""), "team/jobs/") },
		"prefix of file": func(t *testing.T) *blob.Bucket { return blob.PrefixedBucket(openFiles(t, "?metadata=skip"), "team-") },
	} {
		t.Run(name, func(t *testing.T) {
			storagetest.Run(t, func(t *testing.T) *blob.Bucket {
				b := open(t)
				t.Cleanup(func() { _ = b.Close() })
				return b
			})
		})
	}
}

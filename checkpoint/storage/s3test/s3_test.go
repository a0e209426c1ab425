// Package s3test runs the suite of storagetest over the S3 protocol. It is a module of its own, so that neither a cloud SDK nor
// the server is among the library's requirements.
package s3test

import (
	"fmt"
	"net/http/httptest"
	"net/url"
	"sync/atomic"
	"testing"

	"github.com/arkflow-go/arkflow/checkpoint/storage/storagetest"
	"github.com/johannesboyne/gofakes3"
	"github.com/johannesboyne/gofakes3/backend/s3mem"
	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"
	_ "gocloud.dev/blob/s3blob" // registers s3://
)

// TestBucket runs over HTTP against a server within the process.
func TestBucket(t *testing.T) {
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test")
	store := s3mem.New()
	server := httptest.NewServer(gofakes3.New(store).Server())
	t.Cleanup(server.Close)
	var opened atomic.Int64
	storagetest.Run(t, func(t *testing.T) *blob.Bucket {
		name := fmt.Sprintf("bucket%d", opened.Add(1))
		require.NoError(t, store.CreateBucket(name))
		b, err := blob.OpenBucket(t.Context(), "s3://"+name+"?region=us-east-1&use_path_style=true&endpoint="+url.QueryEscape(server.URL))
		require.NoError(t, err)
		t.Cleanup(func() { _ = b.Close() })
		return b
	})
}

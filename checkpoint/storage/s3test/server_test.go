package s3test

import (
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/arkflow-go/arkflow/checkpoint/storage/storagetest"
	"github.com/stretchr/testify/require"
	"gocloud.dev/blob"
)

// TestBucketOfAServer runs against a server in a process of its own, which keeps buckets in directories. .ci/run and make check build it.
func TestBucketOfAServer(t *testing.T) {
	program, err := filepath.Abs("../../../bin/versitygw")
	require.NoError(t, err)
	_, err = os.Stat(program)
	require.NoError(t, err, "build it: go -C tools/s3server build -o ../../bin/ tool")
	t.Setenv("AWS_ACCESS_KEY_ID", "test")
	t.Setenv("AWS_SECRET_ACCESS_KEY", "test-secret")
	dir, address := t.TempDir(), freeAddress(t)
	server := exec.CommandContext(t.Context(), program, "--access", "test", "--secret", "test-secret", "--port", address, "posix", dir)
	log, err := os.Create(filepath.Join(t.TempDir(), "log"))
	require.NoError(t, err)
	server.Stdout, server.Stderr = log, log
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
		_ = log.Close()
	})
	require.Eventually(t, func() bool {
		c, err := net.DialTimeout("tcp", address, time.Second)
		if err == nil {
			_ = c.Close()
		}
		return err == nil
	}, 30*time.Second, 20*time.Millisecond, "the server did not begin to listen")
	var opened atomic.Int64
	storagetest.Run(t, func(t *testing.T) *blob.Bucket {
		name := fmt.Sprintf("bucket%d", opened.Add(1))
		require.NoError(t, os.Mkdir(filepath.Join(dir, name), 0o755))
		b, err := blob.OpenBucket(t.Context(), "s3://"+name+"?region=us-east-1&use_path_style=true&endpoint="+url.QueryEscape("http://"+address))
		require.NoError(t, err)
		t.Cleanup(func() { _ = b.Close() })
		return b
	})
}

func freeAddress(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer l.Close()
	return l.Addr().String()
}

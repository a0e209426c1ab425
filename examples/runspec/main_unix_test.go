//go:build unix

package main

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// A sink that blocks for ever, as a pipe that nobody reads does, holds up a cancel.
func TestRunspecEndsAtTheThirdSignalWhateverASinkDoes(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(pipe, 0o600))
	text := "jobs:" + strings.Replace(document("a", pipe, ""), "interval: 500ms, batch_size: 10", "batch_size: 8000", 1)
	signals := make(chan os.Signal, 3)
	for i := range 3 {
		time.AfterFunc(time.Duration(i+3)*100*time.Millisecond, func() { signals <- os.Interrupt })
	}
	s := command(text, signals, "-f", "-")
	assert.Equal(t, 1, s.code)
	assert.Contains(t, s.err, "cancelling: what is in flight is dropped")
	assert.Contains(t, s.err, "not waiting for the jobs any more")
	r, err := os.Open(pipe) // lets the job go
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, r)
	require.NoError(t, err)
	require.NoError(t, r.Close())
}

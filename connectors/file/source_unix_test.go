//go:build unix

package file

import (
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// To open a named pipe that nobody writes would wait for ever.
func TestSource_aNamedPipeIsRefused(t *testing.T) {
	name := filepath.Join(t.TempDir(), "pipe")
	require.NoError(t, syscall.Mkfifo(name, 0o600))
	_, err := Source{URL: name}.Splits(t.Context())
	assert.EqualError(t, err, `open "`+name+`": it is not a regular file`)
}

package lint_test

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/arkflow-go/arkflow/internal/lint"
)

// TestTreeKeepsTheLayoutRules reads every Go file of the repository by path, so that the test cache notices each change.
func TestTreeKeepsTheLayoutRules(t *testing.T) {
	tree, err := lint.Load(os.DirFS("../.."))
	require.NoError(t, err)
	require.NotNil(t, tree.Package("internal/lint"), "the tree must hold this package")
	for _, f := range tree.Check(tree.ModuleCache(lint.CacheDir())) {
		t.Error(f)
	}
}

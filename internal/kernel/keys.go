package kernel

import (
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/keys"
)

// HashColumns is keys.Hash.
func HashColumns(dst []uint64, b *column.Batch, cols []int) []uint64 { return keys.Hash(dst, b, cols) }

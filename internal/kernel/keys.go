package kernel

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/arkflow-go/arkflow/column"
	"github.com/arkflow-go/arkflow/internal/keys"
)

// HashColumns is keys.Hash.
func HashColumns(dst []uint64, b *column.Batch, cols []int) []uint64 { return keys.Hash(dst, b, cols) }

// Mix64 is keys.Mix64.
func Mix64(x uint64) uint64 { return keys.Mix64(x) }

// KeyTypeOf is keys.TypeOf.
func KeyTypeOf(t arrow.DataType) keys.Type { return keys.TypeOf(t) }

// TagInvalid is keys.TagInvalid.
const TagInvalid = keys.TagInvalid

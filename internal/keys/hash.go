package keys

import (
	"math/bits"

	"github.com/arkflow-go/arkflow/column"
	"github.com/zeebo/xxh3"
)

// HashID names the stable hash, and EncodingVersion the written form of keys, in every manifest (DESIGN K2). A change
// of either makes state of the other unreadable, and golden vectors in the tests forbid it.
const (
	HashID          = "arkflow-mix64-xxh3-v1"
	EncodingVersion = 1
)

const (
	tagStep  = 0x9E3779B97F4A7C15 // apart by type: seed = tag number × tagStep
	nullSeed = 0xD6E8FEB86659FD93
)

// Mix64 is the finaliser of splitmix64: every bit of x reaches every bit of the result.
func Mix64(x uint64) uint64 {
	x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9
	x = (x ^ (x >> 27)) * 0x94D049BB133111EB
	return x ^ (x >> 31)
}

func (t Type) seed() uint64 { return (uint64(t.Param)<<8 | uint64(t.Tag)) * tagStep }

// joinHash adds the hash of one more column to that of a tuple.
func joinHash(h, next uint64) uint64 { return Mix64(bits.RotateLeft64(h, 23)*5 + next) }

// Hash writes the stable hash of the key of each physical row, also of rows outside the selection, and gives
// dst[:b.Rows]; dst is used where it is large enough. cols are the key columns in the order of the key. Values are
// Words first (DESIGN K1): equal keys of int32 and int64 columns have equal hashes, null, "" and 0 different ones.
func Hash(dst []uint64, b *column.Batch, cols []int) []uint64 {
	if cap(dst) < b.Rows {
		dst = make([]uint64, b.Rows)
	}
	dst = dst[:b.Rows]
	for i, at := range cols {
		hashColumn(dst, &b.Cols[at], i == 0)
	}
	return dst
}

// hashColumn starts the hashes of a tuple, or adds a column to them.
func hashColumn(dst []uint64, c *column.Column, first bool) {
	seed := TypeOf(c.Type).seed()
	var block, words [blockRows]uint64
	for lo := 0; lo < len(dst); lo += blockRows {
		part := dst[lo:min(lo+blockRows, len(dst))]
		h := block[:len(part)]
		if first {
			h = part
		}
		switch {
		case OneWord(c.Kind):
			for i, v := range Words(words[:], c, lo, len(part), nil) {
				h[i] = Mix64(v ^ seed)
			}
		case c.Kind == column.Decimal:
			v := column.View[[2]uint64](c.Data)[lo : lo+len(part)]
			for i, d := range v {
				h[i] = joinHash(Mix64(d[0]^seed), d[1])
			}
		default:
			for i := range h {
				h[i] = Mix64(xxh3.Hash(c.Bytes(lo+i)) ^ seed)
			}
		}
		if c.Nulls > 0 {
			null := Mix64(seed ^ nullSeed)
			for i := range h {
				if c.IsNull(lo + i) {
					h[i] = null
				}
			}
		}
		if !first {
			for i := range part {
				part[i] = joinHash(part[i], h[i])
			}
		}
	}
}

// blockRows is the number of rows that one pass works on, so that what several passes share stays in the first caches.
const blockRows = 1024

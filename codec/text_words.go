package codec

import "github.com/arkflow-go/arkflow/codec/internal/plain"

// What a text holds beside plain ASCII, and masks of eight bytes at a time.
const (
	hasEscape = plain.HasEscape
	hasHigh   = plain.HasHigh
	ones      = 0x0101010101010101
	highs     = 0x8080808080808080
)

// Package blocktest answers: does a format of files made of blocks keep what codec.BlockFormat promises?
//
//	blocktest.RoundTrip(t, format, schema)   // every type, every place to go on from
//	blocktest.Damage(t, format)              // truncated and altered files: errors, never a panic, bounded memory
//
// It is used by tests only.
package blocktest

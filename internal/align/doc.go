// Package align answers: what do several inputs of a task amount to?
//
// [Merge] gives the watermark and status of a task from those of its inputs, [Aligner] what a barrier on one of them means:
//
//	m := align.NewMerge(2)
//	m.Watermark(0, 10)
//	w, status := m.Result() // none yet: input 1 has told nothing
//
// Both are pure: the package never blocks, reads no clock and starts no goroutine.
package align

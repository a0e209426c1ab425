// Package preagg answers: does it pay to gather rows by their key before they travel to another task?
//
// An operator that gathers rows by key is a [Maker] of a [Stage], which the sender of the rows puts them into; a [Gate] keeps the
// score and says whether the next rows go through the stage or as they are:
//
//	if gate.Open(b.Len()) {
//		rest, err := stage.Add(b)
//		…
//	}
//	rows, entries, err := stage.Flush(watermark, send)
//	gate.Left(rows, entries)
//
// The package never touches a row.
package preagg

// Package arrowipc answers: how do rows become files of the Arrow IPC format, and such files rows?
//
//	job.Source("in", file.Source{URL: "in/*.arrow", Format: arrowipc.New(nil)}, …)     // all columns of the files
//	rows.Sink("out", file.Sink{URL: "out.arrow", Format: arrowipc.New(nil).Compress(arrowipc.Zstd)})
//
// Both forms of the format are read, the file form with its table of batches (usually .arrow or .feather) and the stream form (.arrows);
// the file form is written unless Stream says otherwise. A block is a record batch.
//
// The package checks lengths, offsets and memory, but cannot see that a value was altered: the format has no checksums.
package arrowipc

// Package file answers: how do rows come out of files and into files?
//
//	orders := job.Source("orders", file.Source{URL: "in/*.jsonl.gz", Format: codec.JSONOf[Order]()}, arkflow.EventTime("ts"))
//	perMinute.Sink("out", file.Sink{URL: "per-minute.jsonl"})
//
// A [Source] reads lines; each file is a split with its own position, or all files are one split in the order of their names.
// A [Sink] appends lines and makes them durable at each barrier: at least once, never less.
//
// The package watches no directory for new files, removes or renames none, and reads only regular files: a pipe has no
// positions to come back to.
package file

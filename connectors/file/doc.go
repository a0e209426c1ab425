// Package file answers: how do rows come out of files and into files?
//
//	orders := job.Source("orders", file.Source{URL: "in/*.csv.gz", Format: codec.CSVOf[Order]()}, arkflow.EventTime("ts"))
//	perMinute.Sink("out", file.Sink{URL: "per-minute.jsonl"})                             // appends
//	perMinute.Sink("parts", file.Sink{URL: "out.parquet", Format: parquet.New(nil)})      // out-0-000000.parquet, …
//
// A [Source] reads whatever its format says: records (JSON, CSV), also compressed, or blocks (Arrow IPC, Parquet). Each file is a split
// with its own position, or all files are one split in the order of their names. A [Sink] appends records and makes them durable at each
// barrier, or writes parts that are whole when they appear: at least once, never less. With ExactlyOnce parts appear with their checkpoint.
//
// The package watches no directory for new files, removes or renames none but its own parts, and reads only regular files: a pipe has no
// positions to come back to.
package file

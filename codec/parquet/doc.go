// Package parquet answers: how do rows become Parquet files, and such files rows?
//
//	job.Source("in", file.Source{URL: "in/*.parquet", Format: parquet.Of[Order]()}, …)   // the columns of Order, by name
//	rows.Sink("out", file.Sink{URL: "out.parquet", Format: parquet.New(nil)})            // out-0-000000.parquet, …
//	err := parquet.Register(registry)                                                    // for job specs: {type: parquet}
//
// A block is a row group. Only programs that import the package link what it needs, some 25 MB.
//
// The package reads columns of plain values: nested ones are left out. It decrypts nothing.
package parquet

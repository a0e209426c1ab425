// Package segment answers: how do tables of state become the bytes of an object of a checkpoint, and such bytes tables?
//
// A [Writer] gathers tables and hands over objects of a bounded size; a [Reader] gives the tables of one object back, any of them without
// unpacking the others:
//
//	w, err := segment.NewWriter(segment.Options{}, func(o segment.Object) error { return upload(o.Data) })
//	err = w.Add(segment.Block{Table: "windows", Part: 1, Full: true}, table)
//	err = w.Close()
//
//	r, err := segment.Open(data)
//	for i, e := range r.Blocks() { // what it is, how many rows, which key groups
//		table, err := r.Read(i)
//	}
//
// Inside are streams of Arrow IPC, each compressed with Snappy, and a directory; FORMAT.md describes every byte. Tables that are small share a
// stream, so a part of a few rows costs some ten bytes.
//
// A reader gives what was written or an error, whatever the bytes are: all of them are covered by checksums, and what they say is checked
// as well, before memory is taken for it. Whatever an object claims, a reader takes no more than 200 times its size and 32 MiB.
//
// The package never touches storage, knows no operator, and does not apply changes to what they change.
package segment

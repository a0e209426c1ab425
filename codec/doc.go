// Package codec answers: how do bytes become rows, and rows bytes?
//
// A [Format] describes one encoding. That of a [RecordFormat], JSON or CSV, has a [Decoder] that turns records (a line of a file, a message)
// into batches of columns, and an [Encoder] that turns batches into records:
//
//	format := codec.JSON(schema)        // or codec.JSONOf[Order](), or codec.JSON(nil): inferred from the first records
//	dec, err := format.NewDecoder(pool)
//	err = dec.Append([]byte(`{"id":1,"amount":2.5}`))
//	batch := dec.Finish()               // owned by the caller
//
// A record that does not fit is a *[RecordError] that names field, value and place, and leaves the rows before it as they
// were: the caller decides whether to stop or to skip it. Nothing is coerced silently: see [JSONFormat] and [CSVFormat] for what is
// accepted in a column of which type. A [BlockFormat] is one of whole files made of blocks of rows: packages arrowipc and parquet.
//
// The package reads no file, knows no connector and no error policy, and never allocates per row.
package codec

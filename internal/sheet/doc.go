// Package sheet answers: how is a batch filled column by column, when its rows become known block by block?
//
// A [Sheet] lends the memory of its columns and gives the batch when it is done:
//
//	s := &sheet.Sheet{Schema: schema, Pool: pool, Size: 8192}
//	s.Begin()
//	s.Put(&s.B.Cols[0], 0, words)
//	s.N += len(words)
//	b := s.Take()
//
// The package never grows a sheet beyond its size and never emits a batch.
package sheet

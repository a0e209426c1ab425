// Package state answers: what does an operator remember, to which task does each entry belong, and how is it saved?
//
// State is divided into key groups: [KeyGroup] maps the stable hash of a key to one, and each task of an operator owns
// a contiguous [Range] of them ([OwnedBy]). At a barrier an operator writes its state through a [Writer] as values of the task
// and as columnar tables whose rows name their key group; on recovery it reads from a [Reader] the rows of the groups that it owns:
//
//	func (s *sums) Snapshot(w state.Writer) error { w.Table("sums", s.table()); return nil }
//
// The package never touches storage and knows no operator.
package state

// Package shuffle answers: who gets which row, and what travels between two tasks?
//
// A link carries [Element]s: batches, and the control elements that keep tasks in step: watermarks, barriers and
// status. A [Partitioner] says for each row of a batch which task owns its key group:
//
//	p := shuffle.NewPartitioner(128, 4)
//	for task, rows := range p.Split(b) { … } // physical rows of b, by task
//
// The package never starts a goroutine and never decides when to send.
package shuffle

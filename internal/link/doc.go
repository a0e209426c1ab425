// Package link answers: how do elements get from one task to another within a process?
//
// A [Link] is a bounded queue with one sender; an [Inbox] is the links of one task and the commands that it is given. A sender waits while its
// link is full; control elements never wait; a link that is blocked holds up nobody else:
//
//	in := link.New(activity)
//	l := in.Connect(8) // batches
//	err := l.Send(ctx, shuffle.Element{Kind: shuffle.Data, Batch: b})
//	i, element, ok := in.Pop()
//
// [Activity] counts who can move, so that a test knows when nothing can any more. The package never starts a goroutine and never looks into a batch.
package link

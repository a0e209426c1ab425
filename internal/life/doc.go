// Package life answers: which states does an execution go through, and who is told what happens to it?
//
// A [State] moves as [MayMove] allows; a [Feed] gives every [Event] to those who subscribed, late ones included:
//
//	var f life.Feed
//	events := f.Subscribe(ctx)
//	f.Publish(life.Event{Kind: life.EventState, State: life.Running})
//
// The package never moves a state itself and never waits for a subscriber.
package life

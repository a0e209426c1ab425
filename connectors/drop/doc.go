// Package drop answers: where do rows go that nobody wants?
//
//	orders.Sink("nowhere", drop.Sink{})
//
// It is used to run a job for its side effects or its speed. It keeps nothing and never blocks.
package drop

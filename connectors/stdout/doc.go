// Package stdout answers: how do I see the rows of a stream?
//
//	perMinute.Sink("out", stdout.Sink{})
//
// Each row is written as a JSON object on a line of its own, or in the format that is given. A batch is one call of Write,
// so the rows of several tasks are never mixed within a line. The package never closes what it writes to and keeps no rows back.
package stdout

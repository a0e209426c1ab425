// Package pace answers: when may the next rows pass, so that a rate is kept on average?
//
// A [Pace] is told what passed and says when it is open again:
//
//	p := pace.Pace{PerSecond: 1000}
//	p.Passed(100, now)
//	p.Open(now.Add(99 * time.Millisecond)) // false: 100 rows take 100 ms
//
// The package never waits and reads no clock.
package pace

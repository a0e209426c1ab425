//go:build !linux

package main

import "time"

var started = time.Now()

// threadCPU stands in for the CPU time of the thread, which this system does not tell: filling never blocks, so the time
// it takes is close.
func threadCPU() time.Duration { return time.Since(started) }

// sleepUntil waits as exactly as timers of the Go runtime do.
func sleepUntil(t time.Time) { time.Sleep(time.Until(t)) }

//go:build !unix && !windows

package main

import "time"

// processCPU stands in for the CPU time of the process, which this system does not tell.
func processCPU() time.Duration { return time.Since(started) }

package main

import (
	"syscall"
	"time"
	"unsafe"
)

// Clocks of clock_gettime(2).
const (
	clockProcess = 2 // CLOCK_PROCESS_CPUTIME_ID
	clockThread  = 3 // CLOCK_THREAD_CPUTIME_ID
)

// processCPU is the CPU time of all threads of the process.
func processCPU() time.Duration { return clockTime(clockProcess) }

// threadCPU is the CPU time of the calling thread; the goroutine must be locked to it.
func threadCPU() time.Duration { return clockTime(clockThread) }

func clockTime(id uintptr) time.Duration {
	var t syscall.Timespec
	if _, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, id, uintptr(unsafe.Pointer(&t)), 0); errno != 0 {
		return 0
	}
	return time.Duration(t.Nano())
}

// sleepUntil blocks the calling thread until t. The kernel wakes it within about 0.1 ms, timers of the Go runtime within 1 ms.
func sleepUntil(t time.Time) {
	for d := time.Until(t); d > 0; d = time.Until(t) {
		left := syscall.NsecToTimespec(int64(d))
		if err := syscall.Nanosleep(&left, nil); err != nil && err != syscall.EINTR {
			time.Sleep(time.Until(t))
		}
	}
}

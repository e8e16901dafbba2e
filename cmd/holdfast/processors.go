package main

import (
	"os"
	"runtime"
	"runtime/debug"
)

// fewestProcessors is the number of processors from which on Go's garbage collector marks on one of its own. With fewer it takes all of them
// for up to 20 ms, and no client is answered meanwhile. The threads of more processors than the machine has share those.
const fewestProcessors = 4

// collectEarly has the garbage collected when there is half as much of it as there are living values, unless the environment says when: what
// --max-memory-bytes permits then takes little more.
func collectEarly() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(50)
	}
}

// useProcessors lets a server use at least four, unless the environment sets a number.
func useProcessors() {
	if n := runtime.GOMAXPROCS(0); n < fewestProcessors && os.Getenv("GOMAXPROCS") == "" {
		runtime.GOMAXPROCS(fewestProcessors)
	}
}

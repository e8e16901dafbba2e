//go:build !linux

package pipeline

import "time"

var began = time.Now()

// threadTime returns the time since the test began: only Linux knows that of a thread.
func threadTime() time.Duration { return time.Since(began) }

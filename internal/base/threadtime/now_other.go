//go:build !linux

package threadtime

import "time"

var began = time.Now()

// Now returns the time since the program began: only Linux knows that of a thread.
func Now() time.Duration { return time.Since(began) }

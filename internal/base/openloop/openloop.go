// Package openloop measures calls that begin at fixed times, whether or not the ones before have ended.
package openloop

import (
	"slices"
	"time"
)

// Durations makes calls, one after the other, as long as more returns true for the number of the next, from 0. It returns, sorted, how long each
// took from its time on, which is the start plus its number of intervals. So a call that waits does not hide that later ones would have waited too.
// It returns the last error of a call beside them.
func Durations(every time.Duration, more func(i int) bool, call func() error) ([]time.Duration, error) {
	var took []time.Duration
	var failed error
	start := time.Now()
	for i := 0; more(i); i++ {
		due := start.Add(time.Duration(i) * every)
		<-time.After(time.Until(due))
		if err := call(); err != nil {
			failed = err
		}
		took = append(took, time.Since(due))
	}
	slices.Sort(took)
	return took, failed
}

// Package openloop measures calls that begin at fixed times, whether or not the ones before have ended.
package openloop

import (
	"slices"
	"time"
)

// Call is one call: from the time on at which it was to begin.
type Call struct{ Due, End time.Time }

// Calls makes calls, one after the other, as long as more returns true for the number of the next, from 0. Each is due at the start plus its
// number of intervals, so a call that waits does not hide that later ones would have waited too. It returns the last error of a call beside them.
func Calls(every time.Duration, more func(i int) bool, call func() error) (calls []Call, failed error) {
	start := time.Now()
	for i := 0; more(i); i++ {
		due := start.Add(time.Duration(i) * every)
		<-time.After(time.Until(due))
		if err := call(); err != nil {
			failed = err
		}
		calls = append(calls, Call{Due: due, End: time.Now()})
	}
	return calls, failed
}

// Durations makes calls as [Calls] does, and returns, sorted, how long each took.
func Durations(every time.Duration, more func(i int) bool, call func() error) ([]time.Duration, error) {
	calls, failed := Calls(every, more, call)
	took := make([]time.Duration, len(calls))
	for i, c := range calls {
		took[i] = c.End.Sub(c.Due)
	}
	slices.Sort(took)
	return took, failed
}

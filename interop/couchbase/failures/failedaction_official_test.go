//go:build !ours

package failures

import "time"

// failedAction is as near as a strategy of gocb can come to returning an error.
type failedAction struct{ Err error }

func (failedAction) Duration() time.Duration { return 0 }
func (a failedAction) Error() string         { return a.Err.Error() }
func (a failedAction) Unwrap() error         { return a.Err }

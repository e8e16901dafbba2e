package mongo

import "fmt"

// partlyFailed is the error of writes of which one command failed as a whole, after commands with errors of their own: without
// those nobody would see, for example, that a write concern was not satisfied. It matches both.
type partlyFailed struct {
	fatal  error
	before BulkWriteException
}

func (e *partlyFailed) Error() string { return fmt.Sprintf("%v; before it: %v", e.fatal, e.before) }

// Unwrap returns the error of the command first, so that its labels are found first.
func (e *partlyFailed) Unwrap() []error { return []error{e.fatal, e.before} }

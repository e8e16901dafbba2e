package mongo

import "fmt"

// partlyFailed is the error of writes of which one command failed as a whole, after commands with errors of their own: without
// those nobody would see, for example, that a write concern was not satisfied. It matches both.
type partlyFailed struct {
	fatal  error
	before BulkWriteException
}

// withErrorsBefore returns the error of a command that failed as a whole, with those of the commands before it. The type of a
// CommandError stays.
func withErrorsBefore(fatal error, before BulkWriteException) error {
	if e, ok := fatal.(CommandError); ok { //nolint:errorlint // it is not wrapped here
		e.Wrapped = &partlyFailed{e.Wrapped, before}
		return e
	}
	return &partlyFailed{fatal, before}
}

func (e *partlyFailed) Error() string { return fmt.Sprintf("%v; before it: %v", e.fatal, e.before) }

// Unwrap returns the error of the command first, so that its labels are found first.
func (e *partlyFailed) Unwrap() []error { return []error{e.fatal, e.before} }

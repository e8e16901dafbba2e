package explore

import "context"

// Site is the servers of one run, which do the failures of its case. Its methods are safe for concurrent use.
type Site interface {
	// Heal ends the failures, and returns when the servers are as they were.
	Heal(context.Context) error
	// Close ends the failures and the servers.
	Close() error
	// Note adds a line to what happened.
	Note(who, format string, args ...any)
	// Fill tells an outcome what happened. The servers may be closed.
	Fill(*Outcome)
}

package store

import "sync/atomic"

// Outcome says whether an entry was applied, and whether it was rolled back. It may be read at any time.
type Outcome struct {
	Applied, RolledBack atomic.Bool
}

// Reset makes the entry one that was never written.
func (o *Outcome) Reset() {
	o.Applied.Store(false)
	o.RolledBack.Store(false)
}

// applied notes that the entry was done, with its parts.
func (e *Entry) applied() {
	if e.Outcome != nil {
		e.Outcome.Applied.Store(true)
	}
	for _, part := range e.Parts {
		part.applied()
	}
}

// undone notes that the entry was taken back, with its parts.
func (e *Entry) undone() {
	if e.Outcome != nil {
		e.Outcome.RolledBack.Store(true)
	}
	for _, part := range e.Parts {
		part.undone()
	}
}

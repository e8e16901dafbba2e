package store

import "sync/atomic"

// Outcome is what became of an entry. It may be read at any time.
type Outcome struct {
	Applied, RolledBack atomic.Bool
}

// Reset forgets what became of the entry, which is as good as never written.
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

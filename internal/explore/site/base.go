// Package site is what the servers of one run have in common, whatever the database is: the messages that came, the failures that
// happened to them and that end, and the notes of what happened.
//
// Begin with base.go. Then failure.go, arrival.go, pass.go, repair.go, story.go.
package site

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/pause"
	"github.com/holdfast-db/holdfast/internal/explore"
)

// Base is the part of a run's servers that knows no database. Its methods are safe for concurrent use.
type Base struct {
	strikes explore.Case
	began   time.Time
	over    chan struct{} // closed when the failures end

	mu       sync.Mutex
	isOver   bool
	begun    int // the strikes that have begun
	seen     map[string]int
	arrivals []*Arrival
	struck   []int // places in arrivals
	notes    []note
	problems []string
	turn     int // of the next message or note
	repairs  []*repair
}

// New returns the base of a run that begins now.
func New(c explore.Case) *Base {
	return &Base{strikes: c, began: time.Now(), over: make(chan struct{}), seen: make(map[string]int)}
}

// Settle gives clients time to see that all failures have ended.
func (b *Base) Settle(ctx context.Context, d time.Duration) error {
	if err := pause.For(ctx, d); err != nil {
		return fmt.Errorf("explore: the run ended before its check: %w", err)
	}
	return nil
}

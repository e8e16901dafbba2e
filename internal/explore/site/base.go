// Package site is what the servers of one run have in common, whatever the database is: the messages that came, the failures that
// happened to them and that end, and the notes of what happened.
//
// Begin with base.go. Then arrival.go, pass.go, repair.go, story.go.
package site

import (
	"context"
	"fmt"
	"sync"
	"time"

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
	running  int           // messages of the program that are being executed
	idle     chan struct{} // closed when there are none, if somebody waits for that
}

// New returns the base of a run that begins now.
func New(c explore.Case) *Base {
	return &Base{strikes: c, began: time.Now(), over: make(chan struct{}), seen: make(map[string]int)}
}

// Answered waits until no message of the program is being executed.
func (b *Base) Answered(ctx context.Context) error {
	select {
	case <-b.done():
		return nil
	case <-ctx.Done():
		return fmt.Errorf("explore: a message of the program was not answered after all failures had ended: %w", context.Cause(ctx))
	}
}

// done returns a channel that is closed when no message of the program is being executed.
func (b *Base) done() <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.running == 0 {
		closed := make(chan struct{})
		close(closed)
		return closed
	}
	if b.idle == nil {
		b.idle = make(chan struct{})
	}
	return b.idle
}

// Settle gives clients time to see that all failures have ended.
func (b *Base) Settle(ctx context.Context, d time.Duration) error {
	settled := time.NewTimer(d)
	defer settled.Stop()
	select {
	case <-settled.C:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("explore: the run ended before its check: %w", context.Cause(ctx))
	}
}

// Ended notes that a message of the program is answered.
func (b *Base) Ended() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.running--; b.running == 0 && b.idle != nil {
		close(b.idle)
		b.idle = nil
	}
}

package simulation

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// Without faults each cursor is found, and a pin ends with its primary, each time that the primary steps down.
func TestCalmLifeBehindRouters(t *testing.T) {
	l := liveInBubble(t, calm(1))
	l.report(t, l.check())
}

const (
	stepDownEvery = 15 * time.Second
	// settling is how long after a new primary nothing is said of where reads go: a router learns of it, and operations end.
	settling = 3 * time.Second
)

// terms are the changes of the primary in a calm life.
type terms struct {
	cast *cast
	mu   sync.Mutex
	last time.Time
}

// stepDowns lets the primary step down now and then, until the function that it returns is called.
func (c *cast) stepDowns() (end func()) {
	t := &terms{cast: c, last: time.Now()}
	c.rs.Use("find", t.checkRead)
	c.rs.Use("aggregate", t.checkRead)
	ended := make(chan struct{})
	var running sync.WaitGroup
	running.Go(func() {
		for {
			select {
			case <-ended:
				return
			case <-time.After(stepDownEvery):
				t.stepDown()
			}
		}
	})
	return func() {
		close(ended)
		running.Wait()
	}
}

func (t *terms) stepDown() {
	if err := t.cast.rs.StepDown(); err != nil {
		t.cast.history.violated("simulation", "step-down: %v", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if _, err := t.cast.rs.WaitPrimary(ctx); err != nil {
		t.cast.history.violated("simulation", "no primary after a step-down: %v", err)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = time.Now()
}

// checkRead checks that a read that prefers the primary goes there, whatever the connection's reads were pinned to.
func (t *terms) checkRead(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
	mode, _ := r.Body.Lookup("$readPreference", "mode").StringValueOK()
	t.mu.Lock()
	since := time.Since(t.last)
	t.mu.Unlock()
	if settled := since > settling && since < stepDownEvery; settled && mode == "primaryPreferred" && r.Member != t.cast.rs.Primary() {
		t.cast.history.violated("pin", "member %d, which is no primary, got %v, %v after the last step-down", r.Member, r.Body, since)
	}
	return next(r)
}

// checkCursor checks that no cursor is lost in a calm life.
func (w *worker) checkCursor(c *call) {
	const cursorNotFound = 43
	var failed mongo.CommandError
	if w.calm && errors.As(c.err, &failed) && failed.Code == cursorNotFound {
		w.history.violated("cursor", "a cursor is not found: %v", c)
	}
}

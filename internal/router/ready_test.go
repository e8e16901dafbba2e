package router_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/router"
)

// watched are the lines of WatchReady.
type watched struct {
	mu    sync.Mutex
	lines []string
}

func (l *watched) add(text string, ready bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !ready {
		text = "not ready: " + text
	}
	l.lines = append(l.lines, text)
}

// check compares the lines with the beginnings of those that are wanted.
func (l *watched) check(t *testing.T, want ...string) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, line := range l.lines {
		if i < len(want) && !strings.HasPrefix(line, want[i]) {
			t.Errorf("line %d is %q, want %q", i, line, want[i])
		}
	}
	if len(l.lines) != len(want) {
		t.Errorf("%d lines, want %d: %q", len(l.lines), len(want), l.lines)
	}
}

func TestARouterIsReadyWhileAMemberTakesWrites(t *testing.T) {
	inWorld(t, func(w *world) {
		var lines watched
		var watching sync.WaitGroup
		watching.Go(func() { w.router.WatchReady(w.Context(), lines.add) })
		w.collection().FindOne(w.Context(), d("_id", 1))
		primary := w.set.Primary()
		if text, ready := w.router.Ready(); !ready || text != "writes go to "+w.set.Addr(primary) {
			w.Errorf("%q, %t", text, ready)
		}
		synctest.Wait() // WatchReady has told it
		w.set.Kill(primary)
		<-time.After(time.Second)
		text, ready := w.router.Ready()
		if ready || !strings.HasPrefix(text, "no member is known that takes writes: ") || strings.Contains(text, "\n") {
			w.Errorf("after the death of the primary: %q, %t", text, ready)
		}
		<-time.After(time.Minute)
		if text, ready := w.router.Ready(); !ready {
			w.Errorf("after the election: %q", text)
		}
		synctest.Wait()
		go w.router.Shutdown(w.Context())
		synctest.Wait()
		if text, ready := w.router.Ready(); ready || text != "the router will end soon" {
			w.Errorf("in the quiesce: %q, %t", text, ready)
		}
		watching.Wait()
		lines.check(w.T, "writes go to ", "not ready: no member is known", "writes go to ")
	})
}

// At the start nothing is told until each member has been asked.
func TestARouterTellsThatNobodyAnswers(t *testing.T) {
	inWorld(t, func(w *world) {
		r, err := router.New(router.Config{Upstream: options.Client().ApplyURI("mongodb://nobody:1").SetDialer(w.network)})
		if err != nil {
			w.Fatal(err)
		}
		defer r.Close()
		var lines watched
		ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
		defer cancel()
		r.WatchReady(ctx, lines.add)
		lines.check(w.T, "not ready: no member is known that takes writes: ")
	})
}

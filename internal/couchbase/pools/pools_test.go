package pools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/telemetry"
)

var query = Place{Address: "a:1", Service: "query"}

func begin(t *testing.T, p *Pools, to Place) *Conn {
	t.Helper()
	c, err := p.Begin(to)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func idle() bool { return false }
func used() bool { return true }

func TestConnectionsAreCounted(t *testing.T) {
	p := New(nil)
	a, b, c := begin(t, p, query), begin(t, p, query), begin(t, p, query)
	begin(t, p, Place{"a:0", "kv"})
	if err := errors.Join(a.Made(idle), b.Made(used)); err != nil {
		t.Fatal(err)
	}
	stats := p.Stats()
	if s := stats[1]; len(stats) != 2 || stats[0].Address != "a:0" || !s.Ready || s.InUse != 1 || s.Idle != 1 || s.Pending != 1 || s.Made != 2 {
		t.Errorf("%+v", stats)
	}
	a.Closed("idle", nil)
	b.Closed("lost", nil)
	c.Failed(errors.New("e"))
	if s := p.Stats()[1]; s.Ready || s.InUse+s.Idle+s.Pending != 0 || s.Made != 2 || s.Failed != 1 || fmt.Sprint(s.Closed) != "map[idle:1 lost:1]" {
		t.Errorf("%+v", s)
	}
}

// A connection may end before the one that made it has told that it is made.
func TestAConnectionMayEndBeforeItIsTold(t *testing.T) {
	var kinds []telemetry.PoolEventKind
	p := New(&telemetry.Tracer{Pool: func(_ context.Context, e *telemetry.PoolEvent) { kinds = append(kinds, e.Kind) }})
	c := begin(t, p, query)
	c.Closed("lost", nil)
	if err := c.Made(used); err != nil {
		t.Error(err)
	}
	if s := p.Stats()[0]; s.InUse+s.Idle+s.Pending != 0 || s.Made != 1 || s.Closed["lost"] != 1 {
		t.Errorf("%+v", s)
	}
	if want := []telemetry.PoolEventKind{telemetry.ConnectionCreated, telemetry.ConnectionClosed}; !slices.Equal(kinds, want) {
		t.Errorf("%v", kinds)
	}
}

func TestWaitsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := New(nil)
		first := p.Wait(query, 4)
		<-time.After(time.Second) // of the fake clock
		second := p.Wait(query, 4)
		if s := p.Stats()[0]; s.Waiting != 2 || s.OldestWait != time.Second || s.LongestWait != time.Second || s.Max != 4 {
			t.Errorf("%+v", s)
		}
		first.End(true)
		second.End(false)
		if s := p.Stats()[0]; s.Waiting != 0 || s.OldestWait != 0 || s.LongestWait != time.Second || s.TimedOut != 1 {
			t.Errorf("%+v", s)
		}
	})
}

// The nodes of a cluster may have new names for ever: those that are left and gone are not remembered without an end.
func TestPlacesWithoutConnectionsAreForgotten(t *testing.T) {
	p := New(nil)
	kept := begin(t, p, query)
	for i := range 3 * mostIdle {
		begin(t, p, Place{Address: fmt.Sprint(i), Service: "kv"}).Failed(errors.New("e"))
	}
	if n := len(p.Stats()); n > mostIdle {
		t.Errorf("%d places are remembered", n)
	}
	if err := kept.Made(idle); err != nil || p.at(query).made != 1 {
		t.Errorf("a place with a connection was forgotten: %v", err)
	}
	defer kept.Closed("idle", nil)
}

// A place is ready as long as there is a connection or, without one, if the client has closed the last one itself.
func TestWhatIsReady(t *testing.T) {
	for reason, want := range map[string]bool{Idle: true, Abandoned: true, "lost": false, "shutdown": false} {
		p := New(nil)
		c := begin(t, p, query)
		if p.Stats()[0].Ready {
			t.Error("ready before there is a connection")
		}
		if err := c.Made(idle); err != nil {
			t.Fatal(err)
		}
		c.Closed(reason, nil)
		if got := p.Stats()[0].Ready; got != want {
			t.Errorf("%s: ready %v, want %v", reason, got, want)
		}
		begin(t, p, query).Failed(errors.New("e"))
		if p.Stats()[0].Ready {
			t.Errorf("%s: ready after a connection could not be made", reason)
		}
	}
}

// A place whose node has left is forgotten when its last connection has ended, and kept if there is a new one.
func TestAPlaceThatHasLeftIsForgotten(t *testing.T) {
	p := New(nil)
	p.Left(query) // unknown
	open, pending := begin(t, p, query), begin(t, p, query)
	if err := open.Made(idle); err != nil {
		t.Fatal(err)
	}
	p.Left(query)
	open.Closed("lost", nil)
	if len(p.Stats()) != 1 {
		t.Error("forgotten with a connection that is being made")
	}
	pending.Failed(errors.New("e"))
	if stats := p.Stats(); len(stats) != 0 {
		t.Errorf("%+v", stats)
	}
	begin(t, p, query).Failed(errors.New("e"))
	if len(p.Stats()) != 1 {
		t.Error("a place that was used again is forgotten")
	}
	p.Left(query)
	if len(p.Stats()) != 0 {
		t.Error("a place without connections is kept")
	}
	before := begin(t, p, query)
	p.Left(query)
	again := begin(t, p, query)
	before.Failed(errors.New("e"))
	again.Failed(errors.New("e"))
	if len(p.Stats()) != 1 {
		t.Error("a place to which a connection is made again is forgotten")
	}
}

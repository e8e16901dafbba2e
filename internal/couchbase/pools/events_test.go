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

func TestWhatAnEventHas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var got []telemetry.PoolEvent
		p := New(&telemetry.Tracer{Pool: func(_ context.Context, e *telemetry.PoolEvent) { got = append(got, *e) }})
		lost, refused := errors.New("lost"), errors.New("refused")
		first, second := begin(t, p, query), begin(t, p, query)
		<-time.After(time.Second) // of the fake clock
		if err := first.Made(idle); err != nil {
			t.Fatal(err)
		}
		first.Closed("lost", lost)
		second.Failed(refused)
		of := func(kind telemetry.PoolEventKind, id int64) telemetry.PoolEvent {
			return telemetry.PoolEvent{Kind: kind, System: telemetry.Couchbase, Address: "a:1", Service: "query", ID: id}
		}
		ready, closed, failed := of(telemetry.ConnectionReady, 1), of(telemetry.ConnectionClosed, 1), of(telemetry.ConnectionClosed, 2)
		ready.Took = time.Second
		closed.Reason, closed.Err = "lost", lost
		failed.Reason, failed.Err = "failed", refused
		want := []telemetry.PoolEvent{of(telemetry.ConnectionCreated, 1), of(telemetry.ConnectionCreated, 2), ready, closed, failed}
		if !slices.Equal(got, want) {
			t.Errorf("%+v, want %+v", got, want)
		}
	})
}

func TestAConnectionThatATracerPreventsHasFailed(t *testing.T) {
	p := New(&telemetry.Tracer{Pool: func(context.Context, *telemetry.PoolEvent) { panic("the tracer's") }})
	if c, err := p.Begin(query); c != nil || err == nil {
		t.Errorf("%v, %v", c, err)
	}
	if s := p.Stats()[0]; s.Pending != 0 || s.Failed != 1 {
		t.Errorf("%+v", s)
	}
}

// What Stats returned does not change, and is in order.
func TestStatsAreACopyInOrder(t *testing.T) {
	p := New(nil)
	var open []*Conn
	for _, place := range []Place{{"b:1", "kv"}, {"a:1", "views"}, {"a:1", "kv"}, {"a:1", "query"}, {"a:1", "search"}, {"a:1", "analytics"}} {
		c := begin(t, p, place)
		if err := c.Made(idle); err != nil {
			t.Fatal(err)
		}
		open = append(open, c)
	}
	before := p.Stats()
	for _, c := range open {
		c.Closed("lost", nil)
	}
	var got []string
	for _, s := range before {
		got = append(got, fmt.Sprint(s.Address, " ", s.Service, len(s.Closed)))
	}
	if want := []string{"a:1 analytics0", "a:1 kv0", "a:1 query0", "a:1 search0", "a:1 views0", "b:1 kv0"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestPlacesInUseAreKept(t *testing.T) {
	p := New(nil)
	waited, used := Place{"w:1", "query"}, Place{"u:1", "query"}
	wait, c := p.Wait(waited, 0), begin(t, p, used)
	if err := c.Made(idle); err != nil {
		t.Fatal(err)
	}
	for i := range 2 * mostIdle {
		begin(t, p, Place{Address: fmt.Sprint(i), Service: "kv"}).Failed(errors.New("e"))
	}
	for _, place := range []Place{waited, used} {
		if !slices.ContainsFunc(p.Stats(), func(s telemetry.Pool) bool { return s.Address == place.Address }) {
			t.Errorf("%v was forgotten", place)
		}
	}
	wait.End(false)
	c.Closed("lost", nil)
}

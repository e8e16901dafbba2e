package router

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Who gives up its wait counts no longer, and a member of which nobody has a turn is forgotten.
func TestTheLastTurnOfAMember(t *testing.T) {
	a := newAwaiting(2) // which has one turn
	if limit, err := a.begin(t.Context(), "m"); limit != 0 || err != nil {
		t.Errorf("the first one: %v, %v", limit, err)
	}
	left := errors.New("its client has left")
	ctx, leave := context.WithCancelCause(t.Context())
	leave(left)
	if _, err := a.begin(ctx, "m"); !errors.Is(err, left) {
		t.Errorf("the second one: %v", err)
	}
	a.end("m")
	if len(a.members) != 0 {
		t.Errorf("%d members have turns", len(a.members))
	}
}

// A quarter of the connections may be those of getMores that wait as long as they ask. In a crowd each of the others waits for a part of a second,
// which is never too short: each getMore costs something.
func TestHowLongOneOfManyWaits(t *testing.T) {
	for _, c := range []struct {
		pool uint64
		all  int64
		want time.Duration
	}{
		{20, 5, 0},
		{20, 6, usualAwait * 5 / 6},
		{20, 500, leastAwait},
		{20, 1 << 40, leastAwait},
		{2, 1, 0},
		{2, 2, usualAwait / 2},
		{1, 1, onlyAwait},
		{1, 2, onlyAwait / 2},
		{1, 1 << 40, leastAwait},
	} {
		if got := newAwaiting(c.pool).limit(&memberTurns{all: c.all}); got != c.want {
			t.Errorf("of %d at a member with a pool of %d one waits %v, want %v", c.all, c.pool, got, c.want)
		}
	}
}

// Nobody waits longer than he asks for.
func TestAGetMoreThatAsksForLess(t *testing.T) {
	for asked, want := range map[time.Duration]int64{0: 500, 50 * time.Millisecond: 50, time.Minute: 500} {
		f := &forwarded{command: &command{maxTime: asked}, awaitLimit: 500 * time.Millisecond}
		if got := bson.RawElement(f.appendAwait(nil)).Value().Int64(); got != want {
			t.Errorf("who asks for %v waits %d ms, want %d", asked, got, want)
		}
	}
}

// Without a limit of connections there is none of turns.
func TestAnyNumberOfTurns(t *testing.T) {
	a := newAwaiting(0)
	for range 3 {
		if limit, err := a.begin(t.Context(), "m"); limit != 0 || err != nil {
			t.Errorf("%v, %v", limit, err)
		}
	}
	a.end("m")
}

package mongo_test

import (
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// The first attempt gets a write concern error, the second a network error. Only the second one is a failed command.
func TestTheEventsOfAnAttemptDescribeThatAttemptOnly(t *testing.T) {
	in(t, nil, func(w *world) {
		w.seed()
		w.script("update", mongotest.Fault{AfterApply: func() { w.must(w.set.StepDown()) }}, loseReply)
		checkCode(t, writes[2].do(w.ctx, w.coll), -1)
		if n := len(w.started("update")); n != 2 || w.ends != 2 || w.failed != 1 {
			t.Errorf("%d started, %d ended, %d of them failed; want 2, 2, 1", n, w.ends, w.failed)
		}
	})
}

// enableOverloadRetargeting also deprioritizes a server after a failed handshake.
func TestAServerIsDeprioritizedAfterAFailedHandshake(t *testing.T) {
	for range 20 {
		in(t, func(o *options.ClientOptions) {
			o.SetEnableOverloadRetargeting(true).SetReadPreference(readpref.Secondary())
		}, func(w *world) {
			w.must(w.set.WaitIdle(w.ctx))
			w.pass(time.Second) // both secondaries are discovered
			var mu sync.Mutex   // connections make handshakes at once
			var handshakes []int
			w.set.Use("hello", mongotest.Decide(func(r *mongotest.Request) mongotest.Fault {
				if _, err := r.Body.LookupErr("backpressure"); err != nil {
					return mongotest.Fault{}
				}
				mu.Lock()
				defer mu.Unlock()
				handshakes = append(handshakes, r.Member)
				return mongotest.Fault{LoseRequest: len(handshakes) == 1}
			}))
			if err := findOne(w); err != mongo.ErrNoDocuments { //nolint:errorlint // never wrapped
				t.Fatal(err)
			}
			mu.Lock()
			defer mu.Unlock()
			if len(handshakes) != 2 || handshakes[0] == handshakes[1] {
				t.Errorf("the members with a handshake: %v", handshakes)
			}
		})
	}
}

package mongo_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

func killAll(set *mongotest.Deployment) {
	for member := range set.Members() {
		set.Kill(member)
	}
}

func restartAll(set *mongotest.Deployment) {
	for member := range set.Members() {
		set.Restart(member)
	}
}

// A change stream that waits for its whole set is heard: at once, once a minute, and when it has resumed.
func TestAnOutageOfAChangeStreamIsLogged(t *testing.T) {
	log, configure := logging(options.LogLevelInfo)
	in(t, func(o *options.ClientOptions) { configure(o); o.SetServerSelectionTimeout(2 * time.Second) }, func(w *world) {
		w.insert(0)
		s := w.watch(nil)
		killAll(w.set)
		for round := range 2 { // the second outage is counted anew
			ctx, cancel := context.WithTimeout(w.ctx, 150*time.Second)
			if s.Next(ctx) || !errors.Is(s.Err(), context.DeadlineExceeded) {
				t.Errorf("the stream goes on: %v", s.Err())
			}
			cancel()
			messages := log.with("Change stream not resumed")
			if n := len(messages); n != 3*(round+1) {
				t.Fatalf("%d messages in round %d: %v", n, round, messages)
			}
			for i, m := range messages[3*round:] {
				m.has(t, map[string]any{"databaseName": "test", "collectionName": "c"})
				if ms := m.fields["durationMS"].(int64); ms < int64(i)*60_000 || ms > int64(i)*60_000+5_000 {
					t.Errorf("message %d comes after %d ms", i, ms)
				}
				if text := m.fields["failure"].(string); !strings.Contains(text, "server selection") {
					t.Errorf("the failure is %s", text)
				}
			}
			restartAll(w.set)
			w.pass(30 * time.Second)
			w.insert(round + 1)
			w.expect(s, round+1)
			if resumed := log.with("Change stream resumed"); len(resumed) != round+1 || resumed[round].fields["attempts"].(int) < 10 {
				t.Errorf("%v", resumed)
			}
			killAll(w.set)
		}
		restartAll(w.set)
		w.pass(30 * time.Second)
		w.must(s.Close(w.ctx))
	})
}

// Config.MaxResumeTime ends a call, and the next one tries again.
func TestTheTimeToResumeIsLimited(t *testing.T) {
	for _, limit := range []time.Duration{7 * time.Second, 1} { // within one nanosecond nothing is even sent
		t.Run(limit.String(), func(t *testing.T) { resumesWithin(t, limit) })
	}
	if _, err := mongo.Open("mongodb://a", mongo.Config{MaxResumeTime: -1}); err == nil || !strings.Contains(err.Error(), "MaxResumeTime") {
		t.Errorf("a negative limit: %v", err)
	}
}

func resumesWithin(t *testing.T, limit time.Duration) {
	in(t, nil, func(w *world) {
		client, err := mongo.Open(w.set.URI(), mongo.Config{MaxResumeTime: limit}, options.Client().SetDialer(w.set.Dialer()).SetServerSelectionTimeout(2*time.Second))
		w.must(err)
		defer func() { w.must(client.Disconnect(w.ctx)) }()
		w.insert(0)
		s, err := client.Database(w.coll.Database().Name()).Collection(w.coll.Name()).Watch(w.ctx, mongo.Pipeline{})
		w.must(err)
		w.pass(time.Second)
		killAll(w.set)
		for range 2 {
			began := time.Now()
			if s.Next(w.ctx) || !mongo.IsTimeout(s.Err()) || !strings.Contains(s.Err().Error(), "Config.MaxResumeTime, "+limit.String()) {
				t.Errorf("the stream goes on: %v", s.Err())
			}
			if took := time.Since(began); took < limit || took > limit+2*time.Second {
				t.Errorf("it took %v", took)
			}
		}
		restartAll(w.set)
		w.pass(30 * time.Second)
		w.insert(1)
		w.expect(s, 1)
		w.must(s.Close(w.ctx))
	})
}

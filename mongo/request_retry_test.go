package mongo_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

func TestAReadInARequestTriesThreeMembers(t *testing.T) {
	off := func(o *options.ClientOptions) { o.SetRetryReads(false) }
	for _, c := range []struct {
		name      string
		configure func(*options.ClientOptions)
		rp        *readpref.ReadPref
		faults    []mongotest.Fault
		attempts  int
		members   int
		fails     bool
	}{
		{"the first fails", nil, readpref.Nearest(), []mongotest.Fault{loseRequest}, 2, 2, false},
		{"two fail", nil, readpref.Nearest(), []mongotest.Fault{loseRequest, loseReply}, 3, 3, false},
		{"three fail", nil, readpref.Nearest(), []mongotest.Fault{loseRequest, loseRequest, loseRequest}, 3, 3, true},
		{"only members that match", nil, readpref.Secondary(), []mongotest.Fault{loseRequest, loseRequest, loseRequest}, 2, 2, true},
		{"only members with the tags", nil, inDC("east"), []mongotest.Fault{loseRequest, loseRequest, loseRequest}, 1, 1, true},
		{"without retryReads", off, readpref.Nearest(), []mongotest.Fault{loseRequest}, 1, 1, true},
		{"another retryable error", nil, inDC("east"), []mongotest.Fault{refuse(89)}, 2, 1, false},
		{"two other retryable errors", nil, inDC("east"), []mongotest.Fault{refuse(89), refuse(89)}, 2, 1, true},
		{"two other retryable errors after a socket error", nil, readpref.Secondary(), []mongotest.Fault{loseRequest, refuse(89), refuse(89)}, 3, 2, true},
		{"another retryable error without retryReads", off, inDC("east"), []mongotest.Fault{refuse(89)}, 1, 1, true},
		{"an error that is not retryable", nil, readpref.Nearest(), []mongotest.Fault{refuse(2)}, 1, 1, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, deadline := range []bool{false, true} {
				in(t, c.configure, func(w *world) {
					w.discovered()
					ctx := w.request()
					if deadline {
						limited, cancel := context.WithTimeout(ctx, time.Minute)
						defer cancel()
						ctx = limited
					}
					before := len(w.members("find"))
					w.script("find", c.faults...)
					began := time.Now()
					err := readOne(ctx, w.with(c.rp))
					got := w.members("find")[before:]
					if (err != nil) != c.fails || len(got) != c.attempts || distinctOf(got) != c.members {
						t.Errorf("deadline %v: the members %v, then %v", deadline, got, err)
					}
					if c.members == c.attempts && time.Since(began) != 0 {
						t.Errorf("deadline %v: it took %v", deadline, time.Since(began))
					}
					w.heal()
					w.pass(time.Second)
					w.must(readOne(ctx, w.with(c.rp))) // the next read begins afresh
				}, memberInDC(1, "east"), mongotest.ElectionTimeout(100*time.Millisecond))
			}
		})
	}
}

// The member is Unknown until its next check, which takes a second here.
func TestAReadInARequestIsRetriedOnAnotherMemberAfterAShutdownError(t *testing.T) {
	in(t, nil, func(w *world) {
		w.discovered()
		ctx, coll := w.request(), w.with(readpref.Nearest())
		w.must(readOne(ctx, coll))
		pinned := w.last()
		slow := func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
			if r.Member == pinned {
				<-time.After(time.Second)
			}
			return next(r)
		}
		for _, hello := range []string{"hello", "isMaster"} {
			defer w.set.Use(hello, slow)()
		}
		w.forget()
		w.script("find", refuse(91))
		began := time.Now()
		w.must(readOne(ctx, coll))
		if w.last() == pinned || len(w.started("find")) != 2 || time.Since(began) != 0 {
			t.Errorf("%d attempts, the last on member %d after %v; %d was pinned", len(w.started("find")), w.last(), time.Since(began), pinned)
		}
	})
}

// A member to which no connection can be made counts as one that was tried.
func TestAReadInARequestGoesOnWhenNoConnectionCanBeMade(t *testing.T) {
	in(t, nil, func(w *world) {
		w.discovered()
		w.set.Kill(1)
		for range 20 {
			began := time.Now()
			ctx, cancel := mongo.WithRequest(w.ctx)
			w.must(readOne(ctx, w.with(readpref.Secondary())))
			cancel()
			if w.last() != 2 || time.Since(began) != 0 {
				t.Fatalf("member %d after %v", w.last(), time.Since(began))
			}
		}
	}, mongotest.Member(0, mongotest.Priority(2)))
}

func TestAGetMoreInARequestIsNotRetried(t *testing.T) {
	in(t, nil, func(w *world) {
		w.discovered()
		w.must(w.set.Insert("test.c", doc("_id", 2), doc("_id", 3)))
		w.pass(time.Second)
		ctx := w.request()
		cursor, err := w.with(readpref.Nearest()).Find(ctx, doc(), options.Find().SetBatchSize(1))
		w.must(err)
		w.script("getMore", loseReply)
		for cursor.Next(ctx) {
		}
		if got := len(w.members("getMore")); cursor.Err() == nil || got != 1 {
			t.Errorf("%d attempts, then %v", got, cursor.Err())
		}
		_ = cursor.Close(ctx) // it cannot reach the server
	})
}

// A monitor that streams needs no check: its server reports a change at once.
func TestAfterASocketErrorInARequestAllMembersAreChecked(t *testing.T) {
	in(t, poll, func(w *world) {
		w.discovered()
		var mu sync.Mutex
		checked := make(map[int]bool)
		remove := w.set.Use("hello", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
			mu.Lock()
			checked[r.Member] = true
			mu.Unlock()
			return next(r)
		})
		defer remove()
		w.script("find", loseRequest)
		w.must(readOne(w.request(), w.with(readpref.Nearest())))
		w.pass(500 * time.Millisecond)
		mu.Lock()
		defer mu.Unlock()
		if len(checked) < 2 { // the third member's monitor makes a new connection, with isMaster
			t.Errorf("the members %v were checked", checked)
		}
	})
}

// "three members in all": there is a fourth.
func TestAReadInARequestTriesNoFourthMember(t *testing.T) {
	for _, deadline := range []bool{false, true} {
		inside(t, func() (*mongotest.Deployment, error) { return mongotest.RunReplicaSet(5, mongotest.InMemory()) }, nil, func(w *world) {
			w.discovered()
			w.script("find", loseRequest, loseRequest, loseRequest)
			ctx := w.request()
			if deadline {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, time.Minute)
				defer cancel()
			}
			err := readOne(ctx, w.with(readpref.Nearest()))
			if n := distinctOf(w.members("find")); err == nil || n != 3 || len(w.started("find")) != 3 {
				t.Errorf("%d attempts on %d members: %v", len(w.started("find")), n, err)
			}
		})
	}
}

// "each once": a member that did not answer is not tried again, although it is still known and pinned.
func TestAPinnedMemberThatDoesNotAnswerIsNotTriedAgain(t *testing.T) {
	var set *mongotest.Deployment
	run := func() (*mongotest.Deployment, error) {
		var err error
		set, err = replicaSet()
		return set, err
	}
	limited := func(o *options.ClientOptions) (*mongo.Client, error) {
		mine := options.Client().SetDialer(set.Dialer()).SetMonitor(o.Monitor)
		return mongo.Open(set.URI(), mongo.Config{AttemptTimeout: 50 * time.Millisecond}, mine)
	}
	insideWith(t, run, limited, func(w *world) {
		w.discovered()
		ctx := w.request()
		coll := w.with(readpref.Nearest())
		w.must(readOne(ctx, coll))
		pinned := w.last()
		w.heal = w.set.Use("find", mongotest.Decide(func(r *mongotest.Request) mongotest.Fault {
			return mongotest.Fault{LoseRequest: r.Member == pinned, Silent: true}
		}))
		w.forget()
		w.must(readOne(ctx, coll))
		if w.last() == pinned || len(w.started("find")) != 2 {
			t.Errorf("%d attempts, the last on member %d, %d was pinned", len(w.started("find")), w.last(), pinned)
		}
	})
}

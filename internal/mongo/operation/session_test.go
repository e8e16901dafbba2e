package operation

import (
	"context"
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

func free(r *Runner) int {
	r.sessions.mu.Lock()
	defer r.sessions.mu.Unlock()
	return len(r.sessions.free)
}

// Driver Sessions: a session is used for several operations until it is ended.
func TestASessionIsUsedForTwoOperationsUntilItEnds(t *testing.T) {
	in(t, func(w *world) {
		for _, s := range []*Session{w.runner.StartSession(SessionOptions{}), w.runner.ImplicitSession()} {
			w.insert(len(w.sent), s)
			first := w.last("lsid")
			if free(w.runner) != 0 {
				t.Error("the server session was returned to the pool before the end")
			}
			w.insert(len(w.sent), s)
			if second := w.last("lsid"); !second.Equal(first) || w.last("txnNumber").AsInt64()%2 != 0 {
				t.Errorf("the second operation has the lsid %v, the first %v, and the transaction number %v", second, first, w.last("txnNumber"))
			}
			s.End()
			s.End()
			if free(w.runner) != 1 {
				t.Errorf("%d sessions are free after the end, want 1", free(w.runner))
			}
			w.insert(len(w.sent), nil)
			if next := w.last("lsid"); !next.Equal(first) {
				t.Errorf("the next operation has the lsid %v, want the ended session's %v", next, first)
			}
			if err := w.runner.Run(w.Context(), &Operation{Session: s}); !errors.Is(err, ErrSessionEnded) {
				t.Errorf("an operation in the session that has ended: %v", err)
			}
			w.insert(len(w.sent), nil) // makes the transaction number even again
		}
	})
}

func TestReleaseEndsOnlyAnImplicitSession(t *testing.T) {
	in(t, func(w *world) {
		explicit, implicit := w.runner.StartSession(SessionOptions{}), w.runner.ImplicitSession()
		w.insert(1, explicit)
		w.insert(2, implicit)
		explicit.Release()
		implicit.Release()
		if explicit.ended || !implicit.ended || free(w.runner) != 1 {
			t.Errorf("ended: explicit %v, implicit %v; %d free", explicit.ended, implicit.ended, free(w.runner))
		}
		explicit.End()
	})
}

func TestNoSessionSendsNoLSID(t *testing.T) {
	in(t, func(w *world) {
		NoSession.Release() // a holder does not end it
		o := op(Generic, constant("ping", 1))
		o.Session = NoSession
		w.must(w.runner.Run(w.Context(), o))
		if _, err := w.sent[len(w.sent)-1].LookupErr("lsid"); err == nil {
			t.Error("the command has an lsid")
		}
	})
}

// Driver Sessions, "Server Session Pool": a dirty session is discarded.
func TestASessionIsDiscardedAfterANetworkError(t *testing.T) {
	in(t, func(w *world) {
		s := w.runner.StartSession(SessionOptions{})
		w.insert(1, s)
		w.set.Use("insert", mongotest.FaultOnce(mongotest.Fault{LoseReply: true}))
		w.insert(2, s) // the retry succeeds, and has the same lsid
		if n := len(w.sent); !w.sent[n-1].Lookup("lsid").Equal(w.sent[n-2].Lookup("lsid")) {
			t.Error("the retry has another lsid")
		}
		s.End()
		if free(w.runner) != 0 {
			t.Error("a dirty session was returned to the pool")
		}
	})
}

// Source: Causal Consistency specification.
func TestACausallyConsistentOperationSendsTheOperationTime(t *testing.T) {
	in(t, func(w *world) {
		s := w.runner.StartSession(SessionOptions{Causal: true})
		defer s.End()
		w.must(w.runner.Run(w.Context(), withSession(op(Read, constant("find", "c")), s)))
		if v := w.last("readConcern"); !v.IsZero() {
			t.Errorf("the first operation has the read concern %v", v)
		}
		read := s.operationTime
		w.insert(1, s)
		if seconds, counter := w.last("readConcern", "afterClusterTime").Timestamp(); Timestamp(seconds)<<32|Timestamp(counter) != read {
			t.Errorf("a write has the read concern %v", w.last("readConcern"))
		}
		wrote := s.operationTime
		o := withSession(op(Read, constant("find", "c")), s)
		o.ReadConcern.Level = "majority"
		w.must(w.runner.Run(w.Context(), o))
		seconds, counter := w.last("readConcern", "afterClusterTime").Timestamp()
		if wrote == 0 || Timestamp(seconds)<<32|Timestamp(counter) != wrote || w.last("readConcern", "level").StringValue() != "majority" {
			t.Errorf("the read concern is %v, want one after %d.%d", w.last("readConcern"), wrote>>32, uint32(wrote))
		}
		w.must(w.runner.Run(w.Context(), withSession(op(Read, constant("find", "c")), w.runner.ImplicitSession())))
		if v := w.last("readConcern"); !v.IsZero() {
			t.Errorf("an implicit session's read has the read concern %v", v)
		}
	})
}

func withSession(o *Operation, s *Session) *Operation {
	o.Session = s
	return o
}

// Source: Snapshot Reads specification.
func TestASnapshotSessionReadsAtTheSnapshotOfItsFirstRead(t *testing.T) {
	for name, read := range map[string]*command{
		"a cursor": constant("find", "c"),
		"a value":  constant("distinct", "c", "key", "_id"),
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(w *world) {
				w.insert(1, nil)
				s := w.runner.StartSession(SessionOptions{Snapshot: true})
				defer s.End()
				w.must(w.runner.Run(w.Context(), withSession(op(Read, read), s)))
				first, at := w.last("readConcern"), s.snapshotTime
				if first.Document().String() != `{"level": "snapshot"}` || at == 0 {
					t.Errorf("the first read has the read concern %v and the snapshot time %d", first, at)
				}
				w.insert(2, nil)
				w.must(w.runner.Run(w.Context(), withSession(op(Read, read), s)))
				seconds, counter := w.last("readConcern", "atClusterTime").Timestamp()
				if Timestamp(seconds)<<32|Timestamp(counter) != at || s.snapshotTime != at {
					t.Errorf("the second read has the read concern %v, want time %d", w.last("readConcern"), at)
				}
			})
		})
	}
}

func TestAnOperationSendsTheGreaterOfTheClientsAndTheSessionsClusterTime(t *testing.T) {
	at := func(seconds uint32) []byte {
		return marshal(t, bson.D{{Key: "clusterTime", Value: bson.Timestamp{T: seconds}}})
	}
	var c clock
	s := &Session{explicit: true}
	for _, step := range []struct{ client, session, want uint32 }{{1, 0, 1}, {1, 2, 2}, {3, 0, 3}, {3, 2, 3}, {4, 5, 5}, {4, 3, 5}} {
		c.advance(at(step.client))
		s.advance(parsed(t, bson.D{{Key: "ok", Value: 1}, {Key: "$clusterTime", Value: bson.Raw(at(step.session))}}))
		if got, _ := timestampOf(c.document(s)); got>>32 != Timestamp(step.want) {
			t.Errorf("after %+v: %d", step, got>>32)
		}
	}
	if got, _ := timestampOf(c.document(nil)); got>>32 != 4 {
		t.Errorf("without a session: %d", got>>32)
	}
}

// The context of a later command of a cursor, change stream or transaction may have ended.
func TestACancelledOperationGetsNoServerSession(t *testing.T) {
	in(t, func(w *world) {
		w.server()
		ctx, cancel := context.WithCancel(w.Context())
		cancel()
		s := w.runner.ImplicitSession()
		if err := w.runner.Run(ctx, withSession(op(Read, constant("find", "c")), s)); !errors.Is(err, context.Canceled) {
			t.Errorf("error %v", err)
		}
		if s.server != nil {
			t.Error("the session has a server session")
		}
		s.End()
	})
}

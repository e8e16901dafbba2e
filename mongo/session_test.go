package mongo_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
)

// session starts a session, and returns it and a context with it.
func (w *world) session(opts ...options.Lister[options.SessionOptions]) (*mongo.Session, context.Context) {
	w.Helper()
	s, err := w.client.StartSession(opts...)
	w.must(err)
	return s, mongo.NewSessionContext(w.ctx, s)
}

// operations are one operation of each kind that package operation tells apart.
var operations = map[string]struct {
	command string
	do      func(ctx context.Context, coll *mongo.Collection) error
}{
	"a write": {"insert", func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.InsertOne(ctx, d{})
		return err
	}},
	"a read of one document": {"find", func(ctx context.Context, coll *mongo.Collection) error {
		if err := coll.FindOne(ctx, d{}).Err(); !errors.Is(err, mongo.ErrNoDocuments) {
			return err
		}
		return nil
	}},
	"a cursor": {"find", func(ctx context.Context, coll *mongo.Collection) error {
		cursor, err := coll.Find(ctx, d{})
		if err != nil {
			return err
		}
		return cursor.Close(ctx)
	}},
	"a command": {"ping", func(ctx context.Context, coll *mongo.Collection) error {
		return coll.Database().RunCommand(ctx, doc("ping", 1)).Err()
	}},
	"several commands": {"insert", func(ctx context.Context, coll *mongo.Collection) error {
		_, err := coll.InsertMany(ctx, []d{{}, {}})
		return err
	}},
}

// Driver Sessions: the operations in a session have its lsid.
func TestAnOperationRunsInTheSessionOfItsContext(t *testing.T) {
	for name, operation := range operations {
		t.Run(name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				s, ctx := w.session()
				defer s.EndSession(w.ctx)
				w.must(operation.do(ctx, w.coll))
				if got := w.lsids(operation.command)[0]; got != s.ID().String() {
					t.Errorf("the lsid is %s, that of the session %s", got, s.ID())
				}
				w.forget()
				w.must(operation.do(w.ctx, w.coll))
				if got := w.lsids(operation.command)[0]; got == s.ID().String() {
					t.Error("an operation without the session has its lsid")
				}
			})
		})
	}
}

// Driver Sessions, "The session argument": the session must be one of the same client.
func TestASessionOfAnotherClientIsRefused(t *testing.T) {
	for name, operation := range operations {
		t.Run(name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				other, err := mongo.Connect(options.Client().ApplyURI(w.set.URI()).SetDialer(w.set.Dialer()))
				w.must(err)
				defer other.Disconnect(w.ctx)
				s, err := other.StartSession()
				w.must(err)
				err = operation.do(mongo.NewSessionContext(w.ctx, s), w.coll)
				if err != mongo.ErrWrongClient || len(w.started("")) != 0 { //nolint:errorlint // the sentinel is never wrapped
					t.Errorf("%d commands were sent: %v", len(w.started("")), err)
				}
			})
		})
	}
}

func TestAnOperationInASessionThatHasEndedIsRefused(t *testing.T) {
	for name, operation := range operations {
		t.Run(name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				s, ctx := w.session()
				id := s.ID()
				s.EndSession(w.ctx)
				s.EndSession(w.ctx)
				err := operation.do(ctx, w.coll)
				if err == nil || !strings.Contains(err.Error(), "ended session was used") || len(w.started("")) != 0 {
					t.Errorf("%d commands were sent: %v", len(w.started("")), err)
				}
				if s.Client() != w.client || s.ID().String() != id.String() {
					t.Error("the session has another client or another id after its end")
				}
			})
		})
	}
}

// Driver Sessions, "How to Tell Whether a Connection Supports Sessions".
func TestAnExplicitSessionOnAServerWithoutSessionsIsAnError(t *testing.T) {
	for name, operation := range operations {
		t.Run(name, func(t *testing.T) {
			in(t, poll, func(w *world) {
				w.noSessions()
				s, ctx := w.session()
				defer s.EndSession(w.ctx)
				err := operation.do(ctx, w.coll)
				if err == nil || !strings.Contains(err.Error(), "current topology does not support sessions") || len(w.started("")) != 0 {
					t.Errorf("%d commands were sent: %v", len(w.started("")), err)
				}
				w.must(operation.do(w.ctx, w.coll))
				if _, err := w.started("")[0].Command.LookupErr("lsid"); err == nil {
					t.Error("an implicit session was sent to a server without sessions")
				}
			})
		})
	}
}

func TestSessionOptions(t *testing.T) {
	at := bson.Timestamp{T: 5, I: 2}
	in(t, nil, func(w *world) {
		for _, c := range []struct {
			name    string
			options *options.SessionOptionsBuilder
			want    string
		}{
			{"none", options.Session(), ""},
			{"causal consistency", options.Session().SetCausalConsistency(true), ""},
			{"snapshot, which is not causally consistent", options.Session().SetSnapshot(true), ""},
			{"a time of the snapshot", options.Session().SetSnapshot(true).SetSnapshotTime(at), ""},
			{
				"both", options.Session().SetSnapshot(true).SetCausalConsistency(true),
				"causal consistency and snapshot cannot both be set for a session",
			},
			{"a time without a snapshot", options.Session().SetSnapshotTime(at), "snapshotTime cannot be set when snapshot is false"},
		} {
			s, err := w.client.StartSession(c.options)
			if c.want == "" {
				w.must(err)
				s.EndSession(w.ctx)
			} else if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
	})
}

func TestTheNumberOfSessionsInProgress(t *testing.T) {
	in(t, nil, func(w *world) {
		want := func(n int, when string) {
			t.Helper()
			if got := w.client.NumberSessionsInProgress(); got != n {
				t.Errorf("%s: %d sessions, want %d", when, got, n)
			}
		}
		want(0, "at first")
		s, ctx := w.session()
		want(1, "with a session")
		w.must(operations["a write"].do(ctx, w.coll))
		w.must(operations["a write"].do(w.ctx, w.coll))
		want(1, "after operations")
		w.must(operations["several commands"].do(w.ctx, w.coll))
		cursor, err := w.coll.Find(w.ctx, d{}, options.Find().SetBatchSize(1))
		w.must(err)
		want(2, "with a cursor")
		w.must(cursor.Close(w.ctx))
		s.EndSession(w.ctx)
		s.EndSession(w.ctx)
		want(0, "after the end")
	})
}

func TestASessionFollowsItsContext(t *testing.T) {
	in(t, nil, func(w *world) {
		outer, ctx := w.session()
		defer outer.EndSession(ctx)
		inner, _ := w.session()
		defer inner.EndSession(ctx)
		check := func(ctx context.Context, want *mongo.Session) {
			t.Helper()
			if got := mongo.SessionFromContext(ctx); got != want {
				t.Errorf("the context has the session %p, want %p", got, want)
			}
		}
		check(w.ctx, nil)
		check(ctx, outer)
		check(mongo.NewSessionContext(ctx, inner), inner)
		check(mongo.NewSessionContext(ctx, nil), nil)
		cause := errors.New("the callback's")
		err := mongo.WithSession(w.ctx, inner, func(ctx context.Context) error {
			check(ctx, inner)
			return cause
		})
		if err != cause { //nolint:errorlint // the callback's error is returned as it is
			t.Errorf("WithSession returns %v", err)
		}
	})
}

// UseSession ends its session also when the callback fails or panics.
func TestUseSessionEndsItsSession(t *testing.T) {
	in(t, nil, func(w *world) {
		cause := errors.New("the callback's")
		var used *mongo.Session
		err := w.client.UseSession(w.ctx, func(ctx context.Context) error {
			used = mongo.SessionFromContext(ctx)
			w.must(operations["a write"].do(ctx, w.coll))
			return cause
		})
		if err != cause || w.lsids("insert")[0] != used.ID().String() { //nolint:errorlint // the callback's error is returned as it is
			t.Errorf("error %v", err)
		}
		func() {
			defer func() { _ = recover() }()
			_ = w.client.UseSession(w.ctx, func(context.Context) error { panic("the callback") })
		}()
		if n := w.client.NumberSessionsInProgress(); n != 0 {
			t.Errorf("%d sessions have not ended", n)
		}
		both := options.Session().SetSnapshot(true).SetCausalConsistency(true)
		if err := w.client.UseSessionWithOptions(w.ctx, both, func(context.Context) error { return nil }); err == nil {
			t.Error("contradictory options are no error")
		}
	})
}

func TestTheTimesOfASessionAdvanceOnly(t *testing.T) {
	in(t, nil, func(w *world) {
		s, ctx := w.session()
		if s.OperationTime() != nil || s.ClusterTime() != nil || !s.SnapshotTime().IsZero() {
			t.Errorf("a new session has the times %v, %v and %v", s.OperationTime(), s.ClusterTime(), s.SnapshotTime())
		}
		w.must(s.AdvanceOperationTime(nil))
		w.must(s.AdvanceClusterTime(nil))
		w.must(operations["a write"].do(ctx, w.coll))
		now, clusterTime := *s.OperationTime(), s.ClusterTime()
		other, _ := w.session()
		defer other.EndSession(w.ctx)
		w.must(other.AdvanceOperationTime(&now))
		w.must(other.AdvanceOperationTime(&bson.Timestamp{T: now.T - 1, I: 9}))
		w.must(other.AdvanceClusterTime(clusterTime))
		if *other.OperationTime() != now || other.ClusterTime().String() != clusterTime.String() {
			t.Errorf("the times are %v and %v, want %v and %v", other.OperationTime(), other.ClusterTime(), now, clusterTime)
		}
		malformed, err := bson.Marshal(doc("$clusterTime", doc("clusterTime", 1)))
		w.must(err)
		if err := other.AdvanceClusterTime(malformed); err == nil || !strings.Contains(err.Error(), "$clusterTime has no field clusterTime of type timestamp") {
			t.Errorf("a document without a cluster time: %v", err)
		}
		s.EndSession(w.ctx)
		for _, err := range []error{s.AdvanceOperationTime(&now), s.AdvanceClusterTime(clusterTime), s.AdvanceClusterTime(nil)} {
			if err == nil || !strings.Contains(err.Error(), "ended session was used") {
				t.Errorf("after the end: %v", err)
			}
		}
	})
}

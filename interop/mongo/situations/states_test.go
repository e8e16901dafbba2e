package situations

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/holdfast-db/holdfast/mongotest"
)

// states are contexts, clients, sessions and servers in which each method is called.
var states = []struct {
	name string
	call func(ctx context.Context, w *world, do func(context.Context) (any, error)) (any, error)
}{
	{"as it should be", plain},
	{"a nil context", func(_ context.Context, _ *world, do func(context.Context) (any, error)) (any, error) {
		return do(nil)
	}},
	{"a cancelled context", func(ctx context.Context, _ *world, do func(context.Context) (any, error)) (any, error) {
		ctx, cancel := context.WithCancel(ctx)
		cancel()
		return do(ctx)
	}},
	{"a deadline in the past", func(ctx context.Context, _ *world, do func(context.Context) (any, error)) (any, error) {
		ctx, cancel := context.WithDeadline(ctx, time.Now().Add(-time.Second))
		defer cancel()
		return do(ctx)
	}},
	{"a deadline", func(ctx context.Context, _ *world, do func(context.Context) (any, error)) (any, error) {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		return do(ctx)
	}},
	{"a client that was disconnected", func(ctx context.Context, w *world, do func(context.Context) (any, error)) (any, error) {
		if err := w.client.Disconnect(ctx); err != nil {
			return nil, err
		}
		return do(ctx)
	}},
	{"a session", inSession(func(*world, *mongo.Session) error { return nil })},
	{"a session that ended", inSession(func(_ *world, s *mongo.Session) error { s.EndSession(context.Background()); return nil })},
	{"a transaction", inSession(func(_ *world, s *mongo.Session) error { return s.StartTransaction() })},
	{"a session of another client", ofAnotherClient},
	{"a snapshot session", func(ctx context.Context, w *world, do func(context.Context) (any, error)) (any, error) {
		session, err := w.client.StartSession(options.Session().SetSnapshot(true))
		if err != nil {
			return nil, err
		}
		defer session.EndSession(ctx)
		return do(mongo.NewSessionContext(ctx, session))
	}},
	{"a nil session", func(ctx context.Context, _ *world, do func(context.Context) (any, error)) (any, error) {
		return do(mongo.NewSessionContext(ctx, nil))
	}},
	{"a write concern w: 0", with(options.Collection().SetWriteConcern(writeconcern.Unacknowledged()), options.Database().SetWriteConcern(writeconcern.Unacknowledged()))},
	{"a write concern w: 2", with(options.Collection().SetWriteConcern(&writeconcern.WriteConcern{W: 2}), options.Database().SetWriteConcern(&writeconcern.WriteConcern{W: 2}))},
	{"a write concern with a wrong type", with(options.Collection().SetWriteConcern(&writeconcern.WriteConcern{W: 1.5}), options.Database().SetWriteConcern(&writeconcern.WriteConcern{W: 1.5}))},
	{"a read concern majority", with(options.Collection().SetReadConcern(readconcern.Majority()), options.Database().SetReadConcern(readconcern.Majority()))},
	{"a read preference nearest", with(options.Collection().SetReadPreference(readpref.Nearest()), options.Database().SetReadPreference(readpref.Nearest()))},
	{"a read preference without a mode", with(options.Collection().SetReadPreference(&readpref.ReadPref{}), options.Database().SetReadPreference(&readpref.ReadPref{}))},
	{"a server that refuses", answering(mongotest.Always(mongotest.Fault{Error: &mongotest.CommandError{Code: 13, Name: "Unauthorized", Message: "scripted"}}))},
	{"a server that refuses with a duplicate key", answering(mongotest.Always(mongotest.Fault{Error: &mongotest.CommandError{Code: 11000, Name: "DuplicateKey", Message: "E11000 scripted"}}))},
	{"a server whose time is over", answering(mongotest.Always(mongotest.Fault{Error: &mongotest.CommandError{Code: 50, Name: "MaxTimeMSExpired", Message: "scripted"}}))},
	{"a server that is not primary for once", answering(mongotest.FaultOnce(mongotest.Fault{Error: &mongotest.CommandError{Code: 10107, Name: "NotWritablePrimary", Message: "not primary", Labels: []string{"RetryableWriteError"}}}))},
	{"a server that is shutting down", answering(mongotest.Always(mongotest.Fault{Error: &mongotest.CommandError{Code: 91, Name: "ShutdownInProgress", Message: "scripted", Labels: []string{"RetryableWriteError"}}}))},
	{"a reply that is lost once", answering(mongotest.FaultOnce(mongotest.Fault{LoseReply: true}))},
	{"replies that are always lost", answering(mongotest.Always(mongotest.Fault{LoseReply: true}))},
	{"a server that is silent, and a deadline", func(ctx context.Context, w *world, do func(context.Context) (any, error)) (any, error) {
		ctx, cancel := context.WithTimeout(ctx, time.Second)
		defer cancel()
		return answering(mongotest.Always(mongotest.Fault{LoseRequest: true, Silent: true}))(ctx, w, do)
	}},
	{"a server that is silent, and a caller that cancels", func(ctx context.Context, w *world, do func(context.Context) (any, error)) (any, error) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer time.AfterFunc(time.Second, cancel).Stop()
		return answering(mongotest.Always(mongotest.Fault{LoseRequest: true, Silent: true}))(ctx, w, do)
	}},
}

func plain(ctx context.Context, _ *world, do func(context.Context) (any, error)) (any, error) {
	return do(ctx)
}

// inSession calls a method in a session that prepare changed.
func inSession(prepare func(*world, *mongo.Session) error) func(context.Context, *world, func(context.Context) (any, error)) (any, error) {
	return func(ctx context.Context, w *world, do func(context.Context) (any, error)) (any, error) {
		session, err := w.client.StartSession()
		if err != nil {
			return nil, err
		}
		defer session.EndSession(ctx)
		if err := prepare(w, session); err != nil {
			return nil, err
		}
		return do(mongo.NewSessionContext(ctx, session))
	}
}

func ofAnotherClient(ctx context.Context, w *world, do func(context.Context) (any, error)) (any, error) {
	other, err := mongo.Connect(options.Client().ApplyURI(w.set.URI() + "&serverMonitoringMode=poll").SetDialer(w.set.Dialer()))
	if err != nil {
		return nil, err
	}
	defer func() { _ = other.Disconnect(ctx) }()
	if err := other.Ping(ctx, nil); err != nil {
		return nil, err
	}
	session, err := other.StartSession()
	if err != nil {
		return nil, err
	}
	defer session.EndSession(ctx)
	return do(mongo.NewSessionContext(ctx, session))
}

// with gives options to the database and the collection.
func with(c *options.CollectionOptionsBuilder, d *options.DatabaseOptionsBuilder) func(context.Context, *world, func(context.Context) (any, error)) (any, error) {
	return func(ctx context.Context, w *world, do func(context.Context) (any, error)) (any, error) {
		w.db = w.client.Database("db", d)
		w.coll = w.db.Collection("c", c)
		return do(ctx)
	}
}

// answering gives all commands but the monitor's to middleware.
func answering(m mongotest.Middleware) func(context.Context, *world, func(context.Context) (any, error)) (any, error) {
	return func(ctx context.Context, w *world, do func(context.Context) (any, error)) (any, error) {
		w.set.Use(mongotest.AnyCommand, func(q *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
			if !q.Application {
				return next(q)
			}
			return m(q, next)
		})
		return do(ctx)
	}
}

// stateSituations call each method in each state.
func stateSituations() []situation {
	var all []situation
	for _, o := range operations {
		for _, s := range states {
			all = append(all, situation{
				name: o.name + ", " + s.name,
				do: func(ctx context.Context, w *world) (any, error) {
					return s.call(ctx, w, func(ctx context.Context) (any, error) { return o.call(ctx, w) })
				},
			})
		}
	}
	return all
}

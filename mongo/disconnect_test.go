package mongo_test

import (
	"context"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongo/mongotest"
)

// Disconnect interrupts the operations that are left when its context ends. One whose connection is being made has sent
// nothing, so it returns ErrClientDisconnected, as one that selects a server does.
func TestDisconnectWhileAConnectionIsMade(t *testing.T) {
	const inTransaction = "in a transaction"
	for name, deadline := range map[string]time.Duration{"without a deadline": 0, "with a deadline": time.Minute, inTransaction: 0} {
		t.Run(name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				second, err := mongo.Connect(options.Client().ApplyURI(w.set.URI()).SetDialer(w.set.Dialer()))
				w.must(err)
				w.pass(time.Second)
				w.greet(func(int) mongotest.Fault { return mongotest.Fault{LoseRequest: true, Silent: true} })
				ctx, cancel := context.WithCancel(w.ctx)
				if deadline > 0 {
					ctx, cancel = context.WithTimeout(w.ctx, deadline)
				}
				defer cancel()
				if name == inTransaction {
					s, err := second.StartSession()
					w.must(err)
					w.must(s.StartTransaction())
					ctx = mongo.NewSessionContext(ctx, s)
				}
				result := make(chan error, 1)
				go func() { result <- second.Database("test").Collection("c").FindOne(ctx, d{}).Err() }()
				w.pass(time.Second)
				ended, end := context.WithCancel(w.ctx)
				end()
				began := time.Now()
				w.must(second.Disconnect(ended))
				err = <-result
				if took := time.Since(began); took > 2*time.Second || err != mongo.ErrClientDisconnected { //nolint:errorlint // programs compare it so
					t.Errorf("after %v: %v", took, err)
				}
			})
		})
	}
}

package once

import (
	"context"
	"os"
	"testing"
	"time"

	official "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo/once"
	"github.com/holdfast-db/holdfast/mongotest"
)

// everywhere runs a test with each client on mongotest and, if there is one, on a real server behind a proxy.
func everywhere(t *testing.T, test func(t *testing.T, p *place)) {
	t.Helper()
	uri := os.Getenv("HOLDFAST_MONGODB_URI")
	if uri == "" && os.Getenv("CI") != "" {
		t.Error("HOLDFAST_MONGODB_URI is not set")
	}
	for _, client := range []string{ours, theirs} {
		t.Run("mongotest, "+client, func(t *testing.T) {
			t.Parallel() // most of the time they wait for a check of the server
			test(t, newPlace(t, mongotest.RunStandaloneT(t), client))
		})
		if uri != "" {
			t.Run("a real server, "+client, func(t *testing.T) {
				t.Parallel()
				test(t, newPlace(t, mongotest.RunProxyT(t, uri), client))
			})
		}
	}
}

// place is a server, a client under test and a plain one.
type place struct {
	server server
	client string
	plain  *official.Database
	real   bool
}

func newPlace(t *testing.T, s server, client string) *place {
	t.Helper()
	plain, err := official.Connect(options.Client().ApplyURI(s.URI()).SetServerSelectionTimeout(time.Minute))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = plain.Disconnect(context.Background()) })
	_, simulated := s.(*mongotest.Deployment)
	return &place{server: s, client: client, plain: plain.Database(database), real: !simulated}
}

// open returns an empty collection with options, as the plain client has it and as the client under test has it.
func (p *place) open(t *testing.T, name string, o ...options.Lister[options.CreateCollectionOptions]) (*official.Collection, *once.Collection) {
	t.Helper()
	name = p.client + "_" + name
	plain := p.plain.Collection(name)
	if err := plain.Drop(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = plain.Drop(context.Background()) })
	if err := p.plain.CreateCollection(t.Context(), name, o...); err != nil {
		t.Fatal(err)
	}
	coll, end, err := open(p.client, p.server.URI(), name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(end)
	return plain, coll
}

// losing loses the replies to update messages with the given numbers, from 0, until the returned function is called.
func (p *place) losing(messages ...int) (end func()) {
	count := 0
	return p.server.Use("update", mongotest.Decide(func(*mongotest.Request) mongotest.Fault {
		count++
		for _, m := range messages {
			if m == count-1 {
				return mongotest.Fault{LoseReply: true}
			}
		}
		return mongotest.Fault{}
	}))
}

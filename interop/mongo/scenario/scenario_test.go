package scenario

import (
	"context"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/holdfast-db/holdfast/interop/internal/driver"
	"github.com/holdfast-db/holdfast/mongotest"
)

const database = "scenario"

// stage is a replica set and a client of it.
type stage struct {
	t      *testing.T
	set    *mongotest.Deployment
	client driver.Client
}

// TestScenario runs each scene with each driver, all options but the write concern being the driver's defaults.
func TestScenario(t *testing.T) {
	for _, name := range driver.Names() {
		t.Run(name, func(t *testing.T) {
			for _, scene := range []struct {
				name string
				play func(*stage)
			}{
				{"create, read, update, delete", (*stage).crud},
				{"a cursor over several batches", (*stage).cursor},
				{"the reply to a write is lost", (*stage).lostReply},
				{"fail-overs among writes", (*stage).failOvers},
			} {
				t.Run(scene.name, func(t *testing.T) { scene.play(newStage(t, name)) })
			}
		})
	}
}

func newStage(t *testing.T, name string) *stage {
	t.Helper()
	set := mongotest.RunReplicaSetT(t, 3, mongotest.ElectionTimeout(200*time.Millisecond))
	client, err := driver.Connect(name, options.Client().ApplyURI(set.URI()).SetWriteConcern(writeconcern.Majority()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Disconnect(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return &stage{t: t, set: set, client: client}
}

func (s *stage) context() context.Context {
	ctx, cancel := context.WithTimeout(s.t.Context(), 30*time.Second)
	s.t.Cleanup(cancel)
	return ctx
}

func (s *stage) collection(name string) driver.Collection { return s.client.Collection(database, name) }

// must fails the test if err is not nil.
func (s *stage) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Fatal(err)
	}
}

func expect[T comparable](s *stage, what string, got, want T) {
	s.t.Helper()
	if got != want {
		s.t.Errorf("%s: %v; want %v", what, got, want)
	}
}

// journalOf returns the journal's entries of one command.
func (s *stage) journalOf(command string) []mongotest.Entry {
	var found []mongotest.Entry
	for _, e := range s.set.Journal() {
		if e.Command == command {
			found = append(found, e)
		}
	}
	return found
}

func byID(id any) bson.D { return bson.D{{Key: "_id", Value: id}} }

func increment() bson.D { return bson.D{{Key: "$inc", Value: bson.D{{Key: "n", Value: 1}}}} }

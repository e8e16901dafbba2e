package programs

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/interop/explore/programs/consumer"
	"github.com/holdfast-db/holdfast/interop/explore/programs/increment"
	"github.com/holdfast-db/holdfast/interop/explore/programs/lock"
	"github.com/holdfast-db/holdfast/interop/explore/programs/outbox"
	"github.com/holdfast-db/holdfast/interop/explore/programs/sideeffect"
	"github.com/holdfast-db/holdfast/mongotest"
)

type work func(context.Context, *mongo.Client) error

// program is one of the programs, in Go. The failure shows its mistake.
type program struct {
	name            string
	mistake, mended work
	audit           func(ctx context.Context, client *mongo.Client, said error) error
	failure         failure
}

var programs = []program{
	{"increment", increment.Mistake, increment.Mended, increment.Audit, replyLost},
	{"sideeffect", sideeffect.Mistake, sideeffect.Mended, sideeffect.Audit, conflict},
	{"consumer", consumer.Mistake, consumer.Mended, consumer.Audit, requestLost},
	{"lock", lock.Mistake, lock.Mended, lock.Audit, requestLost},
	{"outbox", outbox.Mistake, outbox.Mended, outbox.Audit, killed},
}

func TestGo(t *testing.T) {
	for _, p := range programs {
		t.Run(p.name, func(t *testing.T) {
			if broken := p.play(t, p.mistake, none); broken != nil {
				t.Errorf("the mistake, without a failure: %v", broken)
			}
			if p.play(t, p.mistake, p.failure) == nil {
				t.Error("the failure does not show the mistake")
			}
			if broken := p.play(t, p.mended, p.failure); broken != nil {
				t.Errorf("mended: %v", broken)
			}
		})
	}
}

// play runs the program, in which one message fails, and returns what its audit says.
func (p *program) play(t *testing.T, do work, f failure) (broken error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		set := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory())
		client := connect(t, set)
		happened := f.arrange(set)
		said := do(t.Context(), client)
		if !happened() {
			t.Error("the failure did not happen")
		}
		heal(t, set)
		broken = p.audit(t.Context(), client, said)
	})
	return broken
}

func connect(t *testing.T, set *mongotest.Deployment) *mongo.Client {
	t.Helper()
	const patience = 2 * time.Second
	client, err := mongo.Connect(options.Client().ApplyURI(set.URI()).SetDialer(set.Dialer()).
		SetServerSelectionTimeout(patience).SetConnectTimeout(patience))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	return client
}

func heal(t *testing.T, set *mongotest.Deployment) {
	t.Helper()
	for member := range set.Members() {
		set.Restart(member)
	}
	if _, err := set.WaitPrimary(t.Context()); err != nil {
		t.Fatal(err)
	}
}

package failures

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/interop/internal/driver"
	"github.com/holdfast-db/holdfast/mongotest"
)

// patience bounds every wait, so that a broken script ends as a failed test.
const patience = 20 * time.Second

// script is one run of one failure with one driver.
type script struct {
	t      *testing.T
	set    *mongotest.Deployment
	pools  *poolWatch
	client driver.Client
}

func newScript(t *testing.T, name string) *script {
	t.Helper()
	s := &script{t: t, set: mongotest.RunReplicaSetT(t, 3)}
	seed(t, s.set)
	s.client, s.pools = connect(t, name, s.set)
	return s
}

// connect returns a client whose monitors have all begun to shake hands, which they do once. That is seen at the servers:
// the official driver calls a pool ready before.
func connect(t *testing.T, name string, set *mongotest.Deployment) (driver.Client, *poolWatch) {
	t.Helper()
	pools, greeted := newPoolWatch(), make(chan struct{}, manyEvents)
	defer set.Use("hello", mongotest.While(isHandshake, mongotest.Fault{Before: func() { greeted <- struct{}{} }}))()
	o := options.Client().ApplyURI(set.URI()).SetPoolMonitor(pools.monitor()).SetServerMonitoringMode("poll")
	client, err := driver.Connect(name, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	for range set.Members() {
		await(ctx, t, greeted, "a monitor did not shake hands")
	}
	return client, pools
}

// isHandshake tells a connection's first hello from a monitor's later ones: only that carries the client's metadata.
func isHandshake(r *mongotest.Request) bool {
	_, err := r.Body.LookupErr("client")
	return err == nil
}

// seed stores what the read is to find, by a client that has no part in the script.
func seed(t *testing.T, set *mongotest.Deployment) {
	t.Helper()
	client, _ := connect(t, driver.NameOfficial, set)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	if _, err := client.Collection("failures", "things").InsertOne(ctx, bson.D{{Key: "_id", Value: "known"}}); err != nil {
		t.Fatal(err)
	}
}

// run does the operation with the failure arranged.
func (s *script) run(f failure, do func(context.Context, driver.Collection) error) error {
	s.t.Helper()
	undo := f.arrange(s)
	err := do(context.Background(), s.client.Collection("failures", "things"))
	if undo != nil {
		undo()
	}
	return err
}

// clearPoolAtCheckOut has the primary's pool cleared when the operation has selected it and is about to check out: in the
// listener of that event a ping on another connection breaks. The monitors' hellos are held back until the checkout has
// been refused, for they would make the pool ready again.
func (s *script) clearPoolAtCheckOut() func() {
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	if err := s.client.Ping(ctx); err != nil { // there is a connection now, for the second ping to break
		s.t.Fatal(err)
	}
	held, release := context.WithCancel(ctx)
	s.set.Use("hello", mongotest.Always(mongotest.Fault{Before: func() { <-held.Done() }}))
	s.set.Use("ping", mongotest.Always(mongotest.Fault{LoseRequest: true}))
	s.pools.onCheckOutFailed(release)
	s.pools.onCheckOutStarted(func() {
		go func() { _ = s.client.Ping(ctx) }()
		await(ctx, s.t, s.pools.cleared, "the pool was not cleared")
	})
	return func() {
		if held.Err() == nil {
			s.t.Error("no checkout was refused")
		}
		cancel()
	}
}

func (s *script) closeInHandshake() func() {
	return s.failHandshake(mongotest.Fault{LoseRequest: true})
}

func (s *script) refuseHandshake() func() {
	return s.failHandshake(mongotest.Fault{Error: &mongotest.CommandError{
		Code: 91, Name: "ShutdownInProgress", Message: "The server is in quiesce mode and will shut down",
	}})
}

// failHandshake does fault to every handshake until a checkout has failed by it. Only the operation's connection has one:
// the monitors have had theirs.
func (s *script) failHandshake(fault mongotest.Fault) func() {
	var failing atomic.Bool
	failing.Store(true)
	s.set.Use("hello", mongotest.While(func(r *mongotest.Request) bool { return isHandshake(r) && failing.Load() }, fault))
	s.pools.onCheckOutFailed(func() { failing.Store(false) })
	return func() {
		if failing.Load() {
			s.t.Error("no checkout failed by its handshake")
		}
	}
}

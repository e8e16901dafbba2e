package mongo_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// gateSink is a log sink that blocks once at a message.
type gateSink struct {
	message         string
	armed           atomic.Bool
	reached, opened chan struct{}
}

func (s *gateSink) Info(_ int, message string, _ ...any) {
	if message == s.message && s.armed.Swap(false) {
		close(s.reached)
		<-s.opened
	}
}

func (s *gateSink) Error(error, string, ...any) {}

// An operation has begun before Disconnect, and checks out its connection only while Disconnect ends the sessions: nothing was in
// flight before. Disconnect waits for it, as for the others, until its own context ends.
func TestDisconnectAndAnOperationThatIsLate(t *testing.T) {
	const limit = 5 * time.Second // of Disconnect
	for _, c := range []struct {
		name  string
		fault mongotest.Fault // of the operation
		fails bool
	}{
		{"it ends in time", mongotest.Fault{Delay: 2 * time.Second}, false},
		{"its server is silent, so that nothing but Disconnect ends it", mongotest.Fault{LoseRequest: true, Silent: true}, true},
		{"its server is slower than Disconnect", mongotest.Fault{Delay: 10 * time.Second}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				set := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
				sink := &gateSink{message: "Server selection started", reached: make(chan struct{}), opened: make(chan struct{})}
				client, err := mongo.Connect(options.Client().ApplyURI(set.URI()).SetDialer(set.Dialer()).
					SetLoggerOptions(options.Logger().SetSink(sink).SetComponentLevel(options.LogComponentServerSelection, options.LogLevelDebug)))
				if err != nil {
					t.Fatal(err)
				}
				if err := client.Ping(t.Context(), nil); err != nil { // now there is a session to end
					t.Fatal(err)
				}
				set.Use("insert", mongotest.Always(c.fault))
				set.Use("endSessions", mongotest.Always(mongotest.Fault{Before: func() { close(sink.opened) }, Delay: 500 * time.Millisecond}))
				sink.armed.Store(true)
				ended := make(chan error, 1)
				go func() {
					_, err := client.Database("test").Collection("c").InsertOne(context.Background(), doc("x", 1))
					ended <- err
				}()
				<-sink.reached
				began := time.Now()
				ctx, cancel := context.WithTimeout(t.Context(), limit)
				defer cancel()
				if err := client.Disconnect(ctx); err != nil {
					t.Error(err)
				}
				if took := time.Since(began); took > limit+time.Second {
					t.Errorf("Disconnect took %v", took)
				}
				select {
				case err := <-ended:
					if (err != nil) != c.fails {
						t.Errorf("the operation's error: %v", err)
					}
				case <-time.After(time.Minute):
					t.Error("the operation hangs")
					_ = set.Close()
				}
			})
		})
	}
}

package mongo_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongo/mongotest"
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
// flight before. Its server is silent, so that nothing but Disconnect ends it.
func TestDisconnectEndsAnOperationThatIsLate(t *testing.T) {
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
		set.Use("insert", mongotest.Always(mongotest.Fault{LoseRequest: true, Silent: true}))
		set.Use("endSessions", mongotest.Always(mongotest.Fault{Before: func() { close(sink.opened) }, Delay: 500 * time.Millisecond}))
		sink.armed.Store(true)
		ended := make(chan error, 1)
		go func() {
			_, err := client.Database("test").Collection("c").InsertOne(context.Background(), doc("x", 1))
			ended <- err
		}()
		<-sink.reached
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		if err := client.Disconnect(ctx); err != nil {
			t.Error(err)
		}
		select {
		case err := <-ended:
			if err == nil {
				t.Error("the operation succeeds")
			}
		case <-time.After(time.Minute):
			t.Error("the operation hangs")
			_ = set.Close()
		}
	})
}

package operation

import (
	"bytes"
	"context"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// A listener may keep an event. The connection's buffers are used again.
func TestEventsHaveCopiesOfTheCommandAndTheReply(t *testing.T) {
	document := marshal(t, bson.D{{Key: "ok", Value: 1}})
	var got bson.Raw
	runner := &Runner{cfg: Config{Cluster: new(cluster.Cluster)}, attempts: monitored(&event.CommandMonitor{
		Succeeded: func(_ context.Context, e *event.CommandSucceededEvent) { got = e.Reply },
	})}
	a := newAttempted()
	a.run, a.ctx = &run{Runner: runner, op: &Operation{}}, t.Context()
	a.run.reply = *parsed(t, bson.D{{Key: "ok", Value: 1}})
	a.ended(nil)
	clear(a.run.reply.Body)
	if !bytes.Equal(got, document) {
		t.Errorf("the reply is %x", []byte(got))
	}
	at, message := wire.BeginMsg(nil, 1, 0, 0)
	message = wire.EndMessage(append(message, document...), at)
	a.describe(message)
	command := a.told.Command()
	clear(message)
	if !bytes.Equal(command, document) {
		t.Errorf("the command is %x", command)
	}
}

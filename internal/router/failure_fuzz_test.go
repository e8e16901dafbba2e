package router

import (
	"errors"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

func failedCommand(name string) *forwarded {
	return &forwarded{client: &client{router: &Router{}}, command: &command{ClientMessage: wire.ClientMessage{Name: name}}}
}

// checkTold checks what a client is told: a document without the code of a change of state, and after a retry without RetryableWriteError.
func checkTold(t *testing.T, told []byte, retried bool) {
	t.Helper()
	var r operation.Reply
	if err := r.Parse(told); err != nil {
		t.Fatalf("the client gets no document: %v", err)
	}
	if stateChange(r.Code) && !r.OK || hasStateChange(&r) {
		t.Errorf("a change of state in %v", bson.Raw(told))
	}
	for it := wire.Elements(r.Labels); retried && it.Next(); {
		if string(it.Text()) == labelRetryableWrite {
			t.Errorf("RetryableWriteError after a retry in %v", bson.Raw(told))
		}
	}
}

// Whatever a member answers, no change of state reaches the client, and what it gets can be read.
func FuzzWhatAMemberAnswers(f *testing.F) {
	down := bson.D{{Key: "code", Value: 91}, {Key: "codeName", Value: "ShutdownInProgress"}, {Key: "errmsg", Value: "down"}}
	labels := bson.E{Key: "errorLabels", Value: bson.A{"RetryableWriteError", 5, "Other"}}
	for _, reply := range []bson.D{
		append(bson.D{{Key: "ok", Value: 0}, labels, {Key: "topologyVersion", Value: bson.D{}}}, down...),
		{{Key: "ok", Value: 1}, {Key: "writeConcernError", Value: down}, labels, {Key: "topologyVersion", Value: bson.D{}}},
		{{Key: "ok", Value: 0}, {Key: "code", Value: 20}, {Key: "writeConcernError", Value: down}, labels},
		{{Key: "ok", Value: 1}, {Key: "writeErrors", Value: bson.A{down, 7, bson.A{down}}}, {Key: "writeConcernError", Value: nil}},
		{{Key: "ok", Value: 1}, {Key: "writeErrors", Value: bson.D{}}, {Key: "errorLabels", Value: 1}},
	} {
		f.Add(marshal(f, reply), true)
		f.Add(marshal(f, reply), false)
	}
	f.Fuzz(func(t *testing.T, reply []byte, retried bool) {
		var r operation.Reply
		if r.Parse(reply) != nil {
			return // the runner refuses it
		}
		checkTold(t, failedCommand("insert").translated(reply, errors.New("failed"), retried), retried)
		if !stateChange(r.Code) {
			checkTold(t, settled(reply, retried), retried)
		}
	})
}

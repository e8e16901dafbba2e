package simulation

import (
	"context"
	"errors"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
	events "go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// askerField has in each reply who asked for it: the comment of the command.
const askerField = "asker"

// nameAsker puts the asker into the reply to a command that has one.
func nameAsker(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
	asker := r.Body.Lookup("comment")
	reply := next(r)
	if asker.Type == 0 || reply == nil || reply.Body == nil {
		return reply
	}
	var document bson.D
	if bson.Unmarshal(reply.Body, &document) != nil {
		return reply
	}
	body, err := bson.Marshal(append(document, bson.E{Key: askerField, Value: asker}))
	if err == nil {
		reply.Body = body
	}
	return reply
}

// askers checks that a client gets the replies to its own commands only.
type askers struct {
	history *history
	mu      sync.Mutex
	asked   map[int64]string // by request
}

// monitor returns what the client tells of its commands.
func (a *askers) monitor() *events.CommandMonitor {
	return &events.CommandMonitor{
		Started: func(_ context.Context, e *events.CommandStartedEvent) {
			if asker, has := e.Command.Lookup("comment").StringValueOK(); has {
				a.mu.Lock()
				defer a.mu.Unlock()
				a.asked[e.RequestID] = asker
			}
		},
		Succeeded: func(_ context.Context, e *events.CommandSucceededEvent) { a.check(e.RequestID, e.Reply, true) },
		Failed: func(_ context.Context, e *events.CommandFailedEvent) {
			var failed mongo.CommandError
			_ = errors.As(e.Failure, &failed) // the router's own errors have no asker
			a.check(e.RequestID, failed.Raw, false)
		},
	}
}

// check compares who asked with the asker in the reply.
func (a *askers) check(request int64, reply bson.Raw, must bool) {
	a.mu.Lock()
	asked, known := a.asked[request]
	delete(a.asked, request)
	a.mu.Unlock()
	asker, has := reply.Lookup(askerField).StringValueOK()
	if has && asker != asked || !has && known && must {
		a.history.violated("asker", "%q got the reply to %q: %v", asked, asker, reply)
	}
}

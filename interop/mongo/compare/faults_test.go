package compare

import (
	"context"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

func killed(s *stage) { s.set.Kill(0) }

func silent(command string) func(*stage) {
	return func(s *stage) {
		s.set.Use(command, mongotest.Always(mongotest.Fault{LoseRequest: true, Silent: true}))
	}
}

func loses(command string) func(*stage) {
	return func(s *stage) { s.set.Use(command, mongotest.Always(mongotest.Fault{LoseReply: true})) }
}

func refusing(command string, e *mongotest.CommandError) func(*stage) {
	return func(s *stage) { s.set.Use(command, mongotest.Always(mongotest.Fault{Error: e})) }
}

var expired = &mongotest.CommandError{Code: 50, Name: "MaxTimeMSExpired", Message: "operation exceeded time limit"}

// answering makes the server answer a command with a secret.
func answering(name string) func(*stage) {
	return func(s *stage) {
		s.set.Use(name, func(*mongotest.Request, mongotest.Handler) *mongotest.Reply {
			return &mongotest.Reply{Body: raw(command("ok", 1, "payload", "secret"))}
		})
	}
}

func raw(d bson.D) bson.Raw {
	b, err := bson.Marshal(d)
	if err != nil {
		panic(err)
	}
	return b
}

// busy keeps a connection in use.
func busy(s *stage) {
	s.set.Use("ping", mongotest.FaultOnce(mongotest.Fault{Delay: 10 * time.Second}))
	go func() { _ = s.client.Ping(context.Background()) }()
	synctest.Wait()
}

// writeConcernExpired makes the inserts end with a writeConcernError.
func writeConcernExpired(s *stage) {
	s.set.Use("insert", func(*mongotest.Request, mongotest.Handler) *mongotest.Reply {
		return &mongotest.Reply{Body: raw(command("ok", 1, "n", 1, "writeConcernError", command(
			"code", 50, "codeName", "MaxTimeMSExpired", "errmsg", "operation exceeded time limit")))}
	})
}

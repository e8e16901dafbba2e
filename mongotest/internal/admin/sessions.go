package admin

import (
	"maps"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/parameter"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/command/startSession/

func cmdStartSession(x *call.Call) error {
	if err := x.NoArgs(); err != nil {
		return err
	}
	id := store.NewUUID()
	at, dst := wire.BeginEmbedded(x.Result.Out, "id")
	dst = wire.AppendBinary(dst, "id", 4, id[:])
	dst = wire.EndDocument(dst, at)
	x.Result.Out = wire.AppendInt32(dst, "timeoutMinutes", parameter.SessionMinutes)
	return nil
}

// https://www.mongodb.com/docs/manual/reference/command/endSessions/
//
// endSessions and killSessions abort the sessions' transactions, killSessions also takes their cursors: of all sessions if it
// names none. A session's record of retryable writes outlives it.

func cmdSessions(x *call.Call) error {
	named := make(map[string]bool)
	err := eachOfFirst(x, func(path string, doc []byte) error {
		named[string(doc)] = true
		return call.CheckSessionID(path, doc)
	})
	if err != nil || x.Command.Name == "refreshSessions" {
		return err
	}
	if err := x.CheckSessionsOfOthers(len(named)); err != nil {
		return err
	}
	return call.WithLock(x, func(x call.Locked) error {
		kill := x.Command.Name == "killSessions"
		for _, m := range keepers(x.Call) {
			endSessions(x, m, func(lsid string) bool { return named[lsid] || kill && len(named) == 0 }, kill)
		}
		return nil
	})
}

// endSessions aborts the transactions of some sessions, and kills their cursors if it is told to.
func endSessions(x call.Locked, m *call.Member, of func(lsid string) bool, kill bool) {
	for lsid, t := range m.Transactions {
		if of(lsid) {
			t.AbortLocked()
		}
	}
	if kill {
		maps.DeleteFunc(m.Cursors, func(_ int64, c *call.Cursor) bool { return c.LSID != "" && of(c.LSID) })
		x.Client.Set.ChangedLocked() // who waits for more of them
	}
}

// keepers are the members whose sessions a command is about.
func keepers(x *call.Call) []*call.Member {
	if x.Client.Member == nil {
		return x.Client.Cluster.Members
	}
	return []*call.Member{x.Client.Member}
}

// https://www.mongodb.com/docs/manual/reference/command/killAllSessions/

func cmdKillAllSessions(x *call.Call) error {
	err := eachOfFirst(x, func(path string, doc []byte) error {
		for _, field := range [...]string{"user", "db"} {
			switch v := query.Lookup(doc, field); {
			case v.Missing():
				return mongoerr.Errorf(mongoerr.MissingField, "BSON field '%s.%s' is missing but a required field", path, field)
			case v.Type != bson.TypeString:
				return mongoerr.Errorf(mongoerr.TypeMismatch, "BSON field '%s.%s' is the wrong type '%s', expected type 'string'", path, field,
					query.TypeName(v.Type))
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	return call.WithLock(x, func(x call.Locked) error {
		for _, m := range keepers(x.Call) {
			endSessions(x, m, func(string) bool { return true }, true)
		}
		return nil
	})
}

// eachOfFirst checks the documents of the array that is the value of the command's name.
func eachOfFirst(x *call.Call, check func(path string, doc []byte) error) error {
	if err := x.NoArgs(); err != nil {
		return err
	}
	if !x.Command.First.IsArray() {
		return fields.WrongType(x.Command.Name, x.Command.Name, x.Command.First.Type, "array")
	}
	for i, v := range query.Elements(x.Command.First.Data) {
		if !v.IsDocument() {
			return fields.WrongType(x.Command.Name, x.Command.Name+"."+wire.ArrayKey(i), v.Type, "object")
		}
		if err := check(x.Command.Name+"."+x.Command.Name, v.Data); err != nil {
			return err
		}
	}
	return nil
}

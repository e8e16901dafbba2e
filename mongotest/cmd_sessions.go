package mongotest

import (
	"maps"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/parameter"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/command/startSession/

func cmdStartSession(x *call) error {
	if err := x.noArgs(); err != nil {
		return err
	}
	id := store.NewUUID()
	at, dst := wire.BeginEmbedded(x.result.out, "id")
	dst = wire.AppendBinary(dst, "id", 4, id[:])
	dst = wire.EndDocument(dst, at)
	x.result.out = wire.AppendInt32(dst, "timeoutMinutes", parameter.SessionMinutes)
	return nil
}

// https://www.mongodb.com/docs/manual/reference/command/endSessions/
//
// endSessions and killSessions abort the sessions' transactions, killSessions also takes their cursors: of all sessions if it
// names none. A session's record of retryable writes outlives it.

func cmdSessions(x *call) error {
	named := make(map[string]bool)
	err := x.eachOfFirst(func(path string, doc []byte) error {
		named[string(doc)] = true
		return checkSessionID(path, doc)
	})
	if err != nil || x.command.name == "refreshSessions" {
		return err
	}
	if err := x.checkSessionsOfOthers(len(named)); err != nil {
		return err
	}
	x.client.set.Lock()
	defer x.client.set.Unlock()
	kill := x.command.name == "killSessions"
	for _, m := range x.keepers() {
		m.endSessionsLocked(func(lsid string) bool { return named[lsid] || kill && len(named) == 0 }, kill)
	}
	return nil
}

// endSessionsLocked aborts the transactions of some sessions, and kills their cursors if it is told to.
func (m *member) endSessionsLocked(of func(lsid string) bool, kill bool) {
	for lsid, t := range m.Transactions {
		if of(lsid) {
			t.AbortLocked()
		}
	}
	if kill {
		maps.DeleteFunc(m.cursors, func(_ int64, c *cursor) bool { return c.lsid != "" && of(c.lsid) })
		m.Set.ChangedLocked() // who waits for more of them
	}
}

// keepers are the members whose sessions a command is about.
func (x *call) keepers() []*member {
	if x.client.member == nil {
		return x.client.cluster.members
	}
	return []*member{x.client.member}
}

// https://www.mongodb.com/docs/manual/reference/command/killAllSessions/

func cmdKillAllSessions(x *call) error {
	err := x.eachOfFirst(func(path string, doc []byte) error {
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
	x.client.set.Lock()
	defer x.client.set.Unlock()
	for _, m := range x.keepers() {
		m.endSessionsLocked(func(string) bool { return true }, true)
	}
	return nil
}

// eachOfFirst checks the documents of the array that is the value of the command's name.
func (x *call) eachOfFirst(check func(path string, doc []byte) error) error {
	if err := x.noArgs(); err != nil {
		return err
	}
	if !x.command.first.IsArray() {
		return fields.WrongType(x.command.name, x.command.name, x.command.first.Type, "array")
	}
	for i, v := range query.Elements(x.command.first.Data) {
		if !v.IsDocument() {
			return fields.WrongType(x.command.name, x.command.name+"."+wire.ArrayKey(i), v.Type, "object")
		}
		if err := check(x.command.name+"."+x.command.name, v.Data); err != nil {
			return err
		}
	}
	return nil
}

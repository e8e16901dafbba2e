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

func cmdStartSession(x *exec) error {
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

func cmdSessions(x *exec) error {
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
	x.conn.set.Lock()
	defer x.conn.set.Unlock()
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

// session notes the session that the command is of.
func (c *command) session(e *wire.Element) error {
	const where = "OperationSessionInfo.lsid"
	switch c.lsid = e.Document(); {
	case e.Type == bson.TypeNull:
		return nil
	case c.lsid == nil:
		return mongoerr.Errorf(mongoerr.TypeMismatch, "BSON field '%s' is the wrong type '%s', expected type 'object'", where, query.TypeName(e.Type))
	}
	return checkSessionID(where, c.lsid)
}

// checkSessionID refuses a session without an id, or with one that is not a UUID.
func checkSessionID(path string, session []byte) error {
	switch id := query.Lookup(session, "id"); {
	case id.Missing():
		return mongoerr.Errorf(mongoerr.MissingField, "BSON field '%s.id' is missing but a required field", path)
	case id.Type != bson.TypeBinary:
		return mongoerr.Errorf(mongoerr.TypeMismatch,
			"BSON field '%s.id' is the wrong type '%s', expected type 'binData'", path, query.TypeName(id.Type))
	case id.Data[4] != bson.TypeBinaryUUID:
		return mongoerr.Errorf(mongoerr.TypeMismatch,
			"BSON field '%s.id' is the wrong binData type '%s', expected type 'UUID'", path, binaryName(id.Data[4]))
	case len(id.Data) != 5+len(store.UUID{}):
		return mongoerr.Errorf(mongoerr.InvalidUUID, "uuid must be a 16-byte binary field with UUID (4) subtype")
	}
	return nil
}

// keepers are the members whose sessions a command is about.
func (x *exec) keepers() []*member {
	if x.conn.member == nil {
		return x.conn.deployment.members
	}
	return []*member{x.conn.member}
}

// https://www.mongodb.com/docs/manual/reference/command/killAllSessions/

func cmdKillAllSessions(x *exec) error {
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
	x.conn.set.Lock()
	defer x.conn.set.Unlock()
	for _, m := range x.keepers() {
		m.endSessionsLocked(func(string) bool { return true }, true)
	}
	return nil
}

// eachOfFirst checks the documents of the array that is the value of the command's name.
func (x *exec) eachOfFirst(check func(path string, doc []byte) error) error {
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

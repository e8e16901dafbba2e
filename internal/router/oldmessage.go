package router

import (
	"bytes"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// https://www.mongodb.com/docs/manual/legacy-opcodes/

// old is what the router must know of a message that no server takes any more. The command that it means has the rest. A command in an
// OP_QUERY needs none of it: only its reply has another form.
type old struct {
	refused   *refusal // the message is not translated
	write     bool     // it is one of the writes without a reply
	explained bool     // a find that is to be explained
	kill      bool     // an OP_KILL_CURSORS
	cursors   []int64  // of an OP_KILL_CURSORS
	from      int32    // how many documents of its cursor came before an OP_GET_MORE
}

// parseOld reads a message that is not an OP_MSG.
func parseOld(message []byte) (*command, error) {
	h, err := wire.ParseHeader(message)
	if err != nil {
		return nil, err
	}
	switch h.OpCode {
	case wire.OpQuery:
		return parseQuery(h, message)
	case wire.OpGetMore:
		return parseGetMore(h, message)
	case wire.OpKillCursors:
		ids, err := wire.ParseKillCursors(message)
		return &command{ClientMessage: wire.ClientMessage{Header: h, Name: "killCursors"}, old: &old{kill: true, cursors: ids}}, err
	}
	name := oldWrites[h.OpCode]
	if name == "" {
		return nil, fmt.Errorf("%w: operation code %d instead of a request", wire.ErrMalformed, h.OpCode)
	}
	return refusedOld(h, &old{write: true, refused: &refusal{code: codeUnsupportedOpQuery, name: "UnsupportedOpQueryCommand", text: name +
		" is no longer supported: no server takes it any more. The driver must be one that sends writes as commands, which MongoDB has taken since 2.6"}}), nil
}

// oldWrites are the messages that changed documents, and had no reply.
var oldWrites = map[int32]string{wire.OpUpdate: "OP_UPDATE", wire.OpInsert: "OP_INSERT", wire.OpDelete: "OP_DELETE"}

func refusedOld(h wire.Header, o *old) *command {
	return &command{ClientMessage: wire.ClientMessage{Header: h}, old: o}
}

// isRefused reports whether the message is one that is not translated.
func (o *old) isRefused() bool { return o != nil && o.refused != nil }

// cutNamespace returns the database and the collection in a namespace. Neither is empty if the namespace is valid.
func cutNamespace(namespace []byte) (database, collection string, valid bool) {
	db, name, _ := bytes.Cut(namespace, []byte{'.'})
	return string(db), string(name), len(db) > 0 && len(name) > 0
}

func invalidNamespace(h wire.Header, namespace []byte) *command {
	return refusedOld(h, &old{refused: &refusal{
		code: codeInvalidNamespace, name: "InvalidNamespace", text: fmt.Sprintf("the namespace is %q, it must be a database, a dot, and a collection", namespace),
	}})
}

// parseQuery reads an OP_QUERY: a command, or a find.
func parseQuery(h wire.Header, message []byte) (*command, error) {
	q, err := wire.ParseQuery(message)
	if err != nil {
		return nil, err
	}
	database, collection, valid := cutNamespace(q.Collection)
	if !valid {
		return invalidNamespace(h, q.Collection), nil
	}
	c := &command{slaveOk: q.Flags&wire.SecondaryOk != 0}
	body := q.Document
	if collection == "$cmd" {
		body, err = unwrapped(body)
	} else {
		c.old = new(old)
		body, err = c.old.find(&q, collection)
	}
	if err != nil {
		return nil, err
	}
	if c.old.isRefused() {
		return refusedOld(h, c.old), nil
	}
	if c.ClientMessage, err = wire.CommandIn(h, database, body); err != nil {
		return nil, err
	}
	return c, c.readFields()
}

// parseGetMore reads an OP_GET_MORE.
func parseGetMore(h wire.Header, message []byte) (*command, error) {
	g, err := wire.ParseGetMore(message)
	if err != nil {
		return nil, err
	}
	database, collection, valid := cutNamespace(g.Collection)
	switch {
	case !valid:
		return invalidNamespace(h, g.Collection), nil
	case g.Return < 0:
		return refusedOld(h, &old{refused: badValue("numberToReturn in an OP_GET_MORE is %d, it must not be negative", g.Return)}), nil
	}
	c := &command{old: new(old)}
	at, body := wire.BeginDocument(nil)
	body = wire.AppendInt64(body, "getMore", g.Cursor)
	body = wire.AppendString(body, "collection", collection)
	if g.Return > 0 {
		body = wire.AppendInt32(body, "batchSize", g.Return)
	}
	if c.ClientMessage, err = wire.CommandIn(h, database, wire.EndDocument(body, at)); err != nil {
		return nil, err
	}
	return c, c.readFields()
}

// unwrapped returns a command without {$query: command, $readPreference: ...}, in which mongos takes it. The preference becomes a field.
func unwrapped(document []byte) ([]byte, error) {
	it := wire.Elements(document)
	if !it.Next() || !isQuery(&it.Element) {
		return document, it.Err
	}
	inner := it.Document()
	preference, err := lastField(document, "$readPreference")
	if err != nil || preference.Type == 0 {
		return inner, err
	}
	at, body := wire.BeginDocument(nil)
	in := wire.Elements(inner)
	for in.Next() {
		if string(in.Key) != "$readPreference" {
			body = wire.AppendElement(body, in.Element)
		}
	}
	return wire.EndDocument(wire.AppendElement(body, preference), at), in.Err
}

// isQuery reports whether an element has the query in a wrapper.
func isQuery(e *wire.Element) bool {
	return e.Type == bson.TypeEmbeddedDocument && (string(e.Key) == "$query" || string(e.Key) == "query")
}

// lastField returns a field of a document, the last one of that name. Its value is empty if there is none.
func lastField(document []byte, name string) (wire.Element, error) {
	var found wire.Element
	it := wire.Elements(document)
	for it.Next() {
		if string(it.Key) == name {
			found = it.Element
		}
	}
	return found, it.Err
}

// dealOld answers a message that is not a command of today, or follows one that was refused. The error is that of the connection.
func (c *client) dealOld(q *command) error {
	switch {
	case q.old != nil && q.old.write:
		c.lost = q.old.refused
		return nil
	case c.lost != nil:
		return c.tellLost(q)
	case q.old.isRefused():
		return c.refuse(q, q.old.refused)
	case q.old.kill:
		return c.killOld(q)
	case q.Name == "getMore":
		q.old.from = c.router.cursors.returned(q.cursor)
	}
	return c.command(q)
}

// tellLost follows a write that was refused. A client that asks for the outcome next, by getLastError, learns it. The connection of any other
// ends: nothing else tells it that a write is lost.
func (c *client) tellLost(q *command) error {
	lost := c.lost
	if q.Name != "getLastError" && q.Name != "getlasterror" {
		return lost
	}
	c.lost = nil
	return c.refuse(q, lost)
}

// killOld ends the cursors of an OP_KILL_CURSORS. While there is no member there are no cursors either.
func (c *client) killOld(q *command) error {
	if len(c.router.members()) == 0 {
		return nil
	}
	for _, group := range c.router.cursors.byNamespace(q.old.cursors) {
		database, collection, _ := cutNamespace([]byte(group.namespace))
		at, body := wire.BeginDocument(nil)
		body = wire.AppendString(body, "killCursors", collection)
		array, body := wire.BeginArray(body, "cursors")
		for i, id := range group.cursors {
			body = wire.AppendInt64(body, wire.ArrayKey(i), id)
		}
		body = wire.EndDocument(wire.EndDocument(body, array), at)
		m, err := wire.CommandIn(q.Header, database, body)
		if err != nil {
			return err
		}
		if err := c.forward(&command{ClientMessage: m, old: q.old}, nil); err != nil {
			return err
		}
	}
	return nil
}

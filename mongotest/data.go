package mongotest

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/account"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// Command executes a command at a member, without the wire: no middleware, fail point or authentication concerns it, and
// neither counters nor transcript have it; the journal has its statements, with ConnID 0. A write is acknowledged as its
// write concern says, by a majority if it has none, so that it does not return before the set has reached a state in which
// it is. It returns the reply, and a [*CommandError] if that tells of any error: the command's own, the first of its write
// errors, or that of its write concern.
//
// The command is anything that package bson encodes. It is safe to call beside clients.
func (rs *Deployment) Command(member int, db string, command any) (bson.Raw, error) {
	m, err := rs.memberAt("Command", member)
	if err != nil {
		return nil, err
	}
	body, err := bson.Marshal(command)
	switch {
	case err != nil:
		return nil, fmt.Errorf("mongotest: encoding the command: %w", err)
	case len(body) <= len(query.EmptyDocument):
		return nil, errors.New("mongotest: Command: the command is an empty document")
	}
	if !call.Has(body, "$db") {
		body = wire.EndDocument(wire.AppendString(body[:len(body)-1], "$db", db), 0)
	}
	x, err := rs.direct(m)
	if err != nil {
		return nil, err
	}
	rs.cluster.Active.Add(1)
	defer rs.cluster.Rest()
	if err := x.Execute(x.Parse(body)); err != nil {
		return nil, fmt.Errorf("mongotest: member %d was stopped", member)
	}
	reply := bson.Raw(x.Result.Out)
	return reply, replyError(reply)
}

// execute is Command for commands, which tell its error as their own.
func (rs *Deployment) execute(member int, db string, command any) error {
	_, err := rs.Command(member, db, command)
	var refused *CommandError
	if errors.As(err, &refused) {
		return refused.answered()
	}
	return err
}

// direct returns what executes a command of the test itself, which no client has sent.
func (rs *Deployment) direct(m *call.Member) (*exec, error) {
	rs.set.Lock()
	defer rs.set.Unlock()
	if rs.set.Closed || !m.Up {
		return nil, fmt.Errorf("mongotest: member %d does not run", m.Index)
	}
	c := newConn(rs.serverOf(m), nil, 0)
	c.Done, c.Direct, c.User = rs.set.Done, true, &account.Account{Name: "__system", DB: "local"}
	c.x.reset()
	return &c.x, nil
}

// replyError returns the first error that a reply tells of.
func replyError(reply []byte) error {
	if ok := query.Lookup(reply, "ok"); !ok.True() {
		return errorIn(reply)
	}
	for _, field := range []string{"writeErrors", "writeConcernError"} {
		switch v := query.Lookup(reply, field); {
		case v.IsArray() && len(query.Elements(v.Data)) > 0:
			return errorIn(query.Elements(v.Data)[0].Data)
		case v.IsDocument():
			return errorIn(v.Data)
		}
	}
	return nil
}

func errorIn(doc []byte) *CommandError {
	code, _ := query.Lookup(doc, "code").Integer()
	message, name := query.Lookup(doc, "errmsg"), query.Lookup(doc, "codeName")
	e := &CommandError{Code: Code(code), Name: string(name.Text()), Message: string(message.Text())}
	if labels := query.Lookup(doc, "errorLabels"); labels.IsArray() {
		for _, l := range query.Elements(labels.Data) {
			e.Labels = append(e.Labels, string(l.Text()))
		}
	}
	return e
}

// encoded returns documents that a method is given.
func encoded(method string, docs []any) ([]bson.Raw, error) {
	list := make([]bson.Raw, 0, len(docs))
	for i, doc := range docs {
		raw, err := bson.Marshal(doc)
		switch {
		case err != nil && isList(doc):
			return nil, fmt.Errorf("mongotest: %s: argument %d is a %T; pass the documents with ... (of a []any), or one by one", method, i, doc)
		case err != nil:
			return nil, fmt.Errorf("mongotest: %s: encoding document %d: %w", method, i, err)
		}
		list = append(list, raw)
	}
	return list, nil
}

// isList reports whether a value is a slice of documents rather than one that is a slice itself.
func isList(doc any) bool {
	switch doc.(type) {
	case nil, bson.D, bson.Raw, []byte:
		return false
	}
	return reflect.TypeOf(doc).Kind() == reflect.Slice
}

// atPrimary executes a command on a collection at the primary. The namespace is "database.collection"; its collection is
// the command's first value.
func (rs *Deployment) atPrimary(ns, command string, fields ...bson.E) (bson.Raw, error) {
	db, coll, err := call.SplitNamespace(ns)
	if err != nil {
		return nil, err
	}
	p := rs.Primary()
	if p < 0 {
		return nil, errors.New("mongotest: there is no primary")
	}
	return rs.Command(p, db, append(bson.D{{Key: command, Value: coll}}, fields...))
}

// Insert inserts documents at the primary, in order; a document without an _id gets one. Like all that follows it is
// [Deployment.Command] with the command of that name, and returns its errors: what indexes and validators forbid is not stored.
func (rs *Deployment) Insert(ns string, docs ...any) error {
	list, err := encoded("Insert", docs)
	if err == nil {
		_, err = rs.atPrimary(ns, "insert", bson.E{Key: "documents", Value: list})
	}
	return err
}

// Replace stores a document, which must have an _id. It replaces the one with the same _id, if there is one.
func (rs *Deployment) Replace(ns string, doc any) error {
	raw, err := bson.Marshal(doc)
	if err != nil {
		return fmt.Errorf("mongotest: encoding the document: %w", err)
	}
	id, err := bson.Raw(raw).LookupErr("_id")
	if err != nil {
		return errors.New("mongotest: Replace: the document has no _id")
	}
	_, err = rs.atPrimary(ns, "update", bson.E{Key: "updates", Value: bson.A{bson.D{
		{Key: "q", Value: bson.D{{Key: "_id", Value: id}}},
		{Key: "u", Value: bson.Raw(raw)},
		{Key: "upsert", Value: true},
	}}})
	return err
}

// Delete deletes what a filter matches, everything if it is nil, and returns how many documents that were.
func (rs *Deployment) Delete(ns string, filter any) (int, error) {
	reply, err := rs.atPrimary(ns, "delete", bson.E{Key: "deletes", Value: bson.A{bson.D{
		{Key: "q", Value: orAll(filter)},
		{Key: "limit", Value: 0},
	}}})
	return countIn(reply), err
}

// Find returns what a filter matches at the primary, everything if it is nil, whether a majority has it or not.
func (rs *Deployment) Find(ns string, filter any) ([]bson.Raw, error) {
	reply, err := rs.atPrimary(ns, "find", bson.E{Key: "filter", Value: orAll(filter)}, bson.E{Key: "batchSize", Value: math.MaxInt32})
	if err != nil {
		return nil, err
	}
	var docs []bson.Raw
	db, coll, _ := strings.Cut(ns, ".")
	for batch := "firstBatch"; ; batch = "nextBatch" {
		cursor := reply.Lookup("cursor").Document()
		for _, v := range query.Elements(cursor.Lookup(batch).Value) {
			docs = append(docs, bson.Raw(v.Data))
		}
		id := cursor.Lookup("id").Int64()
		if id == 0 {
			return docs, nil
		}
		member := int(id&math.MaxInt32) - 1 // that has the cursor
		reply, err = rs.Command(member, db, bson.D{{Key: "getMore", Value: id}, {Key: "collection", Value: coll}})
		if err != nil {
			return nil, err
		}
	}
}

// Count returns how many documents a filter matches at the primary; all if it is nil.
func (rs *Deployment) Count(ns string, filter any) (int, error) {
	reply, err := rs.atPrimary(ns, "count", bson.E{Key: "query", Value: orAll(filter)})
	return countIn(reply), err
}

// CreateIndex creates an index. Options are those of the command createIndexes, for example {unique: true}; the name is made
// from the keys, as drivers do, unless it is among them.
func (rs *Deployment) CreateIndex(ns string, keys any, options ...bson.E) error {
	pattern, err := bson.Marshal(keys)
	if err != nil {
		return fmt.Errorf("mongotest: encoding the index's keys: %w", err)
	}
	index := append(bson.D{{Key: "key", Value: bson.Raw(pattern)}}, options...)
	raw, err := bson.Marshal(index)
	if err != nil {
		return fmt.Errorf("mongotest: encoding the index: %w", err)
	}
	if !call.Has(raw, "name") {
		index = append(index, bson.E{Key: "name", Value: indexName(pattern)})
	}
	_, err = rs.atPrimary(ns, "createIndexes", bson.E{Key: "indexes", Value: bson.A{index}})
	return err
}

// indexName is the name that drivers give to an index.
func indexName(pattern []byte) string {
	var parts []string
	for it := wire.Elements(pattern); it.Next(); {
		v := query.Of(it.Element)
		direction := string(v.Text())
		if n, ok := v.Integer(); ok {
			direction = fmt.Sprint(n)
		}
		parts = append(parts, string(it.Key), direction)
	}
	return strings.Join(parts, "_")
}

// Drop drops a collection; that there is none is no error.
func (rs *Deployment) Drop(ns string) error {
	_, err := rs.atPrimary(ns, "drop")
	if e := (*CommandError)(nil); errors.As(err, &e) && e.Code == mongoerr.NamespaceNotFound {
		return nil
	}
	return err
}

// ReadMember returns the documents that a member has in a namespace ("database.collection"), committed or not; it may be killed
// or cut off. They must not be changed. It panics if there is no such member, or the namespace is none.
func (rs *Deployment) ReadMember(member int, ns string) []bson.Raw {
	m := orPanic(rs.memberAt("ReadMember", member))
	if _, _, err := call.SplitNamespace(ns); err != nil {
		panic(err.Error())
	}
	return m.Documents(ns)
}

// orAll is a filter, or the one that matches everything for nil.
func orAll(filter any) any {
	if filter == nil {
		return bson.D{}
	}
	return filter
}

func countIn(reply []byte) int {
	if reply == nil {
		return 0
	}
	n, _ := query.Lookup(reply, "n").Integer()
	return int(n)
}

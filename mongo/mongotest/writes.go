package mongotest

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// outcome gathers what the statements of a write command did.
type outcome struct {
	n, modified int32
	upserted    []upserted
	retried     []int32
	failures    []failure
}

type upserted struct {
	index int
	id    query.Value
}

type failure struct {
	index int
	err   *mongoerr.Error
}

// fail records a statement's error.
func (o *outcome) fail(index int, note *Entry, err error) {
	e := mongoerr.From(err)
	note.ErrorCode = e.Code
	o.failures = append(o.failures, failure{index, e})
}

// executedBeforeLocked returns the oplog entry of a statement that was executed before, which is then told as done; nil if it was
// not.
func (x *exec) executedBeforeLocked(note *Entry, o *outcome) *entry {
	e := x.executedLocked(note.StatementID)
	if e != nil {
		note.Deduplicated = true
		o.retried = append(o.retried, note.StatementID)
		o.n++
	}
	return e
}

// orderedArg reads the arguments of insert, update and delete beside their statements.
func (x *exec) orderedArg() (bool, error) {
	ordered := true
	for i := range x.args {
		e := &x.args[i]
		switch string(e.Key) {
		case "bypassDocumentValidation":
			x.bypass = e.True()
		case "ordered":
			ordered = e.True()
		case "let":
			if err := x.letField(x.name, e); err != nil {
				return false, err
			}
		}
	}
	return ordered, nil
}

// writeStatements executes the n statements of a write command by one, which tells whether its statement went well, and answers
// with what they did. An ordered command ends with the first that failed.
func (x *exec) writeStatements(n int, ordered bool, one func(i int, o *outcome) bool) error {
	var o outcome
	err := x.writing(func() error {
		o = outcome{}
		for i := range n {
			if !one(i, &o) && ordered {
				x.entries = x.entries[:i+1]
				break
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	x.appendOutcome(&o)
	return nil
}

// appendOutcome writes the reply of a write command.
func (x *exec) appendOutcome(o *outcome) {
	x.refused = len(o.failures) > 0
	dst := wire.AppendInt32(x.out, "n", o.n)
	dst = appendUpserted(dst, o.upserted)
	dst = appendFailures(dst, o.failures)
	if x.name == "update" {
		dst = wire.AppendInt32(dst, "nModified", o.modified)
	}
	x.out = dst
	x.appendWritten(o.retried)
}

// appendWritten writes what ends the reply of every write: in which term and up to where it was applied, and what was not
// executed because it had been before.
func (x *exec) appendWritten(retried []int32) {
	dst := x.out
	if !x.set.config.standalone {
		dst = wire.AppendObjectID(dst, "electionId", electionID(x.term))
		x.set.mu.Lock()
		if e := x.member.log.at(x.applied); e != nil {
			dst = appendOpTime(dst, "opTime", e)
		}
		x.set.mu.Unlock()
	}
	if len(retried) > 0 {
		at, list := wire.BeginArray(dst, "retriedStmtIds")
		for i, id := range retried {
			list = wire.AppendInt32(list, wire.ArrayKey(i), id)
		}
		dst = wire.EndDocument(list, at)
	}
	x.out = dst
}

func appendUpserted(dst []byte, list []upserted) []byte {
	if len(list) == 0 {
		return dst
	}
	at, dst := wire.BeginArray(dst, "upserted")
	for i, u := range list {
		one, d := wire.BeginEmbedded(dst, wire.ArrayKey(i))
		d = wire.AppendInt32(d, "index", int32(u.index))
		d = wire.AppendValue(d, "_id", u.id.Type, u.id.Data)
		dst = wire.EndDocument(d, one)
	}
	return wire.EndDocument(dst, at)
}

func appendFailures(dst []byte, list []failure) []byte {
	if len(list) == 0 {
		return dst
	}
	at, dst := wire.BeginArray(dst, "writeErrors")
	for i, f := range list {
		one, d := wire.BeginEmbedded(dst, wire.ArrayKey(i))
		d = wire.AppendInt32(d, "index", int32(f.index))
		d = wire.AppendInt32(d, "code", f.err.Code)
		d = wire.AppendString(d, "errmsg", f.err.Message)
		d = append(d, f.err.Extra...)
		dst = wire.EndDocument(d, one)
	}
	return wire.EndDocument(dst, at)
}

// admissibleLocked tells why a document may not be stored, as a new one or in the place of that with the same _id; nil if
// it may.
func (x *exec) admissibleLocked(key string, doc []byte, isNew bool) error {
	c, err := x.collectionLocked(x.full)
	if c == nil {
		return err
	}
	r := c.byID[key]
	if c.def.options.filter != nil && !x.bypass {
		var before []byte
		if r != nil && !isNew {
			before = r.doc
		}
		if err := x.refuses(&c.def.options, before, doc); err != nil {
			return err
		}
	}
	if isNew && r != nil {
		ix := idIndex
		if own := c.def.clustering(); own != nil {
			ix = own
		}
		return duplicate(x.full, ix, indexKey{query.Lookup(doc, "_id")})
	}
	return c.conflict(x.full, key, doc)
}

// stored returns the document that is stored for one that a client sent, a copy, and the key of its _id.
func stored(doc []byte) ([]byte, string, error) {
	id := query.Lookup(doc, "_id")
	switch id.Type {
	case bson.TypeArray, bson.TypeRegex, bson.TypeUndefined:
		return nil, "", mongoerr.Errorf(mongoerr.InvalidIDField, "The '_id' value cannot be of type %s", query.TypeName(id.Type))
	case 0:
		oid := bson.NewObjectID()
		id = query.Value{Type: bson.TypeObjectID, Data: oid[:]}
	}
	if err := checkIDNames(id); err != nil {
		return nil, "", err
	}
	var buf [64]byte
	key := string(query.AppendKey(buf[:0], id))
	it := wire.Elements(doc)
	if it.Next() && string(it.Key) == "_id" {
		return append(make([]byte, 0, len(doc)), doc...), key, nil
	}
	return query.FrontID(id, doc), key, nil
}

// valid checks a document that a client sent, to any depth that it may have.
func valid(doc []byte) error { return wellFormed(doc, query.MaxNesting) }

func wellFormed(doc []byte, levels int) error {
	if levels == 0 {
		return mongoerr.Errorf(mongoerr.Overflow, "Document exceeds maximum nesting of %d levels", query.MaxNesting)
	}
	it := wire.Elements(doc)
	for it.Next() {
		switch it.Type {
		case bson.TypeEmbeddedDocument, bson.TypeArray:
			if err := wellFormed(it.Value, levels-1); err != nil {
				return err
			}
		case bson.TypeCodeWithScope:
			_, scope, ok := query.Of(it.Element).CodeWithScope()
			if !ok {
				return fmt.Errorf("%w: code and its scope do not fit", wire.ErrMalformed)
			}
			if err := wellFormed(scope, levels-1); err != nil {
				return err
			}
		case bson.TypeBoolean:
			if it.Value[0] > 1 {
				return fmt.Errorf("%w: a boolean of %d", wire.ErrMalformed, it.Value[0])
			}
		}
	}
	return it.Err
}

var emptyDocument = []byte{5, 0, 0, 0, 0}

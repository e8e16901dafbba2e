package command

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/command/insert/

// insertion is one document to insert, or why it cannot be.
type insertion struct {
	doc   []byte
	key   string
	ownID bool          // the document came with its _id
	batch bson.ObjectID // the same for all that a command inserts
	err   error
}

func cmdInsert(x *call.Call) error {
	if err := x.TargetOf("documents"); err != nil {
		return err
	}
	ordered, err := x.OrderedArg()
	if err != nil {
		return err
	}
	docs, err := x.BatchDocuments("documents")
	if err != nil {
		return err
	}
	list, batch := make([]insertion, len(docs)), bson.NewObjectID()
	for i, doc := range docs {
		list[i] = prepareInsertion(x, doc)
		list[i].batch = batch
		x.Note(x.StatementID(i), list[i].doc)
	}
	return x.WriteStatements(len(list), ordered, func(x call.Locked, i int, o *call.Outcome) bool { return insertOne(x, &list[i], i, o) })
}

func prepareInsertion(x *call.Call, doc []byte) insertion {
	if err := query.CheckDocument(doc); err != nil {
		return insertion{doc: slices.Clone(doc), err: err}
	}
	if len(doc) > query.MaxDocumentSize {
		return insertion{doc: slices.Clone(doc), err: mongoerr.Errorf(mongoerr.BSONObjectTooLarge,
			"object to insert too large. size in bytes: %d, max "+
				"size: %d", len(doc), query.MaxDocumentSize)}
	}
	if query.Nesting(doc, query.MaxStoredNesting+1) > query.MaxStoredNesting {
		return insertion{doc: slices.Clone(doc), err: mongoerr.Errorf(mongoerr.Overflow,
			"cannot insert document because it exceeds %d levels of nesting",
			query.MaxStoredNesting)}
	}
	if !x.Client.Set.Version.StoresDollars() {
		if err := store.CheckInsertedNames(doc); err != nil {
			return insertion{doc: slices.Clone(doc), err: err}
		}
	}
	kept, key, err := store.Prepared(query.Stamped(doc, stampTime(x)))
	if err != nil {
		return insertion{doc: slices.Clone(doc), err: err}
	}
	return insertion{doc: kept, key: key, ownID: !query.Lookup(doc, "_id").Missing()}
}

// insertOne executes one statement and reports whether it went well.
func insertOne(x call.Locked, in *insertion, i int, o *call.Outcome) bool {
	note := x.Result.Entries[i]
	stmt := note.StatementID
	if x.ExecutedBefore(note, o) != nil {
		return true
	}
	err := in.err
	if err == nil {
		err = measured(x, in)
	}
	key := in.key
	if err == nil {
		key, err = keyOf(x, key, in.doc)
	}
	if err == nil {
		err = x.Admissible(key, in.doc, true)
	}
	if err == nil {
		err = x.Store(&store.Entry{Op: store.Put, Key: key, After: in.doc}, stmt, note)
	}
	if err != nil {
		o.Fail(i, note, err)
		return false
	}
	o.N++
	return true
}

// keyOf returns the key of a new document in the command's collection, whose _id has another one where there is no collation.
func keyOf(x call.Locked, plain string, doc []byte) (string, error) {
	c, err := x.Collection(x.Command.Full)
	if c == nil || c.Def.Options.Collation == nil || c.Def.Options.Timeseries != nil {
		return plain, err
	}
	return c.Def.IDKey(query.Lookup(doc, "_id")), nil
}

// measured makes a measurement of a document that goes into a time-series collection, with a key of its own.
func measured(x call.Locked, in *insertion) error {
	c, err := x.Collection(x.Command.Full)
	if c == nil || c.Def.Options.Timeseries == nil {
		return err
	}
	if x.Result.Within != nil {
		return mongoerr.Errorf(mongoerr.OperationNotSupportedInTransaction,
			"Cannot insert into a time-series collection in a multi-document transaction: %s",
			x.Command.Full)
	}
	ts := c.Def.Options.Timeseries
	if in.key, err = ts.KeyOf(in.doc, in.batch); err == nil {
		in.doc = ts.Measurement(in.doc, in.ownID)
	}
	return err
}

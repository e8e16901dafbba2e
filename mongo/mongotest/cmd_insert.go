package mongotest

import (
	"slices"
	"time"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/command/insert/

// insertion is one document to insert, or why it cannot be.
type insertion struct {
	doc   []byte
	key   string
	ownID bool // the document came with its _id
	err   error
}

func cmdInsert(x *exec) error {
	if err := x.collectionName(); err != nil {
		return err
	}
	ordered := true
	for i := range x.args {
		e := &x.args[i]
		switch string(e.Key) {
		case "bypassDocumentValidation":
			x.bypass = e.True()
		case "ordered":
			ordered = e.True()
		}
	}
	docs, err := x.batchDocuments("documents")
	if err != nil {
		return err
	}
	list := make([]insertion, len(docs))
	for i, doc := range docs {
		list[i] = x.prepareInsertion(doc)
		x.note(x.statementID(i), list[i].doc)
	}
	var o outcome
	err = x.writing(func() error {
		o = outcome{}
		x.insertLocked(list, ordered, &o)
		return nil
	})
	if err != nil {
		return err
	}
	x.appendOutcome(&o, false)
	return nil
}

func (x *exec) prepareInsertion(doc []byte) insertion {
	if err := valid(doc); err != nil {
		return insertion{doc: slices.Clone(doc), err: err}
	}
	if len(doc) > query.MaxDocumentSize {
		return insertion{doc: slices.Clone(doc), err: failf(codeBSONObjectTooLarge, "object to insert too large. size in bytes: %d, max "+
			"size: %d", len(doc), query.MaxDocumentSize)}
	}
	if query.Nesting(doc, query.MaxStoredNesting+1) > query.MaxStoredNesting {
		return insertion{doc: slices.Clone(doc), err: failf(codeOverflow, "cannot insert document because it exceeds %d levels of nesting",
			query.MaxStoredNesting)}
	}
	if err := x.set.config.version.checkInsertedNames(doc); err != nil {
		return insertion{doc: slices.Clone(doc), err: err}
	}
	kept, key, err := stored(query.Stamped(doc, time.Now()))
	if err != nil {
		return insertion{doc: slices.Clone(doc), err: err}
	}
	return insertion{doc: kept, key: key, ownID: !query.Lookup(doc, "_id").Missing()}
}

func (x *exec) insertLocked(list []insertion, ordered bool, o *outcome) {
	for i := range list {
		if err := x.insertOneLocked(&list[i], i, o); err != nil && ordered {
			x.entries = x.entries[:i+1]
			return
		}
	}
}

func (x *exec) insertOneLocked(in *insertion, i int, o *outcome) error {
	note := x.entries[i]
	stmt := note.StatementN
	switch {
	case x.executedLocked(stmt) != nil:
		note.Deduplicated = true
		o.retried = append(o.retried, stmt)
		o.n++
		return nil
	case in.err != nil:
		o.fail(i, note, in.err)
		return in.err
	}
	if err := x.measuredLocked(in); err != nil {
		o.fail(i, note, err)
		return err
	}
	if err := x.admissibleLocked(in.key, in.doc, true); err != nil {
		o.fail(i, note, err)
		return err
	}
	if err := x.storeLocked(&entry{kind: put, key: in.key, after: in.doc}, stmt, note); err != nil {
		o.fail(i, note, err)
		return err
	}
	o.n++
	return nil
}

// measuredLocked makes a measurement of a document that goes into a time-series collection, with a key of its own.
func (x *exec) measuredLocked(in *insertion) error {
	c, err := x.collectionLocked(x.full)
	if c == nil || c.def.options.timeseries == nil {
		return err
	}
	if x.within != nil {
		return failf(codeOperationNotSupportedInTransact, "Cannot insert into a time-series collection in a multi-document transaction: %s",
			x.full)
	}
	ts := c.def.options.timeseries
	if in.key, err = ts.keyOf(in.doc); err == nil {
		in.doc = ts.measurement(in.doc, in.ownID)
	}
	return err
}

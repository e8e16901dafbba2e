package command

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/command/bulkWrite/

// bulk is a parsed bulkWrite.
type bulk struct {
	ops        []bulkOp
	namespaces []string
	ordered    bool
	errorsOnly bool
	batchSize  int64
	counts
}

// counts are what the operations of a bulkWrite did.
type counts struct {
	errors, inserted, matched, modified, upserted, deleted int32
	retried                                                []int32
}

// count adds what an operation did.
func (c *counts) count(name string, o *call.Outcome) {
	switch name {
	case "insert":
		c.inserted += o.N
	case "update":
		c.matched += o.N - int32(len(o.Upserted))
		c.modified += o.Modified
		c.upserted += int32(len(o.Upserted))
	default:
		c.deleted += o.N
	}
	c.retried = append(c.retried, o.Retried...)
	c.errors += int32(len(o.Failures))
}

// bulkOp is one operation: one of the three statements.
type bulkOp struct {
	name      string // "insert", "update" or "delete"
	namespace int
	insertion insertion
	update    updateStatement
	delete    deleteStatement
}

func cmdBulkWrite(x *call.Call) error {
	if err := x.AdminOnly(); err != nil {
		return err
	}
	b, err := parseBulk(x)
	if err != nil {
		return err
	}
	for i := range b.ops {
		op := &b.ops[i]
		x.Result.Target = b.namespaces[op.namespace]
		raw := op.insertion.doc
		if op.name != "insert" {
			raw = op.update.raw
		}
		x.Note(x.StatementID(i), raw)
	}
	var docs [][]byte
	if err := x.WritingUnits(func(x call.Locked) (err error) {
		docs, err = runBulk(x, b)
		return err
	}); err != nil {
		return err
	}
	x.Command.Full = "admin.$cmd.bulkWrite"
	err = x.ReplyCursor(docs, nil, call.CursorReply{Size: b.batchSize, Ends: true, Order: call.BatchMiddle})
	x.Command.Full, x.Command.Coll = "", ""
	appendBulk(x, b)
	return err
}

func parseBulk(x *call.Call) (*bulk, error) {
	b := &bulk{ordered: true, batchSize: call.MaxBatch}
	for i := range x.Command.Args {
		e := &x.Command.Args[i]
		var err error
		switch string(e.Key) {
		case "ordered":
			b.ordered = e.True()
		case "errorsOnly":
			b.errorsOnly = e.True()
		case "bypassDocumentValidation":
			x.Command.Bypass = e.True()
		case "cursor":
			b.batchSize, err = x.CursorOption(e, b.batchSize)
		case "let":
			err = x.LetField(x.Command.Name, e)
		}
		if err != nil {
			return nil, err
		}
	}
	docs, err := x.BatchDocuments("ops")
	if err != nil {
		return nil, err
	}
	if b.namespaces, err = bulkNamespaces(x); err != nil {
		return nil, err
	}
	b.ops = make([]bulkOp, len(docs))
	for i, doc := range docs {
		if err := b.ops[i].parse(x, b.namespaces, slices.Clone(doc)); err != nil {
			return nil, err
		}
		if b.ops[i].namespace >= len(b.namespaces) {
			return nil, mongoerr.Errorf(mongoerr.BadValue, "BulkWrite ops entry %s has an invalid nsInfo index.", query.DocumentText(b.ops[i].whole(doc)))
		}
		b.ops[i].checkRetry(x.Retryable())
	}
	b.batchInsertions()
	return b, nil
}

// batchInsertions puts insertions into one collection that stand side by side into one batch.
func (b *bulk) batchInsertions() {
	for i := range b.ops {
		op := &b.ops[i]
		if op.name != "insert" {
			continue
		}
		if i > 0 && b.ops[i-1].name == "insert" && b.ops[i-1].namespace == op.namespace {
			op.insertion.batch = b.ops[i-1].insertion.batch
			continue
		}
		op.insertion.batch = bson.NewObjectID()
	}
}

func bulkNamespaces(x *call.Call) ([]string, error) {
	docs, err := x.Documents("nsInfo")
	if err != nil {
		return nil, err
	}
	list := make([]string, len(docs))
	for i, doc := range docs {
		err := fields.NSInfo.Document(doc, func(e *wire.Element) error {
			if name := string(e.Key); name != "ns" {
				return fields.Unsupported("bulkWrite", "nsInfo."+name)
			}
			list[i] = string(e.Text())
			return nil
		})
		if err != nil {
			return nil, err
		}
		db, coll, _ := strings.Cut(list[i], ".")
		if db == "" || coll == "" {
			return nil, mongoerr.Errorf(mongoerr.InvalidNamespace, "Invalid namespace specified for bulkWrite: '%s'", list[i])
		}
		if err := call.CheckNamespace(db, coll); err != nil {
			return nil, err
		}
		if err := call.CheckWritable(db, coll); err != nil {
			return nil, err
		}
	}
	return list, nil
}

// parse reads an operation. An error that it returns is the command's; one that a statement keeps is its own.
func (op *bulkOp) parse(x *call.Call, namespaces []string, doc []byte) error {
	it := wire.Elements(doc)
	if !it.Next() {
		return mongoerr.Errorf(mongoerr.UnknownField, "BSON field 'bulkWrite' is an unknown field.")
	}
	op.name = string(it.Key)
	if fields.BulkOps[op.name] == nil {
		return fields.Unknown("bulkWrite", op.name)
	}
	op.update.raw = doc
	var f bulkFields
	if err := fields.BulkOps[op.name].Document(doc, func(e *wire.Element) error { return op.field(e, &f) }); err != nil {
		return err
	}
	if op.namespace < len(namespaces) { // else the caller refuses it
		defer func(full string) { x.Command.Full = full }(x.Command.Full)
		x.Command.Full = namespaces[op.namespace]
	}
	return op.finish(x, &f)
}

// whole returns an operation as errors have it: its number of 32 bits first, then its filter, and with what it did not say.
func (op *bulkOp) whole(doc []byte) []byte {
	at, dst := wire.BeginDocument(nil)
	dst = wire.AppendInt32(dst, op.name, int32(op.namespace))
	put := func(names ...string) {
		for _, name := range names {
			v := query.Lookup(doc, name)
			if name == "hint" && v.Type == bson.TypeString {
				at, inner := wire.BeginDocument(nil)
				v = query.Document(wire.EndDocument(wire.AppendValue(inner, "$hint", v.Type, v.Data), at))
			}
			empty := name == "hint" && len(v.Data) == len(query.EmptyDocument)
			if !v.Missing() && v.Type != bson.TypeNull && !empty {
				dst = wire.AppendValue(dst, name, v.Type, v.Data)
			}
		}
	}
	flag := func(name string, on bool) { dst = wire.AppendBool(dst, name, on) }
	switch op.name {
	case "insert":
		put("document")
	case "update":
		put("filter", "sort")
		flag("multi", op.update.multi)
		put("updateMods")
		flag("upsert", op.update.upsert)
		put("upsertSupplied", "arrayFilters", "hint", "constants", "collation")
	default:
		put("filter")
		flag("multi", !op.delete.one)
		put("hint", "collation")
	}
	return wire.EndDocument(dst, at)
}

// bulkFields are the fields of operations that are compiled when all are known.
type bulkFields struct {
	document []byte
	updateParts
	multi bool
	by    call.Criteria // its hint and its collation
}

func (op *bulkOp) field(e *wire.Element, f *bulkFields) error {
	switch name := string(e.Key); name {
	case op.name:
		n, _ := e.Int64()
		if n < 0 {
			return mongoerr.Errorf(mongoerr.BadValue, "BSON field '%s' value must be >= 0, actual value '%d'", op.name, n)
		}
		op.namespace = int(n)
	case "document":
		f.document = e.Value
	case "filter":
		f.filter = e.Value
	case "multi":
		f.multi = e.True()
	case "hint":
		return f.by.Hint.Parse(e)
	case "collation":
		f.by.OwnCollation(e)
	case "updateMods":
		f.update = query.Of(*e)
	case "upsert":
		op.update.upsert = e.True()
	case "arrayFilters":
		f.arrayFilters = query.Of(*e)
	case "constants":
		f.constants = e.Value
	case "sort":
		f.sort = e.Value
	case "upsertSupplied":
		f.supplied = e.True()
	case "sampleId":
		return fields.Unsupported("bulkWrite.ops", name)
	}
	return nil
}

func (op *bulkOp) finish(x *call.Call, f *bulkFields) error {
	switch op.name {
	case "insert":
		op.insertion = prepareInsertion(x, f.document)
	case "update":
		op.update.multi, op.update.Criteria = f.multi, f.by
		if op.update.err = op.update.compileUpdate(x, &f.updateParts); f.multi && f.sort != nil {
			op.update.err = errSortedMulti
		}
	default:
		op.delete.one, op.delete.Criteria, op.delete.filter = !f.multi, f.by, f.filter
		if op.delete.err = query.CheckDocument(op.update.raw); op.delete.err == nil {
			op.delete.err = op.delete.Compile(x, f.filter)
		}
	}
	return nil
}

// checkRetry refuses a statement of many documents with a transaction number.
func (op *bulkOp) checkRetry(retryable bool) {
	switch {
	case !retryable:
	case op.name == "update" && op.update.multi:
		op.update.err = mongoerr.Errorf(mongoerr.InvalidOptions, "Cannot use (or request) retryable writes with multi=true")
	case op.name == "delete" && !op.delete.one:
		op.delete.err = mongoerr.Errorf(mongoerr.InvalidOptions, "Cannot use (or request) retryable writes with multi=true")
	}
}

// runBulk executes the operations and returns what the reply's cursor says of them.
func runBulk(x call.Locked, b *bulk) (docs [][]byte, err error) {
	err = x.Statements(len(b.ops), b.ordered, func(i int, o *call.Outcome) bool {
		op := &b.ops[i]
		x.Command.Full = b.namespaces[op.namespace]
		switch op.name {
		case "insert":
			return insertOne(x, &op.insertion, i, o)
		case "update":
			return runUpdate(x, &op.update, i, o)
		default:
			return deleteOne(x, &op.delete, i, o)
		}
	}, func(i int, o *call.Outcome) {
		x.CountStatement(b.ops[i].name, o)
		b.count(b.ops[i].name, o)
		if len(o.Failures) > 0 || !b.errorsOnly {
			docs = append(docs, bulkReply(o, b.ops[i].name, i))
		}
	})
	return docs, err
}

// bulkReply returns what the cursor of a bulkWrite says of one operation.
func bulkReply(o *call.Outcome, name string, i int) []byte {
	at, dst := wire.BeginDocument(nil)
	dst = wire.AppendDouble(dst, "ok", float64(1-len(o.Failures)))
	dst = wire.AppendInt32(dst, "idx", int32(i))
	for _, f := range o.Failures {
		dst = wire.AppendInt32(dst, "code", f.Err.Code)
		dst = wire.AppendString(dst, "errmsg", f.Err.Message)
		dst = append(dst, f.Err.Extra...)
	}
	dst = wire.AppendInt32(dst, "n", o.N)
	if name == "update" {
		dst = wire.AppendInt32(dst, "nModified", o.Modified)
	}
	for _, u := range o.Upserted {
		one, d := wire.BeginEmbedded(dst, "upserted")
		dst = wire.EndDocument(wire.AppendValue(d, "_id", u.ID.Type, u.ID.Data), one)
	}
	return wire.EndDocument(dst, at)
}

func appendBulk(x *call.Call, b *bulk) {
	x.Result.StatementFailed = b.errors > 0
	dst := wire.AppendInt32(x.Result.Out, "nErrors", b.errors)
	dst = wire.AppendInt32(dst, "nInserted", b.inserted)
	dst = wire.AppendInt32(dst, "nMatched", b.matched)
	dst = wire.AppendInt32(dst, "nModified", b.modified)
	dst = wire.AppendInt32(dst, "nUpserted", b.upserted)
	x.Result.Out = wire.AppendInt32(dst, "nDeleted", b.deleted)
	x.AppendWritten(b.retried)
}

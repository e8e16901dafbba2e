package mongo

import (
	"context"
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/retry"
)

const bulkWriteWireVersion = 25 // MongoDB 8.0

// clientBulkCommand is one bulkWrite command. Its reply has a cursor over the results of its ops.
type clientBulkCommand struct {
	bulk       *clientBulk
	first, end int // its ops
	nsInfo     []byte
	multi      bool
	cursor     *Cursor
	summary    bulkSummary
}

// bulkSummary has the counts in the reply of a bulkWrite command.
type bulkSummary struct{ inserted, matched, modified, deleted, upserted, errors int64 }

func (b *clientBulk) command(first, end int) *clientBulkCommand {
	c := &clientBulkCommand{bulk: b, first: first, end: end}
	indexes := make(map[int]int)
	for i := first; i < end; i++ {
		op := &b.ops[i]
		index, known := indexes[op.namespace]
		if !known {
			index = len(indexes)
			indexes[op.namespace] = index
			c.nsInfo = append(c.nsInfo, b.namespaces[op.namespace].info()...)
		}
		b.setNamespace(i, index)
		c.multi = c.multi || op.multi
	}
	return c
}

// run runs the command. A write concern error is a ClientBulkWriteException; then the reply has results too.
func (c *clientBulkCommand) run(ctx context.Context) error {
	coll := c.bulk.coll
	if c.cursor = newCursor(ctx, coll.db, coll.name, coll.scope); c.cursor.err != nil {
		return c.cursor.err
	}
	var op operation.Operation
	coll.write(&op, "bulkWrite", c, retry.NotIdempotent)
	op.Retryable = op.Retryable && !c.multi
	op.Several = c.multi || c.end-c.first > 1
	op.Session, op.Pin = c.cursor.session, &c.cursor.pin
	op.LogID, op.Traced, c.cursor.traced = c.bulk.logID, c.bulk.traced, c.bulk.traced
	opened := false
	defer c.cursor.opening(&opened)
	err := coll.db.client.run(ctx, &op)
	c.bulk.logID = op.LogID
	var concern ClientBulkWriteException
	opened = err == nil || errors.As(err, &concern)
	return err
}

func (c *clientBulkCommand) AppendTo(b []byte, attempt operation.Attempt) ([]byte, error) {
	if attempt.Server.MaxWireVersion < bulkWriteWireVersion {
		return nil, fmt.Errorf("mongo: Client.BulkWrite needs a server of wire version %d (MongoDB 8.0), this one has %d; use Collection.BulkWrite",
			bulkWriteWireVersion, attempt.Server.MaxWireVersion)
	}
	b = wire.AppendInt32(b, "bulkWrite", 1)
	b = wire.AppendBool(b, "errorsOnly", !c.bulk.result.HasVerboseResults)
	b = wire.AppendBool(b, "ordered", c.bulk.ordered)
	return c.bulk.ending.appendTo(append(b, c.bulk.extras...), attempt), nil
}

func (c *clientBulkCommand) AppendSequences(b []byte) []byte {
	b = appendSequence(b, "ops", c.bulk.scratch.b[c.bulk.start(c.first):c.bulk.start(c.end)])
	return wire.AppendSequence(b, "nsInfo", c.nsInfo)
}

func (c *clientBulkCommand) Accept(reply *operation.Reply) error {
	c.summary = bulkSummary{}
	counts := map[string]*int64{
		"nInserted": &c.summary.inserted, "nMatched": &c.summary.matched, "nModified": &c.summary.modified,
		"nDeleted": &c.summary.deleted, "nUpserted": &c.summary.upserted, "nErrors": &c.summary.errors,
	}
	for it := wire.Elements(reply.Body); it.Next(); {
		if count := counts[string(it.Key)]; count != nil {
			*count, _ = it.Int64()
		}
	}
	if err := c.cursor.accept(reply); err != nil {
		return err
	}
	if e := writeConcernError(reply.WriteConcernError); e != nil {
		return ClientBulkWriteException{WriteConcernErrors: []WriteConcernError{*e}}
	}
	return nil
}

// readResults adds the results of the command. It reads the cursor to its end, and closes it after an error.
func (c *clientBulkCommand) readResults(ctx context.Context) error {
	returned := false
	defer func() {
		if !returned { // the application's code panicked
			_ = c.closeAfter(ctx, nil)
		}
	}()
	err := c.addResults(ctx)
	returned = true
	return err
}

func (c *clientBulkCommand) addResults(ctx context.Context) error {
	c.addSummary()
	firstFailed := false
	for c.cursor.Next(ctx) {
		r, err := readOpResult(c.cursor.Current)
		if err == nil && (r.index < 0 || r.index >= int64(c.end-c.first)) {
			err = fmt.Errorf("mongo: a result of bulkWrite has index %d, the command has %d ops", r.index, c.end-c.first)
		}
		if err != nil {
			return c.closeAfter(ctx, err)
		}
		firstFailed = firstFailed || (!r.ok && r.index == 0)
		c.add(&r)
	}
	b := c.bulk
	if b.ordered {
		b.succeeded = b.succeeded || c.summary.errors == 0 || !firstFailed
	} else {
		b.succeeded = b.succeeded || c.summary.errors < int64(c.end-c.first)
	}
	if err := c.cursor.Err(); err != nil {
		return c.closeAfter(ctx, err)
	}
	return nil
}

// closeAfter closes the cursor after an error, and adds the error of closing.
func (c *clientBulkCommand) closeAfter(ctx context.Context, err error) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), closeLimit)
	defer cancel()
	if closing := c.cursor.Close(ctx); closing != nil {
		return errors.Join(err, closing)
	}
	return err
}

func (c *clientBulkCommand) addSummary() {
	r := &c.bulk.result
	r.InsertedCount += c.summary.inserted
	r.MatchedCount += c.summary.matched
	r.ModifiedCount += c.summary.modified
	r.DeletedCount += c.summary.deleted
	r.UpsertedCount += c.summary.upserted
}

// opResult is an element of the cursor.
type opResult struct {
	ok          bool
	index       int64
	n, modified int64
	upserted    any
	err         WriteError
}

func readOpResult(doc bson.Raw) (opResult, error) {
	r := opResult{err: oneWriteError(doc)}
	it := wire.Elements(doc)
	for it.Next() {
		switch string(it.Key) {
		case "ok":
			r.ok = it.True()
		case "idx":
			r.index, _ = it.Int64()
		case "n":
			r.n, _ = it.Int64()
		case "nModified":
			r.modified, _ = it.Int64()
		case "upserted":
			v := bson.RawValue{Type: it.Type, Value: it.Value}
			var upserted struct {
				ID any `bson:"_id"`
			}
			if err := v.Unmarshal(&upserted); err != nil {
				return r, err
			}
			r.upserted = upserted.ID
		}
	}
	return r, it.Err
}

// add adds the result of one op.
func (c *clientBulkCommand) add(r *opResult) {
	b := c.bulk
	i := c.first + int(r.index)
	switch result := &b.result; {
	case !r.ok:
		b.fail(i, r.err)
	case b.ops[i].verb == "insert":
		put(&result.InsertResults, i, ClientBulkWriteInsertResult{InsertedID: b.ops[i].id})
	case b.ops[i].verb == "update":
		put(&result.UpdateResults, i, ClientBulkWriteUpdateResult{MatchedCount: r.n, ModifiedCount: r.modified, UpsertedID: r.upserted})
	default:
		put(&result.DeleteResults, i, ClientBulkWriteDeleteResult{DeletedCount: r.n})
	}
}

// put sets a value of a map, which it makes if it is nil.
func put[V any](m *map[int]V, key int, v V) {
	if *m == nil {
		*m = map[int]V{}
	}
	(*m)[key] = v
}

var _ operation.Sequencer = (*clientBulkCommand)(nil)

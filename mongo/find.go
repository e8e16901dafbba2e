package mongo

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"sync"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

var (
	findFields = supported(
		"AllowPartialResults", "Collation", "Comment", "Hint", "Max", "Min", "Projection", "ReturnKey", "ShowRecordID",
		"Skip", "Sort", "OplogReplay", "AllowDiskUse", "BatchSize", "CursorType", "Let", "Limit", "MaxAwaitTime",
		"NoCursorTimeout", "Internal")
	findOneFields = supported(
		"AllowPartialResults", "Collation", "Comment", "Hint", "Max", "Min", "Projection", "ReturnKey", "ShowRecordID",
		"Skip", "Sort", "OplogReplay", "Internal")
)

// findCommand is a find command. Its result is one document or the first batch of a cursor.
type findCommand struct {
	coll   *Collection
	filter []byte
	extras []byte
	ending ending

	cursor *Cursor  // nil for FindOne
	first  bson.Raw // the document of FindOne

	op operation.Operation
}

func (c *findCommand) AppendTo(b []byte, attempt operation.Attempt) ([]byte, error) {
	b = wire.AppendString(b, "find", c.coll.name)
	b = wire.AppendDocument(b, "filter", c.filter)
	if c.cursor == nil {
		b = wire.AppendInt64(b, "limit", 1)
		b = wire.AppendBool(b, "singleBatch", true)
	}
	return c.ending.appendTo(append(b, c.extras...), attempt), nil
}

func (c *findCommand) Accept(reply *operation.Reply) error {
	if c.cursor != nil {
		return c.cursor.accept(reply)
	}
	r, err := reply.ReadCursor()
	if err != nil {
		return fmt.Errorf("mongo: %w", err)
	}
	c.first = nil
	if it := wire.Elements(r.Batch); it.Next() {
		c.first = append(bson.Raw(nil), it.Document()...)
	}
	return nil
}

// FindOne returns the first document that matches the filter. If there is none, the result's error is ErrNoDocuments.
// It is a retryable read.
func (coll *Collection) FindOne(
	ctx context.Context, filter any, opts ...options.Lister[options.FindOneOptions],
) *SingleResult {
	result := &SingleResult{codec: coll.scope.codec}
	result.raw, result.err = coll.findOne(ctx, filter, opts)
	return result
}

func (coll *Collection) findOne(
	ctx context.Context, filter any, opts []options.Lister[options.FindOneOptions],
) (bson.Raw, error) {
	o, err := arguments(coll, findOneFields, opts)
	if err != nil {
		return nil, err
	}
	cmd := findCommands.Get().(*findCommand)
	cmd.coll = coll
	if len(opts) > 0 {
		x := findOneExtras(coll.scope.codec, &o)
		cmd.ending = x.ending(internalsOf(opts, o))
		if cmd.extras = x.b; x.err != nil {
			return nil, x.err
		}
	}
	s := newScratch()
	defer s.release()
	if cmd.filter, err = coll.scope.codec.document(s, filter); err != nil {
		return nil, err
	}
	coll.scope.read(&cmd.op, coll.db.name, coll.name, "find", cmd)
	if err = coll.db.client.run(ctx, &cmd.op); err != nil {
		return nil, err
	}
	first := cmd.first
	*cmd = findCommand{}
	findCommands.Put(cmd)
	return first, nil
}

// findCommands recycles the commands of FindOne that succeeded. An error may still refer to its command.
var findCommands = sync.Pool{New: func() any { return new(findCommand) }}

func findOneExtras(codec codec, o *options.FindOneOptions) extras {
	x := extras{codec: codec}
	x.boolean("allowPartialResults", o.AllowPartialResults)
	x.collation(o.Collation)
	x.value("comment", o.Comment)
	x.hint(o.Hint)
	x.orderedDocument("max", o.Max)
	x.orderedDocument("min", o.Min)
	x.document("projection", o.Projection)
	x.boolean("oplogReplay", o.OplogReplay)
	x.boolean("returnKey", o.ReturnKey)
	x.boolean("showRecordId", o.ShowRecordID)
	x.int64("skip", o.Skip)
	x.orderedDocument("sort", o.Sort)
	return x
}

// Find returns a cursor for the documents that match the filter. The caller must close the cursor, or iterate to its
// end. The find command is a retryable read; getMore is retried for overload only.
func (coll *Collection) Find(
	ctx context.Context, filter any, opts ...options.Lister[options.FindOptions],
) (*Cursor, error) {
	return coll.find(ctx, filter, cursorUse{}, opts)
}

// cursorUse is how a cursor of ours is used in another way than one of the application.
type cursorUse struct {
	limited bool // the deadline of the find's context is that of the whole iteration
	passing bool // no document is used after the next one
}

func (coll *Collection) find(
	ctx context.Context, filter any, use cursorUse, opts []options.Lister[options.FindOptions],
) (*Cursor, error) {
	o, err := arguments(coll, findFields, opts)
	if err != nil {
		return nil, err
	}
	awaits := valueOr(o.CursorType, options.NonTailable) == options.TailableAwait
	if err := coll.db.client.checkAwaitTime("FindOptions", o.MaxAwaitTime, awaits); err != nil {
		return nil, err
	}
	s := newScratch()
	defer s.release()
	cmd := &findCommand{coll: coll}
	if cmd.filter, err = coll.scope.codec.document(s, filter); err != nil {
		return nil, err
	}
	x := findExtras(coll.scope.codec, &o)
	cmd.ending = x.ending(internalsOf(opts, o))
	if cmd.extras = x.b; x.err != nil {
		return nil, x.err
	}
	coll.scope.read(&cmd.op, coll.db.name, coll.name, "find", cmd)
	cmd.op.OwnTimeLimit = !awaits && !use.limited // the server applies maxTimeMS to the whole life of a cursor that does not await data
	cmd.cursor = newCursor(ctx, coll.db, coll.name, coll.scope)
	cmd.cursor.batchSize = valueOr(o.BatchSize, 0)
	cmd.cursor.SetComment(o.Comment)
	cmd.cursor.remaining = max(valueOr(o.Limit, 0), 0)
	cmd.cursor.tail(&o)
	cmd.cursor.passing = use.passing
	cmd.op.LargeReply = cmd.cursor.memory()
	if use.limited {
		cmd.cursor.deadline, _ = ctx.Deadline()
	}
	if err := cmd.cursor.open(ctx, &cmd.op); err != nil {
		return nil, err
	}
	return cmd.cursor, nil
}

// tail sets the fields of a tailable cursor. Only one that awaits data has a maximum await time (CRUD specification).
func (c *Cursor) tail(o *options.FindOptions) {
	kind := valueOr(o.CursorType, options.NonTailable)
	if c.tailable = kind != options.NonTailable; kind == options.TailableAwait {
		c.SetMaxAwaitTime(valueOr(o.MaxAwaitTime, 0))
	}
}

func findExtras(codec codec, o *options.FindOptions) extras {
	x := findOneExtras(codec, &options.FindOneOptions{
		AllowPartialResults: o.AllowPartialResults, Collation: o.Collation, Comment: o.Comment, Hint: o.Hint, Max: o.Max,
		Min: o.Min, Projection: o.Projection, ReturnKey: o.ReturnKey, ShowRecordID: o.ShowRecordID, Skip: o.Skip,
		Sort: o.Sort, OplogReplay: o.OplogReplay,
	})
	x.boolean("allowDiskUse", o.AllowDiskUse)
	x.document("let", o.Let)
	x.boolean("noCursorTimeout", o.NoCursorTimeout)
	if o.BatchSize != nil {
		if *o.BatchSize < 0 {
			x.err = cmp.Or(x.err, negativeBatchSize("FindOptions", *o.BatchSize))
		}
		x.b = wire.AppendInt32(x.b, "batchSize", firstBatchSize(o))
	}
	x.cursorType(o)
	if o.Limit != nil && *o.Limit != 0 {
		limit := max(*o.Limit, -*o.Limit) // a negative limit means a single batch
		x.int64("limit", &limit)
		if *o.Limit < 0 {
			x.b = wire.AppendBool(x.b, "singleBatch", true)
		}
	}
	return x
}

// cursorType writes the fields that make a cursor tailable.
func (x *extras) cursorType(o *options.FindOptions) {
	switch valueOr(o.CursorType, options.NonTailable) {
	case options.TailableAwait:
		x.b = wire.AppendBool(x.b, "awaitData", true)
		fallthrough
	case options.Tailable:
		x.b = wire.AppendBool(x.b, "tailable", true)
	case options.NonTailable:
	default:
		x.err = cmp.Or(x.err, fmt.Errorf("mongo: FindOptions.CursorType is %d, which is not a cursor type", *o.CursorType))
	}
}

// firstBatchSize returns the batch size of a find command. If it is the limit, it is one more, so that the server closes
// the cursor with the first batch (CRUD specification, "Combinations of limit and batchSize").
func firstBatchSize(o *options.FindOptions) int32 {
	if o.Limit != nil && *o.Limit == int64(*o.BatchSize) && *o.BatchSize > 0 && *o.BatchSize < math.MaxInt32 {
		return *o.BatchSize + 1
	}
	return *o.BatchSize
}

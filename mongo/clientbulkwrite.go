package mongo

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/retry"
)

var clientBulkWriteFields = supported(
	"BypassDocumentValidation", "Comment", "Ordered", "Let", "WriteConcern", "VerboseResults", "Internal")

// BulkWrite makes writes to several collections with the command bulkWrite, in as few commands as the server's limits
// allow. It needs MongoDB 8.0; the error for an older server is returned before the command is sent. If Ordered is true
// (the default), the first error of a model ends it. A command without UpdateMany and DeleteMany models is a retryable
// write; the others are retried for overload only. If a command fails as a whole, also after a retry, the remaining
// commands are not sent, even if Ordered is false. The client's timeout is for all commands together.
//
// Errors of models are in a ClientBulkWriteException, with the indexes of writes. It also has the error of a command that
// failed after others had succeeded; errors.Is and errors.As find that error too. The result counts the successful writes also
// after an error; it is nil if there are no writes, or a database's name is refused.
func (c *Client) BulkWrite(
	ctx context.Context, writes []ClientBulkWrite, opts ...options.Lister[options.ClientBulkWriteOptions],
) (*ClientBulkWriteResult, error) {
	o, err := collect(clientBulkWriteFields, opts)
	if err != nil {
		return ifRefused(err, &ClientBulkWriteResult{}), err
	}
	internal := internalsOf(opts, o)
	if err := checkWrites(writes, internal.uuids); err != nil {
		return nil, err
	}
	b, err := c.newClientBulk(ctx, &o, internal)
	if err != nil {
		return nil, err
	}
	defer b.scratch.release()
	if err := b.addWrites(writes, internal.uuids); err != nil {
		return &b.result, err
	}
	return &b.result, b.run(ctx)
}

// checkWrites refuses an empty list, a database name with a dot, which would be a wrong namespace, and another number of UUIDs.
func checkWrites(writes []ClientBulkWrite, uuids [][]byte) error {
	if len(writes) == 0 {
		return fmt.Errorf("invalid writes: %w", ErrEmptySlice)
	}
	for i, w := range writes {
		if strings.Contains(w.Database, ".") {
			return fmt.Errorf("invalid database name %q in write %d: database names cannot contain '.'", w.Database, i)
		}
	}
	if uuids != nil && len(uuids) != len(writes) {
		return fmt.Errorf("invalid %s: %d UUIDs for %d writes", uuidsKey, len(uuids), len(writes))
	}
	return nil
}

// clientBulk is the state of a running Client.BulkWrite.
type clientBulk struct {
	coll       *Collection // the namespace of the results
	scratch    *scratch
	ops        []clientOp
	namespaces []namespace
	ordered    bool
	extras     []byte
	ending     ending
	logID      int64             // the operationId of the log, 0 before the first command
	traced     *operation.Traced // nil without a tracer

	done          int // ops in the commands that were run, and ops that were refused before
	result        ClientBulkWriteResult
	writeErrors   map[int]WriteError
	concernErrors []WriteConcernError
	succeeded     bool // at least one write was made
	// history is that of the first command that had a write concern error, or of the first one that tells something.
	history *retry.Error
}

// resultsCollection is the collection in the namespace of the cursor that the command bulkWrite returns.
const resultsCollection = "$cmd.bulkWrite"

func (c *Client) newClientBulk(ctx context.Context, o *options.ClientBulkWriteOptions, internal internals) (*clientBulk, error) {
	coll := c.Database("admin").Collection(resultsCollection)
	if o.WriteConcern != nil {
		if s := SessionFromContext(ctx); s != nil && s.TransactionRunning() {
			return nil, errors.New("mongo: Cannot set write concern after starting a transaction: ClientBulkWriteOptions.WriteConcern must be nil")
		}
		coll.scope = coll.scope.confirm(o.WriteConcern)
	}
	if coll.scope.writeRefused != nil {
		return nil, coll.scope.writeRefused
	}
	b := &clientBulk{
		coll: coll, scratch: newScratch(), ordered: valueOr(o.Ordered, true),
		result: ClientBulkWriteResult{
			Acknowledged: acknowledged(ctx, coll.scope.writeConcern), HasVerboseResults: valueOr(o.VerboseResults, false),
		},
	}
	switch {
	case b.result.Acknowledged:
	case b.ordered:
		return nil, errors.New("cannot request unacknowledged write concern and ordered writes")
	case b.result.HasVerboseResults:
		return nil, errors.New("cannot request unacknowledged write concern and verbose results")
	}
	given := writeExtras{bypass: o.BypassDocumentValidation, comment: o.Comment, let: o.Let, internals: internal}
	var err error
	b.extras, b.ending, err = given.encode(coll.scope.codec, updateOneKind.command)
	return b, err
}

func (b *clientBulk) run(ctx context.Context) error {
	ctx, b.traced = b.coll.trace(ctx, "bulkWrite")
	return b.traced.Run(func() error { return b.runAll(ctx) })
}

func (b *clientBulk) runAll(ctx context.Context) error {
	ctx, cancel := b.coll.db.client.withTimeout(ctx)
	defer cancel()
	goOn, fatal := true, error(nil)
	for goOn && b.done < len(b.ops) {
		goOn, fatal = b.step(ctx)
	}
	return b.err(fatal)
}

// step runs the next command, or refuses the next op if it is too large. It reports whether there is another step. If
// not, it also returns the error of the whole command, if there is one.
func (b *clientBulk) step(ctx context.Context) (bool, error) {
	first, limits := b.done, b.coll.db.client.limits()
	end := b.next(first, limits)
	if end == first {
		b.done++
		b.failTooLarge(first, limits)
		return !b.ordered, nil
	}
	cmd := b.command(first, end)
	err := cmd.run(ctx)
	b.done = end
	var concern ClientBulkWriteException
	if err != nil && !errors.As(err, &concern) {
		return false, err
	}
	b.concernErrors = append(b.concernErrors, concern.WriteConcernErrors...)
	if b.result.Acknowledged {
		if err := cmd.readResults(ctx); err != nil {
			return false, err
		}
	}
	var history *retry.Error
	if errors.As(err, &history) {
		b.history = moreTelling(b.history, history)
	}
	if retryFailed(history) {
		return false, nil
	}
	return !b.ordered || len(b.writeErrors) == 0, nil
}

// The sizes in a bulkWrite command (CRUD specification, "Total Message Size").
const (
	bulkOverhead = 1000 // bytes of a message that are reserved for fields of all commands
	bulkBase     = 43   // bytes of a command without optional fields, ops and nsInfo
)

// next returns the end of the command that begins with op first: of the largest command within the limits. It is first
// if this op is too large.
func (b *clientBulk) next(first int, l limits) int {
	room := l.bytes - bulkOverhead - bulkBase - len(b.extras) - len(b.ending.added)
	known := map[int]bool{}
	end := first
	for ; end < len(b.ops) && end-first < l.count; end++ {
		op := &b.ops[end]
		size := op.end - b.start(end)
		if size > l.document+messageMargin {
			break
		}
		if !known[op.namespace] {
			size += len(b.namespaces[op.namespace].info())
		}
		if room -= size; room < 0 {
			break
		}
		known[op.namespace] = true
	}
	return end
}

// failTooLarge records the error of an op that is too large.
func (b *clientBulk) failTooLarge(i int, l limits) {
	size := b.ops[i].end - b.start(i)
	e := tooLarge{subject: fmt.Sprintf("the %s of model %d", b.ops[i].verb, i), size: size, limit: l.document}.writeError()
	if size <= l.document+messageMargin {
		e.Message = fmt.Sprintf("the %s of model %d has %d bytes and its namespace %d: more than the server's maxMessageSizeBytes of %d permits",
			b.ops[i].verb, i, size, len(b.namespaces[b.ops[i].namespace].info()), l.bytes)
	}
	b.fail(i, e)
}

func (b *clientBulk) fail(i int, e WriteError) {
	if b.writeErrors == nil {
		b.writeErrors = map[int]WriteError{}
	}
	e.Index = i
	b.writeErrors[i] = e
}

// err returns the error of the whole BulkWrite. fatal is the error of a command that failed as a whole, or nil.
func (b *clientBulk) err(fatal error) error {
	failed := len(b.writeErrors) > 0 || len(b.concernErrors) > 0
	if !failed && (fatal == nil || !b.succeeded) {
		return fatal
	}
	e := ClientBulkWriteException{WriteConcernErrors: b.concernErrors, WriteErrors: b.writeErrors, cause: fatal}
	if b.succeeded {
		e.PartialResult = &b.result
	}
	switch reply, isReply := fatal.(CommandError); { //nolint:errorlint // what it wraps is no reply
	case isReply:
		e.WriteError = &WriteError{Code: int(reply.Code), Message: reply.Message, Raw: reply.Raw}
	case fatal != nil:
		e.WriteError = &WriteError{Message: fatal.Error()}
	case b.history != nil:
		e.cause = b.history
	}
	return e
}

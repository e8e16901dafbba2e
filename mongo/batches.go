package mongo

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/retry"
)

// statement is an encoded statement of a write with several ones.
type statement struct {
	kind  *writeKind
	model int // the index of the caller's document or model
	end   int // where it ends in the scratch buffer
	hint  any
}

// batches runs the statements of InsertMany and BulkWrite. It sends as many as it can in one command: those that
// follow one another and are of one kind, within the limits of the server.
type batches struct {
	coll       *Collection
	scratch    *scratch
	statements []statement
	list       *[]statement // the recycled memory of statements
	lists      *sync.Pool   // where list comes from; nil without one
	ordered    bool
	extras     map[string][]byte          // by the command's name
	ending     ending                     // of all of them
	logID      int64                      // the operationId of the log, 0 before the first command
	method     string                     // the operation's name for a tracer
	traced     *operation.Traced          // nil without a tracer
	request    func(model int) WriteModel // for the errors

	done     int          // statements in the commands that were run, and statements that were refused before
	failed   map[int]bool // models
	total    BulkWriteResult
	problems BulkWriteException
	// history is that of the first command with write errors or a write concern error, or of the first one that tells something.
	history *retry.Error
	// documentLimit is the maxBsonObjectSize of a server that has refused a statement by it, 0 if there is none.
	documentLimit int
}

// statementLists recycles lists of statements, and largeStatementLists those with room for more than keptStatements, which small batches
// do not keep from the garbage collector.
var statementLists, largeStatementLists = sync.Pool{New: newStatementList}, sync.Pool{New: newStatementList}

func newStatementList() any { return new([]statement) }

const keptStatements = 10_000

func newBatches(ctx context.Context, coll *Collection, ordered bool) *batches {
	return newBatchesIn(ctx, newScratch(), coll, ordered)
}

// newBatchesIn returns batches whose statements are in a buffer of the caller, who must not call release.
func newBatchesIn(ctx context.Context, s *scratch, coll *Collection, ordered bool) *batches {
	return &batches{
		coll: coll, scratch: s, ordered: ordered, method: insertKind.command, extras: map[string][]byte{}, failed: map[int]bool{},
		total: BulkWriteResult{UpsertedIDs: map[int64]any{}, Acknowledged: acknowledged(ctx, coll.scope.writeConcern)},
	}
}

// add adds the statement that was just encoded.
func (b *batches) add(kind *writeKind, model int, hint any) {
	b.statements = append(b.statements, statement{kind: kind, model: model, end: len(b.scratch.b), hint: hint})
}

// makeRoom makes room for n statements.
func (b *batches) makeRoom(n int) {
	if b.lists = &statementLists; n > keptStatements {
		b.lists = &largeStatementLists
	}
	b.list = b.lists.Get().(*[]statement)
	b.statements = slices.Grow((*b.list)[:0], n)
}

// release recycles the memory of b, which must not be used any more.
func (b *batches) release() {
	b.scratch.release()
	if b.lists != nil {
		clear(b.statements)
		*b.list = b.statements
		b.lists.Put(b.list)
	}
}

// encodeExtras encodes the optional fields of the commands.
func (b *batches) encodeExtras(given writeExtras) error {
	last := ""
	for i := range b.statements {
		name := b.statements[i].kind.command
		if name == last {
			continue
		}
		last = name
		if _, ok := b.extras[name]; ok {
			continue
		}
		encoded, end, err := given.encode(b.coll.scope.codec, name)
		if err != nil {
			return err
		}
		b.extras[name], b.ending = encoded, end
	}
	return nil
}

// run runs the commands and returns the error of a command that failed as a whole, the errors of single statements and of write
// concerns, or both. The client's timeout is for all commands together.
func (b *batches) run(ctx context.Context) error {
	ctx, b.traced = b.coll.trace(ctx, b.method)
	return b.traced.Run(func() error { return b.runAll(ctx) })
}

func (b *batches) runAll(ctx context.Context) error {
	ctx, cancel := b.coll.db.client.withTimeout(ctx)
	defer cancel()
	goOn, fatal := true, error(nil)
	for goOn && b.done < len(b.statements) {
		goOn, fatal = b.step(ctx)
	}
	if len(b.problems.WriteErrors) == 0 && b.problems.WriteConcernError == nil {
		return fatal
	}
	if b.history != nil {
		b.problems.cause = b.history
	}
	if fatal != nil {
		return withErrorsBefore(fatal, b.problems)
	}
	return b.problems
}

// step runs the next command, or refuses the next statement if it is too large. It reports whether there is another
// step. If not, it also returns the error, which is nil if b.problems has it.
func (b *batches) step(ctx context.Context) (bool, error) {
	first, limits := b.done, b.limits()
	if refused, is := b.tooLarge(first, limits.document); is {
		b.done++
		b.fail(first, refused.writeError())
		return !b.ordered, nil
	}
	end := b.next(first, limits)
	cmd := b.command(first, end)
	cmd.op.LogID, cmd.op.Traced = b.logID, b.traced
	err := cmd.run(ctx, cmd, cmd.kind.idempotency)
	b.logID = cmd.op.LogID
	if refused, ok := err.(tooLarge); ok { //nolint:errorlint // inside a history it is the error of a retry: the command was sent before
		b.documentLimit = refused.limit
		return true, nil
	}
	b.done = end
	var answer BulkWriteException
	if err == nil || errors.As(err, &answer) { // else the result is that of an attempt before, and nobody knows whether it holds
		cmd.addTo(&b.total)
	}
	return b.note(err, first, end)
}

// limits returns the limits of the client's server. If a server has refused a document, its limit of a document replaces that one.
func (b *batches) limits() limits {
	l := b.coll.db.client.limits()
	if b.documentLimit > 0 {
		l.document = b.documentLimit
	}
	return l
}

// tooLarge reports whether statement i is larger than limit, the maxBsonObjectSize of a server, and returns its error.
func (b *batches) tooLarge(i, limit int) (tooLarge, bool) {
	s := &b.statements[i]
	size := s.end - b.start(i)
	if size <= limit+s.kind.margin {
		return tooLarge{}, false
	}
	refused := documentTooLarge(s.model, size, limit)
	if s.kind != insertKind {
		refused.subject = fmt.Sprintf("the %s statement of model %d", s.kind.command, s.model)
	}
	return refused, true
}

// next returns the end of the command that begins with statement first: of the largest command within the limits.
func (b *batches) next(first int, l limits) int {
	kind, start, end := b.statements[first].kind, b.start(first), first+1
	room := l.bytes - messageMargin - len(b.extras[kind.command]) - len(b.ending.added)
	for end < len(b.statements) && b.statements[end].kind == kind && end-first < l.count && b.statements[end].end-start <= room {
		if _, is := b.tooLarge(end, l.document); is {
			break
		}
		end++
	}
	return end
}

func (b *batches) command(first, end int) *batchCommand {
	s := &b.statements[first]
	c := &batchCommand{batches: b, first: first, writeCommand: writeCommand{
		coll: b.coll, kind: s.kind, statements: b.scratch.b[b.start(first):b.start(end)], unordered: !b.ordered,
		extras: b.extras[s.kind.command], ending: b.ending,
	}}
	for i := first; i < end && c.hint == nil; i++ {
		c.hint = b.statements[i].hint
	}
	c.end = end
	return c
}

// fail records the write error of statement i.
func (b *batches) fail(i int, e WriteError) {
	model := b.statements[i].model
	e.Index = model
	b.failed[model] = true
	b.problems.WriteErrors = append(b.problems.WriteErrors, BulkWriteError{WriteError: e, Request: b.request(model)})
}

// note records the error of a command. It reports whether the next command is sent. If not, it also returns the error
// of the caller, which is nil if b.problems has it.
func (b *batches) note(err error, first, end int) (bool, error) {
	if err == nil {
		return true, nil
	}
	var e BulkWriteException
	if !errors.As(err, &e) {
		b.markFailed(first, end)
		return false, err
	}
	for _, we := range e.WriteErrors {
		if we.Index < 0 || we.Index >= end-first {
			b.markFailed(first, end)
			b.problems.WriteErrors = append(b.problems.WriteErrors, we)
			return false, fmt.Errorf("mongo: a write error of the reply has index %d, the command has %d statements: %w",
				we.Index, end-first, err)
		}
		b.fail(first+we.Index, we.WriteError)
	}
	if e.WriteConcernError != nil {
		b.problems.WriteConcernError = e.WriteConcernError
	}
	b.problems.Labels = append(b.problems.Labels, e.Labels...)
	var history *retry.Error
	if errors.As(err, &history) {
		b.history = moreTelling(b.history, history)
	}
	if b.ordered && len(e.WriteErrors) > 0 {
		b.markFailed(first+e.WriteErrors[len(e.WriteErrors)-1].Index, end)
		return false, nil
	}
	return e.WriteConcernError == nil || !retryFailed(history), nil
}

// retryFailed reports whether the last attempt of a command ended with an error that allows a retry. Any other error of a reply with
// "ok: 1" is one of the statements or of the write concern: the reply of a retry says what the command did.
func retryFailed(history *retry.Error) bool {
	return history != nil && operation.Tells(history) && history.Last().Reason != retry.ReasonUnknown
}

// moreTelling returns the history of the two commands that the application gets.
func moreTelling(first, second *retry.Error) *retry.Error {
	if first == nil || !operation.Tells(first) && operation.Tells(second) {
		return second
	}
	return first
}

// markFailed marks the models of statements from to to-1.
func (b *batches) markFailed(from, to int) {
	for _, s := range b.statements[from:to] {
		b.failed[s.model] = true
	}
}

// start returns the offset of statement i in the scratch buffer.
func (b *batches) start(i int) int {
	if i == 0 {
		return 0
	}
	return b.statements[i-1].end
}

// batchCommand is one command of several statements.
type batchCommand struct {
	writeCommand
	batches    *batches
	first, end int // its statements

	n, modified int64
	upserted    map[int64]any
}

func (c *batchCommand) AppendTo(b []byte, attempt operation.Attempt) ([]byte, error) {
	limit := int(attempt.Server.MaxDocumentSize)
	for i := c.first; limit > 0 && len(c.statements) > limit && i < c.end; i++ {
		// Statements over the limit that was known are left out, so this server has a smaller one.
		if refused, is := c.batches.tooLarge(i, limit); is {
			return nil, refused
		}
	}
	return c.appendTo(b, attempt)
}

func (c *batchCommand) Accept(reply *operation.Reply) error {
	c.n, c.modified, c.upserted = reply.N, reply.NModified, nil
	outside := false
	err := eachUpserted(reply.Upserted, func(index int64, id any) {
		if index < 0 || index >= int64(c.end-c.first) {
			outside = true
			return
		}
		if c.upserted == nil {
			c.upserted = map[int64]any{}
		}
		c.upserted[int64(c.batches.statements[c.first+int(index)].model)] = id
	})
	if err != nil {
		return err
	}
	if outside {
		return fmt.Errorf("mongo: an upserted _id of the reply has an index beyond the %d statements of the command", c.end-c.first)
	}
	return bulkError(reply)
}

// addTo adds the result of the command.
func (c *batchCommand) addTo(total *BulkWriteResult) {
	switch c.kind.command {
	case insertKind.command:
		total.InsertedCount += c.n
	case deleteOneKind.command:
		total.DeletedCount += c.n
	default:
		upserted := int64(len(c.upserted))
		total.MatchedCount += c.n - upserted
		total.ModifiedCount += c.modified
		total.UpsertedCount += upserted
		for model, id := range c.upserted {
			total.UpsertedIDs[model] = id
		}
	}
}

// bulkError returns the BulkWriteException of a reply, or nil.
func bulkError(reply *operation.Reply) error {
	if reply.WriteErrors == nil && reply.WriteConcernError == nil {
		return nil
	}
	e := BulkWriteException{WriteConcernError: writeConcernError(reply.WriteConcernError), Labels: reply.LabelTexts()}
	for _, we := range writeErrors(reply.WriteErrors) {
		e.WriteErrors = append(e.WriteErrors, BulkWriteError{WriteError: we})
	}
	return e
}

var _ operation.Sequencer = (*batchCommand)(nil)

package mongo

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/retry"
)

var insertManyFields = honoured("BypassDocumentValidation", "Comment", "Ordered")

// InsertMany inserts documents, which must be a slice. It splits them into several commands if they exceed the limits
// of the server (maxWriteBatchSize and maxMessageSizeBytes). Each command is a retryable write. If the retry of a
// command fails, the remaining commands are not sent, even if Ordered is false. A document over the server's
// maxBsonObjectSize is not sent; it is a write error with code 10334 in the BulkWriteException, and if Ordered is false,
// the other documents are inserted. The client's timeout is for all commands together. After an error the result has
// the _ids of the documents that were inserted.
func (coll *Collection) InsertMany(
	ctx context.Context, documents any, opts ...options.Lister[options.InsertManyOptions],
) (*InsertManyResult, error) {
	o, err := writeArguments(coll, insertManyFields, opts)
	if err != nil {
		return nil, err
	}
	many, err := coll.newInsertMany(documents, &o)
	if err != nil {
		return nil, err
	}
	defer many.scratch.release()
	return many.run(ctx)
}

// insertMany is the state of a running InsertMany.
type insertMany struct {
	coll     *Collection
	scratch  *scratch
	ends     []int // where each document ends in scratch
	ids      []any
	ordered  bool
	extras   []byte
	failed   map[int]bool
	done     int // documents in the commands that were run, and documents that were refused before
	problems BulkWriteException
	// history is the history of the first batch that had write errors or a write concern error after a retry.
	history *retry.Error
	// documentLimit is the maxBsonObjectSize of a server that has refused a document by it, 0 if there is none.
	documentLimit int
}

func (coll *Collection) newInsertMany(documents any, o *options.InsertManyOptions) (*insertMany, error) {
	v := reflect.ValueOf(documents)
	switch {
	case v.Kind() != reflect.Slice:
		return nil, ErrNotSlice
	case v.Len() == 0:
		return nil, ErrEmptySlice
	}
	m := &insertMany{coll: coll, scratch: newScratch(), ordered: valueOr(o.Ordered, true), failed: map[int]bool{}}
	var err error
	if m.extras, err = insertExtras(coll.scope.codec, o.BypassDocumentValidation, o.Comment); err != nil {
		return nil, err
	}
	for i := range v.Len() {
		at := len(m.scratch.b)
		if err := coll.scope.codec.append(m.scratch, v.Index(i).Interface()); err != nil {
			return nil, fmt.Errorf("document %d: %w", i, err)
		}
		id, err := coll.scope.codec.withID(m.scratch, at)
		if err != nil {
			return nil, fmt.Errorf("document %d: %w", i, err)
		}
		m.ids = append(m.ids, id)
		m.ends = append(m.ends, len(m.scratch.b))
	}
	return m, nil
}

func (m *insertMany) run(ctx context.Context) (*InsertManyResult, error) {
	ctx, cancel := m.coll.db.client.withTimeout(ctx)
	defer cancel()
	goOn, fatal := true, error(nil)
	for goOn && m.done < len(m.ends) {
		goOn, fatal = m.step(ctx)
	}
	return m.result(ctx, fatal)
}

// step runs the next batch, or refuses the next document if it is too large. It reports whether InsertMany goes on. If
// not, it also returns the error of InsertMany, which is nil if m.problems has it.
func (m *insertMany) step(ctx context.Context) (bool, error) {
	first, limits := m.done, m.limits()
	if size := m.ends[first] - m.start(first); size > limits.document {
		m.done++
		m.fail(first, documentTooLarge(first, size, limits.document).writeError())
		return !m.ordered, nil
	}
	end := m.next(first, limits)
	cmd := &insertCommand{
		coll: m.coll, documents: m.scratch.b[m.start(first):m.start(end)], ordered: m.ordered, extras: m.extras, many: true,
	}
	err := cmd.run(ctx)
	if refused, ok := err.(tooLarge); ok { //nolint:errorlint // inside a history it is the error of a retry: the batch was sent before
		m.documentLimit = refused.limit
		return true, nil
	}
	m.done = end
	return m.note(err, first, end)
}

// limits returns the limits of the client's server, with a smaller limit of a document that another server has.
func (m *insertMany) limits() limits {
	l := m.coll.db.client.limits()
	if m.documentLimit > 0 {
		l.document = min(l.document, m.documentLimit)
	}
	return l
}

// next returns the end of the batch that begins with document first: the largest batch within the limits.
func (m *insertMany) next(first int, l limits) int {
	start, end := m.start(first), first+1
	for end < len(m.ends) && end-first < l.count && m.ends[end]-start <= l.bytes-messageMargin &&
		m.ends[end]-m.start(end) <= l.document {
		end++
	}
	return end
}

// fail records the write error of document i.
func (m *insertMany) fail(i int, e WriteError) {
	e.Index = i
	m.failed[i] = true
	m.problems.WriteErrors = append(m.problems.WriteErrors, BulkWriteError{
		WriteError: e, Request: &InsertOneModel{Document: m.document(i)},
	})
}

// note records the error of a batch. It reports whether the next batch is sent. If not, it also returns the error of
// InsertMany, which is nil if m.problems has it.
func (m *insertMany) note(err error, first, end int) (bool, error) {
	if err == nil {
		return true, nil
	}
	var e BulkWriteException
	if !errors.As(err, &e) {
		m.markFailed(first, end)
		return false, err
	}
	for _, we := range e.WriteErrors {
		if we.Index < 0 || we.Index >= end-first {
			m.markFailed(first, end)
			m.problems.WriteErrors = append(m.problems.WriteErrors, we)
			return false, fmt.Errorf("mongo: a write error of the reply has index %d, the batch has %d documents: %w",
				we.Index, end-first, err)
		}
		m.fail(first+we.Index, we.WriteError)
	}
	if e.WriteConcernError != nil {
		m.problems.WriteConcernError = e.WriteConcernError
	}
	m.problems.Labels = append(m.problems.Labels, e.Labels...)
	var history *retry.Error
	if errors.As(err, &history) && m.history == nil {
		m.history = history
	}
	if m.ordered && len(e.WriteErrors) > 0 {
		m.markFailed(m.problems.WriteErrors[len(m.problems.WriteErrors)-1].Index, end)
		return false, nil
	}
	return history == nil || e.WriteConcernError == nil, nil // a retry that ended with write errors did not fail
}

func (m *insertMany) markFailed(from, to int) {
	for i := from; i < to; i++ {
		m.failed[i] = true
	}
}

// start returns the offset of document i in scratch.
func (m *insertMany) start(i int) int {
	if i == 0 {
		return 0
	}
	return m.ends[i-1]
}

func (m *insertMany) document(i int) bson.Raw {
	return append(bson.Raw(nil), m.scratch.b[m.start(i):m.ends[i]]...)
}

func (m *insertMany) result(ctx context.Context, fatal error) (*InsertManyResult, error) {
	r := &InsertManyResult{Acknowledged: acknowledged(ctx, m.coll.scope.writeConcern), InsertedIDs: []any{}}
	for i, id := range m.ids[:m.done] {
		if !m.failed[i] {
			r.InsertedIDs = append(r.InsertedIDs, id)
		}
	}
	switch {
	case fatal != nil:
		return r, fatal
	case len(m.problems.WriteErrors) == 0 && m.problems.WriteConcernError == nil:
		return r, nil
	case m.history != nil:
		return r, &operation.WithHistory{Err: m.problems, History: m.history}
	default:
		return r, m.problems
	}
}

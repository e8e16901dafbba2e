package mongo

import (
	"context"
	"errors"
	"fmt"
	"reflect"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/retry"
)

var (
	insertOneFields  = honoured("BypassDocumentValidation", "Comment")
	insertManyFields = honoured("BypassDocumentValidation", "Comment", "Ordered")
)

// insertCommand is an insert command with encoded documents.
type insertCommand struct {
	coll      *Collection
	documents []byte
	ordered   bool
	extras    []byte
	many      bool

	op operation.Operation
}

func (c *insertCommand) AppendTo(b []byte, attempt operation.Attempt) ([]byte, error) {
	if err := checkSizes(c.documents, attempt.Server); err != nil {
		return nil, err
	}
	b = wire.AppendString(b, "insert", c.coll.name)
	b = wire.AppendBool(b, "ordered", c.ordered)
	return append(b, c.extras...), nil
}

func (c *insertCommand) AppendSequences(b []byte) []byte {
	return wire.AppendSequence(b, "documents", c.documents)
}

func (c *insertCommand) Accept(r *operation.Reply) error {
	if c.many {
		return bulkError(r)
	}
	return writeError(r)
}

// run runs the insert. It is idempotent, because each document has an _id: the server refuses a second insert of it.
func (c *insertCommand) run(ctx context.Context) error {
	c.coll.write(&c.op, "insert", c, retry.EffectIdempotent)
	return c.coll.db.client.run(ctx, &c.op)
}

// checkSizes returns an error if a document is larger than the server's maxBsonObjectSize.
func checkSizes(documents []byte, server *topology.Server) error {
	limit := int(server.MaxDocumentSize)
	if limit == 0 || len(documents) <= limit {
		return nil
	}
	for i := 0; len(documents) > 0; i++ {
		n, err := wire.DocumentLength(documents)
		if err != nil {
			return err
		}
		if n > limit {
			return fmt.Errorf("mongo: document %d has %d bytes, over the server's maxBsonObjectSize of %d", i, n, limit)
		}
		documents = documents[n:]
	}
	return nil
}

// InsertOne inserts a document. A document without an _id gets a new ObjectID; the result has the _id. It is a
// retryable write. After a WriteConcernError it returns the result and the error.
func (coll *Collection) InsertOne(
	ctx context.Context, document any, opts ...options.Lister[options.InsertOneOptions],
) (*InsertOneResult, error) {
	o, err := arguments(coll, insertOneFields, opts)
	if err != nil {
		return nil, err
	}
	s := newScratch()
	defer s.release()
	if err := coll.scope.codec.append(s, document); err != nil {
		return nil, err
	}
	id, err := coll.scope.codec.withID(s, 0)
	if err != nil {
		return nil, err
	}
	cmd := &insertCommand{coll: coll, documents: s.b, ordered: true}
	if cmd.extras, err = insertExtras(coll.scope.codec, o.BypassDocumentValidation, o.Comment); err != nil {
		return nil, err
	}
	if err := cmd.run(ctx); err != nil {
		return acknowledgedAnyway(&InsertOneResult{InsertedID: id, Acknowledged: true}, err)
	}
	return &InsertOneResult{InsertedID: id, Acknowledged: coll.scope.writeConcern.Acknowledged()}, nil
}

// acknowledgedAnyway returns the result with the error if the write was applied and only its write concern failed.
func acknowledgedAnyway[T any](result *T, err error) (*T, error) {
	var e WriteException
	if errors.As(err, &e) && e.WriteConcernError != nil && len(e.WriteErrors) == 0 {
		return result, err
	}
	return nil, err
}

func insertExtras(codec codec, bypass *bool, comment any) ([]byte, error) {
	x := extras{codec: codec}
	x.boolean("bypassDocumentValidation", bypass)
	x.value("comment", comment)
	return x.b, x.err
}

// InsertMany inserts documents, which must be a slice. It splits them into several commands if they exceed the limits
// of the server (maxWriteBatchSize and maxMessageSizeBytes). Each command is a retryable write. If the retry of a
// command fails, the remaining commands are not sent, even if Ordered is false. After an error the result has the
// _ids of the documents that were inserted.
func (coll *Collection) InsertMany(
	ctx context.Context, documents any, opts ...options.Lister[options.InsertManyOptions],
) (*InsertManyResult, error) {
	o, err := arguments(coll, insertManyFields, opts)
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
	sent     int // documents in the commands that were run
	problems BulkWriteException
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

const messageMargin = 16 << 10 // bytes of maxMessageSizeBytes that are reserved for the other parts of a command

// next returns the end of the batch that begins with document first: the largest batch within the server's limits.
func (m *insertMany) next(first int) int {
	limits, start := m.coll.db.client.limits(), m.start(first)
	end := first + 1
	for end < len(m.ends) && end-first < limits.count && m.ends[end]-start <= limits.bytes-messageMargin {
		end++
	}
	return end
}

func (m *insertMany) run(ctx context.Context) (*InsertManyResult, error) {
	var fatal error
	for first := 0; first < len(m.ends); first = m.sent {
		end := m.next(first)
		cmd := &insertCommand{
			coll: m.coll, documents: m.scratch.b[m.start(first):m.start(end)], ordered: m.ordered, extras: m.extras, many: true,
		}
		err := cmd.run(ctx)
		m.sent = end
		goOn, problem := m.note(err, first, end)
		if !goOn {
			fatal = problem
			break
		}
	}
	return m.result(fatal)
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
		we.Index += first
		we.Request = &InsertOneModel{Document: m.document(we.Index)}
		m.failed[we.Index] = true
		m.problems.WriteErrors = append(m.problems.WriteErrors, we)
	}
	if e.WriteConcernError != nil {
		m.problems.WriteConcernError = e.WriteConcernError
	}
	m.problems.Labels = append(m.problems.Labels, e.Labels...)
	if m.ordered && len(e.WriteErrors) > 0 {
		m.markFailed(m.problems.WriteErrors[len(m.problems.WriteErrors)-1].Index, end)
		return false, nil
	}
	var history *retry.Error
	if errors.As(err, &history) { // a retry failed or was refused
		return false, err
	}
	return true, nil
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

func (m *insertMany) result(fatal error) (*InsertManyResult, error) {
	r := &InsertManyResult{Acknowledged: m.coll.scope.writeConcern.Acknowledged(), InsertedIDs: []any{}}
	for i, id := range m.ids[:m.sent] {
		if !m.failed[i] {
			r.InsertedIDs = append(r.InsertedIDs, id)
		}
	}
	switch {
	case fatal != nil:
		return r, fatal
	case len(m.problems.WriteErrors) > 0 || m.problems.WriteConcernError != nil:
		return r, m.problems
	default:
		return r, nil
	}
}

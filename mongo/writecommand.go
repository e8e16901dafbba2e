package mongo

import (
	"context"
	"encoding/binary"

	"github.com/holdfast-db/holdfast/internal/mongo/largebuffer"
	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/retry"
)

// writeKind is a kind of statement. The statements of one command are of one kind.
type writeKind struct {
	command     string // insert, update or delete
	identifier  string // of the document sequence
	multi       bool   // a statement may change several documents, so that its command is not retryable
	idempotency retry.Idempotency
	// margin is by how many bytes a statement may exceed the server's maxBsonObjectSize: a document must not, but an update
	// and a delete also have fields that are not stored.
	margin    int
	hintSince int32 // the wire version from which servers know or refuse a hint
}

// The kinds of statements. An unordered bulk write sends them in this order, as the official driver does.
var (
	insertKind     = &writeKind{command: "insert", identifier: "documents", idempotency: retry.Idempotent}
	updateOneKind  = &writeKind{command: "update", identifier: "updates", margin: messageMargin, hintSince: updateHintWireVersion}
	updateManyKind = &writeKind{command: "update", identifier: "updates", margin: messageMargin, hintSince: updateHintWireVersion, multi: true}
	deleteOneKind  = &writeKind{command: "delete", identifier: "deletes", margin: messageMargin, hintSince: hintWireVersion}
	deleteManyKind = &writeKind{command: "delete", identifier: "deletes", margin: messageMargin, hintSince: hintWireVersion, multi: true}

	writeKinds = []*writeKind{insertKind, updateOneKind, updateManyKind, deleteOneKind, deleteManyKind}
)

// writeCommand is an insert, update or delete command with encoded statements. Other types embed it and add Accept.
type writeCommand struct {
	coll       *Collection
	kind       *writeKind
	statements []byte
	unordered  bool
	hint       any    // of one of the statements, nil if none has a hint
	extras     []byte // the optional fields of the command
	ending     ending

	op operation.Operation
}

// run runs the command. cmd is the type that embeds c.
func (c *writeCommand) run(ctx context.Context, cmd operation.Command, idempotency retry.Idempotency) error {
	c.coll.write(&c.op, c.kind.command, cmd, idempotency)
	c.op.Retryable = c.op.Retryable && !c.kind.multi
	c.op.Several = c.kind.multi || severalDocuments(c.statements)
	return c.coll.db.client.run(ctx, &c.op)
}

// severalDocuments reports whether there is more than one BSON document, each behind the other.
func severalDocuments(b []byte) bool {
	return len(b) >= 4 && len(b) > int(binary.LittleEndian.Uint32(b))
}

// appendTo writes the elements of the command.
func (c *writeCommand) appendTo(b []byte, attempt operation.Attempt) ([]byte, error) {
	if err := checkHint(c.hint, attempt, c.kind.hintSince); err != nil {
		return nil, err
	}
	b = wire.AppendString(b, c.kind.command, c.coll.name)
	b = wire.AppendBool(b, "ordered", !c.unordered)
	return c.ending.appendTo(append(b, c.extras...), attempt), nil
}

// AppendSequences implements [operation.Sequencer].
func (c *writeCommand) AppendSequences(b []byte) []byte {
	return appendSequence(b, c.kind.identifier, c.statements)
}

// sequenceMargin is more than what a document sequence has besides its documents.
const sequenceMargin = 64

func appendSequence(b []byte, identifier string, documents []byte) []byte {
	return wire.AppendSequence(largebuffer.Grow(b, len(documents)+sequenceMargin), identifier, documents)
}

// writeExtras are the optional fields of insert, update and delete commands.
type writeExtras struct {
	bypass    *bool
	comment   any
	let       any
	internals internals
}

// encode returns the fields that a command has: an insert has no let, a delete no bypassDocumentValidation.
func (e *writeExtras) encode(codec codec, command string) ([]byte, ending, error) {
	x := extras{codec: codec}
	if command != deleteOneKind.command {
		x.boolean("bypassDocumentValidation", e.bypass)
	}
	x.value("comment", e.comment)
	if command != insertKind.command {
		x.document("let", e.let)
	}
	end := x.ending(e.internals)
	return x.b, end, x.err
}

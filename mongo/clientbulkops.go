package mongo

import (
	"encoding/binary"
	"fmt"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// clientOp is an encoded element of the field ops of a bulkWrite command.
type clientOp struct {
	verb      string // insert, update or delete: the key of its first field, which is the index of a namespace
	namespace int    // an index of clientBulk.namespaces
	multi     bool
	end       int // where it ends in the scratch buffer
	id        any // of an insert
}

// addWrites encodes the models of a Client.BulkWrite.
func (b *clientBulk) addWrites(writes []ClientBulkWrite) error {
	b.ops = make([]clientOp, 0, len(writes))
	indexes := make(map[string]int)
	for i, w := range writes {
		if isNil(w.Model) {
			return fmt.Errorf("error from model at index %d: %w", i, ErrNilDocument)
		}
		namespace := w.Database + "." + w.Collection
		index, known := indexes[namespace]
		if !known {
			index = len(b.namespaces)
			indexes[namespace] = index
			b.namespaces = append(b.namespaces, namespace)
		}
		op := clientOp{namespace: index}
		if err := b.appendModel(&op, w.Model); err != nil {
			return fmt.Errorf("error from model at index %d: %w", i, err)
		}
		op.end = len(b.scratch.b)
		b.ops = append(b.ops, op)
	}
	return nil
}

// appendModel encodes a model.
func (b *clientBulk) appendModel(op *clientOp, model ClientWriteModel) error {
	switch m := model.(type) {
	case *ClientInsertOneModel:
		return b.appendInsert(op, m.Document)
	case *ClientUpdateOneModel:
		return b.appendUpdate(op, &updateArguments{
			filter: m.Filter, update: m.Update, arrayFilters: m.ArrayFilters, collation: m.Collation, hint: m.Hint, upsert: m.Upsert,
			sort: m.Sort,
		})
	case *ClientUpdateManyModel:
		return b.appendUpdate(op, &updateArguments{
			filter: m.Filter, update: m.Update, multi: true, arrayFilters: m.ArrayFilters, collation: m.Collation, hint: m.Hint,
			upsert: m.Upsert,
		})
	case *ClientReplaceOneModel:
		return b.appendUpdate(op, &updateArguments{
			filter: m.Filter, update: m.Replacement, replace: true, collation: m.Collation, hint: m.Hint, upsert: m.Upsert, sort: m.Sort,
		})
	case *ClientDeleteOneModel:
		return b.appendDelete(op, &deleteArguments{filter: m.Filter, collation: m.Collation, hint: m.Hint})
	case *ClientDeleteManyModel:
		return b.appendDelete(op, &deleteArguments{filter: m.Filter, multi: true, collation: m.Collation, hint: m.Hint})
	default:
		return fmt.Errorf("the type %T is unknown", model)
	}
}

func (b *clientBulk) appendInsert(op *clientOp, document any) error {
	at := b.begin(op, "insert")
	s := b.scratch
	s.b = wire.BeginEmbeddedHead(s.b, "document")
	documentAt := len(s.b)
	err := b.coll.scope.codec.append(s, document)
	if err == nil {
		op.id, err = b.coll.scope.codec.withID(s, documentAt)
	}
	s.b = wire.EndDocument(s.b, at)
	return err
}

func (b *clientBulk) appendUpdate(op *clientOp, a *updateArguments) error {
	at := b.begin(op, "update")
	op.multi = a.multi
	err := b.coll.appendUpdateFields(b.scratch, "filter", "updateMods", wire.AppendBool(nil, "multi", a.multi), a)
	b.scratch.b = wire.EndDocument(b.scratch.b, at)
	return err
}

func (b *clientBulk) appendDelete(op *clientOp, a *deleteArguments) error {
	at := b.begin(op, "delete")
	op.multi = a.multi
	err := b.coll.appendDeleteFields(b.scratch, "filter", wire.AppendBool(nil, "multi", a.multi), a)
	b.scratch.b = wire.EndDocument(b.scratch.b, at)
	return err
}

// begin begins the element of an op. Its namespace is set when it is sent: see setNamespace.
func (b *clientBulk) begin(op *clientOp, verb string) int {
	op.verb = verb
	at, dst := wire.BeginDocument(b.scratch.b)
	b.scratch.b = wire.AppendInt32(dst, verb, 0)
	return at
}

// setNamespace sets the index of op i's namespace, which differs from command to command.
func (b *clientBulk) setNamespace(i, index int) {
	const length, kind, terminator = 4, 1, 1
	value := b.scratch.b[b.start(i)+length+kind+len(b.ops[i].verb)+terminator:]
	binary.LittleEndian.PutUint32(value, uint32(index))
}

// start returns the offset of op i in the scratch buffer.
func (b *clientBulk) start(i int) int {
	if i == 0 {
		return 0
	}
	return b.ops[i-1].end
}

// namespaceInfo returns the element of the field nsInfo for a namespace.
func namespaceInfo(namespace string) []byte {
	at, doc := wire.BeginDocument(nil)
	return wire.EndDocument(wire.AppendString(doc, "ns", namespace), at)
}

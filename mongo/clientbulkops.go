package mongo

import (
	"encoding/binary"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

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

// namespace is an element of the field nsInfo: a collection, or with a UUID that collection only.
type namespace struct {
	database, collection string
	pinned               bool // it has a UUID, which may be empty
	uuid                 string
}

// namespaceOf returns the namespace of a write. uuid is nil if it has none.
func namespaceOf(w *ClientBulkWrite, uuid []byte) namespace {
	return namespace{w.Database, w.Collection, uuid != nil, string(uuid)}
}

// info returns the element. A server refuses a UUID of another length than 16 bytes.
func (n namespace) info() []byte {
	at, doc := wire.BeginDocument(nil)
	doc = wire.AppendString(doc, "ns", n.database+"."+n.collection)
	if n.pinned {
		doc = wire.AppendBinary(doc, "collectionUUID", bson.TypeBinaryUUID, []byte(n.uuid))
	}
	return wire.EndDocument(doc, at)
}

// addWrites encodes the models of a Client.BulkWrite. uuids is nil, or has the UUID of each write's collection.
func (b *clientBulk) addWrites(writes []ClientBulkWrite, uuids [][]byte) error {
	b.ops = make([]clientOp, 0, len(writes))
	indexes := make(map[namespace]int)
	for i, w := range writes {
		if isNil(w.Model) {
			return fmt.Errorf("error from model at index %d: %w", i, ErrNilDocument)
		}
		var uuid []byte
		if uuids != nil {
			uuid = uuids[i]
		}
		n := namespaceOf(&w, uuid)
		index, known := indexes[n]
		if !known {
			index = len(b.namespaces)
			indexes[n] = index
			b.namespaces = append(b.namespaces, n)
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

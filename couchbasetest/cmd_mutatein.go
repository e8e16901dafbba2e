package couchbasetest

import (
	"bytes"
	"fmt"
	"hash/crc32"

	"github.com/holdfast-db/holdfast/couchbasetest/internal/store"
	"github.com/holdfast-db/holdfast/couchbasetest/internal/subjson"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// mutateIn changes parts of a document: all of them, or none if one cannot be changed.
func mutateIn(x *exec) *Reply {
	extras, err := memd.ParseMultiExtras(x.p.Extras)
	if err != nil {
		return refusal(memd.StatusInvalidArguments)
	}
	if reply := checkDocFlags(extras.Doc, x.p.CAS); reply != nil {
		return reply
	}
	specs, reply := x.readParts(memd.CutMutation, mutationParts, extras.Doc)
	if reply != nil {
		return reply
	}
	old, status := x.toMutate(extras.Doc)
	if status != memd.StatusSuccess {
		return x.refuse(status)
	}
	return x.mutate(old, extras, specs)
}

func checkDocFlags(f memd.DocFlags, cas uint64) *Reply {
	has := func(flags memd.DocFlags) bool { return f&flags == flags }
	var why string
	switch {
	case has(memd.DocUpsert | memd.DocInsert):
		why = "a document is not both made and made or replaced"
	case has(memd.DocInsert) && cas != 0:
		why = "a new document has no CAS"
	case has(memd.DocCreateAsDeleted) && f&(memd.DocUpsert|memd.DocInsert) == 0:
		why = "a deleted document that is created must be one that may be made"
	case has(memd.DocRevive | memd.DocCreateAsDeleted):
		why = "a document is not both revived and created as deleted"
	case has(memd.DocRevive) && !has(memd.DocAccessDeleted):
		why = "a document that is revived must be one that may be deleted"
	default:
		return nil
	}
	return explained(memd.StatusInvalidArguments, why)
}

// toMutate returns the document that is to be changed, nil for a new one, or the status that refuses the change.
func (x *exec) toMutate(f memd.DocFlags) (*store.Document, memd.Status) {
	old, status := x.copy.Writable(x.key, x.p.CAS, x.now)
	left := x.copy.GetDeleted(x.key, x.now)
	deleted := old == nil && left != nil && f&(memd.DocAccessDeleted|memd.DocRevive) != 0
	switch {
	case deleted && status == memd.StatusKeyNotFound && left.CAS == x.p.CAS:
		return left, memd.StatusSuccess
	case old != nil && f&memd.DocInsert != 0 && (status == memd.StatusSuccess || status == memd.StatusLocked):
		return nil, memd.StatusKeyExists
	case status != memd.StatusSuccess:
		return nil, status
	case old != nil && f&memd.DocRevive != 0:
		return nil, memd.StatusCannotRevive
	case old != nil:
		return old, memd.StatusSuccess
	case deleted && f&memd.DocInsert == 0:
		return left, memd.StatusSuccess
	case f&(memd.DocUpsert|memd.DocInsert) != 0:
		return nil, memd.StatusSuccess
	}
	return nil, memd.StatusKeyNotFound
}

// mutate applies the parts of a mutation to a document, nil for a new one.
func (x *exec) mutate(old *store.Document, extras memd.MultiExtras, specs []memd.Spec) *Reply {
	m := x.begin(old, extras)
	reply := &Reply{}
	for i, s := range specs {
		if extras.Doc&(memd.DocUpsert|memd.DocInsert) != 0 { // what may make a document may make the parents of its parts
			s.Flags |= memd.SpecCreatePath
		}
		value, status := m.apply(s)
		if status != memd.StatusSuccess {
			failure := memd.StatusMultiFailure
			if m.next.Deleted {
				failure = memd.StatusMultiFailureDeleted
			}
			return &Reply{Status: failure, Value: memd.AppendMutationFailure(nil, i, status)}
		}
		if value != nil {
			reply.Value = memd.AppendMutationResult(reply.Value, memd.SpecResult{Index: i, Value: value})
		}
	}
	if m.next.Deleted && len(m.next.Value) > 0 {
		return refusal(memd.StatusDeletedHasNoValue)
	}
	reply = x.put(m.finish(), reply)
	if reply.Status == memd.StatusSuccess && m.next.Deleted && !m.removed {
		reply.Status = memd.StatusSuccessDeleted
	}
	return reply
}

// mutation is a document while parts of it are changed.
type mutation struct {
	exec     *exec
	before   store.Document // what the macros about the document show
	next     *store.Document
	seqno    uint64
	xattrs   []byte // always an object
	checksum []byte // what stands in xattrs for the checksum of the value, nil if nothing does
	empty    bool   // the document is new, and none of its value is there yet
	removed  bool   // by a part of the mutation
}

func (x *exec) begin(old *store.Document, extras memd.MultiExtras) *mutation {
	m := &mutation{exec: x, next: &store.Document{DataType: memd.DataJSON}, xattrs: []byte("{}")}
	if old != nil {
		next := *old
		m.next = &next
	}
	m.next.CAS, m.seqno = x.copy.Next(x.now)
	if m.next.Xattrs != nil {
		m.xattrs = m.next.Xattrs
	}
	switch {
	case old == nil && extras.Doc&memd.DocCreateAsDeleted != 0:
		m.next.Deleted = true
	case old == nil || extras.Doc&memd.DocRevive != 0:
		m.empty, m.next.Deleted, m.next.Value = true, false, []byte("{}")
	}
	m.next.Expiry = x.keptExpiry(old, extras.Expiry) // 0 without one, and so the document's ends
	if extras.HasUserFlags {
		m.next.Flags = extras.UserFlags
	}
	if m.before = (store.Document{Value: m.next.Value}); old != nil {
		m.before = *old
	}
	return m
}

// apply changes a part, and returns the value that the client gets for it, nil if none.
func (m *mutation) apply(s memd.Spec) ([]byte, memd.Status) {
	switch {
	case s.Op == memd.OpSubdocReplaceBody:
		return nil, m.replaceBody(s)
	case s.Flags&memd.SpecXattr != 0:
		return m.applyXattr(s)
	case mutationParts[s.Op].whole:
		m.applyWhole(s)
		return nil, memd.StatusSuccess
	}
	if m.next.Deleted {
		return nil, memd.StatusDeletedHasNoValue
	}
	if m.empty {
		m.empty = false
		if len(s.Path) == 0 || s.Path[0] == '[' {
			m.next.Value = []byte("[]")
		}
	}
	if status := subjson.Check(m.next.Value); status != memd.StatusSuccess {
		return nil, status
	}
	changed, value, status := edit(m.next.Value, s, s.Value)
	if status == memd.StatusSuccess {
		m.next.Value = changed
	}
	return value, status
}

// applyWhole stores or deletes the whole value.
func (m *mutation) applyWhole(s memd.Spec) {
	if s.Op == memd.OpDelete {
		m.removed = true
		m.next.Value, m.next.DataType, m.next.Deleted, m.next.Expiry = nil, 0, true, 0
		return
	}
	m.empty, m.next.Value, m.next.Deleted = false, bytes.Clone(s.Value), false
}

func (m *mutation) applyXattr(s memd.Spec) ([]byte, memd.Status) {
	value := s.Value
	switch {
	case s.Flags&memd.SpecExpandMacros != 0:
		var status memd.Status
		if value, status = m.expand(value); status != memd.StatusSuccess {
			return nil, status
		}
	case s.Flags&memd.SpecBinaryValue != 0:
		value = encodeBinary(value)
	}
	changed, result, status := edit(m.xattrs, s, value)
	if status == memd.StatusSuccess {
		m.xattrs = changed
	}
	return result, status
}

// finish returns the changed document.
func (m *mutation) finish() *store.Document {
	d := m.next
	if d.Deleted && m.removed {
		d.Xattrs = m.xattrs
		cas := d.CAS
		d = d.Tombstone()
		d.CAS = cas
		m.xattrs = append([]byte{}, d.Xattrs...)
	}
	if !d.Deleted {
		d.DataType = dataTypeOf(d.Value)
	}
	d.Xattrs = m.xattrs
	if m.checksum != nil {
		d.Xattrs = bytes.ReplaceAll(d.Xattrs, m.checksum, fmt.Appendf(nil, `"%#08x"`, crc32.Checksum(d.Value, castagnoli)))
	}
	if names, _ := membersOf(d.Xattrs); len(names) == 0 {
		d.Xattrs = nil
	}
	return d
}

func membersOf(object []byte) ([]string, [][]byte) {
	if len(object) == 0 {
		return nil, nil
	}
	return subjson.Members(object)
}

// edits are the changes of one part without a value for the client, by opcode.
var edits = map[memd.Opcode]func(text []byte, path subjson.Path, value []byte, parents bool) ([]byte, memd.Status){
	memd.OpSubdocDictAdd:        subjson.Insert,
	memd.OpSubdocDictSet:        subjson.Upsert,
	memd.OpSubdocArrayPushLast:  subjson.ArrayAppend,
	memd.OpSubdocArrayPushFirst: subjson.ArrayPrepend,
	memd.OpSubdocArrayAddUnique: subjson.ArrayAddUnique,
	memd.OpSubdocReplace: func(text []byte, path subjson.Path, value []byte, _ bool) ([]byte, memd.Status) {
		return subjson.Replace(text, path, value)
	},
	memd.OpSubdocDelete: func(text []byte, path subjson.Path, _ []byte, _ bool) ([]byte, memd.Status) {
		return subjson.Remove(text, path)
	},
	memd.OpSubdocArrayInsert: func(text []byte, path subjson.Path, value []byte, _ bool) ([]byte, memd.Status) {
		return subjson.ArrayInsert(text, path, value)
	},
}

// edit applies one part of a mutation to a text. It returns the text, and a value for the client if the part has one.
func edit(text []byte, s memd.Spec, value []byte) (changed, result []byte, status memd.Status) {
	path, status := subjson.ParsePath(s.Path)
	if status != memd.StatusSuccess {
		return nil, nil, status
	}
	parents := s.Flags&memd.SpecCreatePath != 0
	if s.Op == memd.OpSubdocCounter {
		return subjson.Counter(text, path, value, parents)
	}
	changed, status = edits[s.Op](text, path, value, parents)
	return changed, nil, status
}

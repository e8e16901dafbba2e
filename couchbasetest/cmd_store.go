package couchbasetest

import (
	"encoding/binary"
	"slices"

	"github.com/holdfast-db/holdfast/couchbasetest/internal/store"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

func appendUint32(dst []byte, n uint32) []byte { return binary.BigEndian.AppendUint32(dst, n) }

func set(x *exec) *Reply {
	old, status := x.copy.Writable(x.key, x.p.CAS, x.now)
	if status != memd.StatusSuccess {
		return x.refuse(status)
	}
	return x.storeValue(old)
}

// storeValue stores the value of SET, ADD and REPLACE.
func (x *exec) storeValue(old *store.Document) *Reply {
	flags, expiry, err := memd.ParseStore(x.p.Extras)
	if err != nil {
		return refusal(memd.StatusInvalidArguments)
	}
	return x.put(x.withValue(old, flags, expiry), &Reply{})
}

func add(x *exec) *Reply {
	if x.p.CAS != 0 {
		return explained(memd.StatusInvalidArguments, "ADD has no CAS")
	}
	old, status := x.copy.Writable(x.key, 0, x.now)
	switch {
	case old != nil && status != memd.StatusSyncWriteInProgress && status != memd.StatusSyncWriteReCommit:
		return refusal(memd.StatusKeyExists)
	case status != memd.StatusSuccess:
		return x.refuse(status)
	}
	return x.storeValue(nil)
}

// existing returns the document that a write needs, or the reply that says why not.
func (x *exec) existing(missing memd.Status) (*store.Document, *Reply) {
	old, status := x.copy.Writable(x.key, x.p.CAS, x.now)
	switch {
	case status == memd.StatusKeyNotFound || status == memd.StatusSuccess && old == nil:
		return nil, refusal(missing)
	case status != memd.StatusSuccess:
		return nil, x.refuse(status)
	}
	return old, nil
}

func replace(x *exec) *Reply {
	old, reply := x.existing(memd.StatusKeyNotFound)
	if reply != nil {
		return reply
	}
	return x.storeValue(old)
}

func remove(x *exec) *Reply {
	old, reply := x.existing(memd.StatusKeyNotFound)
	if reply != nil {
		return reply
	}
	return x.put(old.Tombstone(), &Reply{})
}

func appendValue(x *exec) *Reply {
	return x.extend(func(old, more []byte) []byte { return slices.Concat(old, more) })
}

func prependValue(x *exec) *Reply {
	return x.extend(func(old, more []byte) []byte { return slices.Concat(more, old) })
}

// extend stores the document's value with that of the request.
func (x *exec) extend(join func(old, more []byte) []byte) *Reply {
	old, reply := x.existing(memd.StatusNotStored)
	if reply != nil {
		return reply
	}
	d := &store.Document{Value: join(old.Value, x.value), Flags: old.Flags, Expiry: old.Expiry, Xattrs: old.Xattrs}
	d.DataType = dataTypeOf(d.Value)
	return x.put(d, &Reply{})
}

package couchbasetest

import (
	"encoding/binary"
	"strconv"

	"github.com/holdfast-db/holdfast/couchbasetest/internal/store"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

func increment(x *exec) *Reply {
	return x.count(func(n, delta uint64) uint64 { return n + delta })
}

// decrement stops at zero.
func decrement(x *exec) *Reply {
	return x.count(func(n, delta uint64) uint64 { return n - min(n, delta) })
}

// count changes the number that a document is, or creates the document with a number.
func (x *exec) count(change func(n, delta uint64) uint64) *Reply {
	c, err := memd.ParseCounter(x.p.Extras)
	if err != nil || x.p.CAS != 0 {
		return explained(memd.StatusInvalidArguments, "a counter has no CAS")
	}
	old, status := x.copy.Writable(x.key, 0, x.now)
	switch {
	case status != memd.StatusSuccess:
		return x.refuse(status)
	case old == nil && c.Expiry == memd.NoCreate:
		return refusal(memd.StatusKeyNotFound)
	}
	n, d := c.Initial, &store.Document{DataType: memd.DataJSON}
	if old == nil {
		d.Expiry = x.expiryOf(c.Expiry)
	} else {
		n, err = strconv.ParseUint(string(old.Value), 10, 64)
		if err != nil {
			return refusal(memd.StatusBadDelta)
		}
		n = change(n, c.Delta)
		d.Flags, d.Expiry, d.Xattrs = old.Flags, old.Expiry, old.Xattrs
	}
	d.Value = strconv.AppendUint(nil, n, 10)
	return x.put(d, &Reply{Value: binary.BigEndian.AppendUint64(nil, n)})
}

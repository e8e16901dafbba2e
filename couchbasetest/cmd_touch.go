package couchbasetest

import (
	"github.com/holdfast-db/holdfast/couchbasetest/internal/store"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// touched gives the request's document another expiry.
func (x *exec) touched() (*store.Document, *Reply) {
	expiry, err := memd.ParseUint32(x.p.Extras)
	if err != nil {
		return nil, refusal(memd.StatusInvalidArguments)
	}
	old, reply := x.existing(memd.StatusKeyNotFound)
	if reply != nil {
		return nil, reply
	}
	d := *old
	d.Expiry, d.CAS = x.expiryOf(expiry), 0
	return &d, nil
}

func touch(x *exec) *Reply {
	d, reply := x.touched()
	if reply != nil {
		return reply
	}
	reply = x.put(d, &Reply{})
	reply.Extras = nil
	return reply
}

func getAndTouch(x *exec) *Reply {
	d, reply := x.touched()
	if reply != nil {
		return reply
	}
	if reply = x.put(d, &Reply{}); reply.Status != memd.StatusSuccess {
		return reply
	}
	return whole(d, d.CAS)
}

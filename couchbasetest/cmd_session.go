package couchbasetest

import (
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// https://github.com/couchbase/kv_engine/blob/master/docs/BinaryProtocol.md has the commands of this and of the other files cmd_*.go.

func noop(*exec) *Reply { return &Reply{} }

// hello accepts those of the features that the client asks for that the server's version has.
func hello(x *exec) *Reply {
	asked, err := memd.ParseFeatures(x.p.Value)
	if err != nil {
		return refusal(memd.StatusInvalidArguments)
	}
	var accepted memd.Features
	var list []memd.Feature
	for f := memd.Feature(1); f < 64; f++ {
		if asked.Has(f) && x.cluster.profile.accepted.Has(f) && f != memd.FeatureTLS {
			accepted.Add(f)
			list = append(list, f)
		}
	}
	x.conn.features, x.conn.greeted = accepted, true
	return &Reply{Value: memd.AppendFeatures(nil, list...)}
}

// selectBucket opens a bucket on the connection.
func selectBucket(x *exec) *Reply {
	name := string(x.p.Key)
	if name == "" || name == "@no bucket@" {
		x.conn.bucket, x.conn.told = nil, memd.MapVersion{}
		return &Reply{}
	}
	b := x.cluster.buckets[name]
	if b == nil {
		return refusal(memd.StatusKeyNotFound)
	}
	x.conn.bucket, x.conn.told = b, memd.MapVersion{}
	return &Reply{}
}

// stat answers with no statistics at all: the packet without a key that ends them.
func stat(*exec) *Reply { return &Reply{} }

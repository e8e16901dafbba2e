package couchbasetest

import (
	"encoding/json"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// Reply describes what is sent to the client for one request.
type Reply struct {
	Status Status
	CAS    uint64
	Extras []byte
	Key    []byte
	Value  []byte
	// JSON is whether Value is JSON, which clients are told that have asked to be.
	JSON bool
	// Opaque, if it is not 0, is sent in place of the request's.
	Opaque uint32
	// Garbage, if it is not nil, is sent in place of the reply.
	Garbage []byte
	// Lost closes the connection; the reply is not sent.
	Lost bool
	// CutAfter is how many bytes of the reply Lost sends before it closes the connection.
	CutAfter int
	// Silent changes Lost: it leaves the connection open, and nothing is sent on it again.
	Silent bool
	// Close closes the connection when the reply has been sent.
	Close bool

	compress bool // Value came compressed from a client
}

// refusal returns a reply with a status and nothing else.
func refusal(status memd.Status) *Reply { return &Reply{Status: status} }

// explained returns a refusal that says why.
func explained(status memd.Status, why string) *Reply {
	value, _ := json.Marshal(map[string]memd.ErrorInfo{"error": {Context: why}})
	return &Reply{Status: status, Value: value, JSON: true}
}

// send puts a reply on its way.
func (x *exec) send(r *Reply) error {
	if r.Garbage != nil {
		return x.sendGarbage(r)
	}
	p := memd.Packet{
		Magic: memd.MagicResponse, Opcode: x.p.Opcode, Status: r.Status, Opaque: x.p.Opaque, CAS: r.CAS, Extras: r.Extras, Key: r.Key, Value: r.Value,
	}
	if r.Opaque != 0 {
		p.Opaque = r.Opaque
	}
	features := x.conn.features
	if r.JSON && features.Has(memd.FeatureJSON) {
		p.DataType |= memd.DataJSON
	}
	if r.compress && features.Has(memd.FeatureSnappy) || len(r.Value) > 1024 && x.everywhere() {
		if deflated, ok := memd.Deflate(r.Value, 0, 1); ok {
			p.Value, p.DataType = deflated, p.DataType|memd.DataSnappy
		}
	}
	if features.Has(memd.FeatureServerDurations) && x.p.Opcode != memd.OpHello {
		p.Magic, p.Frames = memd.MagicFlexibleResponse, memd.AppendServerDuration(nil, x.sinceStart())
	}
	cut := -1
	if r.Lost {
		cut = r.CutAfter
	}
	if err := x.conn.out.append(&p, cut); err != nil {
		return err
	}
	return x.ended(r)
}

// everywhere reports whether the client accepts compressed values in answers about the cluster.
func (x *exec) everywhere() bool {
	return x.p.Opcode == memd.OpGetClusterConfig && x.conn.features.Has(memd.FeatureSnappyEverywhere) && x.conn.features.Has(memd.FeatureSnappy)
}

func (x *exec) sendGarbage(r *Reply) error {
	if err := x.conn.out.appendGarbage(r.Garbage, r.Lost); err != nil {
		return err
	}
	return x.ended(r)
}

// ended returns the error that ends the connection after a reply, nil if it goes on.
func (x *exec) ended(r *Reply) error {
	switch {
	case r.Lost && r.Silent:
		_ = x.conn.out.flush()
		return errSilent
	case r.Lost || r.Close:
		return errHangUp
	}
	return nil
}

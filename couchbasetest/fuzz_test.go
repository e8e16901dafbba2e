package couchbasetest_test

import (
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// FuzzRequests sends requests with any parts: the node answers or closes the connection, and lives on.
func FuzzRequests(f *testing.F) {
	lookup := memd.AppendLookup(memd.AppendLookup(nil, memd.Spec{Op: memd.OpSubdocGet, Flags: memd.SpecXattr, Path: []byte("$document.CAS")}),
		memd.Spec{Op: memd.OpGet})
	mutation := memd.AppendMutation(nil, memd.Spec{Op: memd.OpSubdocDictSet, Flags: memd.SpecXattr | memd.SpecExpandMacros | memd.SpecCreatePath, Path: []byte("a.b"), Value: []byte(`"${Mutation.CAS}"`)})
	for _, p := range []memd.Packet{
		doc(memd.OpSet, "k", "1"), doc(memd.OpGet, "k", ""), doc(memd.OpIncrement, "k", ""), doc(memd.OpSubdocMultiLookup, "k", string(lookup)),
		doc(memd.OpSubdocMultiMutation, "k", string(mutation)), durable(doc(memd.OpSet, "k", "1"), 1, time.Second),
		{Opcode: memd.OpHello, Value: memd.AppendFeatures(nil, modern...)},
		{Opcode: memd.OpObserve, Value: memd.AppendObserveKey(nil, 1, []byte("k"))},
		{Opcode: memd.OpObserveSeqno, Value: make([]byte, 8)},
		{Opcode: memd.OpSASLAuth, Key: []byte("SCRAM-SHA1"), Value: []byte("n,,n=Administrator,r=x")},
		{Opcode: memd.OpSASLStep, Key: []byte("SCRAM-SHA1"), Value: []byte("c=biws,r=x,p=y")},
		{Opcode: memd.OpGetClusterConfig, Extras: make([]byte, 16)},
		{Opcode: memd.OpCollectionID, Value: []byte("_default.x")},
		{Opcode: memd.OpGetErrorMap, Value: []byte{0, 2}},
	} {
		f.Add(byte(p.Opcode), byte(p.DataType), p.VBucket, p.CAS, p.Frames, p.Extras, p.Key, p.Value)
	}
	c, err := couchbasetest.Run(couchbasetest.InMemory(), couchbasetest.Nodes(2), couchbasetest.VBuckets(vbuckets))
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { c.Close() })
	f.Fuzz(func(t *testing.T, op, dataType byte, vb uint16, cas uint64, frames, extras, key, value []byte) {
		cl := open(t, c, 0)
		defer cl.nc.Close()
		p := memd.Packet{
			Magic: memd.MagicRequest, Opcode: memd.Opcode(op), DataType: memd.DataType(dataType), VBucket: vb, CAS: cas, Frames: frames, Extras: extras,
			Key: key, Value: value,
		}
		if len(frames) > 0 {
			p.Magic = memd.MagicFlexibleRequest
		}
		b, err := p.Append(nil)
		if err != nil {
			return
		}
		noop := memd.Packet{Magic: memd.MagicRequest, Opcode: memd.OpNoop, Opaque: 99}
		b, _ = noop.Append(b)
		if _, err := cl.nc.Write(b); err != nil {
			t.Fatal(err)
		}
		for {
			reply, err := cl.next()
			if err != nil {
				t.Fatalf("the node has closed the connection after %v: %v", p.Opcode, err)
			}
			if reply.Opaque == 99 {
				return
			}
		}
	})
}

// FuzzBytes sends any bytes: the node closes the connection, or answers what was a request, and lives on.
func FuzzBytes(f *testing.F) {
	p := doc(memd.OpGet, "k", "")
	p.Magic = memd.MagicRequest
	b, _ := p.Append(nil)
	f.Add(b)
	f.Add(b[:30])
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	c, err := couchbasetest.Run(couchbasetest.InMemory())
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { c.Close() })
	f.Fuzz(func(t *testing.T, b []byte) {
		cl := open(t, c, 0)
		if _, err := cl.nc.Write(b); err != nil {
			t.Fatal(err)
		}
		cl.nc.(interface{ CloseWrite() error }).CloseWrite()
		for {
			if _, err := cl.next(); err != nil {
				break
			}
		}
		open(t, c, 0).nc.Close()
	})
}

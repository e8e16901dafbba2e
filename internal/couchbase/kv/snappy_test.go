package kv

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/klauspost/compress/snappy"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// Source: the wire reference, "Snappy": only SET, ADD, REPLACE, APPEND and PREPEND are sent compressed, and only if that was accepted.
func TestWhichValuesAreSentCompressed(t *testing.T) {
	long := strings.Repeat("x", 1000)
	accepted := []memd.Feature{memd.FeatureSnappy}
	already := snappy.Encode(nil, []byte(long))
	for _, c := range []struct {
		name       string
		accept     []memd.Feature
		request    Request
		size       int
		ratio      float64
		compressed bool
	}{
		{name: "SET", accept: accepted, request: Request{Opcode: memd.OpSet, Value: []byte(long)}, compressed: true},
		{name: "ADD", accept: accepted, request: Request{Opcode: memd.OpAdd, Value: []byte(long)}, compressed: true},
		{name: "REPLACE", accept: accepted, request: Request{Opcode: memd.OpReplace, Value: []byte(long)}, compressed: true},
		{name: "APPEND", accept: accepted, request: Request{Opcode: memd.OpAppend, Value: []byte(long)}, compressed: true},
		{name: "PREPEND", accept: accepted, request: Request{Opcode: memd.OpPrepend, Value: []byte(long)}, compressed: true},
		{name: "no sub-document command", accept: accepted, request: Request{Opcode: memd.OpSubdocMultiMutation, Value: []byte(long)}},
		{name: "nothing if the server has not accepted it", request: Request{Opcode: memd.OpSet, Value: []byte(long)}},
		{name: "not a short value", accept: accepted, request: Request{Opcode: memd.OpSet, Value: []byte(long[:31])}},
		{name: "not a value below the given size", accept: accepted, size: 1001, request: Request{Opcode: memd.OpSet, Value: []byte(long)}},
		{name: "not a value that stays above the given ratio", accept: accepted, ratio: 0.01, request: Request{Opcode: memd.OpSet, Value: []byte(long)}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var sent memd.Packet
				s := &server{accept: c.accept, answer: func(p *peer, r memd.Packet) {
					sent = r
					a := reply(r)
					a.DataType, a.Value = memd.DataJSON|memd.DataSnappy, already
					p.send(a)
				}}
				cfg := s.start(t)
				cfg.CompressMinSize, cfg.CompressMinRatio = c.size, c.ratio
				conn := s.connect(t, cfg)
				c.request.DataType = memd.DataJSON
				k := begin(conn, c.request)
				k.wantReply(t, long)
				if k.reply.DataType != memd.DataJSON {
					t.Errorf("the reply has the data type %#x", k.reply.DataType)
				}
				value := sent.Value
				if compressed := sent.DataType&memd.DataSnappy != 0; compressed != c.compressed || sent.DataType&memd.DataJSON == 0 {
					t.Errorf("the data type is %#x", sent.DataType)
				} else if compressed {
					value, _ = snappy.Decode(nil, value)
				}
				if !bytes.Equal(value, c.request.Value) {
					t.Errorf("%d bytes were sent", len(value))
				}
			})
		})
	}
}

// A value that its user compressed is not compressed once more.
func TestAValueThatIsCompressedAlready(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		text := strings.Repeat("x", 100_000)
		s := &server{accept: []memd.Feature{memd.FeatureSnappy}, answer: func(p *peer, r memd.Packet) {
			a := reply(r)
			a.DataType = r.DataType
			p.send(a)
		}}
		conn := s.connect(t, nil)
		r := Request{Opcode: memd.OpSet, DataType: memd.DataSnappy, Value: snappy.Encode(nil, []byte(text))}
		begin(conn, r).wantReply(t, text)
	})
}

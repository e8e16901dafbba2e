//go:build !race

package couchbase_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/internal/couchbase/nodescript"
)

// A Get and an Upsert allocate at most 5 times, with the default tracer and meter.
func TestAllocations(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go cannedNode(nc)
		}
	}()
	client, err := couchbase.Open("couchbase://node?config_poll_interval=1h", couchbase.Config{
		Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, network, l.Addr().String())
		},
	}, couchbase.ClusterOptions{
		Username: "u", Password: "p", CompressionConfig: couchbase.CompressionConfig{Disabled: true},
		SecurityConfig: couchbase.SecurityConfig{AllowedSaslMechanisms: []couchbase.SaslMechanism{couchbase.PlainSaslMechanism}},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close(nil)
	bucket := client.Bucket("bucket")
	if err := bucket.WaitUntilReady(time.Minute, nil); err != nil {
		t.Fatal(err)
	}
	c := bucket.DefaultCollection()
	var value any = "the value of the document"
	get := testing.AllocsPerRun(1000, func() {
		if _, err := c.Get("the id of a document", nil); err != nil {
			t.Fatal(err)
		}
	})
	upsert := testing.AllocsPerRun(1000, func() {
		if _, err := c.Upsert("the id of a document", value, nil); err != nil {
			t.Fatal(err)
		}
	})
	fmt.Printf("figure kv-get-allocs %v\nfigure kv-upsert-allocs %v\n", get, upsert)
	if get > 5 || upsert > 5 {
		t.Errorf("a Get allocates %v times, an Upsert %v times, and at most 5 are permitted", get, upsert)
	}
}

// cannedNode answers every command with a success: the handshake as a node does, gets with a document, all others with a mutation token.
func cannedNode(nc net.Conn) {
	defer nc.Close()
	in := make([]byte, 0, 4096)
	out := make([]byte, 0, 64<<10)
	m := nodescript.Map{Revision: 1, Bucket: "bucket", Hosts: []string{"node"}, VBuckets: [][]int{{0}, {0}}}
	document, token := []byte{2, 0, 0, 0}, memd.AppendMutationToken(nil, memd.MutationToken{VBucketUUID: 1, Seqno: 2})
	value := []byte(`"the value of the document"`)
	for {
		in = in[:memd.HeaderLength]
		if _, err := io.ReadFull(nc, in); err != nil {
			return
		}
		length, err := memd.PacketLength(in)
		if err != nil || length > cap(in) {
			return
		}
		in = in[:length]
		if _, err := io.ReadFull(nc, in[memd.HeaderLength:]); err != nil {
			return
		}
		p, err := memd.Parse(in)
		if err != nil {
			return
		}
		a := memd.Packet{Magic: memd.MagicResponse, Opcode: p.Opcode, Opaque: p.Opaque, CAS: 1}
		switch p.Opcode { //nolint:exhaustive // the others have no value
		case memd.OpHello:
			a.Value = memd.AppendFeatures(nil, nodescript.Features...)
		case memd.OpGetClusterConfig:
			a.Value = m.JSON()
		case memd.OpGet:
			a.Extras, a.Value = document, value
		case memd.OpSet:
			a.Extras = token
		}
		if out, err = a.Append(out[:0]); err != nil {
			return
		}
		if _, err := nc.Write(out); err != nil {
			return
		}
	}
}

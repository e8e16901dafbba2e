package couchbasetest_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// client is a raw connection to a node.
type client struct {
	t      *testing.T
	c      *couchbasetest.Cluster
	nc     net.Conn
	opaque uint32
	pushes []memd.Packet
}

// modern are the features that the raw clients ask for.
var modern = []memd.Feature{
	memd.FeatureMutationTokens, memd.FeatureXattr, memd.FeatureXerror, memd.FeatureSelectBucket, memd.FeatureJSON, memd.FeatureDuplex,
	memd.FeatureFlexibleRequests, memd.FeatureDurability, memd.FeatureCollections, memd.FeaturePreserveExpiry, memd.FeatureKnownMapVersion,
	memd.FeatureBriefMapPush,
}

// dial connects to a node, without a handshake.
func dial(t *testing.T, c *couchbasetest.Cluster, node int) *client {
	t.Helper()
	nc, err := c.Dialer().DialContext(t.Context(), "tcp", c.Address(node, "kv"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { nc.Close() })
	return &client{t: t, c: c, nc: nc}
}

// open connects to a node and opens the bucket "default".
func open(t *testing.T, c *couchbasetest.Cluster, node int, features ...memd.Feature) *client {
	t.Helper()
	cl := dial(t, c, node)
	if features == nil {
		features = modern
	}
	cl.ok(memd.Packet{Opcode: memd.OpHello, Value: memd.AppendFeatures(nil, features...)})
	cl.ok(memd.Packet{Opcode: memd.OpSASLAuth, Key: []byte("PLAIN"), Value: []byte("\x00" + c.Username() + "\x00" + c.Password())})
	cl.ok(memd.Packet{Opcode: memd.OpSelectBucket, Key: []byte("default")})
	return cl
}

// owner connects to the node that owns the document of a key.
func owner(t *testing.T, c *couchbasetest.Cluster, key string, features ...memd.Feature) *client {
	t.Helper()
	return open(t, c, c.Owners("default", key)[0], features...)
}

// send sends a request.
func (cl *client) send(p memd.Packet) {
	cl.t.Helper()
	cl.opaque++
	p.Opaque, p.Magic = cl.opaque, memd.MagicRequest
	if len(p.Frames) > 0 {
		p.Magic = memd.MagicFlexibleRequest
	}
	b, err := p.Append(nil)
	if err != nil {
		cl.t.Fatal(err)
	}
	if _, err := cl.nc.Write(b); err != nil {
		cl.t.Fatal(err)
	}
}

// next returns the next packet, which may be a push.
func (cl *client) next() (memd.Packet, error) {
	b, err := memd.Read(cl.nc, nil)
	if err != nil {
		return memd.Packet{}, err
	}
	return memd.Parse(b)
}

// receive returns the next reply, and keeps the pushes before it.
func (cl *client) receive() memd.Packet {
	cl.t.Helper()
	for {
		p, err := cl.next()
		if err != nil {
			cl.t.Fatal(err)
		}
		if p.Magic != memd.MagicServerRequest {
			return p
		}
		cl.pushes = append(cl.pushes, p)
	}
}

func (cl *client) do(p memd.Packet) memd.Packet {
	cl.t.Helper()
	cl.send(p)
	reply := cl.receive()
	if reply.Opaque != cl.opaque {
		cl.t.Fatalf("the reply has the opaque %d, want %d", reply.Opaque, cl.opaque)
	}
	return reply
}

// ok executes a request that must succeed.
func (cl *client) ok(p memd.Packet) memd.Packet {
	cl.t.Helper()
	return cl.status(p, memd.StatusSuccess)
}

// status executes a request that must be answered with a status.
func (cl *client) status(p memd.Packet, want memd.Status) memd.Packet {
	cl.t.Helper()
	reply := cl.do(p)
	if reply.Status != want {
		cl.t.Fatalf("%v was answered with %v %s, want %v", p.Opcode, reply.Status, reply.Value, want)
	}
	return reply
}

// vbuckets is how many each bucket has in these tests.
const vbuckets = 1024

// doc returns a request for a document of the default collection.
func doc(op memd.Opcode, key, value string) memd.Packet {
	p := memd.Packet{Opcode: op, VBucket: memd.VBucket([]byte(key), vbuckets), Key: append([]byte{0}, key...), Value: []byte(value)}
	if op == memd.OpSet || op == memd.OpAdd || op == memd.OpReplace {
		p.Extras = memd.AppendStore(nil, 0x02000000, 0)
	}
	if op == memd.OpGetLocked || op == memd.OpTouch || op == memd.OpGetAndTouch {
		p.Extras = binary.BigEndian.AppendUint32(nil, 10)
	}
	if op == memd.OpIncrement || op == memd.OpDecrement {
		p.Extras = memd.AppendCounter(nil, memd.Counter{Delta: 1, Initial: 1})
	}
	return p
}

// durable makes a write durable.
func durable(p memd.Packet, level memd.DurabilityLevel, timeout time.Duration) memd.Packet {
	p.Frames = memd.AppendDurability(nil, level, timeout)
	return p
}

// with changes a request.
func with(p memd.Packet, change func(*memd.Packet)) memd.Packet {
	change(&p)
	return p
}

// gone reports whether the connection has ended.
func (cl *client) gone() bool {
	_, err := cl.next()
	return errors.Is(err, io.EOF) || err != nil && !errors.Is(err, context.DeadlineExceeded)
}

// wait lets a time of the fake clock pass.
func wait(d time.Duration) { <-time.After(d) }

func appendUint64(n uint64) []byte { return binary.BigEndian.AppendUint64(nil, n) }

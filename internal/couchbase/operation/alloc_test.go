//go:build !race

package operation_test

import (
	"context"
	"net"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/cluster"
	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/internal/couchbase/nodescript"
	"github.com/holdfast-db/holdfast/internal/couchbase/operation"
	"github.com/holdfast-db/holdfast/retry"
)

// A Get of the whole client may allocate 5 times. In this layer and the connection below it, the reply's memory is the only allocation.
func TestASuccessAllocatesOnlyTheReply(t *testing.T) {
	runner, bucket := onSocket(t)
	named := bucket.Collection(cluster.DefaultName, cluster.DefaultName)
	ending, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	for _, c := range []struct {
		name string
		ctx  context.Context
		q    operation.Operation
	}{
		{"a get", context.Background(), operation.Operation{Opcode: memd.OpGet, Idempotency: retry.ReadOnly}},
		{"a get with a context that can end", ending, operation.Operation{Opcode: memd.OpGet, Idempotency: retry.ReadOnly}},
		{"an upsert", context.Background(), operation.Operation{Opcode: memd.OpSet, Extras: memd.AppendStore(nil, 1, 2), Value: []byte("value")}},
		{"a durable upsert", context.Background(), operation.Operation{Opcode: memd.OpSet, Extras: memd.AppendStore(nil, 1, 2), Durability: memd.DurabilityMajority}},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := c.q
			q.Name, q.Collection, q.Key = "op", named, []byte("key")
			var r operation.Result
			allocations := testing.AllocsPerRun(1000, func() {
				if err := runner.Run(c.ctx, time.Minute, &q, &r); err != nil {
					t.Fatal(err)
				}
			})
			if allocations > 1 {
				t.Errorf("%v allocations, want 1", allocations)
			}
		})
	}
}

// BenchmarkGet is one operation on a socket to a peer that answers at once.
func BenchmarkGet(b *testing.B) {
	runner, bucket := onSocket(b)
	q := operation.Operation{
		Name: "get", Opcode: memd.OpGet, Idempotency: retry.ReadOnly, Key: []byte("key"),
		Collection: bucket.Collection(cluster.DefaultName, cluster.DefaultName),
	}
	var r operation.Result
	b.ReportAllocs()
	for b.Loop() {
		if err := runner.Run(context.Background(), time.Second, &q, &r); err != nil {
			b.Fatal(err)
		}
	}
}

// onSocket returns a runner and a bucket whose node is a peer on a socket, which answers each request by itself, without an allocation.
func onSocket(t testing.TB) (*operation.Runner, *cluster.Bucket) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go peer(nc)
		}
	}()
	dialer := new(net.Dialer)
	c, err := cluster.Open(cluster.Config{
		Seeds: []string{"node:11210"}, PollInterval: -1,
		Breaker: &cluster.Breaker{Options: *retry.DefaultBreakerOptions()},
		KV: kv.Config{Agent: "test", Features: nodescript.Features, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return dialer.DialContext(ctx, network, l.Addr().String())
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	bucket := c.Bucket("bucket")
	for bucket.Snapshot() == nil {
		_, news := bucket.Opening()
		<-news
	}
	runner, err := operation.NewRunner(operation.Config{})
	if err != nil {
		t.Fatal(err)
	}
	return runner, bucket
}

// peer makes the handshake, and then sends each request back as its own answer.
func peer(nc net.Conn) {
	defer nc.Close()
	b := make([]byte, 64<<10)
	m := nodescript.Map{Revision: 1, Bucket: "bucket", Hosts: []string{"node"}, VBuckets: [][]int{{0}, {0}}}
	for last := memd.OpHello; last != memd.OpGetClusterConfig; {
		request, err := memd.Read(nc, nil)
		if err != nil {
			return
		}
		p, err := memd.Parse(request)
		if err != nil {
			return
		}
		last = p.Opcode
		a := memd.Packet{Magic: memd.MagicResponse, Opcode: p.Opcode, Opaque: p.Opaque}
		switch p.Opcode { //nolint:exhaustive // the others have no value
		case memd.OpHello:
			a.Value = memd.AppendFeatures(nil, nodescript.Features...)
		case memd.OpGetClusterConfig:
			a.Value = m.JSON()
		}
		answer, err := a.Append(b[:0])
		if err != nil {
			return
		}
		if _, err := nc.Write(answer); err != nil {
			return
		}
	}
	for {
		n, err := nc.Read(b)
		if err != nil {
			return
		}
		if b[0] == byte(memd.MagicRequest) {
			b[0] = byte(memd.MagicResponse)
		} else {
			b[0] = byte(memd.MagicFlexibleResponse)
		}
		b[6], b[7] = 0, 0
		if _, err := nc.Write(b[:n]); err != nil {
			return
		}
	}
}

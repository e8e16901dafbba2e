package kv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/retry"
)

// The connection ends at a random moment under load. A request that was not sent has not arrived, one with a reply has arrived once, and
// all callers leave at once.
func TestTheStagesWhenTheConnectionEnds(t *testing.T) {
	for _, how := range []string{"the client closes it", "the network breaks", "the server hangs up", "the server breaks the protocol"} {
		t.Run(how, func(t *testing.T) {
			for seed := range uint64(5) {
				synctest.Test(t, func(t *testing.T) { breakUnderLoad(t, how, seed) })
			}
		})
	}
}

// breakUnderLoad ends a connection under load and compares what the callers were told with what arrived.
func breakUnderLoad(t *testing.T, how string, seed uint64) {
	random := rand.New(rand.NewPCG(seed, 1))
	s := &shuffler{random: rand.New(rand.NewPCG(seed, 2)), applied: make(map[string]int)}
	var mu sync.Mutex
	var node *peer
	script := &server{quiet: true, answer: func(p *peer, r memd.Packet) {
		mu.Lock()
		node = p
		mu.Unlock()
		s.answer(p, r)
	}}
	cfg := script.on(t, memnet.New(memnet.Config{MaxLatency: time.Millisecond, Seed: seed}))
	var client *memnet.Conn
	dial := cfg.Dial
	cfg.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
		nc, err := dial(ctx, network, address)
		client, _ = nc.(*memnet.Conn)
		return nc, err
	}
	c := script.connect(t, cfg)
	var callers sync.WaitGroup
	results := make(chan result, 1000)
	for n := range 50 {
		callers.Go(func() {
			for i := range 20 {
				r := get(fmt.Sprint(n, " ", i, " ", string(bytes.Repeat([]byte("x"), n*i*100))))
				var a Reply
				err := c.RoundTrip(&r, &a)
				results <- result{string(r.Value), err}
				if err != nil {
					return
				}
			}
		})
	}
	pass(time.Duration(random.IntN(20_000)) * time.Microsecond)
	mu.Lock()
	switch p := node; how {
	case "the client closes it":
		c.Close(nil)
	case "the network breaks":
		client.Abort(syscall.ECONNRESET)
	case "the server hangs up":
		if p != nil {
			p.nc.Close()
		}
	case "the server breaks the protocol":
		if p != nil {
			p.send(memd.Packet{Magic: memd.MagicResponse, Opaque: 0xffff_ffff})
		}
	}
	mu.Unlock()
	pass(time.Second)
	c.Close(nil)
	callers.Wait()
	close(results)
	synctest.Wait()
	for r := range results {
		var failed *Error
		times := s.applied[r.value]
		switch {
		case r.err == nil && times == 1:
		case errors.As(r.err, &failed) && errors.Is(r.err, ErrClosed) && (failed.Stage == retry.StageBeforeSending && times == 0 || failed.Stage == retry.StageInFlight && times <= 1):
		default:
			t.Errorf("seed %d: %.20q arrived %d times, its error is %v", seed, r.value, times, r.err)
		}
	}
	if n := c.InFlight(); n != 0 {
		t.Errorf("seed %d: %d requests are in flight", seed, n)
	}
}

// FuzzServer sends arbitrary bytes in place of replies: the request ends, without a panic, and without a reply that is not its own.
func FuzzServer(f *testing.F) {
	whole := reply(received("right"))
	b, err := whole.Append(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add(append(b, b...))
	f.Add(b[:30])
	pushed := push(memd.MapVersion{Epoch: 1, Revision: 2}, theMap)
	if b, err = pushed.Append(nil); err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Fuzz(func(t *testing.T, b []byte) {
		client, node := memnet.Pipe()
		c := newConn(&Config{OnMap: func(*Conn, memd.MapVersion, []byte) {}}, nodeAddress, 1, client, client)
		defer c.Close(nil)
		go func() {
			if _, err := memd.Read(node, nil); err == nil {
				node.Write(b)
			}
			node.Close()
		}()
		var a Reply
		err := c.RoundTrip(&Request{Opcode: memd.OpGet, Value: []byte("right")}, &a)
		if err == nil && (a.Opcode != memd.OpGet || a.Opaque != 0 || len(a.Frames)+len(a.Extras)+len(a.Key)+len(a.Value) == 0 && a.Body != nil) {
			t.Errorf("the reply %+v", a)
		}
		var failed *Error
		if err != nil && !errors.As(err, &failed) {
			t.Errorf("error %v", err)
		}
	})
}

// received returns the packet of a request as the server sees it, with the opaque of the first slot.
func received(value string) memd.Packet {
	return memd.Packet{Magic: memd.MagicRequest, Opcode: memd.OpGet, Value: []byte(value)}
}

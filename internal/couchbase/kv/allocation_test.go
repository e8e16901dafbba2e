//go:build !race

package kv

import (
	"net"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// echo answers each request by the same packet as a response, without an allocation.
func echo(nc net.Conn) {
	b := make([]byte, 64<<10)
	for {
		n, err := nc.Read(b)
		if err != nil {
			return
		}
		b[0] = byte(memd.MagicResponse)
		b[6], b[7] = 0, 0
		if _, err := nc.Write(b[:n]); err != nil {
			return
		}
	}
}

// The memory of the reply's body is the only allocation.
func TestTheAllocationsOfARoundTrip(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		if nc, err := l.Accept(); err == nil {
			defer nc.Close()
			echo(nc)
		}
	}()
	nc, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c := newConn(&Config{}, nodeAddress, 1, nc, nc)
	defer c.Close(nil)
	cancelled := make(chan struct{})
	for name, r := range map[string]Request{
		"a request":                       {},
		"a request with a deadline":       {Deadline: time.Now().Add(time.Minute)},
		"a request that can be cancelled": {Deadline: time.Now().Add(time.Minute), Cancelled: cancelled},
	} {
		t.Run(name, func(t *testing.T) {
			r.Opcode, r.Collection, r.Key, r.Value = memd.OpGet, []byte{0}, []byte("key"), []byte("value")
			var reply Reply
			allocations := testing.AllocsPerRun(1000, func() {
				if err := c.RoundTrip(&r, &reply); err != nil {
					t.Fatal(err)
				}
			})
			if allocations > 1 {
				t.Errorf("%v allocations; want 1", allocations)
			}
		})
	}
}

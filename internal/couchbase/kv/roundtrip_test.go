package kv

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

func TestARequestGetsItsReply(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := new(server).connect(t, nil)
		for i := range 100 {
			var r Reply
			want := fmt.Sprint(i)
			if err := c.RoundTrip(&Request{Opcode: memd.OpGet, Value: []byte(want)}, &r); err != nil || string(r.Value) != want {
				t.Fatalf("%q: the reply is %q, %v", want, r.Value, err)
			}
		}
	})
}

func TestManyCallersGetTheirReplies(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := new(server).connect(t, nil)
		var callers sync.WaitGroup
		for n := range 64 {
			callers.Go(func() {
				for i := range 200 {
					var r Reply
					want := fmt.Sprint(n, i)
					if err := c.RoundTrip(&Request{Opcode: memd.OpGet, Value: []byte(want)}, &r); err != nil || string(r.Value) != want {
						t.Errorf("%q: the reply is %q, %v", want, r.Value, err)
						return
					}
				}
			})
		}
		callers.Wait()
	})
}

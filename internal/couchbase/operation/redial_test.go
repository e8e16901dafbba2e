package operation_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// A node that loses each reply with its connection is not down: the next operation has its answer soon.
func TestANodeIsUsableSoonAfterManyLostReplies(t *testing.T) {
	for _, losses := range []int{1, 2, 5, 11, 30} {
		inWorld(t, func(string, int, memd.Packet) (answer, bool) { return answer{}, true }, func(w *world) {
			a := w.nodes["a"]
			for range losses {
				a.Change(func() {
					a.Script = func(memd.Packet) (memd.Packet, bool) {
						go a.Cut()
						return memd.Packet{}, false
					}
				})
				q := w.increment(keyOf0)
				q.Strategy = declining()
				for { // until it was sent, and lost
					if _, err := w.do(q); err != nil && len(w.Log()) > 0 {
						break
					}
					<-time.After(ms)
				}
				w.ClearLog()
			}
			a.Change(func() { a.Script = nil })
			began := time.Now()
			if _, err := w.do(w.get(keyOf0)); err != nil {
				t.Error(err)
			}
			took := time.Since(began)
			if took > 50*ms {
				t.Errorf("after %d losses the next operation took %v", losses, took)
			}
			if losses == 11 {
				fmt.Printf("figure redial-after-answers-ms %d\n", took.Milliseconds())
			}
		})
	}
}

// After refused dials the delays stay: 10, 20, 40 ms and so on.
func TestARefusingNodeIsDialledSeldom(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		<-time.After(5 * ms)
		w.ClearLog()
		before := len(w.Dials())
		w.nodes["a"].Refuse(true)
		w.nodes["a"].Cut()
		<-time.After(2 * time.Second)
		if n := len(w.Dials()) - before; n < 6 || n > 9 {
			t.Errorf("%d dials in 2 s", n)
		}
		w.nodes["a"].Refuse(false)
	})
}

package operation_test

import (
	"context"
	"encoding/binary"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/cluster"
	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/internal/couchbase/operation"
)

// dispatches is a tracer that keeps what it is told.
type dispatches struct {
	mu   sync.Mutex
	all  []operation.Dispatch
	ctx  []any
	deaf bool
}

func (d *dispatches) Dispatching(ctx context.Context, _ *operation.Operation, n int, conn *kv.Conn) func(operation.Dispatch) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ctx = append(d.ctx, ctx.Value(contextKey{}))
	if d.deaf {
		return nil
	}
	return func(one operation.Dispatch) {
		d.mu.Lock()
		defer d.mu.Unlock()
		if one.Attempt != n || one.Conn != conn {
			panic("the end is about another attempt than the beginning")
		}
		d.all = append(d.all, one)
	}
}

func TestATracerIsToldOfEachAttempt(t *testing.T) {
	for _, deaf := range []bool{false, true} {
		tracer := &dispatches{deaf: deaf}
		slow := func(_ string, n int, _ memd.Packet) (answer, bool) {
			switch n {
			case 0:
				<-time.After(3 * ms)
				return answer{Status: memd.StatusLocked}, true
			case 1:
				return answer{Frames: append([]byte{0x02}, binary.BigEndian.AppendUint16(nil, 100)...)}, true
			}
			return answer{}, false
		}
		inWorld(t, slow, func(w *world) {
			ctx := context.WithValue(context.Background(), contextKey{}, "mine")
			q := w.get(keyOf0)
			if _, err := w.within(ctx, time.Second, q); err != nil {
				t.Fatal(err)
			}
			if _, err := w.within(ctx, 10*ms, q); err == nil {
				t.Fatal("a success without an answer")
			}
			if len(tracer.ctx) != 3 || tracer.ctx[0] != "mine" {
				t.Errorf("the contexts have %v", tracer.ctx)
			}
			if deaf {
				return
			}
			if len(tracer.all) != 3 {
				t.Fatalf("%+v", tracer.all)
			}
			conn, log := w.bucket.Snapshot().Endpoints[0].Conn(), w.Log()
			for i, want := range []operation.Dispatch{{Attempt: 0, Status: memd.StatusLocked}, {Attempt: 1, Server: 1510 * time.Microsecond}, {Attempt: 0}} {
				d := tracer.all[i]
				if d.Operation != q || d.Attempt != want.Attempt || d.Status != want.Status || d.Conn != conn || d.Opaque != log[i].Request.Opaque ||
					(d.Err != nil) != (i != 1) || (d.Server > 0) != (want.Server > 0) {
					t.Errorf("attempt %d: %+v", i, d)
				}
			}
			if d := tracer.all[0].Ended.Sub(tracer.all[0].Began); d != 3*ms {
				t.Errorf("the first attempt took %v", d)
			}
		}, func(_ *world, _ *cluster.Config, o *operation.Config) { o.Strategy, o.Tracer = every10(), tracer })
	}
}

package mongo_test

import (
	"context"
	"net"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/retry"
)

// brokenWrites is a connection whose writes fail, after some bytes, once it is told to.
type brokenWrites struct {
	net.Conn
	after *atomic.Int64 // -1: they succeed
}

func (c brokenWrites) Write(b []byte) (int, error) {
	n := int(c.after.Load())
	if n < 0 {
		return c.Conn.Write(b)
	}
	written, err := c.Conn.Write(b[:n])
	if err == nil {
		err = syscall.EPIPE
	}
	return written, err
}

type dialerFunc func(ctx context.Context, network, address string) (net.Conn, error)

func (f dialerFunc) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	return f(ctx, network, address)
}

// Whether any byte was written decides whether the server may have applied the operation.
func TestTheStageOfABrokenWrite(t *testing.T) {
	for _, c := range []struct {
		name  string
		after int64
		want  retry.Stage
	}{
		{"nothing was written", 0, retry.StageBeforeSending},
		{"a byte was written", 1, retry.StageInFlight},
	} {
		t.Run(c.name, func(t *testing.T) {
			var after atomic.Int64
			after.Store(-1)
			var inner *options.ClientOptions
			in(t, func(o *options.ClientOptions) {
				inner = options.Client().SetDialer(o.Dialer)
				o.SetDialer(dialerFunc(func(ctx context.Context, network, address string) (net.Conn, error) {
					nc, err := inner.Dialer.DialContext(ctx, network, address)
					if err != nil {
						return nil, err
					}
					return brokenWrites{nc, &after}, nil
				})).SetServerSelectionTimeout(time.Second)
			}, func(w *world) {
				w.seed()
				after.Store(c.after)
				history := w.historyOf(updateOne(w))
				first := history.Attempts[0]
				if first.Stage != c.want || first.Reason != retry.ReasonNetworkError || history.OutcomeKnown() != (c.want == retry.StageBeforeSending) {
					t.Errorf("%v", history)
				}
				after.Store(-1)
			})
		})
	}
}

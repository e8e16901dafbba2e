package cluster

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/retry"
)

var errOwnCause = errors.New("the user's own cause")

// ends are contexts that end after a second, each in another way.
var ends = []struct {
	name string
	ctx  func(context.Context) (context.Context, context.CancelFunc)
	want error
}{
	{"cancelled", func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancel(ctx)
		time.AfterFunc(time.Second, cancel)
		return ctx, cancel
	}, context.Canceled},
	{"cancelled with a cause", func(ctx context.Context) (context.Context, context.CancelFunc) {
		ctx, cancel := context.WithCancelCause(ctx)
		time.AfterFunc(time.Second, func() { cancel(errOwnCause) })
		return ctx, func() { cancel(nil) }
	}, errOwnCause},
	{"past its deadline", func(ctx context.Context) (context.Context, context.CancelFunc) {
		return context.WithTimeout(ctx, time.Second)
	}, context.DeadlineExceeded},
}

// TestTheEndOfAContextIsReturnedImmediately also checks that the topology and the pool do not change.
func TestTheEndOfAContextIsReturnedImmediately(t *testing.T) {
	for _, end := range ends {
		for _, during := range []struct {
			name string
			do   func(*testing.T, context.Context, *peer, *Server) error

			pending int // the connection goes on being made, or its reply is awaited
		}{
			{"during a round trip", func(t *testing.T, ctx context.Context, p *peer, s *Server) error {
				c := checkOut(t, s)
				defer s.CheckIn(c)
				p.hang()
				err := ping(ctx, c)
				wantIOError(t, err, retry.StageInFlight, end.want)
				return err
			}, 0},
			{"during the handshake", func(t *testing.T, ctx context.Context, p *peer, s *Server) error {
				p.hang()
				return whileConnecting(t, operation(ctx, s))
			}, 1},
			{"while dialling", func(t *testing.T, ctx context.Context, p *peer, s *Server) error {
				p.set(func(p *peer) { p.dial = func(ctx context.Context) error { <-ctx.Done(); return errDown } })
				return whileConnecting(t, operation(ctx, s))
			}, 1},
		} {
			t.Run(end.name+" "+during.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					p := &peer{hello: standalone()}
					s := bare(t, p, nil)
					found(t, s, standalone())
					ctx, cancel := end.ctx(t.Context())
					defer cancel()
					began := time.Now()
					err := during.do(t, ctx, p, s)
					if !errors.Is(err, end.want) || time.Since(began) != time.Second {
						t.Errorf("after %v: %v, want %v", time.Since(began), err, end.want)
					}
					counters(t, s, 1, 0, during.pending)
					pass(t, owedReplyLimit)
					if during.pending == 0 {
						counters(t, s, 0, 0, 0)
					}
					if kindOf(s.cluster, addrA) != topology.Standalone || s.pool.generation(bson.NilObjectID) != 0 {
						t.Error("the topology or the pool's generation changed")
					}
				})
			})
		}
	}
}

func TestAReplyAtTheEndOfItsContextLeavesNoBrokenConnectionInThePool(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: standalone()}
		s := bare(t, p, nil)
		found(t, s, standalone())
		for range 100 {
			ctx, cancel := context.WithCancel(t.Context())
			c := checkOut(t, s)
			p.set(func(p *peer) { p.script = func(q *question) bool { go cancel(); q.answer(bson.D{}); return true } })
			if err := ping(ctx, c); err != nil && !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
			s.CheckIn(c)
			p.set(func(p *peer) { p.script = nil })
			if err := operation(t.Context(), s); err != nil {
				t.Fatalf("the next operation: %v", err)
			}
		}
	})
}

func whileConnecting(t *testing.T, err error) error {
	t.Helper()
	var exhausted *CheckOutError
	if !errors.As(err, &exhausted) || exhausted.Address != addrA || exhausted.Connecting != 1 {
		t.Errorf("%v does not have the address and the pending connection", err)
	}
	return err
}

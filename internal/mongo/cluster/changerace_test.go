package cluster

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Polls of an SRV record, checks, operations and Close do not wait for each other, and every connection is closed.
func TestSeedsAreReplacedDuringChecksAndClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		peers := network{addrA: {hello: mongos()}, addrB: {hello: mongos()}, addrC: {hello: mongos()}}
		c := start(t, peers, nil)
		selected(t, c)
		var done sync.WaitGroup
		for i := range 3 {
			done.Go(func() {
				for n := range 30 {
					c.ReplaceSeeds([][]string{{addrA, addrB}, {addrB, addrC}, {addrC}}[(i+n)%3])
					c.RequestChecks()
					ctx, cancel := context.WithTimeout(t.Context(), MinHeartbeatInterval)
					if target, err := c.Select(ctx, write); err == nil {
						_ = operation(ctx, target.Server)
					}
					cancel()
				}
			})
		}
		pass(t, 3*MinHeartbeatInterval)
		c.Close()
		done.Wait()
		for _, p := range peers {
			p.wantEnded(t, 0)
		}
	})
}

func TestEveryConnectionToALoadBalancerIsClosedInTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, p := balanced(t, nil, bson.NewObjectID())
		s := selected(t, c)
		pinned, used := checkOut(t, s), checkOut(t, s)
		if err := operation(t.Context(), s); err != nil {
			t.Error(err)
		}
		s.EndUse()
		c.Close()
		if _, err := s.CheckOut(t.Context(), nil); !errors.Is(err, ErrPoolClosed) {
			t.Errorf("a checkout after Close: %v", err)
		}
		s.BeginUse()
		s.CheckIn(pinned)
		s.CheckIn(used)
		p.wantEnded(t, 0)
		counters(t, s, 0, 0, 0)
		if c.Busy() {
			t.Error("an operation counts as in flight")
		}
	})
}

func TestAMessageThatIsHalfThereWhenTheContextEndsBreaksTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := streamingPeer(func(q *question) {
			first := streamed(t, 100, q.header.RequestID, true, nil)
			second := streamed(t, 101, 100, false, nil)
			q.conn.Write(append(first, second[:len(second)/2]...))
		})
		s := bare(t, p, nil)
		found(t, s, standalone())
		conn := checkOut(t, s)
		if err := ping(t.Context(), conn); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := conn.Next(ctx); !errors.Is(err, context.DeadlineExceeded) || conn.Reusable() {
			t.Errorf("error %v, reusable: %v", err, conn.Reusable())
		}
		s.CheckIn(conn)
		counters(t, s, 0, 0, 0)
		p.wantEnded(t, 0)
	})
}

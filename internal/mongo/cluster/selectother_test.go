package cluster

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// A set of a primary and a secondary, of which one did not answer.
func TestAServerThatDidNotAnswerIsSelectedAfterItsCheckOnly(t *testing.T) {
	const limit = 10 * time.Second
	for _, c := range []struct {
		name      string
		want      topology.Selection
		checkedIn time.Duration // 0: no check
		neverEnds bool          // the check
		ctx       time.Duration // the context's deadline; 0: none
		address   string
		after     time.Duration
		err       error
	}{
		{name: "another server suits", want: topology.Selection{ReadPref: readpref.Nearest(), LocalThreshold: time.Hour, Deprioritized: []string{addrA}}, neverEnds: true, address: addrB},
		{name: "no other server suits: it waits for the check", want: topology.Selection{Write: true, Deprioritized: []string{addrA}}, checkedIn: 3 * time.Second, address: addrA, after: 3 * time.Second},
		{name: "the check does not end: it waits until the server selection timeout", want: topology.Selection{Write: true, Deprioritized: []string{addrA}}, neverEnds: true, address: addrA, after: limit},
		{name: "the context ends", want: topology.Selection{Write: true, Deprioritized: []string{addrA}}, neverEnds: true, ctx: time.Second, after: time.Second, err: context.DeadlineExceeded},
		{name: "there was no check", want: topology.Selection{Write: true, Deprioritized: []string{addrA}}, address: addrA},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				n := network{addrA: {hello: member(true, addrA, addrB)}, addrB: {hello: member(false, addrA, addrB)}}
				cluster := start(t, n, func(cfg *Config) { cfg.ServerSelectionTimeout = limit })
				selected(t, cluster)
				ctx := t.Context()
				if c.ctx > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.ctx)
					defer cancel()
				}
				var check *PendingCheck
				done := make(chan struct{})
				if c.neverEnds || c.checkedIn > 0 {
					check = &PendingCheck{done: done}
				}
				if c.checkedIn > 0 {
					time.AfterFunc(c.checkedIn, func() { close(done) })
				}
				began := time.Now()
				target, err := cluster.SelectFor(ctx, &c.want, Purpose{}, check)
				if took := time.Since(began); took != c.after || !errors.Is(err, c.err) {
					t.Fatalf("after %v: %v; want %v, %v", took, err, c.after, c.err)
				}
				if c.err == nil && target.Server.Address() != c.address {
					t.Errorf("the server is %s, want %s", target.Server.Address(), c.address)
				}
			})
		})
	}
}

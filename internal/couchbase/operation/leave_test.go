package operation_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/cluster"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/internal/couchbase/operation"
)

// phases are all the states in which an operation can be when its caller leaves.
var phases = []struct {
	name    string
	script  nodeScript
	setups  []setup
	arrange func(w *world)
	named   bool // in a collection whose id must be looked up
	sent    bool // the operation itself was sent, and was not answered
	cause   error
}{
	{name: "the bucket is being opened", setups: []setup{func(w *world, _ *cluster.Config, _ *operation.Config) { w.missing("bucket") }}, cause: operation.ErrBucketNotFound},
	{name: "no node answers", setups: []setup{func(w *world, _ *cluster.Config, _ *operation.Config) {
		for _, n := range w.nodes {
			n.Refuse(true)
		}
	}}, cause: operation.ErrBucketNotOpen},
	{name: "the connection is down", arrange: func(w *world) {
		<-time.After(5 * ms)
		w.nodes["a"].Refuse(true)
		w.nodes["a"].Cut()
		synctest.Wait()
	}, cause: operation.ErrSocketNotAvailable},
	{name: "no node has the vbucket", setups: []setup{noNode}, cause: operation.ErrNodeNotAvailable},
	{name: "the breaker is open", setups: []setup{breaks}, arrange: func(w *world) {
		openBreaker(w)
		w.nodes["a"].Change(func() { w.nodes["a"].Script = func(memd.Packet) (memd.Packet, bool) { return memd.Packet{}, false } })
	}, cause: operation.ErrCircuitBreakerOpen},
	{name: "the collection's id is being looked up", script: silence, named: true, cause: operation.ErrCollectionNotFound},
	{name: "the collection's id is not known", script: (&manifest{uid: 5, unknown: memd.StatusUnknownCollection}).answer, named: true, cause: operation.ErrCollectionNotFound},
	{name: "in flight", script: silence, sent: true},
	{name: "in a delay of the strategy", script: status(memd.StatusTemporaryFailure, always), cause: operation.ErrTemporaryFailure},
	{name: "in a delay of the ladder", script: status(memd.StatusNotMyVBucket, always), cause: operation.ErrNotMyVBucket},
	{name: "in a delay after a config-only node", script: status(memd.StatusConfigOnly, always), cause: operation.ErrConfigOnly},
}

// However an operation is left, it ends then, it says how, and whether it was applied: only in flight nobody knows.
func TestLeavingInEachPhase(t *testing.T) {
	const after = 60 * ms
	ways := []struct {
		name    string
		ctx     func() (context.Context, context.CancelFunc)
		timeout time.Duration
		is      []error
		isNot   []error
	}{
		{"by cancellation", cancelled(after, nil), time.Second, []error{operation.ErrRequestCanceled, context.Canceled}, []error{operation.ErrTimeout, context.DeadlineExceeded}},
		{"by the context's deadline", deadline(after), time.Second, []error{operation.ErrTimeout, context.DeadlineExceeded}, []error{context.Canceled, operation.ErrRequestCanceled}},
		{"by its timeout", deadline(time.Second), after, []error{operation.ErrTimeout}, []error{context.Canceled, operation.ErrRequestCanceled, context.DeadlineExceeded}},
	}
	for _, p := range phases {
		for _, way := range ways {
			for _, idempotent := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s, %s, idempotent %v", p.name, way.name, idempotent), func(t *testing.T) {
					inWorld(t, p.script, func(w *world) {
						if p.arrange != nil {
							p.arrange(w)
						}
						q := w.increment(keyOf0)
						if idempotent {
							q = w.get(keyOf0)
						}
						if p.named {
							q = w.named(q)
						}
						ctx, cancel := way.ctx()
						defer cancel()
						began := time.Now()
						_, err := w.within(ctx, way.timeout, q)
						if took := time.Since(began); err == nil || took < after || took > after+2*ms {
							t.Fatalf("%v after %v", err, took)
						}
						for _, want := range way.is {
							if !errors.Is(err, want) {
								t.Errorf("%v does not match %q", err, want)
							}
						}
						for _, not := range way.isNot {
							if errors.Is(err, not) {
								t.Errorf("%v matches %q", err, not)
							}
						}
						if p.cause != nil && !errors.Is(err, p.cause) {
							t.Errorf("%v does not match its cause %q", err, p.cause)
						}
						if ambiguous := p.sent && !idempotent; err.Ambiguous != ambiguous || errors.Is(err, operation.ErrTimeout) && errors.Is(err, operation.ErrAmbiguousTimeout) != ambiguous {
							t.Errorf("ambiguous is %v: %v", err.Ambiguous, err)
						}
					}, p.setups...)
				})
			}
		}
	}
}

// A deadline that has passed before the operation begins: nothing is sent.
func TestADeadlineThatHasPassed(t *testing.T) {
	for _, idempotent := range []bool{true, false} {
		inWorld(t, nil, func(w *world) {
			q := w.increment(keyOf0)
			if idempotent {
				q = w.get(keyOf0)
			}
			ctx, cancel := context.WithDeadline(context.Background(), time.Now().Add(-time.Second))
			defer cancel()
			_, err := w.within(ctx, time.Second, q)
			if !errors.Is(err, operation.ErrUnambiguousTimeout) || !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, operation.ErrRequestCanceled) || err.Ambiguous {
				t.Errorf("%v", err)
			}
			q.Began = time.Now().Add(-2 * time.Second)
			_, err = w.within(context.Background(), time.Second, q)
			if !errors.Is(err, operation.ErrUnambiguousTimeout) || errors.Is(err, context.DeadlineExceeded) || err.Ambiguous || err.Observed != 2*time.Second {
				t.Errorf("%v", err)
			}
			if len(w.Log()) != 0 {
				t.Errorf("requests %v", w.requests())
			}
		})
	}
}

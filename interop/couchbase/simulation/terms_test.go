package simulation

import (
	"context"
	"fmt"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
)

// terms are the options of an operation: how long it may take, who ends it, how it is retried and how safe its write must be.
type terms struct {
	timeout   time.Duration
	ctx       context.Context
	cancel    context.CancelFunc
	strategy  couchbase.RetryStrategy
	level     couchbase.DurabilityLevel
	persist   uint
	replicate uint
	safety    safety
	text      string
}

// strategyFunc is a strategy that does not look at the request.
type strategyFunc func(couchbase.RetryRequest) couchbase.RetryAction

func (f strategyFunc) RetryAfter(r couchbase.RetryRequest, _ couchbase.RetryReason) couchbase.RetryAction {
	return f(r)
}

var strategies = []struct {
	name     string
	strategy couchbase.RetryStrategy
}{
	{"the cluster's strategy", nil},
	{"best effort every 5 ms", couchbase.NewBestEffortRetryStrategy(func(uint32) time.Duration { return 5 * time.Millisecond })},
	{"no retry", strategyFunc(func(couchbase.RetryRequest) couchbase.RetryAction { return &couchbase.NoRetryRetryAction{} })},
	{"always after 20 ms", strategyFunc(func(couchbase.RetryRequest) couchbase.RetryAction {
		return &couchbase.WithDurationRetryAction{WithDuration: 20 * time.Millisecond}
	})},
}

// terms chooses the terms of an operation. While vbuckets move on TCP, time must not end an operation.
func (w *worker) terms(o *operation) terms {
	t := terms{ctx: w.base, cancel: func() {}}
	t.safe(o, w.settings.replicas)
	if w.moving {
		if w.client.noTokens && t.persist+t.replicate > 0 { // it never sees a write that another one has followed
			t.persist, t.replicate, t.safety, t.text = 0, 0, unsafe, "not durable"
		}
		t.timeout = time.Minute
		t.text += ", 1m0s"
		return t
	}
	w.time(&t, o)
	n := 0
	if o.IntN(3) == 0 {
		n = o.IntN(len(strategies))
	}
	t.strategy = strategies[n].strategy
	t.text += ", " + strategies[n].name
	return t
}

// time chooses when the operation ends.
func (w *worker) time(t *terms, o *operation) {
	switch n := o.IntN(100); {
	case n < 60:
		t.text += ", default timeout"
	case n < 80:
		t.timeout = w.Scaled(time.Duration(200+o.IntN(1800)) * time.Millisecond)
	case n < 88:
		t.timeout = time.Duration(1+o.IntN(30)) * time.Millisecond
	case n < 94:
		t.timeout = w.Scaled(20 * time.Second)
	case n < 97:
		after := w.Scaled(time.Duration(1+o.IntN(3000)) * time.Millisecond)
		t.ctx, t.cancel = context.WithTimeout(w.base, after)
		t.text += fmt.Sprintf(", context %v", after)
	default:
		ctx, cancel := context.WithCancel(w.base)
		timer := time.AfterFunc(time.Duration(1+o.IntN(8))*time.Millisecond, cancel)
		t.ctx, t.cancel = ctx, func() { timer.Stop(); cancel() }
		t.text += ", cancelled"
	}
	if t.timeout > 0 {
		t.text += ", " + t.timeout.String()
	}
}

// safe chooses how safe a write is. PersistTo counts any copies, so only all of them include the active one.
func (t *terms) safe(o *operation, replicas int) {
	switch o.IntN(10) {
	case 0, 1:
		t.level, t.safety, t.text = couchbase.DurabilityLevelMajority, inMemory, "majority"
	case 2:
		t.level, t.safety, t.text = couchbase.DurabilityLevelMajorityAndPersistOnMaster, onDiskToo, "majority and persist to active"
	case 3:
		t.level, t.safety, t.text = couchbase.DurabilityLevelPersistToMajority, onDiskToo, "persist to majority"
	case 4:
		t.replicate, t.safety, t.text = 1, inMemory, "replicate to 1"
		if o.IntN(2) == 0 {
			t.persist, t.replicate, t.safety = uint(replicas+1), 0, onDiskToo
			t.text = fmt.Sprint("persist to ", t.persist)
		}
	default:
		t.text = "not durable"
	}
}

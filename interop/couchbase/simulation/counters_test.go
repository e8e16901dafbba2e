package simulation

import (
	"strconv"

	"github.com/holdfast-db/holdfast/couchbase"
)

// increment adds an amount like no other to a counter.
func (w *worker) increment(o *operation) {
	doc, amount := w.some(o, "c"), o.Uint64()>>24
	c := w.start(o, doc, &call{write: &write{effect: add, amount: amount, token: strconv.FormatUint(amount, 10)}})
	r, err := w.client.collection(doc).Binary().Increment(doc, &couchbase.IncrementOptions{
		Initial: -1, Delta: amount, Timeout: o.timeout, Context: o.ctx, RetryStrategy: o.strategy,
		DurabilityLevel: o.level, PersistTo: o.persist, ReplicateTo: o.replicate,
	})
	w.counted(c, doc, r, err)
}

func (w *worker) decrement(o *operation) {
	doc, amount := w.some(o, "c"), o.Uint64()>>24
	c := w.start(o, doc, &call{write: &write{effect: subtract, amount: amount, token: strconv.FormatUint(amount, 10)}})
	r, err := w.client.collection(doc).Binary().Decrement(doc, &couchbase.DecrementOptions{
		Initial: -1, Delta: amount, Timeout: o.timeout, Context: o.ctx, RetryStrategy: o.strategy,
		DurabilityLevel: o.level, PersistTo: o.persist, ReplicateTo: o.replicate,
	})
	w.counted(c, doc, r, err)
}

func (w *worker) counted(c *call, doc string, r *couchbase.CounterResult, err error) {
	w.end(c, doc, err)
	if err == nil {
		c.write.cas, c.write.left = uint64(r.Cas()), number(r.Content())
	}
}

// count reads a counter.
func (w *worker) count(o *operation) {
	doc := w.some(o, "c")
	c := w.start(o, doc, &call{})
	r, err := w.client.collection(doc).Get(doc, &couchbase.GetOptions{Timeout: o.timeout, Context: o.ctx, RetryStrategy: o.strategy})
	w.end(c, doc, err)
	if err != nil {
		return
	}
	var n uint64
	if err := r.Content(&n); err != nil {
		w.history.violated("result", "%s cannot be decoded: %v", c.id, err)
		return
	}
	c.reads = append(c.reads, read{doc: doc, content: *number(n)})
}

package simulation

import (
	"strings"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/interop/internal/simlife"
)

// push adds a token to a register by a sub-document operation.
func (w *worker) push(o *operation) {
	doc := w.some(o, "r")
	c := w.start(o, doc, &call{write: &write{effect: push}})
	r, err := w.client.collection(doc).MutateIn(doc, []couchbase.MutateInSpec{
		couchbase.IncrementSpec("n", 1, nil),
		couchbase.ArrayAppendSpec("log", c.write.token, nil),
		couchbase.UpsertSpec("last", c.write.token, nil),
	}, &couchbase.MutateInOptions{
		Timeout: o.timeout, Context: o.ctx, RetryStrategy: o.strategy, DurabilityLevel: o.level, PersistTo: o.persist, ReplicateTo: o.replicate,
	})
	w.end(c, doc, err)
	if err == nil {
		c.write.cas = uint64(r.Cas())
	}
}

// read reads a register, whole.
func (w *worker) read(o *operation, doc string) (*register, couchbase.Cas) {
	c := w.start(o, doc, &call{kind: o.kind + " read"})
	r, err := w.client.collection(doc).Get(doc, &couchbase.GetOptions{Timeout: o.timeout, Context: o.ctx, RetryStrategy: o.strategy})
	w.end(c, doc, err)
	if err != nil {
		return nil, 0
	}
	return w.decode(c, doc, r), r.Cas()
}

// decode decodes a register that was read.
func (w *worker) decode(c *call, doc string, r interface{ Content(any) error }) *register {
	var found register
	if err := r.Content(&found); err != nil {
		w.history.violated("result", "%s cannot be decoded: %v", c.id, err)
		return nil
	}
	w.expect(c, "the number of changes", found.N, len(found.Log))
	c.reads = append(c.reads, read{doc: doc, content: found.content()})
	return &found
}

func (r *register) content() string { return strings.Join(r.Log, " ") }

// changed returns the register with one more token.
func (r *register) changed(token string) *register {
	return &register{N: r.N + 1, Log: append(r.Log[:len(r.Log):len(r.Log)], token), Last: token}
}

func (w *worker) get(o *operation) { w.read(o, w.some(o, "r")) }

// swap reads a register and replaces it, if nobody has changed it meanwhile.
func (w *worker) swap(o *operation) {
	doc := w.some(o, "r")
	if found, cas := w.read(o, doc); found != nil {
		w.replace(o, doc, found, cas)
	}
}

func (w *worker) replace(o *operation, doc string, found *register, cas couchbase.Cas) {
	before := found.content()
	c := w.start(o, doc, &call{write: &write{effect: push, found: &before}})
	err := c.told(w.client.collection(doc).Replace(doc, found.changed(c.write.token), &couchbase.ReplaceOptions{
		Cas: cas, Timeout: o.timeout, Context: o.ctx, RetryStrategy: o.strategy, DurabilityLevel: o.level, PersistTo: o.persist, ReplicateTo: o.replicate,
	}))
	w.end(c, doc, err)
}

// lockedSwap locks a register, and replaces it or unlocks it. Nobody can change it meanwhile.
func (w *worker) lockedSwap(o *operation) {
	doc := w.some(o, "r")
	c := w.start(o, doc, &call{kind: "getAndLock"})
	r, err := w.client.collection(doc).GetAndLock(doc, 15*time.Second, &couchbase.GetAndLockOptions{
		Timeout: o.timeout, Context: o.ctx, RetryStrategy: o.strategy,
	})
	w.end(c, doc, err)
	if err != nil {
		return
	}
	found := w.decode(c, doc, r)
	if found == nil {
		return
	}
	if o.IntN(2) == 0 {
		w.replace(o, doc, found, r.Cas())
		return
	}
	simlife.Pause(time.Duration(o.IntN(20)) * time.Millisecond)
	unlocking := w.start(o, doc, &call{kind: "unlock"})
	err = w.client.collection(doc).Unlock(doc, r.Cas(), &couchbase.UnlockOptions{Timeout: o.timeout, Context: o.ctx, RetryStrategy: o.strategy})
	w.end(unlocking, doc, err)
	if err == nil { // the lock held until now
		unlocking.reads = append(unlocking.reads, read{doc: doc, content: found.content()})
	}
}

// lookup reads parts of a register.
func (w *worker) lookup(o *operation) {
	doc := w.some(o, "r")
	c := w.start(o, doc, &call{})
	r, err := w.client.collection(doc).LookupIn(doc, []couchbase.LookupInSpec{
		couchbase.GetSpec("log", nil), couchbase.GetSpec("n", nil), couchbase.ExistsSpec("other", nil),
	}, &couchbase.LookupInOptions{Timeout: o.timeout, Context: o.ctx, RetryStrategy: o.strategy})
	w.end(c, doc, err)
	if err != nil {
		return
	}
	var found register
	if err := r.ContentAt(0, &found.Log); err != nil {
		w.history.violated("result", "%s: the log: %v", c.id, err)
		return
	}
	if err := r.ContentAt(1, &found.N); err != nil {
		w.history.violated("result", "%s: n: %v", c.id, err)
	}
	w.expect(c, "the number of changes", found.N, len(found.Log))
	c.reads = append(c.reads, read{doc: doc, content: found.content()})
}

// touch changes the expiry of a register. Its content stays.
func (w *worker) touch(o *operation) {
	doc := w.some(o, "r")
	c := w.start(o, doc, &call{})
	if o.IntN(2) == 0 {
		_, err := w.client.collection(doc).Touch(doc, time.Hour, &couchbase.TouchOptions{Timeout: o.timeout, Context: o.ctx, RetryStrategy: o.strategy})
		w.end(c, doc, err)
		return
	}
	r, err := w.client.collection(doc).GetAndTouch(doc, time.Hour, &couchbase.GetAndTouchOptions{
		Timeout: o.timeout, Context: o.ctx, RetryStrategy: o.strategy,
	})
	w.end(c, doc, err)
	if err == nil {
		w.decode(c, doc, r)
	}
}

// replicas reads a register from any node that has it, or from all.
func (w *worker) replicas(o *operation) {
	doc := w.some(o, "r")
	c := w.start(o, doc, &call{})
	var err error
	if o.IntN(2) == 0 {
		var r *couchbase.GetReplicaResult
		r, err = w.client.collection(doc).GetAnyReplica(doc, &couchbase.GetAnyReplicaOptions{Timeout: o.timeout, Context: o.ctx, RetryStrategy: o.strategy})
		w.end(c, doc, err)
		if err == nil {
			w.decode(c, doc, r)
		}
	} else {
		var all *couchbase.GetAllReplicasResult
		all, err = w.client.collection(doc).GetAllReplicas(doc, &couchbase.GetAllReplicaOptions{Timeout: o.timeout, Context: o.ctx, RetryStrategy: o.strategy})
		var results []*couchbase.GetReplicaResult
		if err == nil {
			for r := all.Next(); r != nil; r = all.Next() {
				results = append(results, r)
			}
			err = all.Close()
		}
		w.end(c, doc, err)
		for _, r := range results {
			w.decode(c, doc, r)
		}
	}
	for i := range c.reads {
		c.reads[i].replica = true
	}
}

func (w *worker) exists(o *operation) {
	doc := w.some(o, "r")
	c := w.start(o, doc, &call{})
	r, err := w.client.collection(doc).Exists(doc, &couchbase.ExistsOptions{Timeout: o.timeout, Context: o.ctx, RetryStrategy: o.strategy})
	w.end(c, doc, err)
	if err == nil {
		c.reads = append(c.reads, read{doc: doc, content: missing, unlike: r.Exists()})
	}
}

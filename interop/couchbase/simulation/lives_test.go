package simulation

import (
	"github.com/holdfast-db/holdfast/couchbase"
)

var text = couchbase.NewRawStringTranscoder()

// insert makes a document that only this worker changes.
func (w *worker) insert(o *operation) {
	doc := "l" + o.id
	c := w.start(o, doc, &call{kind: "insert", write: &write{effect: put}})
	err := c.told(w.client.collection(doc).Insert(doc, c.write.token, &couchbase.InsertOptions{
		Transcoder: text, Timeout: o.timeout, Context: o.ctx, RetryStrategy: o.strategy,
		DurabilityLevel: o.level, PersistTo: o.persist, ReplicateTo: o.replicate,
	}))
	w.end(c, doc, err)
	if err == nil {
		w.owned = append(w.owned, doc)
	}
}

// own returns a document of the worker. It reports false if it has none.
func (w *worker) own(o *operation) (string, bool) {
	if len(w.owned) == 0 {
		return "", false
	}
	return w.owned[o.IntN(len(w.owned))], true
}

func (w *worker) upsert(o *operation) {
	doc, ok := w.own(o)
	if !ok {
		w.insert(o)
		return
	}
	c := w.start(o, doc, &call{kind: "upsert", write: &write{effect: put}})
	err := c.told(w.client.collection(doc).Upsert(doc, c.write.token, &couchbase.UpsertOptions{
		Transcoder: text, Timeout: o.timeout, Context: o.ctx, RetryStrategy: o.strategy,
		DurabilityLevel: o.level, PersistTo: o.persist, ReplicateTo: o.replicate,
	}))
	w.end(c, doc, err)
	if w.moving || o.IntN(2) == 0 {
		w.reread(o, doc)
	}
}

// reread reads a document that the worker has just changed.
func (w *worker) reread(o *operation, doc string) {
	c := w.start(o, doc, &call{kind: o.kind + " read"})
	r, err := w.client.collection(doc).Get(doc, &couchbase.GetOptions{Transcoder: text, Timeout: o.timeout, Context: o.ctx, RetryStrategy: o.strategy})
	w.end(c, doc, err)
	if err != nil {
		return
	}
	var found string
	if err := r.Content(&found); err != nil {
		w.history.violated("result", "%s cannot be decoded: %v", c.id, err)
		return
	}
	c.reads = append(c.reads, read{doc: doc, content: found})
}

func (w *worker) append(o *operation) {
	doc, ok := w.own(o)
	if !ok {
		w.insert(o)
		return
	}
	c := w.start(o, doc, &call{kind: "append", write: &write{effect: appendText}})
	err := c.told(w.client.collection(doc).Binary().Append(doc, []byte("|"+c.write.token), &couchbase.AppendOptions{
		Timeout: o.timeout, Context: o.ctx, RetryStrategy: o.strategy, DurabilityLevel: o.level, PersistTo: o.persist, ReplicateTo: o.replicate,
	}))
	w.end(c, doc, err)
}

func (w *worker) prepend(o *operation) {
	doc, ok := w.own(o)
	if !ok {
		w.insert(o)
		return
	}
	c := w.start(o, doc, &call{kind: "prepend", write: &write{effect: prependText}})
	err := c.told(w.client.collection(doc).Binary().Prepend(doc, []byte(c.write.token+"|"), &couchbase.PrependOptions{
		Timeout: o.timeout, Context: o.ctx, RetryStrategy: o.strategy, DurabilityLevel: o.level, PersistTo: o.persist, ReplicateTo: o.replicate,
	}))
	w.end(c, doc, err)
	w.reread(o, doc)
}

// removal is the token of the only removal of a document.
const removal = "removal"

// remove removes a document. Whatever that returns, nobody uses the document again, but for a look.
func (w *worker) remove(o *operation) {
	if len(w.owned) == 0 {
		w.insert(o)
		return
	}
	i := o.IntN(len(w.owned))
	doc := w.owned[i]
	w.owned = append(w.owned[:i], w.owned[i+1:]...)
	c := w.start(o, doc, &call{kind: "remove", write: &write{effect: remove, token: removal}})
	err := c.told(w.client.collection(doc).Remove(doc, &couchbase.RemoveOptions{
		Timeout: o.timeout, Context: o.ctx, RetryStrategy: o.strategy, DurabilityLevel: o.level, PersistTo: o.persist, ReplicateTo: o.replicate,
	}))
	w.end(c, doc, err)
	if !w.moving {
		w.reread(o, doc)
	}
}

// bulk makes documents and reads others in one call of the client.
func (w *worker) bulk(o *operation) {
	var ops []couchbase.BulkOp
	var calls []*call
	for _, suffix := range []string{"b", "d", "f"} { // the operations of one call are in one collection
		doc := "l" + o.id + suffix
		c := w.start(o, doc, &call{kind: "bulk insert", write: &write{effect: put}})
		c.write.safety = unsafe
		calls = append(calls, c)
		ops = append(ops, &couchbase.InsertOp{ID: doc, Value: c.write.token})
	}
	err := w.client.bucket.DefaultCollection().Do(ops, &couchbase.BulkOpOptions{
		Transcoder: text, Timeout: o.timeout, Context: o.ctx, RetryStrategy: o.strategy,
	})
	for i, c := range calls {
		op := ops[i].(*couchbase.InsertOp)
		if err != nil {
			w.history.violated("result", "%s: the bulk itself: %v", c.id, err)
		}
		if op.Err == nil {
			_ = c.told(op.Result, nil)
			w.owned = append(w.owned, c.write.doc)
		}
		w.end(c, c.write.doc, op.Err)
	}
}

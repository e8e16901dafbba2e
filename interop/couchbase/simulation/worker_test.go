package simulation

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strconv"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/interop/internal/simlife"
)

const (
	bucketName  = "sim"
	counterBase = 1 << 60 // so that no counter comes to 0
)

// register is a document whose log has the tokens of its changes.
type register struct {
	N    int      `json:"n"`
	Log  []string `json:"log"`
	Last string   `json:"last"`
}

// worker makes its operations one after the other.
type worker struct {
	*cast
	id     int
	client *client
	owned  []string // documents that are probably there, and that nobody else changes
	moving bool     // only vbuckets move
}

// kind is a kind of operation, and how many of 100 are of it.
type kind struct {
	name  string
	share int
	run   func(w *worker, o *operation)
}

// operation is one operation of a worker: it makes one call or several.
type operation struct {
	*rand.Rand
	terms
	id     string
	number int
	epoch  int
	kind   string
	calls  int
	doc    string   // for which the fault is armed
	fault  *planned // nil: none
}

func kinds() []kind {
	return []kind{
		{"push", 14, (*worker).push},
		{"swap", 10, (*worker).swap},
		{"lockedSwap", 6, (*worker).lockedSwap},
		{"lookup", 5, (*worker).lookup},
		{"get", 9, (*worker).get},
		{"touch", 3, (*worker).touch},
		{"replicas", 4, (*worker).replicas},
		{"exists", 2, (*worker).exists},
		{"increment", 10, (*worker).increment},
		{"decrement", 4, (*worker).decrement},
		{"count", 4, (*worker).count},
		{"insert", 7, (*worker).insert},
		{"upsert", 5, (*worker).upsert},
		{"append", 4, (*worker).append},
		{"prepend", 2, (*worker).prepend},
		{"remove", 4, (*worker).remove},
		{"bulk", 3, (*worker).bulk},
		{"query", 4, (*worker).query},
	}
}

// chosen returns the kind of an operation: a function of the seed, the worker and the number.
func chosen(r *rand.Rand) kind {
	n := r.IntN(100)
	for _, k := range kinds() {
		if n -= k.share; n < 0 {
			return k
		}
	}
	panic("the shares of the kinds are not 100")
}

// run makes all operations, and some more if planned faults have not happened yet. They are spread over the life, in rounds.
func (w *worker) run() {
	for number := 0; w.goesOn(number); number++ {
		r := w.Random(forOperation, uint64(w.id), uint64(number))
		k := chosen(r)
		w.sleepUntil(w.Due(r, number))
		w.operate(k, &operation{Rand: r, id: fmt.Sprintf("%d.%d", w.id, number), number: number, epoch: w.Epoch(number), kind: k.name})
	}
	w.sleepUntil(w.Duration)
}

func (w *worker) operate(k kind, o *operation) {
	o.terms = w.terms(o)
	defer o.cancel()
	k.run(w, o)
	if o.fault != nil {
		w.injector.disarm(o.fault, o.doc)
	}
}

// goesOn reports whether the worker makes this operation.
func (w *worker) goesOn(number int) bool {
	if w.TCP && time.Since(w.begin) > w.Duration {
		return false
	}
	return number < w.Operations || number < w.Most() && w.injector.outstanding()
}

func (w *worker) sleepUntil(due time.Duration) { simlife.Pause(due - time.Since(w.begin)) }

// start begins the next call of an operation, about a document.
func (w *worker) start(o *operation, doc string, c *call) *call {
	c.id = fmt.Sprintf("%s.%d", o.id, o.calls)
	if o.calls == 0 && !w.moving {
		o.doc, o.fault = doc, w.injector.arm(w.id, o.number, doc)
	}
	o.calls++
	c.worker, c.terms = w.id, o.text
	if c.kind == "" {
		c.kind = o.kind
	}
	if x := c.write; x != nil {
		x.doc, x.safety = doc, o.safety
		if x.token == "" {
			x.token = c.id
		}
	}
	w.history.start(c)
	return c
}

// end ends a call about a document. An error that says whether the document is there is what the call saw.
func (w *worker) end(c *call, doc string, err error) {
	w.history.end(c, err)
	switch {
	case err == nil:
	case errors.Is(err, couchbase.ErrTimeout), c.claim == unknown, c.attempts == 0:
	case errors.Is(err, couchbase.ErrDocumentNotFound):
		c.reads = append(c.reads, read{doc: doc, content: missing})
	case errors.Is(err, couchbase.ErrDocumentExists):
		c.reads = append(c.reads, read{doc: doc, content: missing, unlike: true})
	}
	if w.moving && err != nil && !errors.Is(err, couchbase.ErrCasMismatch) {
		w.history.violated("move", "an operation failed while only vbuckets moved: %v", c)
	}
}

// told notes the CAS of a write that succeeded.
func (c *call) told(r *couchbase.MutationResult, err error) error {
	if err == nil {
		c.write.cas = uint64(r.Cas())
	}
	return err
}

// some returns a hot document.
func (w *worker) some(o *operation, prefix string) string {
	return fmt.Sprintf("%s%d", prefix, o.epoch*w.Hot()+o.IntN(w.Hot()))
}

// inNamedCollection reports whether a document is in the named collection, and not in the default one.
func inNamedCollection(doc string) bool { return doc[len(doc)-1]%2 == 1 }

// collection returns the collection of a document.
func (c *client) collection(doc string) *couchbase.Collection {
	if inNamedCollection(doc) {
		return c.bucket.Scope(scopeName).Collection(collectionName)
	}
	return c.bucket.DefaultCollection()
}

func (w *worker) expect(c *call, what string, got, want any) {
	if got != want {
		w.history.violated("result", "%s %s: %s is %v, want %v", c.id, c.kind, what, got, want)
	}
}

func number(n uint64) *string {
	s := strconv.FormatUint(n, 10)
	return &s
}

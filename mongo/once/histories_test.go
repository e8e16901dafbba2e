package once_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo/once"
	"github.com/holdfast-db/holdfast/mongotest"
)

// history is a random run: programs that update one document, two of them with each id, sweeps beside them, and a network that loses and
// delays.
type history struct {
	*world
	mu     sync.Mutex
	random *rand.Rand
	late   sync.WaitGroup
	told   map[int][]error // by operation
}

const (
	operations = 12
	callsOfOne = 2
)

func (h *history) number(n int) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.random.IntN(n)
}

func (h *history) fault(r *mongotest.Request) mongotest.Fault {
	delay := time.Duration(h.number(50)) * time.Millisecond
	switch h.number(12) {
	case 0:
		return mongotest.Fault{Delay: delay, LoseRequest: true}
	case 1:
		return mongotest.Fault{Delay: delay, LoseReply: true}
	case 2:
		statement := append(bson.Raw(nil), r.Body.Lookup("updates", "0").Value...)
		h.late.Go(func() {
			<-time.After(time.Duration(h.number(3000)) * time.Millisecond)
			_, _ = h.server.Command(0, "app", d("update", "counters", "updates", bson.A{statement})) // a duplicate key if it is finished
		})
		return mongotest.Fault{LoseRequest: true}
	}
	return mongotest.Fault{Delay: delay}
}

// call makes an update of an operation, or one that its document refuses.
func (h *history) call(operation int, id bson.ObjectID) {
	<-time.After(time.Duration(h.number(2000)) * time.Millisecond)
	filter, update := d("_id", 1), any(d("$inc", d("n", 1, field(operation), 1)))
	o := options.UpdateOne()
	switch operation % 4 {
	case 1:
		filter = append(filter, bson.E{Key: "n", Value: d("$lt", operations/2)})
	case 2:
		one := func(name string) any { return d("$add", bson.A{d("$ifNull", bson.A{"$" + name, 0}), 1}) }
		update = bson.A{d("$set", d("n", one("n"), field(operation), one(field(operation))))}
	case 3:
		o.SetUpsert(true)
	}
	result, err := h.UpdateOneAs(h.t.Context(), id, filter, update, o)
	if err == nil && result.MatchedCount+result.UpsertedCount == 0 {
		err = errNoMatch
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.told[operation] = append(h.told[operation], err)
}

var errNoMatch = errors.New("no match")

func field(operation int) string { return fmt.Sprintf("o%d", operation) }

// check compares what was told of each operation with how often it is applied.
func (h *history) check(document bson.Raw) {
	sum := int64(0)
	for operation, told := range h.told {
		applied := document.Lookup(field(operation))
		n, _ := applied.AsInt64OK()
		sum += n
		success, never := 0, 0
		for _, err := range told {
			var failed *once.Error
			switch {
			case err == nil:
				success++
			case errors.Is(err, errNoMatch), errors.As(err, &failed) && failed.State == once.NotApplied:
				never++
			}
		}
		if n > 1 || success > 0 && n != 1 || never == len(told) && n != 0 {
			h.t.Errorf("operation %d is applied %d times; its callers were told %v", operation, n, told)
		}
	}
	if n, _ := document.Lookup("n").AsInt64OK(); n != sum {
		h.t.Errorf("the counter is %d, its operations are %d", n, sum)
	}
}

func TestRandomHistories(t *testing.T) {
	for seed := range uint64(40) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			inWorld(t, once.Options{}, func(w *world) {
				h := &history{world: w, random: rand.New(rand.NewPCG(seed, 0)), told: make(map[int][]error)}
				if seed%2 == 0 {
					w.insert(d("_id", 1, "n", 0))
				}
				end := w.server.Use("update", mongotest.Decide(h.fault))
				var running sync.WaitGroup
				for operation := range operations {
					id := bson.NewObjectID()
					for range callsOfOne {
						running.Go(func() { h.call(operation, id) })
					}
				}
				for range 3 {
					running.Go(func() {
						<-time.After(time.Duration(h.number(2500)) * time.Millisecond)
						_, _ = w.Sweep(w.t.Context(), once.SweepOptions{OlderThan: time.Millisecond}) // the network may end it
					})
				}
				running.Wait()
				h.late.Wait()
				end()
				<-time.After(time.Second)
				if r := w.sweep(w.t.Context()); r.Failures > 0 {
					w.t.Errorf("%+v", r)
				}
				h.check(w.server.ReadAll("app.counters")[0])
			})
		})
	}
}

package languages

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongo/mongotest"
)

// witness sees what the set's counters and its journal do not tell.
type witness struct {
	mu   sync.Mutex
	seen map[string]int // what the handshakes say that the driver is
}

// watch has a witness look at the set's messages.
func watch(set *mongotest.ReplicaSet) *witness {
	w := &witness{seen: make(map[string]int)}
	set.Use("hello", w.note(func(body bson.Raw) string {
		name, ok := body.Lookup("client", "driver", "name").StringValueOK()
		if !ok {
			return ""
		}
		return name + " " + body.Lookup("client", "driver", "version").StringValue()
	}))
	return w
}

// note counts messages by what describe says of them; "" does not count.
func (w *witness) note(describe func(bson.Raw) string) mongotest.Middleware {
	return func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
		if what := describe(r.Body); what != "" {
			w.mu.Lock()
			w.seen[what]++
			w.mu.Unlock()
		}
		return next(r)
	}
}

// drivers returns the different drivers that were seen.
func (w *witness) drivers() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.seen))
}

// crash is the _id of the fail-over step's document at which the primary is killed.
const crash = 150

// killOnce kills the primary when it has inserted, or found, the document of the crash and nobody was told.
func killOnce(set *mongotest.ReplicaSet, command string) {
	var done atomic.Bool
	set.Use(command, mongotest.Decide(func(r *mongotest.Request) mongotest.Fault {
		if !concerns(r, "failover", crash) || done.Swap(true) {
			return mongotest.Fault{}
		}
		member := r.Member
		return mongotest.Fault{After: func() { set.Kill(member) }}
	}))
}

// concerns tells whether an insert or a find is about the document with this _id.
func concerns(r *mongotest.Request, collection string, id int64) bool {
	if name, ok := r.Body.Lookup(r.Command).StringValueOK(); !ok || name != collection {
		return false
	}
	for _, path := range [][]string{{"documents", "0", "_id"}, {"filter", "_id"}} {
		if n, ok := r.Body.Lookup(path...).AsInt64OK(); ok {
			return n == id
		}
	}
	return false
}

package languages

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

// The commands that a witness counts.
const (
	batch  = "getMore of the collection cursor"
	stream = "aggregate that opens a change stream"
)

// witness sees what the set's counters and its journal do not tell.
type witness struct {
	mu     sync.Mutex
	counts map[string]int // messages
	names  map[string]bool
}

// watch has a witness look at the set's messages.
func watch(set *mongotest.Deployment) *witness {
	w := &witness{counts: make(map[string]int), names: make(map[string]bool)}
	for _, command := range []string{"hello", "getMore", "aggregate"} {
		set.Use(command, func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
			w.see(r)
			return next(r)
		})
	}
	return w
}

func (w *witness) see(r *mongotest.Request) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if name := driverIn(r.Body); name != "" {
		w.names[name] = true
	}
	switch r.Command {
	case "getMore":
		if r.Body.Lookup("collection").StringValue() == "cursor" {
			w.counts[batch]++
		}
	case "aggregate":
		if _, err := r.Body.LookupErr("pipeline", "0", "$changeStream"); err == nil {
			w.counts[stream]++
		}
	}
}

// driverIn returns the name and the version of the driver in a hello, "" if it has none.
func driverIn(hello bson.Raw) string {
	name, ok := hello.Lookup("client", "driver", "name").StringValueOK()
	if !ok {
		return ""
	}
	return name + " " + hello.Lookup("client", "driver", "version").StringValue()
}

// drivers returns what the handshakes said that the driver is.
func (w *witness) drivers() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Sorted(maps.Keys(w.names))
}

func (w *witness) count(what string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.counts[what]
}

// crash is the _id of the fail-over step's document at which the primary is killed.
const crash = 150

// killOnce kills the primary when it has inserted, or found, the document of the crash and nobody was told.
func killOnce(set *mongotest.Deployment, command string) {
	var done atomic.Bool
	set.Use(command, mongotest.Decide(func(r *mongotest.Request) mongotest.Fault {
		if !concerns(r, "failover", crash) || done.Swap(true) {
			return mongotest.Fault{}
		}
		member := r.Member
		return mongotest.Fault{After: func() { set.Kill(member) }}
	}))
}

// concerns reports whether an insert or a find is about the document with this _id.
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

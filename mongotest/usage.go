package mongotest

import (
	"sync"
	"sync/atomic"
	"time"
)

// usage is how often and for how long a server has executed what, by namespace.
type usage struct{ byNamespace sync.Map } // the values are of type *namespaceUsage

// The kinds of use that the command top tells apart, in its order.
const (
	usedAtAll = iota
	usedToRead
	usedToWrite
	usedByFind
	usedByGetMore
	usedByInsert
	usedByUpdate
	usedByDelete
	usedByOthers
	usageKinds
)

var usageNames = [usageKinds]string{"total", "readLock", "writeLock", "queries", "getmore", "insert", "update", "remove", "commands"}

// occasions are how often something was done, and how long it took together.
type occasions struct{ count, nanoseconds atomic.Int64 }

type namespaceUsage [usageKinds]occasions

// use notes that a command on data was executed.
func (x *call) use(began time.Time) {
	ns := x.command.full
	if x.result.target != "" {
		ns = x.result.target
	}
	if x.client.member == nil || x.command.spec.service || ns == "" {
		return
	}
	used, ok := x.client.member.usage.byNamespace.Load(ns)
	if !ok {
		used, _ = x.client.member.usage.byNamespace.LoadOrStore(ns, new(namespaceUsage))
	}
	took := time.Since(began).Nanoseconds()
	lock := usedToRead
	if x.command.spec.write {
		lock = usedToWrite
	}
	for _, kind := range [...]int{usedAtAll, lock, x.command.spec.usage()} {
		o := &used.(*namespaceUsage)[kind]
		o.count.Add(1)
		o.nanoseconds.Add(took)
	}
}

// usage returns the kind that a command counts as.
func (s *spec) usage() int {
	switch s.name {
	case "find":
		return usedByFind
	case "getMore":
		return usedByGetMore
	case "insert":
		return usedByInsert
	case "update":
		return usedByUpdate
	case "delete":
		return usedByDelete
	}
	return usedByOthers
}

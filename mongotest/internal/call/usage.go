package call

import (
	"sync"
	"sync/atomic"
	"time"
)

// usage is how often and for how long a server has executed what, by namespace.
type usage struct{ ByNamespace sync.Map } // the values are of type *NamespaceUsage

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

// UsageNames are the names of the kinds, in their order.
var UsageNames = [usageKinds]string{"total", "readLock", "writeLock", "queries", "getmore", "insert", "update", "remove", "commands"}

// occasions are how often something was done, and how long it took together.
type occasions struct{ Count, Nanoseconds atomic.Int64 }

// NamespaceUsage is how often, and for how long, a namespace was used in each way.
type NamespaceUsage [usageKinds]occasions

// use notes that a command on data was executed.
func use(x *Call, began time.Time) {
	ns := x.Command.Full
	if x.Result.Target != "" {
		ns = x.Result.Target
	}
	if x.Client.Member == nil || x.Command.Spec.Service || ns == "" {
		return
	}
	used, ok := x.Client.Member.Usage.ByNamespace.Load(ns)
	if !ok {
		used, _ = x.Client.Member.Usage.ByNamespace.LoadOrStore(ns, new(NamespaceUsage))
	}
	took := time.Since(began).Nanoseconds()
	lock := usedToRead
	if x.Command.Spec.Write {
		lock = usedToWrite
	}
	for _, kind := range [...]int{usedAtAll, lock, x.Command.Spec.usage()} {
		o := &used.(*NamespaceUsage)[kind]
		o.Count.Add(1)
		o.Nanoseconds.Add(took)
	}
}

// usage returns the kind that a command counts as.
func (s *Spec) usage() int {
	switch s.Name {
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

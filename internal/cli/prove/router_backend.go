package prove

import (
	"slices"
	"time"
)

// Router is the experiment about MongoDB with a router between the clients and the members: the same strategies and failures, which are done
// to the leg behind the router, and some more, which are done to the leg before it.
var Router = routerBackend()

func routerBackend() *Backend {
	b := *MongoDB
	b.Title = "MongoDB behind a router"
	b.failures = append(MongoDB.Failures(), routerBefore...)
	b.expected, b.expectedBefore = routerExpected, routerBeforeExpected
	// The clients share the router's connections. So a connection may be that of a pool which another client's failure has cleared: what its
	// member then says of its state counts no more (Server Discovery and Monitoring, "stale errors"), and the next message meets it again.
	b.refusedAgain = true
	b.legend = append(slices.Clone(MongoDB.legend), "behind the router a message that a member refused because it is no primary is worth another one; the failures before "+
		"the router are no part of the conclusion")
	// An operation waits at the router as long as it would wait for a server itself: long enough for a client that finds a partition out by
	// its timeouts, and begins again.
	b.settings.Timing.ServerSelection = 2 * time.Second
	return &b
}

// routerBefore are failures of the leg between the clients and the router.
var routerBefore = []Failure{
	{Name: "request-lost-before", Title: "request lost before the router", faults: []FaultKind{RequestLost}, before: true},
	{Name: "reply-lost-before", Title: "reply lost before the router", faults: []FaultKind{ReplyLost}, before: true},
	{Name: "delayed-request-before", Title: "delayed before the router", faults: []FaultKind{RequestDelayed}, before: true},
}

// Package explore does for Couchbase what the package of the same name, one folder up, does for MongoDB: it runs a piece of a program once
// to see the messages that it sends, and then again and again, each time with one failure at one message, until every message has met
// every failure. It reports each run in which what the program promises no longer holds.
//
//	import explore "github.com/holdfast-db/holdfast/explore/couchbase"
//
//	func TestPlaceOrder(t *testing.T) {
//		explore.Run(t, func(e *explore.Exploration) {
//			cluster := connect(e)                     // with any SDK, to e.ConnectionString()
//			err := shop.PlaceOrder(cluster, order)
//			e.Logf("PlaceOrder returned %v", err)
//			e.Check(func() error { return shop.Audit(cluster, order, err) }) // all failures have ended
//		})
//	}
//
// Each run has a cluster of its own, one of package couchbasetest: real data behind the real protocol, in this process. The function must
// do the same in each run: a message is known by its command, its target, and its place among the messages with the same two. A message
// that a run does not send is reported as not reached, never as passed. If the function sends messages from several goroutines, the order
// among equal ones is as the scheduler has it, so that concurrency is sampled and not explored.
//
// The messages are those of the key-value protocol, by the names that the server gives to its commands, in small letters: "get", "set",
// "subdoc_multi_mutation". The target is the bucket and the key, "default/k", with the scope and the collection if it is not the default
// one: "default.shop.orders/k". What an SDK sends for itself, such as logins and requests for the cluster map, meets no failure, and neither
// do requests to the HTTP services: of queries, searches and the management. A query's failures are those of HTTPFault in couchbasetest.
//
// What the function may do: an error of the program is no failure as long as the check holds, because an operation may fail when a node
// dies; it must not lie about it. The function calls Errorf, Fatalf or FailNow of the [Exploration] if something does not hold, or returns
// an error from a check. So the assertions of testify and others work, given the Exploration in place of the *testing.T.
//
// # On the fake clock
//
// With [InMemory] a run has neither sockets nor waits: it is a bubble of testing/synctest, whose clock goes on when all goroutines wait.
// The program connects through e.Dialer(). A timeout takes its seconds and a silent connection its five minutes, in no time. A bubble
// forbids what its clock cannot see: waits for sockets, files, processes, and goroutines outside of it; a global lock or channel that two
// runs share; a client that is made outside of the function. Run with a single goroutine if the program has global state: [Parallel](1).
// A program that tries again without a pause keeps the clock from going on, and is reported as hung.
// SCRAM takes the processor's time on purpose: an SDK that logs in with PLAIN explores several times as fast.
//
// A run in which all goroutines wait for each other is reported as hung, and one whose goroutines are left at the end as leaked.
package explore

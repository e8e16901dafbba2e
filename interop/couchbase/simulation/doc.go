// Package simulation lets many workers use our Couchbase client while the cluster fails in every way that couchbasetest knows, and checks
// afterwards the history of all calls against what the nodes did and hold. It has only tests. It is to Couchbase what package simulation
// is to MongoDB; what both do alike is in packages simlife and simcheck.
//
// # A seed
//
// A life is ten minutes of a cluster of three or four nodes, on the fake clock and a network in memory with 0.2 to 2 ms of latency.
// Sixteen workers share four clients with different settings and make some 6,500 calls: sub-document changes, replaces with a CAS,
// locks, counters, inserts, upserts, appends, removals, bulk operations, reads from active nodes and replicas, and queries; with all
// levels of durability, several strategies, timeouts and cancelled contexts. The same load also runs for a minute on TCP and the real
// clock, with 64 workers: it begins with two moves of each of the 1,024 vbuckets to new nodes, in which no operation may fail.
//
// All choices come from the seed: the kind, the document and the terms of a call from the seed, its worker and its number; a fault
// from the seed and the operation, never from the clock. Key-value requests do not say which call they belong to. So a fault strikes the first
// message about its operation's document, which may be another worker's. A cluster that is already broken is not broken again: the fault
// strikes the first message after it was repaired. The order of goroutines is not fixed, so one run of a seed does not always show a
// defect that another one shows: a life that fails writes its whole history to a file and prints the command that repeats the seed.
//
// # The way of a life
//
//   - settings: how many workers and operations, for how long, on which version of the server, with how many replicas and which lags.
//   - plan: which operation suffers which fault, from the seed. Each kind of fault is in each plan.
//   - cast: the nodes, the clients and the workers. Each write has a token that it leaves in its document, or an amount like no other.
//   - injector: middleware that finds the message, and strikes. It notes the moments at which writes may have been lost.
//   - history: the calls: their arguments, times and results, and the claims of their errors.
//   - probe: at the end, when all is whole, one node still serves an old map.
//   - truth: a timeline for each document, of the changes in the order in which the journal has them, and of the losses between them; and what
//     the nodes hold.
//   - checks: pure functions from history and truth to violations, one for each rule.
//
// # The rules
//
//   - once: an acknowledged write was applied exactly once, a write that was reported as not done never, and one whose outcome is unknown
//     at most once. That is more than the rules of Couchbase promise: they permit any number of times for the last.
//   - durable: an acknowledged durable write is there at the end. A level that needs no disk ("majority", ReplicateTo) outlives failovers, but
//     not the end of the active node's process: Couchbase's documentation of durability says that such a write is in memory.
//   - content: a replace with a CAS found the content that was read; a counter returned its value; the CAS that the client was told is
//     that of the change; what a replica returns was there once.
//   - linearizable: the calls on one document are linearizable, by porcupine. A loss is an operation of its own, during its fault.
//   - error: each error says how many attempts there were and why there was no other one; no more requests arrived than attempts are
//     told; a timeout is called ambiguous exactly if an attempt may have been applied.
//   - map: a client that knows the newest map does not go back to an older one.
//   - move: no operation fails because vbuckets move (on TCP).
//   - truth: the documents are those that the journal's changes make, and every loss has its fault.
//   - leak: no goroutine, no connection and no operation is left after Close.
//
// Each checker has tests with histories that are wrong, and defects of client and node that a life must show.
package simulation

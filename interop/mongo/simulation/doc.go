// Package simulation lets many workers use our client while the cluster fails in every way that mongotest knows, and checks
// afterwards the history of all calls against what the servers hold. It has only tests. What it does as package simulation of
// Couchbase does is in packages simlife and simcheck.
//
// # A seed
//
// A life is ten minutes of a replica set of three members, on the fake clock and a network in memory with 0.2 to 2 ms of
// latency. Sixteen workers share four clients with different settings and make some 6,000 calls. Three watchers follow
// change streams. The same load also runs for a minute on TCP and the real clock.
//
// A life behind two routers (routed) has 200 workers, each with a client of its own. Half of the clients never retry; half know both routers,
// and half a balancer in front of them. Beside the faults of the members, routers die, are drained, and lose members in one direction or both. Each
// reply of a member has the comment of its command: who asked.
//
// All choices come from the seed: the kind, the documents and the deadline of a call from the seed, its worker and its number;
// a fault from the seed, the operation and the number of its message, never from the clock. A cluster that is already
// broken is not broken again: the fault strikes the first message after it was repaired. The order of goroutines is not fixed,
// so one run of a seed does not always show a defect that another one shows: a life that fails writes its whole history
// to a file and prints the command that repeats the seed.
//
// # The way of a life
//
//   - settings: how many workers and operations, for how long, with which defects.
//   - plan: which operation suffers which fault, from the seed. Each kind of fault is in each plan.
//   - cast: the servers, the clients, the workers and the watchers. Each worker makes its operations, one after the other. Each
//     call has a comment that is unique; each write has a token that it leaves in its documents.
//   - injector: middleware that finds the message of an operation by the comment, and strikes.
//   - history: the calls: their arguments, times and results, and the claims of their errors.
//   - truth: when all is repaired and quiet, the documents that a majority has, and all events of the oplog in their order, read by
//     a new client.
//   - checkers: pure functions from history and truth to violations, one for each rule.
//
// # The rules
//
//   - once: an acknowledged write is there exactly once, a write that was reported as not done is not there, and an unknown one
//     is there at most once; a transaction is in all its documents or in none.
//   - snapshot: the reads of a transaction show one point in the order of the oplog; no update of its documents is between its
//     reading and its writing.
//   - stream: a change stream returned each event once and in order.
//   - error: each error says how many attempts there were and why there was no other one; no more messages arrived than
//     attempts are told; an outcome is called unknown only if an answer was missing.
//   - asker: a client gets the replies to its own commands only. Behind routers the rule error asks less: a router makes attempts of its own.
//   - linearizable: the calls on one document are linearizable, by porcupine.
//   - leak: no goroutine, no connection and no checked-out connection is left, and no client and no waiting operation of a router.
//
// Each checker has tests with histories that are wrong, and defects of client and server that a life must show.
package simulation

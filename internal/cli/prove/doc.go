// Package prove is the counting experiment of `holdfast prove`: many writers increment counters while failures are
// injected, and afterwards the experiment checks for each single operation how often it was applied. A [Backend] is one
// kind of database. Each has retry strategies and failures. Each pair is a cell, with its own clients, deployment and data. The parts of a cell
// are:
//
//	plan      the faults and their operations: a pure function of seed, failure and operation
//	referee   decides when a planned fault may happen, so that no operation has two faults
//	injector  applies the fault to a message, and records a hit only if it happened
//	writers   run operations with the strategy under test, until there are enough hits
//	sweep     MongoDB: applies the operations that have only their first step
//	audit     heals the cluster, reads all documents with a new client, and compares them with the servers' journal
//	count     per operation: acknowledged or errored, and applied 0 times, once, twice or more
//	waste     MongoDB, per operation: its messages, tries and time, compared with the rule; then the verdict
//
// The experiment uses MongoDB's clients through [Client] only, so that the same matrix tests any driver. Nothing in it
// depends on wall-clock time or on real sockets: with [Memory] or [CouchbaseMemory] it runs inside a testing/synctest bubble.
package prove

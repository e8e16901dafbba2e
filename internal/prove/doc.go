// Package prove is the counting experiment of `holdfast prove`: many writers increment counters while failures are
// injected, and afterwards each single operation is looked for in the data.
//
// Five strategies of retrying meet nine failures; each pair is a cell with clients, a deployment and data of its own. A
// cell runs in this order:
//
//	plan      which operations are hit, by what and when: a pure function of seed, failure and operation
//	referee   when a planned fault may fire, so that no operation meets two troubles that one retry cannot survive
//	injector  does it to a message, and notes it as a hit only if it happened
//	writers   do operations, each by the strategy under test, until enough was hit
//	audit     heals everything, reads all documents by a fresh client, and holds them against the server's journal
//	count     per operation: acknowledged or errored x applied 0, 1, 2 or more times; then the verdict
//
// The experiment knows clients only as [Client], so that the same matrix judges any driver. Nothing in it depends on
// wall-clock time or on real sockets: with [Memory] it runs inside a testing/synctest bubble.
package prove

// Package operation runs one key-value operation: from its description to its result, with all attempts between.
//
// The lifecycle of one operation:
//
//  1. The caller describes the operation in an [Operation] and calls [Runner.Run] with a context and a timeout.
//  2. Run takes a run from a pool (run.go). A run is the context of its operation, so a success makes no timer and no context. The
//     engine of package retry calls run.attempt (attempt.go).
//  3. Each attempt takes the newest snapshot of the bucket, finds the endpoint of the key's vbucket (select.go) and the
//     collection's id (identify.go), builds the request (message.go), asks the endpoint's breaker, and makes one round trip on
//     the endpoint's connection.
//  4. The status of the answer is looked up in one table (codes.go), with the exceptions of single commands. The server's error
//     map decides about statuses that the table does not have, and about the retry of those that have byMap (classify.go). The
//     result is a retry.Failure, with a channel that ends the delay early when what it waits for is there.
//  5. After a failure that is not repeated, Run returns an [*Error], which matches the sentinels of this package (final.go, sentinels.go).
//
// The rules are those of Couchbase's RFCs 0049 (retries), 0058 (errors), 0024 (cluster maps) and 0005 (forward maps).
//
// # Not obvious
//
//   - The first operation in a collection waits for the look-up within its attempt: nothing has failed yet, so the strategy is
//     not asked.
//   - Three reasons are ours (couchbasereason.KVConfigOnly, BucketOpening, NodeConnecting): nobody's strategy can decline to wait for a
//     bucket that is being opened, or for the first connection to a new node.
//   - A run (run.go) is the context of its operation, so a success makes no timer. A run whose
//     attempt failed is not used again: a strategy may have kept it.
//
// # Files
//
// Begin with doc.go, operation.go, runner.go, run.go, attempt.go. Then select.go, identify.go (ids of collections), message.go,
// classify.go, codes.go (the table of statuses), kind.go, attempterror.go, error.go and final.go (the error), sentinels.go, tracer.go.
package operation

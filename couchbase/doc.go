// Package couchbase is a client for Couchbase with the exported names of gocb v2. A program changes that one import to this one. It is
// not a layer over gocb: requests, connections, cluster maps and retries are those of Holdfast.
//
//	cluster, err := couchbase.Connect("couchbase://localhost", couchbase.ClusterOptions{Username: "app", Password: "secret"})
//	if err != nil {
//		return err
//	}
//	defer cluster.Close(nil)
//
//	counters := cluster.Bucket("app").DefaultCollection().Binary()
//	_, err = counters.Increment("visits", &couchbase.IncrementOptions{Initial: 1, Delta: 1})
//
//	var history *retry.Error
//	if errors.As(err, &history) && !history.OutcomeKnown() {
//		// the operation may have been applied
//	}
//
// [Connect] returns a [Cluster]; [Open] does too, with settings that the options of gocb lack ([Config]). Nothing has to be
// connected before the first operation: an operation waits for what it needs, until its timeout.
//
// # Retries and time
//
// Retries follow Couchbase's RFC 0049. A request that was not written is sent again; one that was written and got no answer only if
// it is idempotent. What a server refuses for a while is tried again with growing delays, until the timeout: that of the operation,
// or KVTimeout (default 2.5 s), KVDurableTimeout (10 s) or that of the service in [TimeoutsConfig]. The context of an operation
// ends it earlier. A [RetryStrategy] may assert its request to [RetryRequestDetails], which has the context and the user's data.
//
// # Login
//
// By a password, a token or a certificate, which [Cluster.SetAuthenticator] replaces while operations run. No error, log line or span has one.
//
// # Errors
//
// errors.Is finds the sentinels of gocb, errors.As its error types. An operation that failed says in its error how often it was tried,
// for which reasons, and whether its outcome is known ([*retry.Error]). A timeout matches [ErrUnambiguousTimeout] only if the
// operation was certainly not applied, or if doing it again does no harm.
//
// # Concurrency
//
// Everything that comes from a [Cluster] is safe for concurrent use, except results that are read row by row. No order is promised
// between operations that run at the same time. [Cluster.Close] stops all goroutines of the client.
//
// # Limits
//
// There are no transactions, range scans, eventing, users, writing of indexes, couchbase2:// and memcached buckets. An option that is
// not supported is an error that names it. Whether a certificate was revoked is not checked. The client was run against package
// couchbasetest only, never against a real server.
//
// The page docs/COUCHBASE.md of the repository has every difference from gocb, and what the client does after which event.
package couchbase

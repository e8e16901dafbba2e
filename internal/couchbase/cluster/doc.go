// Package cluster knows a Couchbase cluster: its maps, a connection to each node of each bucket, the ids of collections.
//
// [Open] returns at once and connects in the background (seek.go): the seeds are tried in one shuffled order, the next one when the
// one before has failed or has not answered for half a second, until one answers with a map, which replaces the seeds. The first
// [Cluster.Bucket] uses the connection that is there; further buckets have connections of their own.
//
// A [Snapshot] is what a bucket knows at one time: the map, and an [Endpoint] for each node. It never changes. A newer map comes by a
// handshake, a push, the body of a refusal, a fetch that all who need one share, or the poll (maps.go, fetch.go). It is published
// once (publish.go): endpoints of nodes that left are closed, and the waits that it helps end (waits.go).
//
// An Endpoint has a connection or the reason why it has none. It connects again after 10 ms, growing to 5 s (endpoint.go). Its
// breaker's probe is a NOOP of the client's own (breaker.go).
//
// Order of the locks: that of a breaker, Bucket.learning, Collection.mu, Bucket.mu, Cluster.mu. Only Bucket.learning is held while a
// connection is closed.
//
// The sources are Couchbase's RFCs 0005, 0024, 0048 and 0049.
package cluster

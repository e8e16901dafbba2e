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
//
// # Not obvious
//
//   - A Snapshot is one atomic pointer. Everything else that changes in a bucket is under Bucket.mu; connections are closed and
//     used without it.
//   - Bucket.Wake registers a wait and looks at what has happened since the caller's snapshot, under one lock: no event is lost
//     between an attempt and its wait. Waits have no end of their own; the fetches that they keep going end a second after the
//     last one began.
//   - The cluster's first Bucket has no name until a bucket is opened; the connection that is there, or that is being dialled
//     (kv.Config.LateBucket), then selects it. So Connect, Bucket and Get in a row need one connection. A bucket that a node does
//     not have is asked for again on a connection without a bucket, and meanwhile HTTP services have the map of the cluster.
//   - The map that a refusal carried does not end its wait, because the wait begins with the snapshot after it; a map that was
//     fetched or pushed does, because the wait begins with the snapshot by which the request was routed.
//   - The connection to a node that left the map is closed when its last request is answered, or when no answer has come for one
//     second, if the node had no active vbucket any more, and otherwise for twice as long as the longest answer of the last
//     second took (3 ms at least, one second at most): after a rebalance not one operation fails because of the move, and a black
//     hole holds its requests no longer than that. A request of an HTTP service is sent to another node at once; one that changes
//     something, or of which a row was delivered, goes on as long as no read waits for a second.
//   - All who wait for a map share one fetch. A node is asked at most every 50 ms, but the map of a brief push is fetched at
//     once: it is there.
//
// # Files
//
// Begin with doc.go. Then seek.go (seeds and bootstrap), link.go (a connection and its place), endpoint.go, breaker.go, maps.go,
// publish.go, fetch.go, waits.go, logins.go (a credential that changes), collection.go, bucket.go, cluster.go.
package cluster

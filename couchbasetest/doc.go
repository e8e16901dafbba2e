// Package couchbasetest runs a Couchbase cluster inside a Go test: nodes with real data behind the real key-value protocol, and
// their HTTP services. A test can make it fail. Any SDK can be its client. Nothing has to be installed.
//
// The nodes have vbuckets, replicas that may lag, durability that counts the copies that really are there, sequence numbers,
// locks, expiry, collections and extended attributes. A rebalance moves vbucket by vbucket, and a hard failover loses what had
// not been replicated, as those of the real server do.
//
//	cluster := couchbasetest.RunT(t, couchbasetest.Nodes(3))
//	client, err := gocb.Connect(cluster.ConnectionString(), gocb.ClusterOptions{Username: cluster.Username(), Password: cluster.Password()})
//
// # The main types
//
//   - [Cluster] is a cluster that runs. [RunT] runs one for a test and closes it at the test's end; [Run] is for programs and
//     returns an error. It has methods for nodes ([Cluster.Kill], [Cluster.Pause], [Cluster.BlackHole], [Cluster.AddNode]), for the
//     map ([Cluster.Rebalance], [Cluster.StartRebalance], [Cluster.Failover]), for the data ([Cluster.Document]), and for the record of
//     the writes ([Cluster.Journal], [Cluster.Counters]).
//   - [Middleware] stands between a client's request and the node, see [Cluster.Use]. [FaultOnce], [Times], [While], [Always] and [Decide]
//     make it from a [Fault].
//
// # In memory, on a fake clock
//
// With [InMemory] a cluster opens no socket: its connection string names virtual hosts that only its [Dialer] reaches. Everything
// that waits does so by package time or on conditions, so that cluster and clients can run together inside a testing/synctest
// bubble, where an outage of 30 seconds takes milliseconds. Run and close the cluster inside the bubble.
//
// # Concurrency
//
// All methods of [Cluster] and [Dialer] may be called from any goroutine, also from within the functions of a [Fault]. Middleware runs
// with no lock held. Its waits delay one request, or the requests of one connection if the client has not asked for
// replies in any order; see [Request.Aside].
//
// # Limits
//
// Nothing is stored on disk: what is "persisted" is what a killed node has when it is restarted. There are no users' roles, no
// eviction, no range scans and no replication between clusters. A command that is not supported is refused as unknown.
package couchbasetest

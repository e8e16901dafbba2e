// Package httpapi serves the HTTP services of the nodes of a Couchbase cluster for tests: management, query, analytics,
// search and views.
//
// Management reads and changes the cluster behind the interface Cluster. The other services answer from scripts that the test
// gives; prepared statements, and the definitions of indexes and design documents, are kept for real. Every request is
// recorded. A fault changes how a request is answered.
//
// The shapes of requests and replies are those of Couchbase's public documentation of its REST interfaces.
package httpapi

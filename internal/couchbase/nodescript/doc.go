// Package nodescript has scripted nodes of a Couchbase cluster, on a network in memory, for the tests of the client's layers. A node
// makes the handshake and gives cluster maps; what it answers to everything else is the test's script. It has no data: couchbasetest
// has nodes with data, and cannot give the wrong answers that these tests need.
package nodescript

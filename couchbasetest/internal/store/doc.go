// Package store holds the documents of one vbucket on one node, as values: what a write does to them, what a replica gets of
// it and when, what is on disk, and what a failover loses. It has no sockets, no goroutines and no clock: each method that
// depends on the time is given it. Nothing in it is safe for concurrent use; the cluster's mutex guards it.
package store

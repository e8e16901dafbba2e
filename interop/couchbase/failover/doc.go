// Package failover measures how soon gocb and package couchbase get on after a node has failed, from the moment when the newer
// cluster map exists. It has only tests.
package failover

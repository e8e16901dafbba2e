// Package couchbasetest holds couchbase/couchbasetest against the official SDK, gocb.
package couchbasetest

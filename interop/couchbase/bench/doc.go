// Package bench measures the cost of a key-value operation in the client's process: of package couchbase, of its connection alone, of the
// same bytes on a bare socket and of gocb, in one run. It has only tests.
package bench

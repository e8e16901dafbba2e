// Package dropin compares the exported API of package couchbase with that of gocb v2:
//
//	go -C interop test ./couchbase/dropin -v
//
// It prints for each area how many names there are, how many of them package couchbase has with the same signature, and which are
// missing. It has only tests. Three tables say what may be missing: outofscope_test.go has the names of what the client does not do;
// different_test.go those that cannot be the same; testdata/unsupported.txt those that are to come. A row of a table that is not
// needed any more fails the test.
package dropin

// Package suite runs the integration tests of gocb, the official SDK, against couchbasetest. The tests are those of
// gocb's module as it is published: nothing of them is copied or changed. Two lists say which of them pass, and why the others do not.
package suite

// Package failures runs the same failures, on clusters of the same kind, with gocb and with package couchbase, and prints in two
// columns what each returned to the application. Ours is judged: each scene says what it must print. It has only tests.
package failures

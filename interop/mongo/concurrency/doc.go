// Package concurrency tests the test servers under many clients at once: single-document operations are linearizable, and a
// long mixed load with deaths and restarts leaves nothing behind and loses nothing. It has only tests.
package concurrency

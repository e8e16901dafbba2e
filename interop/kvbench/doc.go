// Package kvbench measures the cost of a key-value operation in the client's process, and compares it with the same bytes on a bare
// socket and with gocb, in one run. It has only tests.
package kvbench

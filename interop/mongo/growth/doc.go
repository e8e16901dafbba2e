// Package growth measures whether our MongoDB client's cost for one thing grows with the number of things: servers of a topology,
// documents of a batch, documents of a cursor, sessions. It has only tests.
package growth

// Package tail measures how long a FindOne takes when many goroutines share a pool, and how evenly the pool serves them: the
// official driver and ours in one run. It has only tests. docs/TAIL.md has what they
// measured.
package tail

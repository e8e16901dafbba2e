// Package dropin compares the exported API of package mongo with that of the official driver's package of the same name:
//
//	go -C interop test ./mongo/dropin -v
//
// It has only tests. What may be missing or different stands in a table with its reason; a row that is not needed any more fails
// the test.
package dropin

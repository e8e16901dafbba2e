// Package pipeline is MongoDB's aggregation pipelines as pure functions over BSON bytes: no sockets, no clock, no
// randomness but what Context gives. What it does not know it refuses with the real server's code and text; what the real
// server knows and this package does not is refused by name with the code NotImplemented.
//
// A Pipeline is immutable and safe for concurrent use. Each stage has a file of its own; table.go joins them.
package pipeline

// Package pipeline is MongoDB's aggregation pipelines as pure functions over BSON bytes: no sockets, no clock, no
// randomness but from Context. A stage that the real server does not know is refused with its code and text; one that only
// the real server knows is refused by name with the code NotImplemented.
//
// A Pipeline is immutable and safe for concurrent use. Each stage has a file of its own; table.go joins them.
package pipeline

// Package subjson reads and changes parts of JSON texts by paths, as Couchbase's sub-document commands do. The bytes around a
// change stay as they are. It has no state: every function takes a text and returns another one, and never changes its
// arguments. The statuses are those of the protocol.
package subjson

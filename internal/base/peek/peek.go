// Package peek finds out what the next read of a socket would return, without reading and without waiting.
package peek

// State is what the next read of a socket would find.
type State uint8

// The states.
const (
	Unknown State = iota // it is no socket, or this system has no read that does not wait
	Silent               // the read would wait
	Bytes                // there is something to read
	Ended                // the other end has closed the connection, or it failed
)

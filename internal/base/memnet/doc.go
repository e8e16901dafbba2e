// Package memnet is a network in memory: a [Network] connects those who dial with those who listen at an address, without
// sockets. Test servers and tests use it in place of TCP.
//
//	network := memnet.New(memnet.Config{})
//	listener, err := network.Listen("server:1234")
//	...
//	conn, err := network.DialContext(ctx, "tcp", "server:1234")
//
// [Pipe] returns the two ends of one connection where no address is needed.
//
// The connections behave as those of TCP do: they have buffers of limited size and deadlines, one direction can be closed
// alone, and an abort loses the bytes that are still on their way. All waits are on a condition or a timer, with no
// mutex held, so that all of it works inside the bubbles of testing/synctest: create the network, the listeners and the
// connections inside the bubble that uses them.
//
// All methods are safe for concurrent use.
//
// Begin with network.go. Then conn.go, stream.go (one direction of a connection), listener.go.
package memnet

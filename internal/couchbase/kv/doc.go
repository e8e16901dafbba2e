// Package kv is one connection to the key-value service of one Couchbase node: [Connect] dials, speaks TLS, makes the handshake
// and logs in; [Conn.RoundTrip] sends a request and returns its reply. Requests of many goroutines are in flight side by side.
//
// The lifecycle of one request:
//
//  1. RoundTrip checks the request and compresses its value, if the server accepts that.
//  2. Under the lock it takes a slot (slot.go) and appends the packet to the connection's write buffer (write.go). The opaque of the
//     packet is the index of the slot and its generation. If nobody writes, the caller becomes the writer: it writes until the
//     buffer is empty, so one write carries the packets of all callers that came meanwhile.
//  3. Then it waits (wait.go). If nobody reads, the caller becomes the leader: it reads for all, and gives each reply to the slot of
//     its opaque (read.go), until its own reply has come. Then it makes another waiting caller the leader. The others are followers:
//     they sleep until they are woken with their reply, or as the next leader.
//  4. The caller gives the slot back. If it left without a reply, the slot stays reserved until the reply comes, so an opaque is
//     never reused while the server may still answer it. That reply is an orphan.
//
// No goroutine belongs to the connection while operations run. One timer (timer.go) ends the requests whose deadline has passed,
// looks after some milliseconds whether the caller that reads or writes was cancelled, and finds idleness: if no request came for some time (a
// millisecond, or some 20 after many requests) and nobody reads, an idle goroutine takes the reading over, for the maps that the server pushes. It ends when it has
// delivered the reply of a request, and the next caller leads again.
//
// A request that failed says exactly how far it came. It was in flight if a byte of it may have been written; else it was not sent,
// and it is not sent later: a caller that leaves takes its packet out of the buffer.
//
// The sources are Couchbase's public description of the protocol, and its RFCs 0024 and 0048.
package kv

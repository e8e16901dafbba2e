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
//
// # Not obvious
//
//   - A caller that begins to write lets other goroutines run first, if requests are in flight: then one write carries the
//     packets of all of them.
//   - The leader that leaves makes the caller that came last its successor: its reply probably comes last, so the lead changes
//     seldom.
//   - The slot of a caller that has left is not used again until the reply has come, as long as there are others: 16 bits of
//     generation are used up in seconds, and a reply that came later would reach another caller.
//   - A write that its caller leaves is stopped by a deadline, and another caller continues it. Under TLS that would break the
//     connection, so there a goroutine writes.
//   - On Linux a caller that is alone writes and reads with one wait (lone_linux.go): an ordinary read
//     begins with a system call that finds nothing. The end of a connection that came before the write does not end that wait, so
//     the timer ends it.
//   - A timer that fires within some 10 ms doubles the cost of each wait for a reply, because the kernel sets its clock for each
//     wait anew. So the connection looks around every millisecond only while few requests are made, and every 20 ms while many
//     are (timer.go).
//
// # Files
//
// Begin with doc.go. Then connect.go, handshake.go, login.go, credential.go, again.go (a new token on a connection that is there); request.go, slot.go (the table of requests in flight), write.go,
// wait.go (leader and followers), read.go, readbuffer.go, timer.go, lone.go and lone_linux.go (a caller that is alone).
package kv

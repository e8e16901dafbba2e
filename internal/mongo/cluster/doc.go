// Package cluster has the parts of a MongoDB client that use sockets: connections and their handshake, one pool and
// one monitor for each server, and the current topology description. All of it is safe for concurrent use unless its
// comment says otherwise.
//
// The rules are those of the specifications for Connection Monitoring and Pooling, Server Discovery and Monitoring,
// Server Selection and the MongoDB Handshake; the rules that need no socket are in package topology. Lock order:
// Cluster.mu, then pool.mu. No lock is held during a wait, a dial or a call of a listener.
//
// # Connecting
//
// A connection is made by four steps of one function (connect.go): dial, TLS, hello, login. The first
// message of the login is a part of hello (speculativeAuthenticate). Monitors do not log in.
//
// Compression belongs to the connection (compress.go): Conn.write compresses, Conn.read decompresses, and
// operations do not know. A connection holds a codec only while it works on a message. The codecs belong to the cluster, not to
// the process: an encoder has a channel, which must not leave a synctest bubble.
//
// The SRV records of a sharded cluster are looked up again by Cluster.pollSRV (srvpolling.go), which ends when the topology is
// not one of mongos.
//
// # Locks and listeners
//
// No lock is held while waiting, dialling, or calling a listener. A change returns its effects, which run after the unlock. The
// order of calls to listeners matters: notices.go adds them to a queue under the lock and makes them
// without it, one at a time.
//
// cluster.New calls no listener of the topology: Cluster.open hands the first notices to a goroutine in the background, which
// starts the monitors when they are delivered. So the caller of Connect may hold a lock that a listener needs.
//
// A listener may call Disconnect, although a connection or an operation waits for the listener's return: listeners.go counts the
// calls that run, and the end of the cluster waits at most a second for those that began before it. Runner.Close
// (internal/mongo/operation/close.go) leaves all that still runs to the background when its context has ended.
//
// Every change of the topology after the first goes through Cluster.change: it publishes the new snapshot, starts and ends pools
// and monitors, requests immediate checks of stale primaries, and publishes the events (sdamevents.go). Reading the topology
// takes no lock: it is one atomic pointer to an immutable snapshot. A description and the clearing of its pool are published
// under one lock, so no reader sees one without the other; a pool is ready before its server can be selected. Behind a load
// balancer there is no monitor, and each service has its own generation (generation.go), which a
// connection gets after its hello, and which is forgotten with the last connection.
//
// # Not obvious
//
//   - The first hello on a connection is isMaster, which every server understands, unless the handshake declares an API version or
//     a load balancer; later ones are hello, if the server has said that it knows it. All are OP_MSG.
//   - Bytes after a reply are an error, unless the reply has the flag moreToCome: then Conn.Next reads the next message. A
//     connection that still expects one is closed when it is checked in.
//   - While a monitor waits for the hellos of a stream, a request for a check has no effect. A server that became Unknown
//     although it did not change (a stale primary, a state change error without a topologyVersion) would be found only at the
//     next heartbeat, so its stream is cancelled and begins again (Server.recheck).
//   - Four differences from the words of the specifications are on purpose. A request for a check that comes during a poll is
//     answered by the next check, 500 ms later (Server Monitoring says that it is ignored, its pseudocode keeps it): the error
//     that requested it may be newer than the hello on its way. A state change error of a server before 4.2 clears its pool, as
//     SDAM required while it covered those servers: they close all connections. A server that answers an awaitable hello at once
//     and without a change is polled: a stream would flood it. A check for which an operation waits may begin less than 500 ms
//     after the one before (docs/adr/0010-checks-on-demand.md).
//   - After "not primary" a server is checked when 500 ms have passed since its last check, and not at once: Server Monitoring,
//     "Requesting an immediate check". The hellos of a stream do not wait.
//   - A selection that waits in a replica set without a primary, while its monitors poll, makes one probing handshake with each
//     member every 250 ms (probe.go): the hellos of handshakes update the topology, and checks are 500 ms
//     apart.
//   - An operation that waits for the check of one server (it lost its connection, its dial failed, or the server was silent)
//     does not wait for these 500 ms: the check comes as a probe, at most one in 250 ms together with the probing handshakes. For
//     a waiting operation, and for a failed dial within 500 ms of such a check, one check in 500 ms comes at once, whatever was
//     probed. So one lost connection costs no wait, and a server that accepts connections and closes them is checked at most
//     twice a second and probed at most four times.
//   - A panic of the application's code on the goroutine of its operation passes through, so what must happen after a call of a
//     listener, a log sink, a marshaler or a net.Conn is deferred. On a goroutine of the cluster, a panic of the Dialer, its
//     connection, a TLS function or the Resolver becomes an error (internal/base/panicked); that of a listener or a log sink ends
//     the process.
//   - The promise of a cancellation. A read or a write ends at most 4 ms after its context (5 ms are promised). Until then its
//     socket has a deadline, which the operations of these milliseconds share, because it costs less than watching each context;
//     only when it has passed, context.AfterFunc is called. It is called at once for a context that ends within 4 ms, and on a
//     connection that is not a plain socket (TLS, or some types of an application's own dialer): there a write cannot continue
//     after a deadline.
//   - The reply of an operation that ended with its context is read in the background, for at most two seconds, and then its
//     connection is used again (owedreply.go). If a caller waits at a full pool, the connection whose
//     reply has been late for the longest time is closed instead. The connection of a pin is closed instead, because its end also
//     ends the cursor or transaction on the server.
//   - No connection is made in the context of a caller. Callers whose deadline is shorter than a handshake would begin
//     connections for ever and finish none.
//   - Deadlines are compared with the minimum of the recent round trips (rtt.go), server selection with
//     their average. A single slow hello must not fail operations.
//   - A failed dial and a dead idle connection request a check (HandshakeError.Check), and the next attempt waits for its result:
//     the server is perhaps dead, but the rules for overload forbid marking it Unknown for that.
//
// # Files
//
// Begin with cluster.go. Then select.go, selectlog.go, probe.go, report.go, notices.go; events: sdamevents.go, heartbeat.go,
// descriptions.go, listeners.go; the monitor: monitor.go, stream.go, rttmonitor.go, rtt.go; the pool: pool.go, waiting.go,
// create.go, user.go, yield.go, maintain.go, poolstate.go, generation.go, poolevents.go; the connection: conn.go, watch.go, owedreply.go,
// messages.go, connect.go, dialer.go, quietly.go, tls.go, metadata.go, handshake.go, hello.go, idlecheck.go, compress.go;
// srvpolling.go.
package cluster

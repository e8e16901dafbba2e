package topology

import "go.mongodb.org/mongo-driver/v2/bson"

// ErrorKind is the kind of an error, as SDAM distinguishes them.
type ErrorKind uint8

// The kinds of error.
const (
	// CommandError is a reply with "ok: 0" or with a write concern error. Errors in writeErrors are not command
	// errors.
	CommandError ErrorKind = iota
	// NetworkError is any failure of the connection that is not a timeout.
	NetworkError
	// NetworkTimeout is a dial, a read or a write that reached its time limit. An operation that its own context
	// ended is not one: it shows nothing about the server.
	NetworkTimeout
)

// ErrorInfo describes one error of an application's connection for OnError.
type ErrorInfo struct {
	Err  error // becomes the Error of the server's description
	Kind ErrorKind

	// HandshakeDone is false while the connection is being made: during the dial, hello and authentication.
	HandshakeDone bool
	// Overloaded means that Err has the label SystemOverloadedError. The pool adds the label to network errors and
	// timeouts during the dial and hello, but not to errors of authentication, DNS, certificates or a proxy.
	Overloaded bool

	// The fields of a CommandError's reply.
	Code            int32
	HasCode         bool
	Message         string
	TopologyVersion *TopologyVersion

	// Generation is the connection's generation. PoolGeneration is the current generation of the pool or, behind a
	// load balancer, of the service.
	Generation, PoolGeneration uint64
	// MaxWireVersion is that of the connection's hello, 0 if hello was not answered.
	MaxWireVersion int32
	// Service is the connection's serviceId behind a load balancer. It is zero before hello was answered, and without
	// a load balancer.
	Service bson.ObjectID
}

// PoolClear says whether a server's connection pool is cleared. The pool must be cleared and the description
// published under one lock.
type PoolClear uint8

// The values of PoolClear.
const (
	KeepPool PoolClear = iota
	// ClearPool starts a new generation of the pool or, behind a load balancer, of one service.
	ClearPool
	// ClearPoolInterruptInUse also interrupts the connections in use.
	ClearPoolInterruptInUse
)

// Reaction lists the steps that an error requires, besides publishing the next description.
type Reaction struct {
	Pool PoolClear
	// CheckNow requests a check before the next heartbeat. After an application's error minHeartbeatFrequencyMS still
	// delays it.
	CheckNow bool
	// CancelCheck cancels a running check, because its connection is probably broken too.
	CancelCheck bool
}

// OnError applies an error of an application's connection to the server at addr: SDAM, "Application errors". It
// returns d itself if the error changes nothing.
func OnError(d *Description, addr string, e ErrorInfo) (*Description, Reaction) {
	s := d.Server(addr)
	switch {
	case s == nil:
		return d, Reaction{}
	case e.Overloaded:
		return d, Reaction{CheckNow: true} // an overload does not make the server Unknown, but perhaps it has died
	case e.stale(s):
		return d, Reaction{}
	case e.stateChange():
		return onStateChange(d, addr, e)
	case e.HandshakeDone && e.Kind != NetworkError:
		return d, Reaction{} // a slow operation does not make the server Unknown
	case d.Type == LoadBalanced:
		return d, Reaction{Pool: e.clearService()}
	}
	return Apply(d, NewUnknown(addr, e.Err, nil)), Reaction{Pool: ClearPool, CancelCheck: true}
}

// onStateChange applies a state change error. It requests a check, because the server answers but its description is
// out of date.
func onStateChange(d *Description, addr string, e ErrorInfo) (*Description, Reaction) {
	if d.Type == LoadBalanced {
		if !IsShutdown(e.Code) {
			return d, Reaction{}
		}
		return d, Reaction{Pool: e.clearService()}
	}
	r := Reaction{CheckNow: true}
	if IsShutdown(e.Code) || e.closesConnections() {
		r.Pool = ClearPool
	}
	return Apply(d, NewUnknown(addr, e.Err, e.TopologyVersion)), r
}

// OnCheckError applies the failed check of the server at addr: Server Monitoring, "Network or command error during
// server check". After a network error a known server is checked again immediately, because perhaps only the
// monitor's connection was lost.
func OnCheckError(d *Description, addr string, kind ErrorKind, err error) (*Description, Reaction) {
	s := d.Server(addr)
	if s == nil {
		return d, Reaction{}
	}
	r := Reaction{Pool: ClearPool, CheckNow: kind != CommandError && s.Known()}
	if kind == NetworkTimeout {
		r.Pool = ClearPoolInterruptInUse
	}
	return Apply(d, NewUnknown(addr, err, nil)), r
}

// stale reports whether the error is older than the server's description: its connection is of an earlier generation,
// or its topologyVersion is not newer. Each state change increases the topologyVersion, so an equal one is stale too.
func (e *ErrorInfo) stale(s *Server) bool {
	return e.Generation < e.PoolGeneration || compareTopologyVersion(s.TopologyVersion, e.TopologyVersion) >= 0
}

func (e *ErrorInfo) stateChange() bool {
	return e.Kind == CommandError &&
		(IsNotPrimary(e.Code, e.Message, e.HasCode) || IsRecovering(e.Code, e.Message, e.HasCode))
}

// wireVersion42 belongs to MongoDB 4.2. Since 4.2 a member keeps its connections when it steps down.
const wireVersion42 = 8

// closesConnections reports whether the server closes all its connections when its state changes, because it is older
// than MongoDB 4.2. SDAM has required clearing the pool then as long as it covered such servers.
func (e *ErrorInfo) closesConnections() bool {
	return e.MaxWireVersion > 0 && e.MaxWireVersion < wireVersion42
}

// clearService clears the connections of one service. Before hello was answered the service is not known, so nothing
// is cleared.
func (e *ErrorInfo) clearService() PoolClear {
	if !e.Service.IsZero() {
		return ClearPool
	}
	return KeepPool
}

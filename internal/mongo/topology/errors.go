package topology

import "go.mongodb.org/mongo-driver/v2/bson"

// ErrorKind is how an attempt failed, as far as the topology is concerned.
type ErrorKind uint8

// The kinds of error.
const (
	// CommandError is an answer: "ok: 0", or a write concern error. Errors in writeErrors are none.
	CommandError ErrorKind = iota
	// NetworkError is any failure of the connection that is not a timeout.
	NetworkError
	// NetworkTimeout is a connection attempt, a read or a write that took too long. An operation that its own context
	// ended is none: nobody knows whether the server would have been too slow.
	NetworkTimeout
)

// ErrorInfo is one error of an application's connection: what OnError decides by.
type ErrorInfo struct {
	Err  error // becomes the Error of the server's description
	Kind ErrorKind

	// HandshakeDone is false while the connection is being made: dialled, greeted with hello, authenticated.
	HandshakeDone bool
	// Overloaded is whether Err has the label SystemOverloadedError. The pool puts it on network errors and timeouts
	// while connecting and in hello, but not on those of authentication, of DNS, of certificates or of a proxy.
	Overloaded bool

	// Of a CommandError: what the server said.
	Code            int32
	HasCode         bool
	Message         string
	TopologyVersion *TopologyVersion

	// Generation is the connection's, PoolGeneration the pool's (or the service's) at this moment.
	Generation, PoolGeneration uint64
	// MaxWireVersion is the connection's, 0 if its hello has not answered.
	MaxWireVersion int32
	// Service is the connection's service behind a load balancer, zero before its hello has told and elsewhere.
	Service bson.ObjectID
}

// PoolClear is what becomes of a server's connection pool. It must be done together with publishing the description,
// under one lock.
type PoolClear uint8

// What can become of a pool.
const (
	KeepPool PoolClear = iota
	// ClearPool starts a new generation: of the pool, or behind a load balancer of the one service.
	ClearPool
	// ClearPoolInterruptInUse also ends the operations that use the pool's connections now.
	ClearPoolInterruptInUse
)

// Reaction is what has to be done about an error, beside publishing the next description.
type Reaction struct {
	Pool PoolClear
	// CheckNow is whether the server's monitor makes its next check without waiting for its interval. After an
	// application's error that is a request, which minHeartbeatFrequencyMS still delays.
	CheckNow bool
	// CancelCheck is whether a check that is under way is cancelled: its connection is likely as broken.
	CancelCheck bool
}

// OnError applies an error that an application's connection to the server at addr met: SDAM, "Application errors". The
// description is d itself if the error changes nothing.
func OnError(d *Description, addr string, e ErrorInfo) (*Description, Reaction) {
	s := d.Server(addr)
	switch {
	case s == nil || e.stale(s):
		return d, Reaction{}
	case e.stateChange():
		return onStateChange(d, addr, e)
	case e.Overloaded || e.HandshakeDone && e.Kind != NetworkError:
		return d, Reaction{} // a slow operation or an overloaded server is no reason to stop using the server
	case d.Kind == LoadBalanced:
		return d, Reaction{Pool: e.clearService()}
	}
	return Apply(d, NewUnknown(addr, e.Err, nil)), Reaction{Pool: ClearPool, CancelCheck: true}
}

// onStateChange: the server is there, but not what it was thought to be, so that a check at once will tell.
func onStateChange(d *Description, addr string, e ErrorInfo) (*Description, Reaction) {
	if d.Kind == LoadBalanced {
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

// OnCheckError applies the failure of a monitor's check of the server at addr: Server Monitoring, "Network or command
// error during server check". A server that was known gets a second check at once after a network error, because only
// the monitor's connection may have been lost.
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

// stale reports whether the error is older than what is known of the server: it came from a connection made before the
// pool was cleared, or from a state that the server has told about already. Every change of state has a new
// topologyVersion, therefore an equal one is stale too.
func (e *ErrorInfo) stale(s *Server) bool {
	return e.Generation < e.PoolGeneration || compareTopologyVersion(s.TopologyVersion, e.TopologyVersion) >= 0
}

func (e *ErrorInfo) stateChange() bool {
	return e.Kind == CommandError &&
		(IsNotPrimary(e.Code, e.Message, e.HasCode) || IsRecovering(e.Code, e.Message, e.HasCode))
}

// wireVersion42 is MongoDB 4.2, whose members keep their connections when they step down.
const wireVersion42 = 8

// closesConnections reports whether the server, because it is older than 4.2, closes all of its connections when its state
// changes: what SDAM asked of clients as long as it covered such servers.
func (e *ErrorInfo) closesConnections() bool {
	return e.MaxWireVersion > 0 && e.MaxWireVersion < wireVersion42
}

// clearService clears the pool of the connection's service; before hello has told which that is, nothing can be.
func (e *ErrorInfo) clearService() PoolClear {
	if !e.Service.IsZero() {
		return ClearPool
	}
	return KeepPool
}

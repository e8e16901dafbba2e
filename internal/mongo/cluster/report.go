package cluster

import (
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// ConnectionFailed applies a network error of a connection in use to the topology (SDAM, "Application errors").
func (c *Cluster) ConnectionFailed(s *Server, conn *Conn, err error) {
	kind := topology.NetworkError
	var broken *IOError
	if errors.As(err, &broken) && broken.Timeout() {
		kind = topology.NetworkTimeout
	}
	c.report(s, topology.ErrorInfo{
		Err: err, Kind: kind, HandshakeDone: true, Generation: conn.generation,
		MaxWireVersion: conn.Description.MaxWireVersion, Service: conn.service,
	})
}

// Answered applies an error reply, or a write concern error, to the topology. Only a state change error changes it. A
// code of 0 means that the reply has none.
func (c *Cluster) Answered(s *Server, conn *Conn, code int32, message string, topologyVersion []byte) {
	if !topology.IsNotPrimary(code, message, code != 0) && !topology.IsRecovering(code, message, code != 0) {
		return
	}
	e := topology.ErrorInfo{
		Err: fmt.Errorf("%s (code %d)", message, code), Kind: topology.CommandError, HandshakeDone: true,
		Code: code, HasCode: code != 0, Message: message, Generation: conn.generation,
		MaxWireVersion: conn.Description.MaxWireVersion, Service: conn.service,
	}
	if topologyVersion != nil {
		e.TopologyVersion = topology.ParseTopologyVersion(bson.Raw(topologyVersion))
	}
	c.report(s, e)
}

// handshakeFailed applies the error of a pending connection to the topology.
func (c *Cluster) handshakeFailed(s *Server, generation uint64, err error) {
	e := topology.ErrorInfo{Err: err, Kind: topology.NetworkError, Generation: generation}
	var failed *HandshakeError
	if errors.As(err, &failed) {
		if e.Overloaded = failed.Connecting && failed.Network; e.Overloaded {
			failed.Check = s.nextCheck() // before the report, which requests the check
		}
		if failed.Timeout {
			e.Kind = topology.NetworkTimeout
		}
		var refused *topology.HelloError
		if errors.As(err, &refused) {
			e.Kind, e.Code, e.HasCode = topology.CommandError, refused.Code, refused.HasCode
			e.Message, e.TopologyVersion = refused.Message, refused.TopologyVersion
		}
		if !failed.service.IsZero() {
			e.Service, e.Generation = failed.service, failed.generation
		}
	}
	c.report(s, e)
}

func (c *Cluster) report(s *Server, e topology.ErrorInfo) {
	c.mu.Lock()
	var after effects
	if c.servers[s.address] == s {
		e.PoolGeneration = s.pool.generation(e.Service)
		next, reaction := topology.OnError(c.snapshot.Load().Description, s.address, e)
		after = c.react(s, next, reaction, e)
	}
	c.mu.Unlock()
	after.run()
}

// checkFailed applies a failed check to the topology. It reports whether the monitor must check again immediately.
func (c *Cluster) checkFailed(s *Server, err error) bool {
	kind := topology.NetworkError
	var refused *refusedHello
	switch {
	case errors.As(err, &refused):
		kind = topology.CommandError
	case isTimeout(err):
		kind = topology.NetworkTimeout
	}
	c.mu.Lock()
	if c.servers[s.address] != s {
		c.mu.Unlock()
		return false
	}
	next, reaction := topology.OnCheckError(c.snapshot.Load().Description, s.address, kind, err)
	after := c.react(s, next, topology.Reaction{Pool: reaction.Pool}, topology.ErrorInfo{Err: err}) // no request: the monitor itself checks again
	c.mu.Unlock()
	after.run()
	return reaction.CheckNow
}

// react publishes a description and clears the pool, as one change. It is called with the lock held.
func (c *Cluster) react(
	s *Server, next *topology.Description, r topology.Reaction, cause topology.ErrorInfo,
) effects {
	after := c.change(next)
	switch {
	case r.Pool == topology.KeepPool:
	case !cause.Service.IsZero():
		after = append(after, s.pool.clearService(cause.Service, cause.Err)...)
	default:
		after = append(after, s.pool.clear(cause.Err, r.Pool == topology.ClearPoolInterruptInUse)...)
	}
	if r.CancelCheck {
		after = append(after, s.cancelCheck)
	}
	switch {
	case !r.CheckNow:
	case cause.Kind == topology.CommandError && cause.TopologyVersion == nil:
		after = append(after, s.recheck)
	default: // if the server streams, the hello with the topologyVersion of the error is on its way
		after = append(after, s.requestCheck)
	}
	return after
}

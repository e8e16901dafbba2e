package cluster

import (
	"errors"
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// ConnectionFailed tells the topology that a connection broke under an operation.
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

// Answered tells the topology of a server's error answer, or of its write concern error. Most change nothing.
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

// handshakeFailed tells the topology of a connection that could not be made.
func (c *Cluster) handshakeFailed(s *Server, generation uint64, err error) {
	e := topology.ErrorInfo{Err: err, Kind: topology.NetworkError, Generation: generation}
	var failed *HandshakeError
	if errors.As(err, &failed) {
		e.Overloaded = failed.Connecting && failed.Network
		if failed.Timeout {
			e.Kind = topology.NetworkTimeout
		}
		var refused *topology.HelloError
		if errors.As(err, &refused) {
			e.Kind, e.Code, e.HasCode = topology.CommandError, refused.Code, refused.HasCode
			e.Message, e.TopologyVersion = refused.Message, refused.TopologyVersion
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

// checkFailed tells the topology that a monitor's check failed, and returns whether another one is due at once.
func (c *Cluster) checkFailed(s *Server, err error) bool {
	kind := topology.NetworkError
	var refused *refusal
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
	after := c.react(s, next, topology.Reaction{Pool: reaction.Pool}, topology.ErrorInfo{Err: err}) // the monitor itself checks again
	c.mu.Unlock()
	after.run()
	return reaction.CheckNow
}

// react publishes a description and does to the pool what goes with it, as one change. It is called with the lock held.
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
	if r.CheckNow {
		after = append(after, s.requestCheck)
	}
	return after
}

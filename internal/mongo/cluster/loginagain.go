package cluster

import (
	"context"
	"errors"

	"github.com/holdfast-db/holdfast/internal/base/panicked"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// LogsIn reports whether the connection is one that logs in.
func (c *Conn) LogsIn() bool { return c.login != nil }

// LogInAgain logs a connection in again whose login has expired (ReauthenticationRequired), without another hello. It ends with ctx, or
// with the cluster. If it fails, the connection cannot be used any more. Errors are *HandshakeError. Source: Driver Authentication,
// "Reauthentication".
//
//nolint:contextcheck,nolintlint // the cluster's own context ends ctx
func (s *Server) LogInAgain(ctx context.Context, c *Conn) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	closing := s.cluster.backgroundCtx
	defer context.AfterFunc(closing, func() { cancel(context.Cause(closing)) })()
	err := s.renew(ctx, c)
	if err == nil {
		return nil
	}
	failed := s.handshakeError(ctx, err)
	if closing.Err() != nil {
		failed.Err = context.Cause(closing)
	}
	c.broken, c.failure = true, failed
	if ctx.Err() == nil {
		s.renewalFailed(c, failed)
	}
	return failed
}

// renewalFailed tells the topology what a failed renewal shows about the server, as the failure of any other command would.
func (s *Server) renewalFailed(c *Conn, failed *HandshakeError) {
	var refused *topology.HelloError
	switch {
	case errors.As(failed, &refused):
		version, _ := failed.Reply.Lookup("topologyVersion").DocumentOK()
		s.cluster.Answered(s, c, refused.Code, refused.Message, version)
	case failed.Network:
		s.cluster.ConnectionFailed(s, c, failed)
	}
}

func (s *Server) renew(ctx context.Context, c *Conn) (err error) {
	defer panicked.Recovered("the login", &err)
	requestID := int32(firstHelloID)
	return c.login.Again(ctx, s.roundTrips(c, &opening{limit: s.cluster.cfg.SocketTimeout}, &requestID))
}

package cluster

import "context"

// LogsIn reports whether the connection is one that logs in.
func (c *Conn) LogsIn() bool { return c.login != nil }

// LogInAgain logs a connection in again whose login has expired (ReauthenticationRequired), without another hello. It ends with ctx.
// If it fails, the connection cannot be used any more. Errors are *HandshakeError. Source: Driver Authentication, "Reauthentication".
func (s *Server) LogInAgain(ctx context.Context, c *Conn) error {
	requestID := int32(firstHelloID)
	err := c.login.Again(ctx, s.roundTrips(c, &opening{limit: s.cluster.cfg.SocketTimeout}, &requestID))
	if err == nil {
		return nil
	}
	failed := s.handshakeError(ctx, err)
	c.broken, c.failure = true, failed
	return failed
}

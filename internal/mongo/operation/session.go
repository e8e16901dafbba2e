package operation

import (
	"errors"
	"time"
)

// Session is a client session: what operations that belong together have in common (Driver Sessions, Causal Consistency
// and Snapshot Reads specifications). The application starts an explicit one and ends it. An implicit one is made for an
// operation, or for a cursor, and ends with it. A session is used by one operation at a time.
type Session struct {
	// Pin ties the session's operations to a server: those of a transaction in a sharded cluster. Nil means no tie.
	Pin *Pin

	pool     *SessionPool
	explicit bool
	ended    bool
	causal   bool
	snapshot bool
	server   *ServerSession // nil before the first connection, which shows whether there are sessions

	operationTime Timestamp    // of the latest operation: what a causally consistent read must see
	snapshotTime  Timestamp    // at which a snapshot session reads, 0 before its first read
	clusterTime   *clusterTime // the newest that the session's operations met
	recoveryToken []byte       // of the latest answer of a mongos
}

// SessionOptions are what an explicit session is started with.
type SessionOptions struct {
	// Causal makes each read see the session's operations before it.
	Causal bool
	// Snapshot makes all reads of the session see the data at one time.
	Snapshot bool
}

// NoSession is the session of a command that runs in none, because it is about sessions itself.
var NoSession = &Session{explicit: true}

// ErrSessionEnded is the error of an operation in a session that has ended.
var ErrSessionEnded = errors.New("the session has ended")

// StartSession returns an explicit session. Its server session is taken by its first operation.
func (r *Runner) StartSession(o SessionOptions) *Session {
	return &Session{pool: &r.sessions, explicit: true, causal: o.Causal, snapshot: o.Snapshot}
}

// ImplicitSession returns a session for operations that the application has given none, such as those of one cursor.
func (r *Runner) ImplicitSession() *Session { return &Session{pool: &r.sessions} }

// End ends the session: its server session goes back to the pool, and its pin is released. It may be called more than
// once.
func (s *Session) End() {
	s.ended = true
	if s.Pin != nil {
		s.Pin.Release()
	}
	if s.server != nil {
		s.pool.put(s.server)
		s.server = nil
	}
}

// Release ends an implicit session. An explicit one goes on: only the application ends it.
func (s *Session) Release() {
	if !s.explicit {
		s.End()
	}
}

// begin takes note that an operation uses the session now, on a server that forgets sessions after timeout.
func (s *Session) begin(now time.Time, timeout time.Duration) {
	if s.server == nil {
		s.server = s.pool.get(now, timeout)
		return
	}
	s.server.lastUsed = now
}

// id returns the lsid document, nil if the session has none on this server.
func (s *Session) id() []byte {
	if s == nil || s.server == nil {
		return nil
	}
	return s.server.id
}

// networkFailed takes note that a server may still be busy with an operation of the session.
func (s *Session) networkFailed() {
	if s != nil && s.server != nil {
		s.server.dirty = true
	}
}

// learn takes from a reply what the session's next operations need. An implicit session has no use for it.
func (s *Session) learn(reply *Reply) {
	if s == nil || !s.explicit {
		return
	}
	s.operationTime = max(s.operationTime, reply.OperationTime)
	s.clusterTime = newer(s.clusterTime, reply.clusterTime)
	if reply.RecoveryToken != nil {
		s.recoveryToken = append(s.recoveryToken[:0], reply.RecoveryToken...)
	}
	if s.snapshot && s.snapshotTime == 0 {
		s.snapshotTime = reply.snapshotTime()
	}
}

// RecoveryToken returns the token with which any mongos can finish the session's transaction, nil if none was told.
func (s *Session) RecoveryToken() []byte { return s.recoveryToken }

// complete adds the session's times to the read concern of an operation.
func (s *Session) complete(c ReadConcern) ReadConcern {
	switch {
	case s == nil:
	case s.snapshot:
		c.Level = "snapshot"
		if c.AtClusterTime == 0 {
			c.AtClusterTime = s.snapshotTime
		}
	case s.causal && c.AfterClusterTime == 0:
		c.AfterClusterTime = s.operationTime
	}
	return c
}

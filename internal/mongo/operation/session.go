package operation

import (
	"errors"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// Session is a client session (Driver Sessions, Causal Consistency and Snapshot Reads specifications). The
// application starts and ends an explicit one. An implicit one is for one operation or one cursor, and ends with it.
// Only one operation at a time may use a session.
type Session struct {
	pool     *SessionPool
	explicit bool
	ended    bool
	causal   bool
	snapshot bool
	// server is the server session. An explicit session always has one, because the application can ask for its id. An
	// implicit one has none before the first checkout, because the connection shows whether the server supports sessions.
	server *ServerSession

	operationTime Timestamp    // the greatest one in a reply; a causally consistent read must include it
	snapshotTime  Timestamp    // the atClusterTime of a snapshot session, 0 before its first read
	clusterTime   *clusterTime // the greatest one in a reply

	transaction transaction
}

// SessionOptions are the options of an explicit session.
type SessionOptions struct {
	// Causal makes the session causally consistent: each read sees the session's earlier operations.
	Causal bool
	// Snapshot makes all reads of the session read one snapshot of the data.
	Snapshot bool
	// SnapshotTime is the time of that snapshot. 0 means that the first read determines it.
	SnapshotTime Timestamp
}

// NoSession makes an operation run without a session. Commands that manage sessions need it.
var NoSession = &Session{explicit: true}

// ErrSessionEnded is the error of an operation in a session that has ended. Its text is the official driver's.
var ErrSessionEnded = errors.New("ended session was used")

// errNoSessions is the error of an operation in an explicit session on a server without sessions (Driver Sessions, "How to
// Tell Whether a Connection Supports Sessions"). Its text is the official driver's.
var errNoSessions = errors.New("current topology does not support sessions")

// ErrUnacknowledgedInSession is the error of an unacknowledged write in an explicit session (Driver Sessions, "Why do we
// not allow unacknowledged writes").
var ErrUnacknowledgedInSession = errors.New("an unacknowledged write cannot be in an explicit session")

// checkSession returns an error if the operation cannot run in its session.
func checkSession(op *Operation) error {
	switch {
	case op.Session == nil || op.Session == NoSession:
		return nil
	case op.Session.ended:
		return ErrSessionEnded
	case op.Session.participates(op):
		return op.Session.join(op)
	case op.Session.explicit && op.unacknowledged():
		return ErrUnacknowledgedInSession
	}
	return nil
}

// defaultSessionTimeout is the logicalSessionTimeoutMinutes of a server that is not configured otherwise. It is used while
// no server's own value is known.
const defaultSessionTimeout = 30 * time.Minute

// StartSession returns an explicit session.
func (r *Runner) StartSession(o SessionOptions) *Session {
	known := r.cfg.Cluster.Snapshot().Description
	timeout, ok := sessionTimeout(known, known.SessionTimeoutMinutes)
	if !ok {
		timeout = defaultSessionTimeout
	}
	return &Session{
		pool: &r.sessions, server: r.sessions.get(time.Now(), timeout), explicit: true, causal: o.Causal, snapshot: o.Snapshot,
		snapshotTime: o.SnapshotTime,
	}
}

// sessionTimeout returns how long a server remembers a session that is not used, and reports whether there are sessions.
// minutes is logicalSessionTimeoutMinutes. Behind a load balancer there always are sessions, and they never expire (Load
// Balancer specification, "Driver Sessions").
func sessionTimeout(d *topology.Description, minutes *int64) (time.Duration, bool) {
	switch {
	case d.Type == topology.LoadBalanced:
		return neverExpires, true
	case minutes == nil:
		return 0, false
	default:
		return time.Duration(*minutes) * time.Minute, true
	}
}

// ImplicitSession returns an implicit session for several operations, such as those of one cursor.
func (r *Runner) ImplicitSession() *Session { return &Session{pool: &r.sessions} }

// End ends the session: it returns the server session to the pool and releases the pin. It may be called more than
// once.
func (s *Session) End() {
	if s.ended {
		return
	}
	s.ended = true
	if s.server != nil {
		defer s.giveBack() // also if a listener panics
	}
	s.Unpin()
}

// giveBack returns the server session to the pool.
func (s *Session) giveBack() {
	now := s.server.lastUsed // saves a call of time.Now for each operation
	if s.explicit {
		now = time.Now()
	}
	s.pool.put(s.server, now)
}

// Release ends an implicit session. It does nothing for an explicit one, which only the application ends.
func (s *Session) Release() {
	if !s.explicit {
		s.End()
	}
}

// begin records the use of the session by an operation, and gets a server session if there is none yet. timeout is that of
// sessionTimeout.
func (s *Session) begin(now time.Time, timeout time.Duration) {
	if s.server == nil {
		s.server = s.pool.get(now, timeout)
	}
	s.server.lastUsed, s.server.used = now, true
}

// ID returns the lsid document of an explicit session, also after its end.
func (s *Session) ID() []byte { return s.id() }

// OperationTime returns the greatest operation time that the session knows, 0 if it knows none.
func (s *Session) OperationTime() Timestamp { return s.operationTime }

// AdvanceOperationTime makes the session's reads include t, the operation time of another session.
func (s *Session) AdvanceOperationTime(t Timestamp) error {
	if s.ended {
		return ErrSessionEnded
	}
	s.operationTime = max(s.operationTime, t)
	return nil
}

// ClusterTime returns the greatest $clusterTime document that the session knows, nil if it knows none.
func (s *Session) ClusterTime() []byte {
	if s.clusterTime == nil {
		return nil
	}
	return s.clusterTime.document
}

// AdvanceClusterTime makes the session send document, the $clusterTime of another session, if it is greater than its own.
func (s *Session) AdvanceClusterTime(document []byte) error {
	if s.ended {
		return ErrSessionEnded
	}
	if _, ok := timestampOf(document); !ok {
		return errNoClusterTime
	}
	s.clusterTime = newer(s.clusterTime, document)
	return nil
}

var errNoClusterTime = errors.New("the $clusterTime has no field clusterTime of type timestamp")

// SnapshotTime returns the time of the snapshot that the session reads, 0 if it is not known yet.
func (s *Session) SnapshotTime() Timestamp { return s.snapshotTime }

// id returns the lsid document, nil if there is no server session.
func (s *Session) id() []byte {
	if s == nil || s.server == nil {
		return nil
	}
	return s.server.id
}

// uuid returns the id of the server session without its document, nil if there is none.
func (s *Session) uuid() []byte {
	if s.id() == nil {
		return nil
	}
	return s.server.uuid()
}

// networkFailed marks the server session as dirty, because the server may still run an operation of it.
func (s *Session) networkFailed() {
	if s != nil && s.server != nil {
		s.server.dirty = true
	}
}

// advance stores the times and the recovery token of a reply for the session's next operations. An implicit session
// does not need them.
func (s *Session) advance(reply *Reply) {
	if s == nil || !s.explicit {
		return
	}
	s.operationTime = max(s.operationTime, reply.OperationTime)
	s.clusterTime = newer(s.clusterTime, reply.clusterTime)
	if reply.RecoveryToken != nil {
		s.transaction.recoveryToken = append(s.transaction.recoveryToken[:0], reply.RecoveryToken...)
	}
	if s.snapshot && s.snapshotTime == 0 {
		s.snapshotTime = reply.snapshotTime()
	}
}

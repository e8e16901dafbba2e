package operation

import (
	"crypto/rand"
	"slices"
	"sync"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// ServerSession is a server session (Driver Sessions specification). Only one operation at a time may use it.
type ServerSession struct {
	id        []byte // the lsid document
	txnNumber int64
	lastUsed  time.Time // the start of the latest operation
	used      bool      // it was sent to a server, which therefore knows it
	dirty     bool      // there was a network error: the server may still run the operation
}

// sessionMargin is the time before the session timeout in which a session is not used again.
const sessionMargin = time.Minute

// neverExpires is the session timeout behind a load balancer: logicalSessionTimeoutMinutes has no meaning there (Load
// Balancer specification, "Session Expiration").
const neverExpires time.Duration = 0

// newServerSession returns a session whose id is a random UUID (version 4).
func newServerSession() *ServerSession {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	at, b := wire.BeginDocument(make([]byte, 0, 30))
	b = wire.AppendBinary(b, "id", 4, id[:])
	return &ServerSession{id: wire.EndDocument(b, at)}
}

// uuid returns the id without its document, which has nothing else.
func (s *ServerSession) uuid() []byte {
	it := wire.Elements(s.id)
	it.Next()
	return it.Value[len("size")+1:]
}

// nextTxnNumber returns the next transaction number. The first is 1.
func (s *ServerSession) nextTxnNumber() int64 {
	s.txnNumber++
	return s.txnNumber
}

// expired reports whether the server may have forgotten the session, or will soon.
func (s *ServerSession) expired(now time.Time, timeout time.Duration) bool {
	return timeout != neverExpires && now.Sub(s.lastUsed) > timeout-sessionMargin
}

// SessionPool is the server session pool: the session that was used last is reused first (Driver Sessions, "Server
// Session Pool"). A session keeps its transaction number. The zero value is ready for use. It is safe for concurrent
// use.
type SessionPool struct {
	mu      sync.Mutex
	free    []*ServerSession // the one that was put last is the last
	inUse   int              // the number of sessions that get returned and put did not get back
	timeout time.Duration    // of the latest get
}

// get returns a pooled session that does not expire soon, or a new one. timeout is logicalSessionTimeoutMinutes, or
// neverExpires.
func (p *SessionPool) get(now time.Time, timeout time.Duration) *ServerSession {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inUse++
	p.timeout = timeout
	for n := len(p.free); n > 0; n-- {
		s := p.free[n-1]
		p.free = p.free[:n-1]
		if !s.expired(now, timeout) {
			return s
		}
	}
	s := newServerSession()
	s.lastUsed = now
	return s
}

// put returns a session to the pool. A dirty one, and one that expires soon, are discarded; the server ends them after its
// timeout. Before that, the sessions that were not used for so long that they expire soon are discarded: otherwise those of a
// burst would stay for ever. now may be too early by the time of one operation.
func (p *SessionPool) put(s *ServerSession, now time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.inUse--
	expired := 0
	for expired < len(p.free) && p.free[expired].expired(now, p.timeout) {
		expired++
	}
	p.free = slices.Delete(p.free, 0, expired)
	if !s.dirty && !s.expired(now, p.timeout) {
		p.free = append(p.free, s)
	}
}

// drain removes all sessions from the pool and returns the ids of those that a server knows.
func (p *SessionPool) drain() [][]byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	ids := make([][]byte, 0, len(p.free))
	for _, s := range p.free {
		if s.used {
			ids = append(ids, s.id)
		}
	}
	p.free = nil
	return ids
}

// SessionsInUse returns the number of sessions that hold a server session: explicit ones that have not ended, and those
// of operations and cursors.
func (r *Runner) SessionsInUse() int {
	r.sessions.mu.Lock()
	defer r.sessions.mu.Unlock()
	return r.sessions.inUse
}

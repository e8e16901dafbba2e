package operation

import (
	"crypto/rand"
	"sync"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// ServerSession is a server session (Driver Sessions specification). Only one operation at a time may use it.
type ServerSession struct {
	id        []byte // the lsid document
	txnNumber int64
	lastUsed  time.Time // the start of the latest operation
	dirty     bool      // there was a network error: the server may still run the operation
}

// sessionMargin is the time before the session timeout in which a session is not used again.
const sessionMargin = time.Minute

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

// nextTxnNumber returns the next transaction number. The first is 1.
func (s *ServerSession) nextTxnNumber() int64 {
	s.txnNumber++
	return s.txnNumber
}

func (s *ServerSession) expired(now time.Time, timeout time.Duration) bool {
	return now.Sub(s.lastUsed) > timeout-sessionMargin
}

// SessionPool is the server session pool: the session that was used last is reused first (Driver Sessions, "Server
// Session Pool"). A session keeps its transaction number. The zero value is ready for use. It is safe for concurrent
// use.
type SessionPool struct {
	mu   sync.Mutex
	free []*ServerSession
}

// get returns a pooled session that does not expire soon, or a new one. timeout is logicalSessionTimeoutMinutes.
func (p *SessionPool) get(now time.Time, timeout time.Duration) *ServerSession {
	p.mu.Lock()
	defer p.mu.Unlock()
	for n := len(p.free); n > 0; n-- {
		s := p.free[n-1]
		p.free = p.free[:n-1]
		if !s.expired(now, timeout) {
			s.lastUsed = now
			return s
		}
	}
	s := newServerSession()
	s.lastUsed = now
	return s
}

// put returns a session to the pool. A dirty one is discarded; the server ends it after its timeout.
func (p *SessionPool) put(s *ServerSession) {
	if s.dirty {
		return
	}
	p.mu.Lock()
	p.free = append(p.free, s)
	p.mu.Unlock()
}

// drain removes all sessions from the pool and returns their ids.
func (p *SessionPool) drain() [][]byte {
	p.mu.Lock()
	defer p.mu.Unlock()
	ids := make([][]byte, len(p.free))
	for i, s := range p.free {
		ids[i] = s.id
	}
	p.free = nil
	return ids
}

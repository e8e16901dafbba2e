package operation

import (
	"crypto/rand"
	"sync"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// ServerSession is an id under which a server remembers the writes that it has done. It is used by one operation at a
// time.
type ServerSession struct {
	id        []byte // the lsid document
	txnNumber int64
	lastUsed  time.Time // when an operation began to use it
	dirty     bool      // a network error was met: the server may still be busy with it
}

// sessionMargin is how long before a server forgets a session it is not used any more.
const sessionMargin = time.Minute

// newServerSession returns a session with a random (version 4) id.
func newServerSession() *ServerSession {
	var id [16]byte
	_, _ = rand.Read(id[:]) // never fails
	id[6] = id[6]&0x0f | 0x40
	id[8] = id[8]&0x3f | 0x80
	at, b := wire.BeginDocument(make([]byte, 0, 30))
	b = wire.AppendBinary(b, "id", 4, id[:])
	return &ServerSession{id: wire.EndDocument(b, at)}
}

// nextTxnNumber returns a number greater than all before it: 1 is the first.
func (s *ServerSession) nextTxnNumber() int64 {
	s.txnNumber++
	return s.txnNumber
}

func (s *ServerSession) expired(now time.Time, timeout time.Duration) bool {
	return now.Sub(s.lastUsed) > timeout-sessionMargin
}

// SessionPool keeps server sessions for reuse, the most recently used first. A session keeps its transaction number.
// The zero value is ready and safe for concurrent use.
type SessionPool struct {
	mu   sync.Mutex
	free []*ServerSession
}

// get returns a session that the server, which forgets after timeout, still knows, or a new one.
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

// put gives a session back. A dirty one is dropped: the server will forget it by itself.
func (p *SessionPool) put(s *ServerSession) {
	if s.dirty {
		return
	}
	p.mu.Lock()
	p.free = append(p.free, s)
	p.mu.Unlock()
}

// drain returns the ids of all free sessions and forgets them.
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

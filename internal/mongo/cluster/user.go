package cluster

import (
	"sync/atomic"

	"github.com/holdfast-db/holdfast/internal/mongo/auth"
)

// User is somebody for whom connections are made and used, instead of the user of [Config.Auth]: a router has many. A connection of one user
// is never used for another. All users share the limits of a pool. It is safe for concurrent use.
type User struct {
	authenticator atomic.Pointer[auth.Authenticator]
}

// NewUser returns a user whose connections log in with a.
func NewUser(a *auth.Authenticator) *User {
	u := new(User)
	u.LogInWith(a)
	return u
}

// LogInWith sets how the next connections of the user log in. The connections that there are stay.
func (u *User) LogInWith(a *auth.Authenticator) { u.authenticator.Store(a) }

// share is what one user has of a pool. The pool's lock guards it.
type share struct {
	user    *User // nil: that of Config.Auth
	idle    []*Conn
	waiters waitQueue
	late    waitQueue // see LateLast
	total   uint64    // open and pending connections
	passed  int       // connections that came free while its waiter was the first, and went to others
}

// newShare returns the share of a user without connections.
func newShare(u *User) *share {
	return &share{user: u, waiters: waitQueue{links: ofShare}, late: waitQueue{links: ofShare}}
}

// authenticator returns how the next connection of the share logs in.
func (s *share) authenticator(own *auth.Authenticator) *auth.Authenticator {
	if s.user == nil {
		return own
	}
	return s.user.authenticator.Load()
}

// shareOf returns the share of a user, which the caller is about to use. It and the functions below are called with the lock held.
func (p *pool) shareOf(u *User) *share {
	if u == nil {
		return p.own
	}
	s := p.others[u]
	if s == nil {
		s = newShare(u)
		if p.others == nil {
			p.others = make(map[*User]*share)
		}
		p.others[u] = s
	}
	return s
}

// serves reports whether a share is one of several users: what the server thinks of one of them is nothing to the others.
func (p *pool) serves(s *share) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return s.user != nil || p.others != nil
}

// dropUnused forgets the share of a user that has nothing. The own one is not among them.
func (p *pool) dropUnused(s *share) {
	if s.total == 0 && s.waiters.length+s.late.length == 0 {
		delete(p.others, s.user)
	}
}

// added counts a connection that is begun.
func (p *pool) added(s *share) {
	p.total++
	s.total++
}

// gone counts a connection no longer.
func (p *pool) gone(s *share) {
	p.total--
	s.total--
	p.dropUnused(s)
}

// shares calls f with each share.
func (p *pool) shares(f func(*share)) {
	f(p.own)
	for _, s := range p.others {
		f(s)
	}
}

// idleConns returns the number of idle connections.
func (p *pool) idleConns() int {
	n := 0
	p.shares(func(s *share) { n += len(s.idle) })
	return n
}

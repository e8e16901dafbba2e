package mongotest

import (
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/testserver"
)

func (rs *Deployment) listen() (err error) {
	for i, s := range rs.servers {
		if s.process.Addr, err = s.listen(rs, i); err != nil {
			return err
		}
		rs.wg.Go(func() { rs.acceptAll(s.listener, func(nc net.Conn) bool { return rs.accept(s, nc) }) })
	}
	for i, b := range rs.balancers {
		if b.addr, err = b.listen(rs, len(rs.servers)+i); err != nil {
			return err
		}
		rs.wg.Go(func() { rs.acceptAll(b.listener, func(nc net.Conn) bool { return b.accept(rs, nc) }) })
	}
	return nil
}

// virtualAddr returns the address in memory. Characters of the set's name that a host name cannot have become "-".
func (s *listening) virtualAddr(rs *Deployment) string {
	domain := strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '_' || r == '.' {
			return r
		}
		return '-'
	}, strings.ToLower(rs.config.setName))
	return fmt.Sprintf("%s.%s.mongotest:27017", s.host, domain)
}

// listen makes the listener for the i-th address of the option Listen, and returns the address by which it is known.
func (s *listening) listen(rs *Deployment, i int) (addr string, err error) {
	if addr, err = s.bind(rs, i); err != nil {
		return "", fmt.Errorf("mongotest: listening for %s: %w", s.name, err)
	}
	return addr, nil
}

func (s *listening) bind(rs *Deployment, i int) (string, error) {
	c := &rs.config
	if n := rs.network; n != nil {
		l, err := n.ListenFar(s.virtualAddr(rs), c.latencyOf(i))
		if err != nil {
			return "", err
		}
		s.listener = l
		return l.Addr().String(), nil
	}
	addr := "127.0.0.1:0"
	if c.addresses != nil {
		addr = c.addresses[i]
	}
	if c.listeners != nil {
		s.listener = c.listeners[i]
		return addr, nil
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return "", err
	}
	if s.listener = l; c.addresses != nil {
		return named(addr, l), nil
	}
	return l.Addr().String(), nil
}

// latencyOf returns how much longer than others bytes travel to the i-th server, which may be a member.
func (c *config) latencyOf(i int) time.Duration {
	if i >= len(c.initial) {
		return 0
	}
	return c.initial[i].latency
}

// named returns an address with the port that its listener got.
func named(addr string, l net.Listener) string {
	host, _, err := net.SplitHostPort(addr)
	_, port, listening := net.SplitHostPort(l.Addr().String())
	if err != nil || listening != nil {
		return addr
	}
	return net.JoinHostPort(host, port)
}

// acceptAll serves the connections of one server or load balancer. The port of a killed server stays bound, so that no other process can take
// it before Restart; connections that come meanwhile are reset.
func (rs *Deployment) acceptAll(l net.Listener, accept func(net.Conn) bool) {
	for {
		c, err := l.Accept()
		if err != nil {
			select {
			case <-rs.set.Done:
				return
			default:
				continue
			}
		}
		if !accept(c) {
			testserver.Abort(c)
		}
	}
}

// accept begins to serve a connection. It returns false if the server does not run.
func (rs *Deployment) accept(s *server, nc net.Conn) bool {
	rs.set.Lock()
	defer rs.set.Unlock()
	if rs.set.Closed || !s.process.Up {
		return false
	}
	rs.wg.Go(rs.addLocked(s, nc).serve)
	return true
}

// addLocked adds a connection to those of a server that runs. The caller begins to serve it.
func (rs *Deployment) addLocked(s *server, nc net.Conn) *conn {
	c := newConn(s, nc, rs.nextID.Add(1))
	s.conns[c] = struct{}{}
	s.accepted++
	s.opened++
	return c
}

// listening has an address.
type listening struct {
	name     string // for errors
	host     string // in memory
	listener net.Listener
}

package mongotest

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Proxy stands in front of servers of any kind, for example real ones, and does faults to the messages that pass. Its
// methods are safe for concurrent use.
//
// It listens on 127.0.0.1, once for each member it learns of, and rewrites the addresses in every reply to hello, so that
// clients do not bypass it. It removes compression from the handshake. It refuses TLS: a client that begins with it gets a
// TLS alert. The AfterApply of a [Fault] is not run, because a proxy cannot see when a write is applied.
type Proxy struct {
	dial   func(ctx context.Context, network, address string) (net.Conn, error)
	target *url.URL
	hosts  []string // of the target, in its order
	done   chan struct{}
	wg     sync.WaitGroup
	connID atomic.Int64
	middlewares

	mu      sync.Mutex
	closed  bool
	members []*proxyMember
	conns   map[*proxyConn]struct{}
}

// proxyMember is one server behind the proxy and the listener in front of it.
type proxyMember struct {
	index    int
	address  string // the server's
	listener net.Listener
}

// ProxyOption sets something about a [Proxy].
type ProxyOption func(*Proxy)

// ProxyDial sets the function by which the proxy connects to the servers. Without it that is a net.Dialer's.
func ProxyDial(dial func(ctx context.Context, network, address string) (net.Conn, error)) ProxyOption {
	return func(p *Proxy) { p.dial = dial }
}

// RunProxy runs a proxy in front of the servers of target: "host:port", or a mongodb:// connection string without TLS.
func RunProxy(target string, opts ...ProxyOption) (*Proxy, error) {
	u, hosts, err := parseTarget(target)
	if err != nil {
		return nil, err
	}
	p := &Proxy{
		dial: new(net.Dialer).DialContext, target: u, hosts: hosts, done: make(chan struct{}),
		conns: make(map[*proxyConn]struct{}),
	}
	for _, o := range opts {
		if o == nil {
			return nil, errNilOption
		}
		o(p)
	}
	if p.dial == nil {
		return nil, errors.New("mongotest: ProxyDial: the function is nil")
	}
	for _, host := range hosts {
		if _, err := p.front(host); err != nil {
			return nil, errors.Join(err, p.Close())
		}
	}
	return p, nil
}

// RunProxyT is [RunProxy] for a test, see [RunStandaloneT].
func RunProxyT(t Tester, target string, opts ...ProxyOption) *Proxy {
	t.Helper()
	p, err := RunProxy(target, opts...)
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	t.Cleanup(func() {
		t.Helper()
		if err := p.Close(); err != nil {
			t.Logf("closing the proxy: %v", err)
		}
	})
	return p
}

// parseTarget splits a target into a URL with one host and the list of hosts, because url.Parse allows only one host.
func parseTarget(target string) (*url.URL, []string, error) {
	if !strings.Contains(target, "://") {
		target = "mongodb://" + target + "/"
	}
	rest, ok := strings.CutPrefix(target, "mongodb://")
	if !ok {
		return nil, nil, errors.New("mongotest: RunProxy: the target must be host:port or begin with mongodb://")
	}
	authority, path := rest, "/"
	if at := strings.IndexAny(rest, "/?"); at >= 0 {
		authority, path = rest[:at], rest[at:]
	}
	user, list := "", authority
	if at := strings.LastIndexByte(authority, '@'); at >= 0 {
		user, list = authority[:at+1], authority[at+1:]
	}
	u, err := url.Parse("mongodb://" + user + "host" + path)
	if err != nil { // the error of url.Parse has the credentials in its text
		return nil, nil, errors.New("mongotest: RunProxy: the target is not a valid connection string")
	}
	for name, values := range u.Query() {
		if n := strings.ToLower(name); (n == "tls" || n == "ssl") && slices.Contains(values, "true") {
			return nil, nil, fmt.Errorf("mongotest: RunProxy: the option %s=true: TLS is not supported", name)
		}
	}
	hosts := strings.Split(list, ",")
	for i, h := range hosts {
		if _, _, err := net.SplitHostPort(h); err != nil {
			hosts[i] = h + ":27017"
		}
		if h == "" || strings.ContainsAny(h, "%/ ") {
			return nil, nil, fmt.Errorf("mongotest: RunProxy: %q is not a host", h)
		}
	}
	return u, hosts, nil
}

// URI returns the target's connection string with the proxy's addresses instead of the servers'.
func (p *Proxy) URI() string {
	hosts := make([]string, len(p.hosts))
	for i := range hosts {
		hosts[i] = p.Addr(i)
	}
	u := *p.target
	u.Host = strings.Join(hosts, ",")
	q := u.Query()
	q.Del("compressors")
	u.RawQuery = q.Encode()
	if u.Path == "" {
		u.Path = "/"
	}
	return u.String()
}

// Addr returns the proxy's address in front of a member. The members are counted from 0: first those of the target, then those
// that a reply to hello named. It panics if there is no such member.
func (p *Proxy) Addr(member int) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return orPanic(nth("Addr", "member", p.members, member)).listener.Addr().String()
}

// Members returns how many members the proxy knows by now.
func (p *Proxy) Members() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.members)
}

// Close ends every connection and goroutine of the proxy, and waits until they have ended. It must not be called from
// middleware.
func (p *Proxy) Close() error {
	p.mu.Lock()
	if !p.closed {
		p.closed = true
		close(p.done)
	}
	var errs []error
	for _, m := range p.members {
		if err := m.listener.Close(); !errors.Is(err, net.ErrClosed) {
			errs = append(errs, err)
		}
	}
	conns := make([]*proxyConn, 0, len(p.conns))
	for c := range p.conns {
		conns = append(conns, c)
	}
	p.mu.Unlock()
	for _, c := range conns {
		c.close()
	}
	p.wg.Wait()
	return errors.Join(errs...)
}

// front returns the proxy's address in front of a server. If the server is new, the proxy begins to listen for it.
func (p *Proxy) front(address string) (string, error) {
	address = strings.ToLower(address)
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.members {
		if m.address == address {
			return m.listener.Addr().String(), nil
		}
	}
	if p.closed {
		return "", net.ErrClosed
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("mongotest: RunProxy: listening for %s: %w", address, err)
	}
	m := &proxyMember{index: len(p.members), address: address, listener: l}
	p.members = append(p.members, m)
	p.wg.Go(func() { p.acceptAll(m) })
	return l.Addr().String(), nil
}

func (p *Proxy) acceptAll(m *proxyMember) {
	for {
		client, err := m.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err == nil {
			p.serve(m, client)
		}
	}
}

func (p *Proxy) serve(m *proxyMember, client net.Conn) {
	c := &proxyConn{
		proxy: p, member: m, id: p.connID.Add(1), client: client, done: make(chan struct{}),
		pending: make(map[int32]pending),
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.closed {
		_ = client.Close()
		return
	}
	p.conns[c] = struct{}{}
	p.wg.Go(c.run)
}

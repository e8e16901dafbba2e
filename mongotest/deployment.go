package mongotest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/base/testserver"
	"github.com/holdfast-db/holdfast/mongotest/internal/account"
	"github.com/holdfast-db/holdfast/mongotest/internal/currentop"
	"github.com/holdfast-db/holdfast/mongotest/internal/setconfig"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// Deployment is a standalone, a replica set or a sharded cluster that runs. Its methods are safe for concurrent use.
//
// The servers with data are its members, counted from 0; a standalone is member 0. An argument that names no member, no
// mongos or no namespace ("database.collection") is an error of the methods that return one; the others panic with a text
// that says so.
type Deployment struct {
	config     config
	network    *memnet.Network // nil on TCP
	members    []*member
	mongos     []*mongos
	balancers  []*balancer
	servers    []*server // the members, then the mongos
	journal    journal
	authority  *testserver.Authority // nil without TLS
	tls        *tls.Config           // of the servers, nil without TLS
	transcript transcript
	done       chan struct{} // closed by Close
	wg         sync.WaitGroup
	active     atomic.Int64 // messages being processed
	running    currentop.Operations
	idlers     atomic.Int64  // calls of WaitIdle
	nextID     atomic.Int64  // connection ids
	replies    atomic.Int32  // request ids of replies
	guarded    atomic.Bool   // clients that have not authenticated are refused
	roles      account.Roles // that somebody has created, and the built-in ones

	accountsChanged   atomic.Int64  // how often users and roles were changed
	clock             atomic.Uint64 // the newest timestamp of an oplog entry
	clientClusterTime atomic.Uint64 // the newest cluster time that only clients know of
	defaulted         atomic.Bool   // there may be default concerns in the data

	middlewares

	mu      sync.Mutex // guards what follows and the members, to which replSetInitiate may add; never held across a wait
	closed  bool
	cut     [][]bool // from which member to which nothing passes
	cursors int64
	waiters []*waiter
	users   []*account.Account

	initiation initiation
	expiration expiration

	// The replica set's configuration, beside the members' own, and what follows from it.
	configVersion     int64
	electionTimeout   time.Duration
	modes             setconfig.Modes
	votes             int
	voteMajority      int
	writeMajority     int  // of the members that vote and have data
	majorityByDefault bool // of writes that do not say how many members must have them
}

// foremostLocked returns the member with the highest priority, the first one if there are several.
func (rs *Deployment) foremostLocked() *member {
	p := rs.members[0]
	for _, m := range rs.members {
		if m.config.Electable() && (!p.config.Electable() || m.config.Priority > p.config.Priority) {
			p = m
		}
	}
	return p
}

// beginLocked elects the first primary. All members get its first oplog entry at once.
func (rs *Deployment) beginLocked(p *member) {
	rs.initiation = initiated
	rs.configureLocked()
	p.standLocked()
	if rs.config.sharded {
		rs.describeShardLocked(p)
	}
	for _, m := range rs.members {
		if m != p && m.config.BearsData() {
			m.fetchLocked(p, p, p.data.Log.Last())
		}
	}
	rs.reconsiderLocked()
}

func (rs *Deployment) listen() error {
	for i, s := range rs.servers {
		if err := s.listen(rs, i); err != nil {
			return err
		}
		rs.wg.Go(func() { rs.acceptAll(s.listener, func(nc net.Conn) bool { return rs.accept(s, nc) }) })
	}
	for i, b := range rs.balancers {
		if err := b.listen(rs, len(rs.servers)+i); err != nil {
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

// listen makes the listener for the i-th address of the option Listen, and sets the address.
func (s *listening) listen(rs *Deployment, i int) error {
	if err := s.bind(rs, i); err != nil {
		return fmt.Errorf("mongotest: listening for %s: %w", s.name, err)
	}
	return nil
}

func (s *listening) bind(rs *Deployment, i int) error {
	c := &rs.config
	if n := rs.network; n != nil {
		l, err := n.Listen(s.virtualAddr(rs))
		if err != nil {
			return err
		}
		s.listener, s.addr = l, l.Addr().String()
		return nil
	}
	addr := "127.0.0.1:0"
	if c.addresses != nil {
		addr = c.addresses[i]
	}
	if c.listeners != nil {
		s.listener, s.addr = c.listeners[i], addr
		return nil
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return err
	}
	if s.listener, s.addr = l, l.Addr().String(); c.addresses != nil {
		s.addr = named(addr, l)
	}
	return nil
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
			case <-rs.done:
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
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if rs.closed || !s.up {
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

// Close ends every goroutine and connection of the deployment, and waits until they have ended. It must not be called from
// middleware. Closing twice is harmless.
func (rs *Deployment) Close() error {
	rs.mu.Lock()
	first := !rs.closed
	rs.closed = true
	if first {
		close(rs.done)
	}
	var conns []*conn
	servers := rs.servers
	for _, m := range rs.members {
		m.stopTimer()
	}
	if t := rs.expiration.timer; t != nil {
		t.Stop()
	}
	for _, s := range servers {
		for c := range s.conns {
			conns = append(conns, c)
		}
	}
	rs.mu.Unlock()
	var errs []error
	for _, s := range servers {
		if first && s.listener != nil {
			errs = append(errs, s.listener.Close())
		}
	}
	for _, b := range rs.balancers {
		if first && b.listener != nil {
			errs = append(errs, b.listener.Close())
		}
	}
	for _, c := range conns {
		c.close()
	}
	rs.wg.Wait()
	return errors.Join(errs...)
}

// URI returns the connection string. That of a replica set has its name and the members that are neither hidden nor arbiters,
// or all members before replSetInitiate; that of a sharded cluster has the mongos, or the first load balancer and the option
// loadBalanced=true. With TLS it has the option tls=true. It has
// no users and no certificates.
func (rs *Deployment) URI() string {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	var hosts []string
	for _, m := range rs.members {
		if rs.initiation != initiated || !m.config.Hidden && m.config.BearsData() {
			hosts = append(hosts, m.addr)
		}
	}
	if rs.config.sharded {
		hosts = nil
	}
	for _, r := range rs.mongos {
		hosts = append(hosts, r.addr)
	}
	var opts []string
	if len(rs.balancers) > 0 {
		hosts, opts = []string{rs.balancers[0].addr}, []string{"loadBalanced=true"}
	}
	if !rs.config.standalone && !rs.config.sharded {
		opts = append(opts, "replicaSet="+escape(rs.config.setName))
	}
	if rs.tls != nil {
		opts = append(opts, "tls=true")
	}
	uri := "mongodb://" + strings.Join(hosts, ",") + "/"
	if len(opts) > 0 {
		uri += "?" + strings.Join(opts, "&")
	}
	return uri
}

// escape encodes the value of an option in a connection string. A space becomes "%20", because some drivers do not read "+"
// as a space.
func escape(value string) string { return strings.ReplaceAll(url.QueryEscape(value), "+", "%20") }

// Dialer returns a dialer that connects to the deployment's servers, in memory and on TCP.
func (rs *Deployment) Dialer() *Dialer { return &Dialer{rs.dial} }

// Addr returns the address of a member, "host:port"; of member 0 if no member is given.
func (rs *Deployment) Addr(member ...int) string {
	i := 0
	if len(member) > 0 {
		i = member[0]
	}
	m := orPanic(rs.memberAt("Addr", i))
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return m.addr
}

// Members returns how many members there are, including those that do not run.
func (rs *Deployment) Members() int {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return len(rs.members)
}

// Primary returns the index of the primary, -1 if there is none. While an older primary has not noticed yet that it was
// replaced, it is the newer one.
func (rs *Deployment) Primary() int {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if m := rs.newestPrimaryLocked(); m != nil {
		return m.index
	}
	return -1
}

func (rs *Deployment) newestPrimaryLocked() *member {
	var found *member
	for _, m := range rs.members {
		if m.up && m.role == primary && (found == nil || m.term > found.term) {
			found = m
		}
	}
	return found
}

// Term returns the highest term in which a primary was elected.
func (rs *Deployment) Term() int64 {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return rs.termLocked()
}

func (rs *Deployment) termLocked() int64 {
	term := int64(0)
	for _, m := range rs.members {
		term = max(term, m.term)
	}
	return term
}

// serverAtLocked returns the server with an address, nil if there is none.
func (rs *Deployment) serverAtLocked(addr string) *server {
	for _, s := range rs.servers {
		if s.addr == addr {
			return s
		}
	}
	return nil
}

// ReadAll returns the documents of a namespace ("database.collection") that a majority has, as the primary knows it or, if
// there is no primary, the member whose commit point is newest. The documents must not be changed. It panics if the namespace
// is invalid.
func (rs *Deployment) ReadAll(ns string) []bson.Raw {
	if _, _, err := splitNamespace(ns); err != nil {
		panic(err.Error())
	}
	rs.mu.Lock()
	defer rs.mu.Unlock()
	from := rs.newestPrimaryLocked()
	for _, m := range rs.members {
		if from == nil || (from.role != primary && m.commit > from.commit) {
			from = m
		}
	}
	var docs []bson.Raw
	from.data.Snapshot(ns, from.commit).Scan(func(r *store.Record) bool {
		docs = append(docs, bson.Raw(r.Doc))
		return true
	})
	return docs
}

// WaitIdle waits until no command is being executed, no bytes from clients are on their way in memory, and every secondary
// has all that the primary wrote, except secondaries that do not reach the primary or have a SecondaryDelay. Bytes that were
// sent to an isolated member count as on their way. On TCP it does not see bytes that the operating system still holds. It
// returns the cause of ctx's end if that comes first.
func (rs *Deployment) WaitIdle(ctx context.Context) error {
	rs.idlers.Add(1)
	defer rs.idlers.Add(-1)
	rs.mu.Lock()
	defer rs.mu.Unlock()
	w := newWaiter(rs.idleLocked)
	if err := rs.awaitLocked(w, ctx.Done(), -1); err != nil {
		return context.Cause(ctx)
	}
	return nil
}

func (rs *Deployment) idleLocked() bool {
	if rs.network != nil && rs.tls == nil && rs.network.Unprocessed() > 0 {
		return false
	}
	if rs.active.Load() > 0 {
		return false
	}
	for _, m := range rs.members {
		if _, p := m.sourceLocked(); p != nil && m.config.BearsData() && !m.stale && m.config.Delay == 0 && m.fsyncLocks == 0 && p.matched[m.index] < p.data.Log.Last() {
			return false
		}
	}
	return true
}

// rest notes the end of a message's processing and wakes WaitIdle.
func (rs *Deployment) rest() {
	if rs.active.Add(-1) == 0 && rs.idlers.Load() > 0 {
		rs.mu.Lock()
		rs.changedLocked()
		rs.mu.Unlock()
	}
}

// WaitPrimary waits until there is a primary that reaches a majority, and returns its index. If ctx ends first, it returns -1
// and the cause of ctx's end.
func (rs *Deployment) WaitPrimary(ctx context.Context) (int, error) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	w := newWaiter(func() bool {
		m := rs.newestPrimaryLocked()
		return m != nil && m.seesMajority()
	})
	if err := rs.awaitLocked(w, ctx.Done(), -1); err != nil {
		return -1, context.Cause(ctx)
	}
	return rs.newestPrimaryLocked().index, nil
}

// waiter is one wait for a condition on the set's state.
type waiter struct {
	ready func() bool // called with the set's mutex held
	ch    chan struct{}
}

func newWaiter(ready func() bool) *waiter { return &waiter{ready, make(chan struct{}, 1)} }

// errTimeout is the error of a wait that reached its limit.
var errTimeout = errors.New("mongotest: the wait timed out")

// awaitLocked waits until w is ready, and releases the mutex meanwhile. It returns errHangUp if stop is closed first, and
// errTimeout after limit; a negative limit is none.
func (rs *Deployment) awaitLocked(w *waiter, stop <-chan struct{}, limit time.Duration) error {
	if w.ready() {
		return nil
	}
	rs.waiters = append(rs.waiters, w)
	rs.mu.Unlock()
	err := w.wait(stop, limit)
	rs.mu.Lock()
	if err == nil {
		return nil
	}
	for i, other := range rs.waiters {
		if other == w {
			rs.waiters = append(rs.waiters[:i], rs.waiters[i+1:]...)
			return err
		}
	}
	<-w.ch // it became ready at the same time
	return nil
}

func (w *waiter) wait(stop <-chan struct{}, limit time.Duration) error {
	var up <-chan time.Time
	if limit >= 0 {
		t := time.NewTimer(limit)
		defer t.Stop()
		up = t.C
	}
	select {
	case <-w.ch:
		return nil
	case <-stop:
		return errHangUp
	case <-up:
		return errTimeout
	}
}

// changedLocked ends the waits whose condition holds now.
func (rs *Deployment) changedLocked() {
	kept := rs.waiters[:0]
	for _, w := range rs.waiters {
		if w.ready() {
			w.ch <- struct{}{}
		} else {
			kept = append(kept, w)
		}
	}
	clear(rs.waiters[len(kept):])
	rs.waiters = kept
}

// tickLocked returns the timestamp of the next oplog entry.
func (rs *Deployment) tickLocked() store.Timestamp {
	next := max(rs.clusterTime(), now()) + 1
	rs.clock.Store(uint64(next))
	return next
}

// clusterTime returns the newest cluster time that a server or a client knows.
func (rs *Deployment) clusterTime() store.Timestamp {
	return store.Timestamp(max(rs.clock.Load(), rs.clientClusterTime.Load()))
}

// now returns the first timestamp of the current second.
func now() store.Timestamp { return store.Timestamp(time.Now().Unix()) << 32 }

package services

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/couchbase/clustermap"
	"github.com/holdfast-db/holdfast/retry"
)

// fakeCluster is a cluster whose nodes all offer all services, on a network in memory.
type fakeCluster struct {
	network *memnet.Network
	dials   atomic.Int64
	open    atomic.Int64 // connections of the client

	mu        sync.Mutex
	addresses []string
	newer     chan struct{}
	never     bool
	can       bool
	servers   []*http.Server
	listeners map[string]*memnet.Listener
}

func newCluster() *fakeCluster {
	return &fakeCluster{network: memnet.New(memnet.Config{}), newer: make(chan struct{}), listeners: make(map[string]*memnet.Listener)}
}

func (f *fakeCluster) Offering(clustermap.Service, string) Offer {
	f.mu.Lock()
	defer f.mu.Unlock()
	return Offer{Addresses: f.addresses, Newer: f.newer, Never: f.never}
}

func (f *fakeCluster) Can(service, capability string) bool {
	return f.can && service == "n1ql" && capability == "enhancedPreparedStatements"
}

// publish makes a newer map with these nodes.
func (f *fakeCluster) publish(addresses ...string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.addresses = addresses
	close(f.newer)
	f.newer = make(chan struct{})
}

// serve starts a node.
func (f *fakeCluster) serve(t *testing.T, address string, handler http.Handler) *memnet.Listener {
	t.Helper()
	l, err := f.network.Listen(address)
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: handler}
	go server.Serve(l)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.servers = append(f.servers, server)
	f.addresses = append(f.addresses, address)
	f.listeners[address] = l
	return l
}

func (f *fakeCluster) close() {
	for _, s := range f.servers {
		s.Close()
	}
}

// countedConn counts the connections that are open.
type countedConn struct {
	net.Conn
	once sync.Once
	open *atomic.Int64
}

func (c *countedConn) Close() error {
	c.once.Do(func() { c.open.Add(-1) })
	return c.Conn.Close()
}

func (f *fakeCluster) dial(ctx context.Context, network, address string) (net.Conn, error) {
	f.dials.Add(1)
	raw, err := f.network.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	f.open.Add(1)
	return &countedConn{Conn: raw, open: &f.open}, nil
}

// client returns a client of the cluster with best effort, and the log of its decisions.
func (f *fakeCluster) client(t *testing.T, change ...func(*Config)) (*Client, *eventLog) {
	t.Helper()
	log := new(eventLog)
	config := Config{
		Nodes: f, Dial: f.dial, Strategy: retry.BestEffort(retry.BackoffOptions{}), Observer: log, Agent: "test",
		Credential: func(context.Context, clustermap.Service, string) (Credential, error) {
			return Credential{Username: "user", Password: "secret-password"}, nil
		},
	}
	for _, f := range change {
		f(&config)
	}
	c, err := New(config)
	if err != nil {
		t.Fatal(err)
	}
	return c, log
}

// eventLog keeps the decisions of an engine.
type eventLog struct {
	mu     sync.Mutex
	events []retry.Event
}

func (l *eventLog) Observe(_ context.Context, e retry.Event) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e.Kind == retry.EventDecided {
		l.events = append(l.events, e)
	}
}

// String returns the decisions as "REASON stage -> why", one after the other.
func (l *eventLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var lines []string
	for _, e := range l.events {
		lines = append(lines, fmt.Sprintf("%v %v -> %v", e.Reason, e.Stage, e.StopReason))
	}
	return strings.Join(lines, "\n")
}

// script answers one request after the other with the next function, the last one again and again.
type script struct {
	mu       sync.Mutex
	answers  []http.HandlerFunc
	requests []recorded
}

type recorded struct {
	method, path, body string
	header             http.Header
	at                 time.Time
}

func answers(f ...http.HandlerFunc) *script { return &script{answers: f} }

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.requests = append(s.requests, recorded{r.Method, r.URL.String(), string(body), r.Header, time.Now()})
	f := s.answers[0]
	if len(s.answers) > 1 {
		s.answers = s.answers[1:]
	}
	s.mu.Unlock()
	f(w, r)
}

func (s *script) count() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.requests)
}

// status answers with an HTTP status and a body.
func status(code int, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		io.WriteString(w, body)
	}
}

// cut sends the beginning of an answer, then loses the connection.
func cut(beginning string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		io.WriteString(c, beginning)
		c.(*memnet.Conn).Abort(syscall.ECONNRESET)
	}
}

// silent never answers.
func silent(_ http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body) // without this a server does not see the end of the connection
	<-r.Context().Done()
}

const chunkedHead = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"

// chunk is one chunk of a body.
func chunk(s string) string { return fmt.Sprintf("%x\r\n%s\r\n", len(s), s) }

// bubble runs f on the fake clock and checks that the client leaves no connection and no goroutine.
func bubble(t *testing.T, f func(t *testing.T, cluster *fakeCluster)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		cluster := newCluster()
		f(t, cluster)
		cluster.close()
		synctest.Wait()
		if n := cluster.open.Load(); n != 0 {
			t.Errorf("%d connections are still open", n)
		}
	})
}

// stream sends a request for rows.
func stream(c *Client, service clustermap.Service, idempotency retry.Idempotency) (*Rows, error) {
	return c.Stream(context.Background(), streamRequest(service, idempotency))
}

func streamRequest(service clustermap.Service, idempotency retry.Idempotency) *Request {
	return &Request{
		Call: Call{Name: "test", Timeout: 10 * time.Second}, Service: service, Method: http.MethodPost, Path: "/query/service",
		Body: Fixed([]byte(`{"statement":"x"}`)), Idempotency: idempotency,
	}
}

// all reads all rows.
func all(r *Rows) []string {
	var rows []string
	for r.Next() {
		rows = append(rows, string(r.Row()))
	}
	return rows
}

func kindOf(err error) ErrorKind {
	var e *Error
	if !errors.As(err, &e) {
		return KindOther
	}
	return e.Kind
}

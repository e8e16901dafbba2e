package mongotest

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/base/testserver"
)

// BlackPipe is a server that executes nothing. The test controls both ends: it calls the client's operations, and it says
// which messages the server expects and what each reply is. Its methods are safe for concurrent use.
//
// Hello (of handshakes and monitors) and endSessions get a normal reply, unless a message of that name is the next expected
// one; middleware may change the reply. The pipe fails when any other message comes that is not the next expected one, and
// when an expected message does not come in time. It then fails the test at once, with the transcript, and closes every
// connection, so that the client's operation ends too.
type BlackPipe struct {
	t          Tester // nil if no test runs it
	config     pipeConfig
	network    *memnet.Network // nil on TCP
	listener   net.Listener
	addr       string
	transcript transcript
	broken     chan struct{} // closed when the pipe has failed or was closed
	wg         sync.WaitGroup
	ids        atomic.Int64 // of connections
	replies    atomic.Int32 // request ids of replies
	middlewares

	mu      sync.Mutex
	ended   bool // broken is closed
	queue   []*Expectation
	conns   map[*pipeConn]struct{}
	timer   *time.Timer // runs while something is expected
	failure error       // the first
}

// RunBlackPipe runs a black pipe. If the pipe fails, [BlackPipe.Close] returns the reason.
func RunBlackPipe(opts ...PipeOption) (*BlackPipe, error) { return runBlackPipe(nil, opts) }

// RunBlackPipeT is [RunBlackPipe] for a test, see [RunStandaloneT]. If the pipe fails, the test fails at once.
func RunBlackPipeT(t Tester, opts ...PipeOption) *BlackPipe {
	t.Helper()
	p, err := runBlackPipe(t, opts)
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	t.Cleanup(func() { _ = p.Close() })
	return p
}

func runBlackPipe(t Tester, opts []PipeOption) (*BlackPipe, error) {
	c, err := newPipeConfig(opts)
	if err != nil {
		return nil, err
	}
	p := &BlackPipe{
		t: t, config: c, broken: make(chan struct{}), conns: make(map[*pipeConn]struct{}), transcript: transcript{limit: c.transcript},
	}
	if err := p.listen(); err != nil {
		return nil, fmt.Errorf("mongotest: a black pipe cannot listen: %w", err)
	}
	return p, nil
}

func (p *BlackPipe) listen() error {
	l, err := p.openListener()
	if err != nil {
		return err
	}
	p.listener, p.addr = l, l.Addr().String()
	p.wg.Go(func() {
		for {
			nc, err := l.Accept()
			switch {
			case errors.Is(err, net.ErrClosed):
				return
			case err == nil && !p.accept(nc):
				testserver.Abort(nc)
			}
		}
	})
	return nil
}

func (p *BlackPipe) openListener() (net.Listener, error) {
	if p.network = p.config.network(); p.network != nil {
		return p.network.Listen("pipe.mongotest:27017")
	}
	addr := "127.0.0.1:0"
	if len(p.config.addresses) > 0 {
		addr = p.config.addresses[0]
	}
	return net.Listen("tcp", addr)
}

// Addr returns the pipe's address, "host:port".
func (p *BlackPipe) Addr() string { return p.addr }

// URI returns the pipe's connection string.
func (p *BlackPipe) URI() string {
	if p.config.standalone {
		return "mongodb://" + p.addr + "/"
	}
	return "mongodb://" + p.addr + "/?replicaSet=" + escape(p.config.setName)
}

// Dialer returns a dialer that connects to the pipe, in memory and on TCP.
func (p *BlackPipe) Dialer() *Dialer { return &Dialer{dialerOf(p.network)} }

// Transcript returns the newest messages, see [TranscriptLimit], the oldest of them first.
func (p *BlackPipe) Transcript() []Message { return p.transcript.messages() }

// Close closes every connection and waits until nothing of the pipe runs any more. It returns the first failure: a message
// that was not expected, or an expected one that did not come. [RunBlackPipeT] arranges that it is called. Closing twice is
// harmless.
func (p *BlackPipe) Close() error {
	p.mu.Lock()
	missing := slices.Clone(p.queue)
	p.mu.Unlock()
	if len(missing) > 0 {
		p.fail("%s did not come before the pipe was closed", names(missing))
	}
	p.end()
	p.wg.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.failure
}

// end closes everything.
func (p *BlackPipe) end() {
	p.mu.Lock()
	conns := make([]*pipeConn, 0, len(p.conns))
	for c := range p.conns {
		conns = append(conns, c)
	}
	if !p.ended {
		p.ended = true
		close(p.broken)
		_ = p.listener.Close()
	}
	p.queue = nil
	p.watchLocked()
	p.mu.Unlock()
	for _, c := range conns {
		c.close()
	}
}

// fail keeps the first failure, reports it to the test, and ends the pipe.
func (p *BlackPipe) fail(format string, args ...any) {
	failure := fmt.Errorf("mongotest: the black pipe: %s\n%s", fmt.Sprintf(format, args...), p.transcript.String())
	p.mu.Lock()
	first := p.failure == nil && !p.ended
	if first {
		p.failure = failure
	}
	p.mu.Unlock()
	if first && p.t != nil {
		p.t.Errorf("%v", failure)
	}
	p.end()
}

// watchLocked starts the timeout of the next expected message, or stops it if nothing is expected.
func (p *BlackPipe) watchLocked() {
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
	if len(p.queue) > 0 {
		expected := p.queue[0]
		p.timer = time.AfterFunc(p.config.timeout, func() { p.missed(expected) })
	}
}

// missed fails the pipe if an expectation is still the next one.
func (p *BlackPipe) missed(e *Expectation) {
	p.mu.Lock()
	due := len(p.queue) > 0 && p.queue[0] == e
	p.mu.Unlock()
	if due {
		p.fail("%s did not come within %v", e.command, p.config.timeout)
	}
}

func names(list []*Expectation) string {
	var all []string
	for _, e := range list {
		all = append(all, e.command)
	}
	return strings.Join(all, ", ")
}

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

	"github.com/holdfast-db/holdfast/internal/memnet"
)

// BlackPipe is a server that executes nothing: the test holds both ends of it, the client whose operations it calls and the
// server, of which it says what it expects and how each message is answered. Its methods are safe for concurrent use.
//
// Handshakes and monitors get a current hello, and endSessions gets its ok, unless a message of that name is the one that is
// expected next; middleware may change either. Any other message that is not what is expected next, and an expectation that
// is not met in time, fails the test at once, with the transcript, and closes every connection, so that the client's
// operation ends too.
type BlackPipe struct {
	t          Tester // nil if no test runs it
	config     pipeConfig
	network    *memnet.Network // nil on TCP
	listener   net.Listener
	addr       string
	transcript transcript
	broken     chan struct{} // closed when the test has failed, or the pipe was closed
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

// RunBlackPipe runs a black pipe. What fails closes its connections, and [BlackPipe.Close] returns the reason.
func RunBlackPipe(opts ...PipeOption) (*BlackPipe, error) { return runBlackPipe(nil, opts) }

// RunBlackPipeT is [RunBlackPipe] for a test, see [RunStandaloneT]. What fails also fails the test, at once.
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
				abort(nc)
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

// Dialer returns what connects to the pipe, in memory and on TCP.
func (p *BlackPipe) Dialer() *Dialer { return &Dialer{dialerOf(p.network)} }

// Transcript returns the messages so far, the oldest first: the newest 1000 unless KeepTranscript says otherwise.
func (p *BlackPipe) Transcript() []Message { return p.transcript.messages() }

// Close closes every connection and waits until nothing of the pipe runs. It returns the first failure: a message that was
// not expected, or one that was expected and did not come. A function whose name ends in T arranges it. Closing twice is
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

// fail notes the first failure, tells the test of it, and ends the pipe.
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

// watchLocked lets the patience begin anew, or end if nothing is expected.
func (p *BlackPipe) watchLocked() {
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
	if len(p.queue) > 0 {
		expected := p.queue[0]
		p.timer = time.AfterFunc(p.config.patience, func() { p.missed(expected) })
	}
}

// missed fails the test if an expectation is still the next.
func (p *BlackPipe) missed(e *Expectation) {
	p.mu.Lock()
	due := len(p.queue) > 0 && p.queue[0] == e
	p.mu.Unlock()
	if due {
		p.fail("%s did not come within %v", e.command, p.config.patience)
	}
}

func names(list []*Expectation) string {
	var all []string
	for _, e := range list {
		all = append(all, e.command)
	}
	return strings.Join(all, ", ")
}

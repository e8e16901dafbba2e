package mongotest

import (
	"errors"
	"fmt"
	"net"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/holdfast-db/holdfast/internal/memnet"
)

// Pipe is a server that executes nothing: the test holds both ends of it, the client whose operations it calls and the
// server, of which it says what it expects and how each message is answered. Its methods are safe for concurrent use.
//
// Handshakes and monitors get a current hello, and endSessions gets its ok, unless a message of that name is the one that is
// expected next; middleware may change either. Any other message that is not what is expected next, and an expectation that
// is not met in time, fails the test at once, with the transcript, and closes every connection, so that the client's
// operation ends too.
type Pipe struct {
	t          Tester
	config     config
	network    *memnet.Network // nil on TCP
	listener   net.Listener
	addr       string
	transcript transcript
	broken     chan struct{} // closed when the test has failed, or the pipe was closed
	wg         sync.WaitGroup
	ids        atomic.Int64 // of connections
	replies    atomic.Int32 // request ids of replies
	middlewares

	mu     sync.Mutex
	ended  bool // broken is closed
	queue  []*Expectation
	conns  map[*pipeConn]struct{}
	timer  *time.Timer // runs while something is expected
	failed bool
}

// defaultPatience is how long a pipe waits unless it is told otherwise.
const defaultPatience = 5 * time.Second

// pipeMessages is how many messages a pipe's transcript keeps unless it is told otherwise.
const pipeMessages = 1000

// Patience sets how long a pipe waits, by the clock in force, for the next expected message, and for the test to say how a
// message is answered; 5 s if it is not given.
func Patience(d time.Duration) Option { return func(c *config) { c.patience = d } }

// RunPipeT runs a pipe for a test and closes it when the test ends; what is expected and did not come by then fails the
// test. To the options InMemory, Latency, Seed, Listen, Standalone, SetName, Version, KeepTranscript and Patience a pipe
// listens, and refuses the others: unless it is a standalone, its hello is that of the only member of a replica set, and
// its primary.
func RunPipeT(t Tester, opts ...Option) *Pipe {
	t.Helper()
	c, err := pipeConfig(opts)
	if err != nil {
		t.Fatalf("%v", err)
		return nil
	}
	p := &Pipe{
		t: t, config: c, broken: make(chan struct{}), conns: make(map[*pipeConn]struct{}), transcript: transcript{limit: c.transcript},
	}
	if err := p.listen(); err != nil {
		t.Fatalf("mongotest: a pipe cannot listen: %v", err)
		return nil
	}
	t.Cleanup(p.finish)
	return p
}

func pipeConfig(opts []Option) (config, error) {
	c, err := newConfig(append([]Option{KeepTranscript(pipeMessages), Patience(defaultPatience)}, opts...))
	if err != nil {
		return c, err
	}
	other, err := newConfig(nil)
	if err != nil {
		return c, err
	}
	other.inMemory, other.latencyMin, other.latencyMax, other.seed = c.inMemory, c.latencyMin, c.latencyMax, c.seed
	other.addresses, other.standalone, other.setName = c.addresses, c.standalone, c.setName
	other.wantVersion, other.version, other.transcript, other.patience = c.wantVersion, c.version, c.transcript, c.patience
	switch {
	case !reflect.DeepEqual(other, c):
		return c, fmt.Errorf("mongotest: RunPipeT: %s means nothing to a pipe", c.foreign(&other))
	case c.patience <= 0:
		return c, fmt.Errorf("mongotest: Patience(%v): it must be positive", c.patience)
	}
	return c, nil
}

// foreign names the option in which a configuration differs from one that a pipe may have.
func (c *config) foreign(other *config) string {
	for _, o := range []struct {
		name  string
		given bool
	}{
		{"Members", c.members != other.members},
		{"Member", c.setups != nil},
		{"ElectionTimeout", c.electionTimeout != other.electionTimeout},
		{"ReplicationDelay", c.replication != 0},
		{"JournalLimit", c.journalLimit != other.journalLimit},
		{"JournalKey", c.journalKey != nil},
		{"Compressors", !slices.Equal(c.compressors, other.compressors)},
		{"Users", c.users != nil},
		{"RequireAuth", c.requireAuth},
		{"StartParameters", c.startParameters != nil},
		{"TLS", c.tls},
		{"Accept", c.listeners != nil},
		{"Uninitiated", c.uninitiated},
		{"WithProcesses", c.processes != nil},
		{"Sharded", c.sharded},
		{"WriteConcernMode", c.modes != nil},
	} {
		if o.given {
			return o.name
		}
	}
	return "one of the options"
}

func (p *Pipe) listen() error {
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

func (p *Pipe) openListener() (net.Listener, error) {
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
func (p *Pipe) Addr() string { return p.addr }

// URI returns the pipe's connection string.
func (p *Pipe) URI() string {
	if p.config.standalone {
		return "mongodb://" + p.addr + "/"
	}
	return "mongodb://" + p.addr + "/?replicaSet=" + escape(p.config.setName)
}

// Dialer returns what connects to the pipe, in memory and on TCP.
func (p *Pipe) Dialer() *Dialer { return &Dialer{dialerOf(p.network)} }

// Transcript returns the messages so far, the oldest first: the newest 1000 unless KeepTranscript says otherwise.
func (p *Pipe) Transcript() []Message { return p.transcript.messages() }

// Close closes every connection and waits until nothing of the pipe runs. RunPipeT arranges it; closing twice is harmless.
func (p *Pipe) Close() {
	p.end()
	p.wg.Wait()
}

// end closes everything.
func (p *Pipe) end() {
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

// finish is the end of the test.
func (p *Pipe) finish() {
	p.mu.Lock()
	unmet := slices.Clone(p.queue)
	p.mu.Unlock()
	if len(unmet) > 0 {
		p.fail("%s did not come before the test ended", names(unmet))
	}
	p.Close()
}

// fail fails the test, the first time only, and ends the pipe.
func (p *Pipe) fail(format string, args ...any) {
	p.mu.Lock()
	first := !p.failed && !p.ended
	p.failed = true
	p.mu.Unlock()
	if first {
		p.t.Errorf("mongotest: the pipe: %s\n%s", fmt.Sprintf(format, args...), p.transcript.String())
	}
	p.end()
}

// watchLocked lets the patience begin anew, or end if nothing is expected.
func (p *Pipe) watchLocked() {
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
func (p *Pipe) missed(e *Expectation) {
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

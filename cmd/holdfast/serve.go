package main

import (
	"context"
	"errors"
	"net"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"github.com/holdfast-db/holdfast/mongotest"
)

// serve runs the servers until ctx ends or all of them got the shutdown command.
func (c *mockCommand) serve(s *session, opts []mongotest.Option) error {
	signal.Ignore(syscall.SIGPIPE) // as mongod does: a closed pipe of the log must not end the server
	useProcessors()
	fronts, names, err := c.fronts()
	if err != nil {
		return cannotRun(err)
	}
	defer closeFronts(fronts)
	listeners := make([]net.Listener, len(fronts))
	for i, f := range fronts {
		listeners[i] = &f.own
	}
	opts = append(opts, mongotest.Listen(names...), mongotest.Accept(listeners...))
	files := &outputFiles{log: c.newLog(s), logPath: c.Mongod.LogPath, appends: c.Mongod.LogAppend, pidPath: c.Mongod.PIDFile}
	defer files.close()
	if c.Mongod.ReplSet != "" {
		p := &process{name: c.Mongod.ReplSet, front: fronts[0], hosts: c.Mongod.hosts(c.Host), files: files, start: c.start}
		return p.run(s.ctx, names[0], opts)
	}
	return c.serveSet(s, opts, fronts, files)
}

func (c *mockCommand) newLog(s *session) *serverLog {
	return &serverLog{w: s.stdout, as: c.format, tls: c.TLSCAFile != "" || c.Mongod.speaksTLS()}
}

// start starts servers. An error of mongotest is about a flag.
func (c *mockCommand) start(opts []mongotest.Option) (*mongotest.Deployment, error) {
	rs, err := c.run(opts)
	if err != nil {
		return nil, usageError(c.asFlag(err))
	}
	return rs, nil
}

// serveSet runs servers without other processes.
func (c *mockCommand) serveSet(s *session, opts []mongotest.Option, fronts []*front, files *outputFiles) error {
	rs, err := c.start(opts)
	if err != nil {
		return err
	}
	err = files.open()
	if c.TLSCAFile != "" && err == nil {
		err = os.WriteFile(c.TLSCAFile, rs.CACertificate(), 0o600)
	}
	if err != nil {
		return cannotRun(errors.Join(err, rs.Close()))
	}
	for _, f := range fronts {
		f.open()
	}
	entrance := fronts[c.entrance()]
	files.log.ready(entrance.clientURI(rs.URI()), entrance.port())
	ctx, cancel := context.WithCancel(s.ctx)
	defer cancel()
	var members sync.WaitGroup
	for i := range c.members() {
		members.Go(func() { awaitShutdown(ctx, rs, i) })
	}
	members.Wait()
	files.log.ended(endReason(s.ctx))
	return rs.Close()
}

// entrance returns the index of the first server in the URI.
func (c *mockCommand) entrance() int {
	if c.Mongos > 0 {
		return c.members()
	}
	return 0
}

func endReason(ctx context.Context) string {
	if ctx.Err() != nil {
		return "signal"
	}
	return "shutdown"
}

// awaitShutdown waits until a member got the shutdown command, or ctx ends.
func awaitShutdown(ctx context.Context, rs *mongotest.Deployment, member int) {
	var err error
	for state := ""; err == nil && state != stateDown; {
		state, err = rs.WaitState(ctx, member, state)
	}
}

// process is a process with --replSet. replSetInitiate makes it the host of a set; an invitation of a host makes it a
// guest.
type process struct {
	name  string
	front *front
	hosts []string
	files *outputFiles
	start func([]mongotest.Option) (*mongotest.Deployment, error)
	set   *mongotest.Deployment
	host  host
}

// guestsLimit is the time for which an ending host waits for the end of its guests, so that a tool can send them a signal
// too.
const guestsLimit = 2 * time.Second

func (p *process) run(ctx context.Context, address string, opts []mongotest.Option) error {
	hosting, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	p.host = host{ctx: hosting, name: p.name, changed: make(chan struct{})}
	var err error
	p.set, err = p.start(append(opts, mongotest.WithProcesses(mongotest.Processes{IsSelf: p.isSelf, Join: p.host.join})))
	if err != nil {
		return err
	}
	if err := p.files.open(); err != nil {
		return cannotRun(errors.Join(err, p.set.Close()))
	}
	p.host.set = p.set
	left, down := make(chan error, 1), make(chan struct{})
	p.front.welcome = (&guest{name: p.name, front: p.front, log: p.files.log, free: p.free, begun: func() { _ = p.set.Close() }, ended: left}).welcome
	p.front.open()
	p.files.log.ready(p.front.clientURI("mongodb://"+address+"/?directConnection=true"), p.front.port())
	var watching sync.WaitGroup
	own, forget := context.WithCancel(hosting)
	defer forget()
	watching.Go(func() {
		if p.watch(own) {
			close(down)
		}
	})
	select {
	case err := <-left:
		return err
	case <-ctx.Done():
	case <-down:
	}
	p.files.log.ended(endReason(ctx))
	forget()
	watching.Wait()
	p.host.close()
	p.set.Kill(0)
	p.host.alone(guestsLimit)
	end()
	p.host.attending.Wait()
	return p.set.Close()
}

// free reports whether the process is not in a set yet.
func (p *process) free() bool { return p.state() == stateStartup }

func (p *process) state() string {
	state, _ := p.set.WaitState(context.Background(), 0, "")
	return state
}

// watch logs the states of the process's own member. It returns true when the member got the shutdown command.
func (p *process) watch(ctx context.Context) bool {
	before := stateStartup
	for {
		state, err := p.set.WaitState(ctx, 0, before)
		switch {
		case err != nil:
			return false
		case state == stateDown:
			return true
		}
		p.files.log.became(state, before)
		before = state
	}
}

// isSelf reports whether this process listens at an address.
func (p *process) isSelf(address string) bool {
	host, port, err := net.SplitHostPort(address)
	if err != nil || port != strconv.Itoa(p.front.port()) {
		return false
	}
	if slices.Contains(p.hosts, host) {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	found, err := net.DefaultResolver.LookupIP(ctx, "ip", host)
	return err == nil && slices.ContainsFunc(found, p.listensOn)
}

// listensOn reports whether the process listens on an address of this machine.
func (p *process) listensOn(ip net.IP) bool {
	for _, l := range p.front.listeners {
		at, ok := l.Addr().(*net.TCPAddr)
		sameKind := ok && (at.IP.To4() == nil) == (ip.To4() == nil)
		if sameKind && (at.IP.Equal(ip) || at.IP.IsUnspecified() && isLocal(ip)) {
			return true
		}
	}
	return false
}

func isLocal(ip net.IP) bool {
	addresses, _ := net.InterfaceAddrs()
	return ip.IsLoopback() || slices.ContainsFunc(addresses, func(a net.Addr) bool {
		n, ok := a.(*net.IPNet)
		return ok && n.IP.Equal(ip)
	})
}

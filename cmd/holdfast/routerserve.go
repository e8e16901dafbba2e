package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/holdfast-db/holdfast/internal/cli/prometheustext"
	"github.com/holdfast-db/holdfast/internal/router"
)

// serve runs the router until the session ends.
func (c *routerCommand) serve(s *session, cfg *router.Config) error {
	signal.Ignore(syscall.SIGPIPE) // a closed pipe of the log must not end the router
	log := &lineLog{w: s.stdout}
	values := prometheustext.New()
	cfg.Tracer = values.Tracer()
	cfg.Refused = func(from net.Addr, reason string) { log.print("Refused %s: %s", clientName(from), reason) }
	r, err := router.New(*cfg)
	if err != nil {
		return upstreamError(err)
	}
	defer r.Close()
	listeners, err := c.listeners()
	if err != nil {
		return cannotRun(err)
	}
	a, err := c.startAdmin(r, values)
	if err != nil {
		closeAll(listeners)
		return cannotRun(err)
	}
	defer a.close()
	useProcessors()
	collectEarly()
	log.print("Waiting for clients at %s, for %s%s", clientURIs(listeners, cfg.TLS != nil), c.Upstream, a.place())
	return c.attend(s, r, log, listeners, a.failed)
}

// attend serves the listeners until the session ends, then quiesces.
func (c *routerCommand) attend(s *session, r *router.Router, log *lineLog, listeners []net.Listener, adminFailed <-chan error) error {
	ctx, cancel := context.WithCancel(s.ctx)
	var all sync.WaitGroup
	defer all.Wait() // the router has ended then
	defer r.Close()
	defer cancel()
	all.Go(func() { r.WatchReady(ctx, log.ready) })
	failed := make(chan error, len(listeners))
	for _, l := range listeners {
		all.Go(func() {
			if err := r.Serve(l); !errors.Is(err, router.ErrClosed) {
				failed <- fmt.Errorf("%s: %w", l.Addr(), err)
			}
		})
	}
	select {
	case err := <-failed:
		return cannotRun(err)
	case err := <-adminFailed:
		return cannotRun(err)
	case <-s.ctx.Done():
	}
	r.Quiesce() // before the line that says so
	log.print("Quiesces: it serves its %s for up to %v; another signal ends it at once", counted(r.Clients(), "client"), c.Quiesce)
	r.Shutdown(context.WithoutCancel(s.ctx))
	log.print("Ends: %s", endReason(s.ctx))
	return nil
}

// clientName returns the address of a client. One of a Unix socket has none.
func clientName(a net.Addr) string {
	if a == nil || a.String() == "" || a.String() == "@" {
		return "a client of a Unix socket"
	}
	return a.String()
}

func counted(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// lineLog is a log with the time at the beginning of each line. It shows no password.
type lineLog struct {
	mu sync.Mutex
	w  io.Writer
}

func (l *lineLog) print(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	fmt.Fprintf(l.w, "%s %s\n", time.Now().Format("2006-01-02T15:04:05.000Z07:00"), withoutSecrets(fmt.Sprintf(format, args...)))
}

// ready logs that the router is ready for clients, or why it is not.
func (l *lineLog) ready(text string, ready bool) {
	if ready {
		l.print("Ready: %s", text)
		return
	}
	l.print("Not ready: %s", text)
}

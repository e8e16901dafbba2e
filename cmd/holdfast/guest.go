package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"sync"
	"time"
)

// guest is a process whose member of a set is hosted by another process.
type guest struct {
	name  string
	front *front
	log   *serverLog
	begun func()       // closes this process's own server
	free  func() bool  // reports whether the process may join a set
	ended chan<- error // receives the reason why the process ends

	mu     sync.Mutex
	joined bool
}

// welcome serves the connection of a process that invites this one to its set.
func (g *guest) welcome(c net.Conn) {
	defer func() { _ = c.Close() }()
	r := json.NewDecoder(bufio.NewReader(c))
	_ = c.SetDeadline(time.Now().Add(answerTimeout))
	var invited invitation
	if r.Decode(&invited) != nil {
		return
	}
	refused := g.accept(&invited)
	if json.NewEncoder(c).Encode(answer{refused}) != nil || refused != "" {
		return
	}
	_ = c.SetDeadline(time.Time{})
	var n news
	if r.Decode(&n) != nil || !n.Begin {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.joined = false
		return
	}
	g.front.forwardTo.Store(&invited.Served)
	g.begun()
	_ = json.NewEncoder(c).Encode(answer{})
	g.ended <- g.belong(r, c)
}

// accept returns the reason why the process does not join, or "" if it does.
func (g *guest) accept(i *invitation) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case i.Set != g.name:
		return fmt.Sprintf("it was started with --replSet %s", g.name)
	case g.joined || !g.free():
		return "already initialized"
	}
	c, err := net.DialTimeout("tcp", i.Served, answerTimeout)
	if err != nil {
		return "it does not run on the same machine: " + err.Error()
	}
	g.joined = true
	_ = c.Close()
	return ""
}

// belong logs the states of the member. It returns when the member is shut down or the set ends.
func (g *guest) belong(r *json.Decoder, c net.Conn) error {
	state := stateStartup
	for {
		var n news
		if err := r.Decode(&n); err != nil {
			return cannotRun(fmt.Errorf("the process at %s, which hosted the set, is gone, and the set's data with it: %w", c.RemoteAddr(), err))
		}
		switch {
		case n.End:
			g.log.ended("the process that hosted the set has ended, and the set with it")
			return nil
		case n.State == stateDown:
			g.log.ended("shutdown")
			return nil
		}
		g.log.became(n.State, state)
		state = n.State
	}
}

package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"net"
	"sync"
	"time"
)

// guest is the side of a process that stands for a member of a set that lives in another process.
type guest struct {
	name  string
	front *front
	log   *serverLog
	begun func()       // ends the server of this process's own
	free  func() bool  // whether it may join a set
	ended chan<- error // is told why the process ends

	mu    sync.Mutex
	taken bool
}

// welcome is the talk with a process that wants this one for its set.
func (g *guest) welcome(c net.Conn) {
	defer func() { _ = c.Close() }()
	r := json.NewDecoder(bufio.NewReader(c))
	_ = c.SetDeadline(time.Now().Add(patience))
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
		g.taken = false
		return
	}
	g.front.elsewhere.Store(&invited.Served)
	g.begun()
	_ = json.NewEncoder(c).Encode(answer{})
	g.ended <- g.belong(r, c)
}

// accept says why the process does not join, "" if it does.
func (g *guest) accept(i *invitation) string {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case i.Set != g.name:
		return fmt.Sprintf("it was started with --replSet %s", g.name)
	case g.taken || !g.free():
		return "already initialized"
	}
	c, err := net.DialTimeout("tcp", i.Served, patience)
	if err != nil {
		return "it does not run on the same machine: " + err.Error()
	}
	g.taken = true
	_ = c.Close()
	return ""
}

// belong logs what becomes of the member, and returns when the process has nothing to stand for any more.
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

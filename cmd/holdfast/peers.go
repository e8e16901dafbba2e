package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"time"

	"github.com/holdfast-db/holdfast/mongo/mongotest"
)

// The processes of one set talk over a connection of their own, from the one that hosts the set to each of the others, in
// lines of JSON: first an invitation and its answer, then, if all have accepted, that the set begins, and the answer that
// clients are handed on from now on; after that what becomes of the member that the other process stands for. A connection that ends is the end of the process behind it.

// invitation asks a process to stand for a member.
type invitation struct {
	Set     string `json:"set"`
	Address string `json:"address"` // by which the set names the member
	Served  string `json:"served"`  // where its clients' connections are to be handed on to
}

// answer is empty if the invitation is accepted.
type answer struct {
	Refused string `json:"refused,omitempty"`
}

// news is what the hosting process tells.
type news struct {
	Begin bool   `json:"begin,omitempty"`
	State string `json:"state,omitempty"` // of the member
	End   bool   `json:"end,omitempty"`   // the set ends
}

// patience is how long one process waits for another one's answer.
const patience = 5 * time.Second

// host is the side of the process in which the set lives.
type host struct {
	set     *mongotest.Deployment
	name    string
	mu      sync.Mutex
	peers   []*peer
	changed chan struct{} // closed when a peer has gone
}

// peer is another process and the member for which it stands.
type peer struct {
	mongotest.JoiningMember
	conn    net.Conn // nil while the process is not there
	answers *json.Decoder
}

// join invites the processes, and if all accept, begins.
func (h *host) join(ctx context.Context, members []mongotest.JoiningMember) error {
	peers := make([]*peer, len(members))
	refusals := make([]error, len(members))
	var all sync.WaitGroup
	for i, m := range members {
		peers[i] = &peer{JoiningMember: m}
		all.Go(func() { refusals[i] = peers[i].invite(ctx, h.name) })
	}
	all.Wait()
	var reasons []string
	for i, err := range refusals {
		if err != nil {
			reasons = append(reasons, fmt.Sprintf("%s failed with %v", members[i].Address, err))
		}
	}
	for _, p := range peers {
		if reasons == nil {
			p.begin()
		} else {
			p.leave()
		}
	}
	if reasons != nil {
		return errors.New(strings.Join(reasons, ", "))
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.peers = peers
	return nil
}

// invite connects with the process and asks it.
func (p *peer) invite(ctx context.Context, set string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	c, err := new(net.Dialer).DialContext(ctx, "tcp", p.Address)
	if err != nil {
		return err
	}
	deadline, _ := ctx.Deadline()
	_ = c.SetDeadline(deadline)
	_, err = io.WriteString(c, greeting)
	if err == nil {
		err = json.NewEncoder(c).Encode(invitation{Set: set, Address: p.Address, Served: p.Served})
	}
	var a answer
	p.answers = json.NewDecoder(c)
	if err == nil {
		err = p.answers.Decode(&a)
	}
	switch {
	case a.Refused != "":
		err = errors.New(a.Refused)
	case err != nil:
		err = fmt.Errorf("it is not a `holdfast mock --replSet`: %w", err)
	}
	if err != nil {
		_ = c.Close()
		return err
	}
	p.conn = c
	return nil
}

// begin tells the process to stand for its member and waits until it does. A process that does not is about to be missed.
func (p *peer) begin() {
	_ = p.conn.SetDeadline(time.Now().Add(patience))
	p.tell(news{Begin: true})
	_ = p.answers.Decode(&answer{})
	_ = p.conn.SetReadDeadline(time.Time{})
}

// tell sends news; a process that cannot be told is about to be missed.
func (p *peer) tell(n news) {
	_ = p.conn.SetWriteDeadline(time.Now().Add(patience))
	_ = json.NewEncoder(p.conn).Encode(n)
}

// leave tells a process that has accepted that the set does not begin, and waits until it is free again.
func (p *peer) leave() {
	if p.conn == nil {
		return
	}
	_ = p.conn.SetReadDeadline(time.Now().Add(patience))
	p.tell(news{})
	_, _ = io.Copy(io.Discard, p.conn)
	_ = p.conn.Close()
}

// attend begins to keep members and processes alike, until ctx ends and with it the set.
func (h *host) attend(ctx context.Context, all *sync.WaitGroup) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.peers {
		all.Go(func() { h.keep(ctx, p) })
	}
}

// keep kills the member whose process has gone, and starts it again when the process is there again.
func (h *host) keep(ctx context.Context, p *peer) {
	for {
		h.follow(ctx, p)
		h.set.Kill(p.Member)
		h.lose(p)
		if !h.await(ctx, p) {
			return
		}
		h.set.Restart(p.Member)
	}
}

// follow tells the process what becomes of its member until it goes.
func (h *host) follow(ctx context.Context, p *peer) {
	there, cancel := context.WithCancel(ctx)
	var reading sync.WaitGroup
	reading.Go(func() {
		_, _ = io.Copy(io.Discard, p.conn) // it says nothing: this waits for its end
		cancel()
	})
	for state := ""; ; {
		var err error
		if state, err = h.set.WaitState(there, p.Member, state); err != nil {
			break
		}
		p.tell(news{State: state})
	}
	if ctx.Err() != nil {
		p.tell(news{End: true})
	}
	cancel()
	_ = p.conn.Close()
	reading.Wait()
}

func (h *host) lose(p *peer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	p.conn = nil
	close(h.changed)
	h.changed = make(chan struct{})
}

// again is how often a process that has gone is looked for.
const again = 500 * time.Millisecond

// await waits until a process is there again and has accepted; false if the set ends first.
func (h *host) await(ctx context.Context, p *peer) bool {
	tick := time.NewTicker(again)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
		found := &peer{JoiningMember: p.JoiningMember}
		if found.invite(ctx, h.name) == nil {
			found.begin()
			h.mu.Lock()
			p.conn = found.conn
			h.mu.Unlock()
			return true
		}
	}
}

// alone waits until all other processes have gone, or a time is up.
func (h *host) alone(limit time.Duration) {
	up := time.NewTimer(limit)
	defer up.Stop()
	for {
		h.mu.Lock()
		changed, there := h.changed, 0
		for _, p := range h.peers {
			if p.conn != nil {
				there++
			}
		}
		h.mu.Unlock()
		if there == 0 {
			return
		}
		select {
		case <-changed:
		case <-up.C:
			return
		}
	}
}

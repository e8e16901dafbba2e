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

// The protocol between the processes of a set: the host process connects to each of the others and sends lines of
// JSON. First it sends an invitation, which the other process answers. If all accept, it sends that the set begins,
// and the other process answers when it forwards its clients. After that it sends the states of the member. The end
// of the connection means the end of the process.

// invitation asks a process to forward the clients of a member.
type invitation struct {
	Set     string `json:"set"`
	Address string `json:"address"` // the member's address in the set
	Served  string `json:"served"`  // the address to which its clients are forwarded
}

// answer is empty if the invitation is accepted.
type answer struct {
	Refused string `json:"refused,omitempty"`
}

// news is a message of the host process.
type news struct {
	Begin bool   `json:"begin,omitempty"`
	State string `json:"state,omitempty"` // the member's state
	End   bool   `json:"end,omitempty"`   // the set ends
}

// answerTimeout is the time limit for the answer of another process, and for a name lookup.
const answerTimeout = 5 * time.Second

// host is the process that hosts a set.
type host struct {
	set     *mongotest.Deployment
	name    string
	mu      sync.Mutex
	peers   []*peer
	changed chan struct{} // closed when the process of a peer has ended
}

// peer is another process and its member.
type peer struct {
	mongotest.JoiningMember
	conn    net.Conn // nil while the process does not run
	answers *json.Decoder
}

// join invites the processes. If all accept, it tells them that the set begins.
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

// invite connects to the process and sends an invitation.
func (p *peer) invite(ctx context.Context, set string) error {
	ctx, cancel := context.WithTimeout(ctx, answerTimeout)
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

// begin tells the process to forward its clients, and waits for its answer. An error is ignored: follow notices the
// end of the connection.
func (p *peer) begin() {
	_ = p.conn.SetDeadline(time.Now().Add(answerTimeout))
	p.tell(news{Begin: true})
	_ = p.answers.Decode(&answer{})
	_ = p.conn.SetReadDeadline(time.Time{})
}

// tell sends a message. An error is ignored: follow notices the end of the connection.
func (p *peer) tell(n news) {
	_ = p.conn.SetWriteDeadline(time.Now().Add(answerTimeout))
	_ = json.NewEncoder(p.conn).Encode(n)
}

// leave tells a process that accepted that the set does not begin, and waits until the process has closed the
// connection.
func (p *peer) leave() {
	if p.conn == nil {
		return
	}
	_ = p.conn.SetReadDeadline(time.Now().Add(answerTimeout))
	p.tell(news{})
	_, _ = io.Copy(io.Discard, p.conn)
	_ = p.conn.Close()
}

// attend starts keep for each peer, until ctx ends.
func (h *host) attend(ctx context.Context, all *sync.WaitGroup) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, p := range h.peers {
		all.Go(func() { h.keep(ctx, p) })
	}
}

// keep kills the member when its process ends, and restarts it when the process runs again.
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

// follow sends the states of the member to the process until the process or ctx ends.
func (h *host) follow(ctx context.Context, p *peer) {
	there, cancel := context.WithCancel(ctx)
	var reading sync.WaitGroup
	reading.Go(func() {
		_, _ = io.Copy(io.Discard, p.conn) // the process sends nothing more: this waits for its end
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

// again is the interval at which a process that has ended is invited again.
const again = 500 * time.Millisecond

// await waits until the process runs again and has accepted. It returns false if ctx ends first.
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

// alone waits until all other processes have ended, at most for limit.
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

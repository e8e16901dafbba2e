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

	"github.com/holdfast-db/holdfast/mongotest"
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
	ctx  context.Context //nolint:containedctx // it ends when the peers are to be told that the set ends
	set  *mongotest.Deployment
	name string

	mu        sync.Mutex
	peers     []*peer
	changed   chan struct{}  // closed when the process of a peer has ended
	ending    bool           // no process may join any more
	attending sync.WaitGroup // the goroutines of the peers; it grows only while ending is false
}

// peer is another process and its member.
type peer struct {
	mongotest.JoiningMember
	conn    net.Conn // nil while the process does not run
	answers *json.Decoder
}

// join invites the processes. If all accept, it tells them that the set begins, and attends to them from then on: the
// host may end at any moment.
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
	if reasons == nil && !h.admit(peers) {
		reasons = append(reasons, "the process that hosts the set is ending")
	}
	if reasons != nil {
		for _, p := range peers {
			p.leave()
		}
		return errors.New(strings.Join(reasons, ", "))
	}
	defer h.attending.Done()
	for _, p := range peers {
		p.begin()
		h.attending.Go(func() { h.keep(p) }) //nolint:contextcheck // it ends with the host, not with replSetInitiate
	}
	return nil
}

// admit makes processes the host's peers, unless the host is ending. The caller calls attending.Done when it attends to
// all of them.
func (h *host) admit(peers []*peer) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.ending {
		return false
	}
	h.peers = peers
	h.attending.Add(1)
	return true
}

// close lets no more processes join.
func (h *host) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ending = true
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

// keep kills the member when its process ends, and restarts it when the process runs again. It ends with the host.
func (h *host) keep(p *peer) {
	if !h.begun(p) {
		p.dismiss()
		h.lose(p)
		return
	}
	for {
		h.follow(p)
		h.set.Kill(p.Member)
		h.lose(p)
		if !h.await(p) {
			return
		}
		h.set.Restart(p.Member)
	}
}

// begun waits until the set begins. It returns false if it never does, because the host has ended before.
func (h *host) begun(p *peer) bool {
	_, err := h.set.WaitState(h.ctx, 0, stateStartup)
	return err == nil && p.Member < h.set.Members()
}

// dismiss tells the process that the set ends.
func (p *peer) dismiss() {
	p.tell(news{End: true})
	_ = p.conn.Close()
}

// follow sends the states of the member to the process until the process or the host ends.
func (h *host) follow(p *peer) {
	there, cancel := context.WithCancel(h.ctx)
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
	cancel()
	if h.ctx.Err() != nil {
		p.dismiss()
	}
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

// await waits until the process runs again and has accepted. It returns false if the host ends first.
func (h *host) await(p *peer) bool {
	tick := time.NewTicker(again)
	defer tick.Stop()
	for {
		select {
		case <-h.ctx.Done():
			return false
		case <-tick.C:
		}
		found := &peer{JoiningMember: p.JoiningMember}
		if found.invite(h.ctx, h.name) == nil {
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

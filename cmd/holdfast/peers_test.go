package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

// standIn plays the part of a process that is invited to a set.
type standIn struct {
	t        *testing.T
	listener net.Listener
	conn     net.Conn
	messages *json.Decoder
}

func newStandIn(t *testing.T) *standIn {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return &standIn{t: t, listener: l}
}

func (g *standIn) address() string { return g.listener.Addr().String() }

// accept accepts the invitation and returns the next message. It does not answer that.
func (g *standIn) accept() (news, error) {
	var err error
	if g.conn, err = g.listener.Accept(); err != nil {
		return news{}, err
	}
	g.t.Cleanup(func() { _ = g.conn.Close() })
	_ = g.conn.SetDeadline(time.Now().Add(20 * time.Second)) // a test that fails must not hang
	r := bufio.NewReader(g.conn)
	if _, err := io.ReadFull(r, make([]byte, len(greeting))); err != nil {
		return news{}, err
	}
	g.messages = json.NewDecoder(r)
	var i invitation
	if err := errors.Join(g.messages.Decode(&i), g.answer()); err != nil {
		return news{}, err
	}
	return g.next()
}

func (g *standIn) answer() error { return json.NewEncoder(g.conn).Encode(answer{}) }

func (g *standIn) next() (n news, err error) { return n, g.messages.Decode(&n) }

// isToldTheEnd reads messages until the one that ends the set.
func (g *standIn) isToldTheEnd() {
	g.t.Helper()
	for {
		switch n, err := g.next(); {
		case err != nil:
			g.t.Fatalf("the process is not told that the set ends: %v", err)
		case n.End:
			return
		}
	}
}

// The host receives its signal while replSetInitiate still waits for a guest. The guest has been told that the set begins.
func TestAGuestIsToldTheEndThoughTheHostEndsDuringReplSetInitiate(t *testing.T) {
	uri, end := startMock(t, "--replSet", "duo", "--port", "0")
	hostAddress := strings.TrimPrefix(uri[:strings.LastIndex(uri, "/")], "mongodb://")
	guest := newStandIn(t)
	killed := make(chan error, 1)
	go func() {
		config := bson.D{{Key: "_id", Value: "duo"}, {Key: "members", Value: bson.A{
			bson.D{{Key: "_id", Value: 0}, {Key: "host", Value: hostAddress}}, bson.D{{Key: "_id", Value: 1}, {Key: "host", Value: guest.address()}},
		}}}
		killed <- client(t, uri).Database("admin").RunCommand(t.Context(), bson.D{{Key: "replSetInitiate", Value: config}}).Err()
	}()
	if n, err := guest.accept(); err != nil || !n.Begin {
		t.Fatalf("%+v, %v; want that the set begins", n, err)
	}
	code := make(chan int, 1)
	go func() { code <- end() }()
	if err := <-killed; err == nil { // the host has killed its member, so it no longer watches it
		t.Error("replSetInitiate succeeds")
	}
	if err := guest.answer(); err != nil {
		t.Fatal(err)
	}
	guest.isToldTheEnd()
	if got := <-code; got != exitOK {
		t.Errorf("the host's exit code is %d", got)
	}
}

// trioHost returns a host whose set has begun, and the end of that host.
func trioHost(t *testing.T) (*host, context.CancelFunc) {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	t.Cleanup(end)
	return &host{ctx: ctx, set: mongotest.RunReplicaSetT(t, 3), name: "rs0", changed: make(chan struct{})}, end
}

// The host ends right after its set has begun, before it has seen any state of a member.
func TestAGuestIsToldTheEndThoughTheHostEndsAtOnce(t *testing.T) {
	h, end := trioHost(t)
	guest := newStandIn(t)
	joined := make(chan error, 1)
	go func() {
		joined <- h.join(t.Context(), []mongotest.JoiningMember{{Member: 1, Address: guest.address()}})
	}()
	if n, err := guest.accept(); err != nil || !n.Begin {
		t.Fatalf("%+v, %v; want that the set begins", n, err)
	}
	h.close()
	end()
	if err := guest.answer(); err != nil {
		t.Fatal(err)
	}
	if err := <-joined; err != nil {
		t.Error(err)
	}
	guest.isToldTheEnd()
	h.attending.Wait()
}

func TestNoProcessJoinsAHostThatIsEnding(t *testing.T) {
	h, _ := trioHost(t)
	h.close()
	guest := newStandIn(t)
	joined := make(chan error, 1)
	go func() {
		joined <- h.join(t.Context(), []mongotest.JoiningMember{{Member: 1, Address: guest.address()}})
	}()
	n, err := guest.accept()
	if err != nil || n.Begin || n.End {
		t.Errorf("the process is told %+v, %v; want that the set does not begin", n, err)
	}
	_ = guest.conn.Close()
	if err := <-joined; err == nil || !strings.Contains(err.Error(), "is ending") {
		t.Errorf("the host says %v", err)
	}
}

package router_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/internal/router"
)

// pipes is a listener of connections that hold no bytes: a write waits until the other end reads.
type pipes struct {
	accepted chan net.Conn
	closed   chan struct{}
}

func (w *world) pipes() *pipes {
	l := &pipes{accepted: make(chan net.Conn), closed: make(chan struct{})}
	go func() { _ = w.router.Serve(l) }()
	return l
}

func (l *pipes) Accept() (net.Conn, error) {
	select {
	case c := <-l.accepted:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *pipes) Close() error {
	select {
	case <-l.closed:
	default:
		close(l.closed)
	}
	return nil
}

func (*pipes) Addr() net.Addr { return &net.TCPAddr{} }

// dial connects a client.
func (l *pipes) dial(w *world) *wireClient {
	here, there := net.Pipe()
	l.accepted <- there
	w.Cleanup(func() { _ = here.Close() })
	return &wireClient{w: w, conn: here}
}

// A client that has died in the middle of a message, or drips, is disconnected. One that is idle between messages, or slow, is not.
func TestAMessageThatStalls(t *testing.T) {
	small, large, unanswered := insertOf(t, 512), insertOf(t, 4<<20), insertOf(t, 512)
	binary.LittleEndian.PutUint32(unanswered[wire.HeaderLength:], uint32(wire.MoreToCome))
	drip := func(b []byte, step int, pause time.Duration) func(*wireClient) error {
		return func(c *wireClient) error {
			for rest := b; len(rest) > 0; {
				n := min(step, len(rest))
				if _, err := c.conn.Write(rest[:n]); err != nil {
					return err
				}
				rest = rest[n:]
				<-time.After(pause)
			}
			return nil
		}
	}
	for name, c := range map[string]struct {
		send func(*wireClient) error
		ends bool // if it is large, whether it is kept or read past
	}{
		"nothing":                          {func(*wireClient) error { return nil }, false},
		"a byte":                           {drip(small[:1], 1, 0), true},
		"half a header":                    {drip(small[:9], 9, 0), true},
		"half a small message":             {drip(small[:100], 100, 0), true},
		"the header of a large one":        {drip(large[:17], 17, 0), true},
		"half a large message":             {drip(large[:3<<20], 3<<20, 0), true},
		"a small one in drips":             {drip(small, 10, time.Second), true},
		"a large one in drips":             {drip(large, 1000, time.Second), true},
		"a large one that comes":           {drip(large, 1<<20, 9*time.Second), false},
		"one without a reply, and silence": {drip(unanswered, 300, 9*time.Second), false},
		"a small one in two":               {drip(small, 300, 9*time.Second), false},
	} {
		for _, memory := range []int64{256 << 20, 0} {
			t.Run(fmt.Sprint(name, memory), func(t *testing.T) {
				told := new(refusals)
				inWorld(t, func(w *world) {
					w.router.SetMemory(memory)
					l := w.pipes()
					defer l.Close()
					client := l.dial(w)
					go func() { _, _ = io.Copy(io.Discard, client.conn) }()
					err := c.send(client)
					wait := 12100 * time.Millisecond
					if memory == 0 {
						wait += 20 * time.Second // in which it waits for memory
					}
					<-time.After(wait)
					if ended := w.router.Clients() == 0; ended != c.ends {
						w.Errorf("disconnected: %v, want %v; the write: %v", ended, c.ends, err)
					}
					if strings.Contains(told.text(), "less than 1 MiB of a message") != c.ends {
						w.Errorf("the log has %q", told.text())
					}
				}, func(cfg *router.Config) { cfg.Refused = told.add })
			})
		}
	}
}

// A client that stops to read its reply is disconnected, and holds nothing.
func TestAReplyThatStalls(t *testing.T) {
	inWorld(t, func(w *world) {
		const bytes = 256 << 20
		w.router.SetMemory(bytes)
		if _, err := w.collection().InsertOne(w.Context(), d("a", strings.Repeat("x", 10<<20))); err != nil {
			w.Fatal(err)
		}
		l := w.pipes()
		defer l.Close()
		before := w.router.Clients()
		stops, slow, silent := l.dial(w), l.dial(w), l.dial(w)
		silent.must(d("find", "c")) // it has all of its reply
		stops.send(d("find", "c"))
		go func() { slow.send(d("find", "c")) }()
		for range 9 { // a MiB in nine seconds
			if _, err := io.CopyN(io.Discard, slow.conn, 1<<20); err != nil {
				w.Fatalf("the slow client: %v", err)
			}
			<-time.After(9 * time.Second)
		}
		if _, err := stops.conn.Read(make([]byte, 1)); !errors.Is(err, io.EOF) {
			w.Errorf("who reads nothing gets %v, want to be disconnected", err)
		}
		if n := w.router.Clients() - before; n != 2 || !w.router.MemoryInUse(bytes) {
			w.Errorf("%d clients are left of three; memory is in use: %v", n, w.router.MemoryInUse(bytes))
		}
		_ = slow.conn.Close()
		<-time.After(time.Second)
		if w.router.MemoryInUse(bytes) {
			w.Error("memory is in use after the last reply")
		}
	})
}

// A client that takes a MiB in nine seconds gets a large reply, also to an old message.
func TestASlowClientGetsItsReply(t *testing.T) {
	find := wire.Query{Collection: []byte("app.c"), Return: 1, Document: document(bson.D{})}
	for name, message := range map[string][]byte{"new": messageOf(t, command("find", "c", e("limit", 1)), 0), "old": find.Append(nil, 7)} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.dial().must(insertBytes(4 << 20))
				l := w.pipes()
				defer l.Close()
				slow := l.dial(w)
				sends(message)(w, slow)
				for range 4 {
					if _, err := io.CopyN(io.Discard, slow.conn, 1<<20); err != nil {
						w.Fatal(err)
					}
					<-time.After(9 * time.Second)
				}
			})
		})
	}
}

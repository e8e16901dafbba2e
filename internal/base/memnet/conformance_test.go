package memnet

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/nettest"
)

// The rules of every net.Conn, on the real clock: nettest begins subtests, which a bubble does not allow. The table below
// runs inside bubbles.
func TestConnectionsDoWhatEveryNetConnMust(t *testing.T) {
	for _, c := range []struct {
		name   string
		config Config
	}{
		{"without latency", Config{}},
		{"with latency", Config{MinLatency: time.Microsecond, MaxLatency: 100 * time.Microsecond}},
	} {
		t.Run(c.name, func(t *testing.T) {
			nettest.TestConn(t, func() (c1, c2 net.Conn, stop func(), err error) {
				client, server := connected(t, New(c.config))
				return client, server, func() { _, _ = client.Close(), server.Close() }, nil
			})
		})
	}
}

// connected returns the two ends of a new connection.
func connected(t *testing.T, n *Network) (client, server *Conn) {
	t.Helper()
	const address = "server:1"
	l, err := n.Listen(address)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dialled, err := n.DialContext(context.Background(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return dialled.(*Conn), accepted.(*Conn)
}

// end is what a test does at one end of a connection, and how that must end.
type end struct {
	do   func(*Conn) error
	want error // nil: do succeeds
}

func readAll(want string) *end {
	return &end{do: func(c *Conn) error {
		got, err := io.ReadAll(c)
		if err == nil && string(got) != want {
			return errors.New("read " + string(got))
		}
		return err
	}}
}

func read(c *Conn) error {
	_, err := c.Read(make([]byte, 1))
	return err
}

func write(c *Conn) error {
	_, err := c.Write([]byte("x"))
	return err
}

// fill writes until that fails.
func fill(c *Conn) error {
	for {
		if _, err := c.Write(make([]byte, 1<<16)); err != nil {
			return err
		}
	}
}

func TestWhatBothEndsOfAConnectionSee(t *testing.T) {
	for _, c := range []struct {
		name   string
		before func(client, server *Conn)
		client *end
		server *end
	}{
		{
			"what was written before the close is read, then the end",
			func(client, _ *Conn) { write(client); client.Close() }, &end{write, net.ErrClosed}, readAll("x"),
		},
		{
			"an end that closed reads no more",
			func(client, server *Conn) { write(server); client.Close() }, &end{read, net.ErrClosed}, &end{write, syscall.EPIPE},
		},
		{
			"an end that closed its writing still reads",
			func(client, server *Conn) { client.CloseWrite(); write(server) }, &end{read, nil}, &end{read, io.EOF},
		},
		{
			"an end that closed its writing writes no more",
			func(client, _ *Conn) { client.CloseWrite() }, &end{write, net.ErrClosed}, &end{write, nil},
		},
		{
			"an end that closed its reading still writes",
			func(client, _ *Conn) { client.CloseRead(); write(client) }, &end{read, net.ErrClosed}, &end{read, nil},
		},
		{
			"nothing can be written to an end that closed its reading",
			func(client, _ *Conn) { client.CloseRead() }, &end{write, nil}, &end{write, syscall.EPIPE},
		},
		{
			"after an abort the other end reads the error",
			func(client, _ *Conn) { client.Abort(syscall.ETIMEDOUT) }, &end{read, net.ErrClosed}, &end{read, syscall.ETIMEDOUT},
		},
		{
			"a write that waits for room ends when the other end closes",
			func(_, server *Conn) { time.AfterFunc(time.Millisecond, func() { server.Close() }) }, &end{fill, syscall.EPIPE}, nil,
		},
		{
			"a write that waits for room ends when its own end closes",
			func(client, _ *Conn) { time.AfterFunc(time.Millisecond, func() { client.Close() }) }, &end{fill, net.ErrClosed}, nil,
		},
		{
			"a read that waits ends when its own end closes",
			func(client, _ *Conn) { time.AfterFunc(time.Millisecond, func() { client.Close() }) }, &end{read, net.ErrClosed}, nil,
		},
		{
			"a read that waits ends at its deadline",
			func(client, _ *Conn) { client.SetReadDeadline(time.Now().Add(time.Millisecond)) }, &end{read, os.ErrDeadlineExceeded}, nil,
		},
		{
			"a write that waits for room ends at its deadline",
			func(client, _ *Conn) { client.SetWriteDeadline(time.Now().Add(time.Millisecond)) }, &end{fill, os.ErrDeadlineExceeded}, nil,
		},
		{
			"a read that waits ends when its deadline is set to the past",
			func(client, _ *Conn) {
				time.AfterFunc(time.Millisecond, func() { client.SetReadDeadline(time.Unix(1, 0)) })
			},
			&end{read, os.ErrDeadlineExceeded}, nil,
		},
		{
			"a deadline that was taken back does nothing",
			func(client, server *Conn) {
				client.SetDeadline(time.Now().Add(time.Millisecond))
				client.SetDeadline(time.Time{})
				time.AfterFunc(3*time.Millisecond, func() { write(server) })
			},
			&end{read, nil}, nil,
		},
		{
			"a deadline for writing leaves reading alone",
			func(client, server *Conn) { client.SetWriteDeadline(time.Unix(1, 0)); write(server) }, &end{read, nil}, nil,
		},
	} {
		play := func(t *testing.T) {
			client, server := connected(t, New(Config{}))
			defer client.Close()
			defer server.Close()
			c.before(client, server)
			var both sync.WaitGroup
			for conn, e := range map[*Conn]*end{client: c.client, server: c.server} {
				if e == nil {
					continue
				}
				both.Go(func() {
					if err := e.do(conn); !errors.Is(err, e.want) {
						t.Errorf("the end at %v: error %v, want %v", conn.LocalAddr(), err, e.want)
					}
				})
			}
			both.Wait()
		}
		t.Run(c.name, play)
		t.Run(c.name+", in a bubble", func(t *testing.T) { synctest.Test(t, play) })
	}
}

func TestAWriteLargerThanTheBufferArrivesWhole(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := connected(t, New(Config{MinLatency: time.Millisecond, MaxLatency: time.Second}))
		sent := bytes.Repeat([]byte("0123456789"), capacity/4)
		go func() {
			if n, err := client.Write(sent); n != len(sent) || err != nil {
				t.Errorf("%d bytes were written, %v", n, err)
			}
			client.Close()
		}()
		if got, err := io.ReadAll(server); !bytes.Equal(got, sent) || err != nil {
			t.Errorf("%d bytes were read of %d, %v", len(got), len(sent), err)
		}
	})
}

func TestTheBytesOfWritesThatWaitAreNotMixed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := connected(t, New(Config{}))
		var writers sync.WaitGroup
		for i := range byte(3) {
			writers.Go(func() { client.Write(bytes.Repeat([]byte{i}, capacity+1)) })
		}
		go func() { writers.Wait(); client.Close() }()
		got, _ := io.ReadAll(server)
		changes := 0
		for i := range got[1:] {
			if got[i] != got[i+1] {
				changes++
			}
		}
		if len(got) != 3*(capacity+1) || changes != 2 {
			t.Errorf("%d bytes, %d times of another writer", len(got), changes)
		}
	})
}

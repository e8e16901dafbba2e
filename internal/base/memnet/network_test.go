package memnet

import (
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/pause"
)

func listen(t *testing.T, n *Network, address string) *Listener {
	t.Helper()
	l, err := n.Listen(address)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestADialReachesTheListenerOfItsAddress(t *testing.T) {
	n := New(Config{})
	for _, address := range []string{"a:1", "b:1", "a:2"} {
		l := listen(t, n, address)
		client, err := n.DialContext(t.Context(), "tcp", address)
		if err != nil {
			t.Fatal(err)
		}
		server, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		if l.Addr().String() != address || client.RemoteAddr() != l.Addr() || server.LocalAddr() != l.Addr() ||
			server.RemoteAddr() != client.LocalAddr() {
			t.Errorf("%v is connected from %v to %v, seen from %v to %v", l.Addr(), client.LocalAddr(), client.RemoteAddr(),
				server.RemoteAddr(), server.LocalAddr())
		}
	}
}

func TestADialFailsAsItWouldOnTCP(t *testing.T) {
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	for _, c := range []struct {
		name    string
		ctx     context.Context
		address string
		do      func(*Listener)
		want    func(error) bool
	}{
		{"where nobody ever listened there is no such host", t.Context(), "other:1", nil, func(err error) bool {
			var dns *net.DNSError
			return errors.As(err, &dns) && dns.IsNotFound
		}},
		{
			"where the listener has closed the dial is refused", t.Context(), "a:1", func(l *Listener) { l.Close() },
			func(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) },
		},
		{
			"where the listener refuses the dial is refused", t.Context(), "a:1", func(l *Listener) { l.Refuse(true) },
			func(err error) bool { return errors.Is(err, syscall.ECONNREFUSED) },
		},
		{
			"where the listener refuses no more the dial succeeds", t.Context(), "a:1",
			func(l *Listener) { l.Refuse(true); l.Refuse(false) }, func(err error) bool { return err == nil },
		},
		{
			"where the context has ended the dial has its cause", cancelled, "a:1", nil,
			func(err error) bool { return errors.Is(err, context.Canceled) },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			n := New(Config{})
			l := listen(t, n, "a:1")
			if c.do != nil {
				c.do(l)
			}
			if _, err := n.DialContext(c.ctx, "tcp", c.address); !c.want(err) {
				t.Errorf("error %v", err)
			}
		})
	}
}

func TestAnAddressHasOneListenerAtATime(t *testing.T) {
	n := New(Config{})
	first := listen(t, n, "a:1")
	if _, err := n.Listen("a:1"); !errors.Is(err, syscall.EADDRINUSE) {
		t.Errorf("a second listener: %v", err)
	}
	if _, err := n.Listen("no port"); err == nil {
		t.Error("an address without a port is accepted")
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	if err := first.Close(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("a second close: %v", err)
	}
	listen(t, n, "a:1")
}

func TestAcceptWaitsForADialAndEndsWithTheListener(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		n := New(Config{})
		l := listen(t, n, "a:1")
		accepted := make(chan error, 2)
		for range 2 {
			go func() {
				_, err := l.Accept()
				accepted <- err
			}()
		}
		synctest.Wait()
		if _, err := n.DialContext(t.Context(), "tcp", "a:1"); err != nil {
			t.Error(err)
		}
		if err := <-accepted; err != nil {
			t.Error(err)
		}
		l.Close()
		if err := <-accepted; !errors.Is(err, net.ErrClosed) {
			t.Errorf("the Accept that waited: %v", err)
		}
		if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a later Accept: %v", err)
		}
	})
}

func TestConnectionsThatNobodyAcceptedAreResetWithTheirListener(t *testing.T) {
	for name, do := range map[string]func(*Listener){
		"it closes":  func(l *Listener) { l.Close() },
		"it refuses": func(l *Listener) { l.Refuse(true) },
	} {
		t.Run(name, func(t *testing.T) {
			n := New(Config{})
			l := listen(t, n, "a:1")
			c, err := n.DialContext(t.Context(), "tcp", "a:1")
			if err != nil {
				t.Fatal(err)
			}
			write(c.(*Conn))
			do(l)
			if err := read(c.(*Conn)); !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("error %v", err)
			}
			if n.Unprocessed() != 0 {
				t.Errorf("%d bytes wait for a server", n.Unprocessed())
			}
		})
	}
}

func TestLatencyIsThatOfTheConfigurationAndBytesKeepTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const least, most = 10 * time.Millisecond, 50 * time.Millisecond
		began := time.Now()
		client, server := connected(t, New(Config{MinLatency: least, MaxLatency: most, Seed: 7}))
		if took := time.Since(began); took < least || took > most {
			t.Errorf("the dial took %v", took)
		}
		for i := range byte(100) {
			client.Write([]byte{i})
		}
		client.Close()
		began = time.Now()
		for i := range byte(100) {
			var b [1]byte
			if _, err := io.ReadFull(server, b[:]); err != nil || b[0] != i {
				t.Fatalf("byte %d is %d, %v", i, b[0], err)
			}
			if took := time.Since(began); took < least || took > most {
				t.Fatalf("byte %d took %v", i, took)
			}
		}
		if err := read(server); !errors.Is(err, io.EOF) {
			t.Errorf("error %v", err)
		}
	})
}

// What ListenFar adds is added to the dial, and to the bytes of both directions.
func TestAListenerThatIsFarAway(t *testing.T) {
	for _, c := range []struct{ all, farther time.Duration }{{0, 3 * time.Second}, {time.Second, 3 * time.Second}, {time.Second, 0}} {
		synctest.Test(t, func(t *testing.T) {
			n := New(Config{MinLatency: c.all, MaxLatency: c.all})
			l, err := n.ListenFar("far:1", c.farther)
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			client, err := n.DialContext(t.Context(), "tcp", "far:1")
			if err != nil {
				t.Fatal(err)
			}
			server, err := l.Accept()
			if err != nil {
				t.Fatal(err)
			}
			client.Write([]byte("a"))
			io.ReadFull(server, make([]byte, 1))
			server.Write([]byte("b"))
			io.ReadFull(client, make([]byte, 1))
			if took := time.Since(began); took != 3*(c.all+c.farther) {
				t.Errorf("%v and %v farther: a dial and a round trip took %v", c.all, c.farther, took)
			}
		})
	}
}

func TestAnAbortLosesWhatHasNotArrived(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, server := connected(t, New(Config{MinLatency: time.Second, MaxLatency: time.Second}))
		client.Write([]byte("a"))
		pause.For(t.Context(), time.Second)
		synctest.Wait()
		client.Write([]byte("b"))
		client.Abort(syscall.ECONNRESET)
		got, err := io.ReadAll(server)
		if string(got) != "a" || !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("%q was read, error %v", got, err)
		}
	})
}

func TestTheSameSeedMakesTheSameLatencies(t *testing.T) {
	latencies := func(seed uint64) (list [10]time.Duration) {
		n := New(Config{MaxLatency: time.Hour, Seed: seed})
		for i := range list {
			list[i] = n.latency()
		}
		return list
	}
	first, again, other := latencies(1), latencies(1), latencies(2)
	if first != again || first == other {
		t.Errorf("%v, %v and with another seed %v", first, again, other)
	}
}

func TestNewRefusesALatencyThatIsNone(t *testing.T) {
	for _, c := range []Config{{MinLatency: -1}, {MinLatency: 2, MaxLatency: 1}} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%+v is accepted", c)
				}
			}()
			New(c)
		}()
	}
}

func TestBytesAreUnprocessedUntilTheServerSaysSoOrCloses(t *testing.T) {
	n := New(Config{})
	client, server := connected(t, n)
	want := func(bytes int64) {
		t.Helper()
		if got := n.Unprocessed(); got != bytes {
			t.Errorf("%d bytes are unprocessed, want %d", got, bytes)
		}
	}
	client.Write(make([]byte, 10))
	server.Write(make([]byte, 10))
	want(10)
	io.ReadFull(server, make([]byte, 10))
	want(10)
	server.Processed(4)
	want(6)
	client.Close()
	want(6)
	server.Close()
	want(0)
	server.Processed(6)
	want(0)
}

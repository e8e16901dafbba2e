package cluster

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/retry"
)

// canned is a connection on which each message is answered by the same bytes.
type canned struct {
	net.Conn
	answer []byte
	left   []byte
	sizes  []int // of the buffers that it was read into
}

func (*canned) SetDeadline(time.Time) error { return nil }

func (c *canned) Write(b []byte) (int, error) {
	c.left = c.answer
	return len(b), nil
}

func (c *canned) Read(b []byte) (int, error) {
	c.sizes = append(c.sizes[:min(len(c.sizes), 8)], len(b))
	if len(c.left) == 0 {
		return 0, io.EOF
	}
	n := copy(b, c.left)
	c.left = c.left[n:]
	return n, nil
}

// answering returns a connection whose every answer has that many bytes.
func answering(t *testing.T, size int) (*Conn, *canned) {
	t.Helper()
	const frame = wire.HeaderLength + 4 + 1 + 4 + 1 + 2 + 4 + 1 + 1 // header, flags, kind, and {"p": "..."} without its text
	body, err := bson.Marshal(bson.D{{Key: "p", Value: string(make([]byte, size-frame))}})
	if err != nil {
		t.Fatal(err)
	}
	answer := msg(7, body)
	if len(answer) != size {
		t.Fatalf("the answer has %d bytes, not %d", len(answer), size)
	}
	nc := &canned{answer: answer}
	return newConn(nc, 1, addrA), nc
}

// A context that cannot end costs nothing.
func TestARoundTripWithoutADeadlineAllocatesNothing(t *testing.T) {
	c, _ := answering(t, 100)
	ctx := context.Background()
	if err := ping(ctx, c); err != nil {
		t.Fatal(err)
	}
	noAllocations(t, "a round trip", func() {
		if ping(ctx, c) != nil {
			t.Fatal("it failed")
		}
	})
}

// Most replies come whole with one read; a longer one is read into a buffer that holds it whole.
func TestHowAReplyIsRead(t *testing.T) {
	for _, c := range []struct {
		size  int
		reads []int // the room for each read
	}{
		{100, []int{4096}},
		{4096, []int{4096}},
		{4097, []int{4096, 1}},
		{10_000, []int{4096, 10_000 - 4096}},
	} {
		conn, nc := answering(t, c.size)
		if err := ping(t.Context(), conn); err != nil {
			t.Errorf("%d bytes: %v", c.size, err)
		}
		if len(nc.sizes) != len(c.reads) || nc.sizes[0] != c.reads[0] || len(c.reads) > 1 && nc.sizes[1] < c.reads[1] {
			t.Errorf("%d bytes were read into room for %v, want %v", c.size, nc.sizes, c.reads)
		}
	}
}

// A buffer of 1 MiB is kept for the next reply, a larger one is not.
func TestWhichBufferIsKeptForTheNextReply(t *testing.T) {
	for _, c := range []struct {
		size int
		kept bool
	}{{1 << 20, true}, {1<<20 + 1, false}} {
		conn, nc := answering(t, c.size)
		for range 2 {
			if err := ping(t.Context(), conn); err != nil {
				t.Fatal(err)
			}
		}
		last := nc.sizes[len(nc.sizes)-1] // one read takes all where the buffer was kept
		if (len(nc.sizes) == 3 && last >= c.size) != c.kept {
			t.Errorf("%d bytes: reads into room for %v", c.size, nc.sizes)
		}
		s := &Server{address: addrA, cluster: &Cluster{}}
		s.pool.server = s
		s.pool.state, s.pool.open, conn.share = ready, map[*Conn]struct{}{}, newShare(nil)
		conn.Out, conn.in = make([]byte, 0, c.size), messageBuffer{bytes: make([]byte, 0, c.size)}
		s.pool.checkIn(conn)
		if (cap(conn.Out) == c.size) != c.kept || (cap(conn.in.bytes) == c.size) != c.kept {
			t.Errorf("%d bytes: an idle connection keeps %d and %d", c.size, cap(conn.Out), cap(conn.in.bytes))
		}
	}
}

// The server's own limit counts, but no message is longer than any server's.
func TestHowLongAMessageMayBe(t *testing.T) {
	for _, c := range []struct {
		limit  int32 // maxMessageSizeBytes, 0 if the server is not known yet, -1 if it names none
		length int
		ok     bool
	}{
		{0, wire.HeaderLength, true},
		{0, wire.HeaderLength - 1, false},
		{0, wire.MaxMessageLength, true},
		{0, wire.MaxMessageLength + 1, false},
		{1000, 1000, true},
		{1000, 1001, false},
		{wire.MaxMessageLength + 100, wire.MaxMessageLength + 1, false},
		{1, wire.HeaderLength, false},
		{-1, 1 << 20, true},
	} {
		conn := newConn(&canned{}, 1, addrA)
		if c.limit != 0 {
			conn.Description = &topology.Server{MaxMessageSize: max(c.limit, 0)}
		}
		conn.in.bytes = binary.LittleEndian.AppendUint32(make([]byte, 0, wire.HeaderLength), uint32(c.length))[:wire.HeaderLength]
		n, err := conn.in.messageLength(conn.maxMessage())
		if (err == nil) != c.ok || c.ok && n != c.length || !c.ok && (n != 0 || !errors.Is(err, wire.ErrMalformed)) {
			t.Errorf("with a limit of %d, %d bytes: %d, %v", c.limit, c.length, n, err)
		}
	}
}

// A connection that broke says whose it was: before its handshake by its name.
func TestABrokenConnectionNamesItsServer(t *testing.T) {
	for _, c := range []struct {
		description *topology.Server
		want        string
	}{{nil, "a:27017[-1]"}, {&topology.Server{Address: addrA}, addrA}} {
		conn := newConn(&canned{}, 1, addrA)
		conn.Description = c.description
		var broken *IOError
		if err := conn.Broken(io.EOF); !errors.As(err, &broken) || broken.Address != c.want || broken.Connection != "a:27017[-1]" || broken.Stage != retry.StageInFlight || !conn.broken {
			t.Errorf("the error is %v", err)
		}
	}
}

// The first hello has the client's metadata.
func TestTheHellosOfAConnection(t *testing.T) {
	first := bson.D{
		{Key: "isMaster", Value: int32(1)},
		{Key: "helloOk", Value: true},
		{Key: "backpressure", Value: "2"},
		{Key: "client", Value: bson.D{
			{Key: "application", Value: bson.D{{Key: "name", Value: "app"}}},
			{Key: "driver", Value: bson.D{{Key: "name", Value: "holdfast"}, {Key: "version", Value: Version}}},
			{Key: "os", Value: bson.D{{Key: "type", Value: runtime.GOOS}, {Key: "architecture", Value: runtime.GOARCH}}},
			{Key: "platform", Value: runtime.Version()},
		}},
		{Key: "compression", Value: bson.A{}},
	}
	want, err := bson.Marshal(first)
	if err != nil {
		t.Fatal(err)
	}
	if got := firstHello(t, &Handshake{AppName: "app"}, nil); string(got) != string(want) {
		t.Errorf("the first hello is %v, want %v", got, bson.Raw(want))
	}
	for _, c := range []struct {
		helloOK bool
		name    string
	}{{true, "hello"}, {false, "isMaster"}} {
		var sent []byte
		conn := newConn(writesTo{&sent}, 1, addrA)
		conn.Description = &topology.Server{HelloOK: c.helloOK}
		_, _ = conn.sendHello(t.Context(), addrA, &Handshake{})
		m, err := wire.ParseMsg(sent)
		if err != nil {
			t.Fatal(err)
		}
		h, _ := wire.ParseHeader(sent)
		want, err := bson.Marshal(bson.D{
			{Key: c.name, Value: int32(1)}, {Key: "helloOk", Value: true}, {Key: "$db", Value: "admin"},
		})
		if err != nil {
			t.Fatal(err)
		}
		if string(m.Body) != string(want) || m.Flags != 0 || h.ResponseTo != 0 || h.RequestID == 0 {
			t.Errorf("the next hello is %v, %+v", bson.Raw(m.Body), h)
		}
	}
}

// writesTo is a connection that keeps the bytes that are written, and then breaks.
type writesTo struct{ sent *[]byte }

func (c writesTo) Write(b []byte) (int, error) {
	*c.sent = slices.Clone(b)
	return 0, io.ErrClosedPipe
}

func (writesTo) Read([]byte) (int, error)         { return 0, io.EOF }
func (writesTo) Close() error                     { return nil }
func (writesTo) LocalAddr() net.Addr              { return nil }
func (writesTo) RemoteAddr() net.Addr             { return nil }
func (writesTo) SetDeadline(time.Time) error      { return nil }
func (writesTo) SetReadDeadline(time.Time) error  { return nil }
func (writesTo) SetWriteDeadline(time.Time) error { return nil }

// Connection Monitoring and Pooling, "Events": how long it took.
func TestThePoolsEventsTellHowLongItTook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		heard := newListener()
		var dial func(context.Context) error
		p := &peer{hello: standalone(), dial: func(ctx context.Context) error { return dial(ctx) }}
		s := bare(t, p, func(cfg *Config) {
			cfg.PoolMonitor = heard.monitor()
			cfg.MaxPoolSize = 5
		})
		found(t, s, standalone())
		const slow = 3 * time.Second
		dial = func(ctx context.Context) error { sleep(ctx, slow, nil); return nil }
		if err := operation(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		s.pool.clear(errDown, false).run()
		found(t, s, standalone())
		dial = func(ctx context.Context) error { sleep(ctx, slow, nil); return errDown }
		if err := operation(t.Context(), s); err == nil {
			t.Fatal("it succeeded")
		}
		took := map[string]time.Duration{}
		events, _ := heard.all()
		for _, e := range events {
			if e.Address != addrA {
				t.Errorf("%s names %q", e.Type, e.Address)
			}
			took[e.Type] += e.Duration
			switch e.Type {
			case event.ConnectionPoolCreated:
				if e.PoolOptions == nil || e.PoolOptions.MaxPoolSize != 5 {
					t.Errorf("the pool's options are %+v", e.PoolOptions)
				}
			case event.ConnectionPoolCleared:
				if e.Interruption || !errors.Is(e.Error, errDown) {
					t.Errorf("the pool was cleared: %+v", e)
				}
			case event.ConnectionCheckOutFailed:
				if e.Reason != event.ReasonConnectionErrored || !errors.Is(e.Error, errDown) {
					t.Errorf("the checkout failed: %+v", e)
				}
			}
		}
		for kind, want := range map[string]time.Duration{
			event.ConnectionReady: slow, event.ConnectionCheckedOut: slow, event.ConnectionCheckOutFailed: slow,
			event.ConnectionCreated: 0, event.ConnectionClosed: 0,
		} {
			if took[kind] != want {
				t.Errorf("%s took %v, want %v", kind, took[kind], want)
			}
		}
	})
}

// A hello of an application's connection is ignored if it is older than the known description: nothing is published.
func TestAHelloThatIsIgnoredChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		version := func(n int64) bson.D {
			return append(standalone(), bson.E{Key: "topologyVersion", Value: bson.D{
				{Key: "processId", Value: bson.ObjectID{1}}, {Key: "counter", Value: n},
			}})
		}
		p := &peer{hello: version(1)}
		s := bare(t, p, nil)
		found(t, s, version(2))
		before := s.cluster.Snapshot()
		if err := operation(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if s.cluster.Snapshot() != before {
			t.Error("there is a new snapshot")
		}
	})
}

// A server that left is known no more, but an operation that is pinned to it may go on.
func TestAServerThatLeftIsATargetOfUnknownKind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := bare(t, &peer{hello: standalone()}, nil)
		found(t, s, standalone())
		if got := s.cluster.TargetOf(s); got.Server != s || got.Description.Type != topology.Standalone || got.Topology == nil {
			t.Errorf("%+v", got)
		}
		left := newServer(s.cluster, addrB)
		if got := s.cluster.TargetOf(left); got.Server != left || got.Description == nil || got.Description.Type != topology.Unknown ||
			got.Description.Address != addrB || got.Topology == nil {
			t.Errorf("%+v", got)
		}
	})
}

// Operations on every server that left are broken off, not only on the last of them.
func TestEveryServerThatLeftIsBrokenOffAtTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := set3()
		c := start(t, set, nil)
		selected(t, c)
		synctest.Wait()
		running := map[string]<-chan error{}
		for i, address := range []string{addrB, addrC} {
			s := c.servers[address]
			conn := checkOut(t, s)
			set[address].hang()
			running[address] = async(func() error { defer s.CheckIn(conn); return ping(t.Context(), conn) })
			set[addrA].set(func(p *peer) { p.hello = member(true, []string{addrA, addrC}[:2-i]...) })
			pass(t, c.cfg.HeartbeatInterval)
		}
		if n := len(c.Snapshot().Description.Servers); n != 1 || !c.Busy() {
			t.Fatalf("%d servers are left, busy %v", n, c.Busy())
		}
		c.Interrupt()
		for address, result := range running {
			if err := settled(t, "the operation on "+address, result); err == nil {
				t.Errorf("the operation on %s succeeded", address)
			}
		}
	})
}

func TestBytesBehindAnAnswerAreCounted(t *testing.T) {
	conn, nc := answering(t, 100)
	nc.answer = append(nc.answer, 1, 2, 3)
	if err := ping(t.Context(), conn); !errors.Is(err, wire.ErrMalformed) || !strings.Contains(err.Error(), ": 3 unexpected bytes after the reply") {
		t.Errorf("error %v", err)
	}
}

// foreign is a context of a type that package context does not know: it watches such a context by a goroutine, which the
// bubble of the fake clock misses at its end if it is left.
type foreign struct {
	context.Context
	done chan struct{}
}

func (f foreign) Done() <-chan struct{} { return f.done }
func (foreign) Value(any) any           { return nil }

func TestNothingWatchesTheContextOfACheckoutThatIsOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: standalone()}
		s := bare(t, p, nil)
		found(t, s, standalone())
		if err := operation(foreign{t.Context(), make(chan struct{})}, s); err != nil {
			t.Error(err)
		}
		s.pool.clear(errDown, false).run()
		found(t, s, standalone())
		p.set(dialError(errDown))
		if operation(foreign{t.Context(), make(chan struct{})}, s) == nil {
			t.Error("it succeeded")
		}
	})
}

// Requests that come before a check are answered by that one check.
func TestManyRequestsAreAnsweredByOneCheck(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &peer{hello: standalone()}
		c := start(t, network{addrA: p}, nil)
		pass(t, MinHeartbeatInterval/2) // the next check must wait, so no request comes during it
		asked := p.hellos()
		for range 3 {
			c.RequestChecks()
		}
		pass(t, 5*time.Second)
		p.wantHellos(t, asked+1)
	})
}

// Only the waiter whose context ends leaves the queue.
func TestAWaiterThatGivesUpLeavesTheOthersInTheirOrder(t *testing.T) {
	for leaver := range 3 {
		synctest.Test(t, func(t *testing.T) {
			s := bare(t, &peer{hello: standalone()}, func(cfg *Config) { cfg.MaxPoolSize = 1 })
			found(t, s, standalone())
			held := checkOut(t, s)
			var order []int
			var results []<-chan error
			for i := range 3 {
				ctx, cancel := context.WithCancel(t.Context())
				if i == leaver {
					time.AfterFunc(time.Second, cancel)
				} else {
					t.Cleanup(cancel)
				}
				results = append(results, async(func() error {
					conn, err := s.CheckOut(ctx, nil)
					if err == nil {
						order = append(order, i)
						s.CheckIn(conn)
					}
					return err
				}))
				synctest.Wait()
			}
			pass(t, time.Second)
			if err := settled(t, "the wait", results[leaver]); !errors.Is(err, context.Canceled) || s.pool.waiters.length != 2 {
				t.Errorf("waiter %d: %v, %d others wait", leaver, err, s.pool.waiters.length)
			}
			s.CheckIn(held)
			synctest.Wait()
			if want := slices.DeleteFunc([]int{0, 1, 2}, func(i int) bool { return i == leaver }); !slices.Equal(order, want) {
				t.Errorf("served were %v, want %v", order, want)
			}
			if !s.idle() {
				t.Errorf("%d operations are in flight", s.inFlight.Load())
			}
		})
	}
}

// A description and a refusal outlive the buffer of the connection that they came on.
func TestADescriptionDoesNotAliasTheBuffer(t *testing.T) {
	buffer := func(doc bson.D) []byte {
		b, err := bson.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	b := buffer(append(member(true, addrA, addrB), bson.E{Key: "ok", Value: 1}))
	before := time.Now()
	s, err := described(addrA, b)
	clear(b)
	if err != nil || s.SetName != "rs" || !slices.Equal(s.Hosts, []string{addrA, addrB}) || s.LastUpdateTime.Before(before) {
		t.Errorf("%+v, %v", s, err)
	}
	b = buffer(bson.D{{Key: "ok", Value: 0}, {Key: "code", Value: int32(18)}})
	_, err = described(addrA, b)
	clear(b)
	var refused *refusedHello
	if !errors.As(err, &refused) || refused.reply.Lookup("code").AsInt64() != 18 {
		t.Errorf("%+v", err)
	}
}

// Whatever breaks after a hello was written is in flight.
func TestTheStageOfABrokenHello(t *testing.T) {
	garbage := func() *Conn { return newConn(&canned{answer: msg(1, []byte{200, 0, 0, 0, 0})}, 1, addrA) }
	for name, f := range map[string]func() (*topology.Server, error){
		"the first, without an answer": func() (*topology.Server, error) {
			d, _, err := newConn(&canned{}, 1, addrA).handshake(t.Context(), addrA, &initialHello{Handshake: &Handshake{}})
			return d, err
		},
		"the first, with an answer of another kind": func() (*topology.Server, error) {
			d, _, err := garbage().handshake(t.Context(), addrA, &initialHello{Handshake: &Handshake{}})
			return d, err
		},
		"a later one, with a body that is no document": func() (*topology.Server, error) {
			c := newConn(&canned{answer: msg(2, []byte{200, 0, 0, 0, 0})}, 1, addrA)
			c.Description = &topology.Server{Address: addrA}
			return c.sendHello(t.Context(), addrA, &Handshake{})
		},
	} {
		_, err := f()
		var broken *IOError
		if !errors.As(err, &broken) || broken.Stage != retry.StageInFlight {
			t.Errorf("%s: %v", name, err)
		}
	}
}

package router

import (
	"net"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// Two users may choose the same id. What no member takes for an id is none.
func TestTheSessionOfACommand(t *testing.T) {
	binary := func(n int) any { return bson.Binary{Subtype: 4, Data: make([]byte, n)} }
	of := func(user string, value any) session {
		c := &client{account: &account{id: id{"app", user}}}
		body := marshal(t, bson.D{{Key: "insert", Value: "c"}, {Key: "lsid", Value: bson.D{{Key: "id", Value: value}}}})
		return c.sessionOf(&command{ClientMessage: wire.ClientMessage{Body: body}})
	}
	anns, bobs := of("ann", binary(16)), of("bob", binary(16))
	if !anns.known || anns == bobs || anns != of("ann", binary(16)) {
		t.Errorf("the sessions are %v and %v", anns, bobs)
	}
	for _, value := range []any{binary(15), binary(17), "0123456789abcdef", nil} {
		if s := of("ann", value); s.known {
			t.Errorf("the id %v is that of the session %v", value, s)
		}
	}
}

// What a client has begun ends with its connection, and its last message is not kept while it is silent.
func TestNothingOfAClientIsLeft(t *testing.T) {
	here, there := net.Pipe()
	c := newClient(isolatedRouter(t), here, 1)
	go func() {
		defer there.Close()
		body := marshal(t, bson.D{{Key: "hello", Value: 1}, {Key: "$db", Value: "admin"}})
		at, message := wire.BeginMsg(nil, 1, 0, 0)
		_, _ = there.Write(wire.EndMessage(append(message, body...), at))
		_, _ = wire.ReadMessage(there, nil, maxMessageBytes)
	}()
	if c.serve(); c.ctx.Err() == nil || c.parser.database != "admin" || c.parser.command.Body != nil {
		t.Errorf("its context: %v; of its last message %d bytes are kept", c.ctx.Err(), len(c.parser.command.Body))
	}
}

// Most drivers send the next getMore on another connection: this one would note its end, if ever, in vain.
func TestOnlyLoadBalancedConnectionsNoteCursors(t *testing.T) {
	for _, balanced := range []bool{true, false} {
		d := departure{balanced: balanced}
		if d.opened(1); d.holds() != balanced {
			t.Errorf("balanced %v: %v", balanced, d.cursors)
		}
	}
}

// noAlert is a connection with TLS that nobody may close: its Close waits until the client takes an alert.
type noAlert struct {
	net.Conn
	t *testing.T
}

func (c noAlert) Close() error {
	c.t.Error("the router waits for the client")
	return c.Conn.Close()
}

// A message that has come when the router ends its connection is not run: the driver sends it again to another router.
func TestAMessageThatComesWhileItsConnectionEnds(t *testing.T) {
	r := isolatedRouter(t)
	here, there := net.Pipe()
	c, _ := r.admit(here)
	defer r.serving.Done()
	c.account, c.departure.balanced, c.conn = new(account), true, noAlert{c.conn, t}
	if !c.rest() || !c.wake() {
		t.Error("it does not stay before the others end")
	}
	if !c.rest() {
		t.Error("it does not rest")
	}
	r.depart()
	if c.wake() {
		t.Error("its message is run")
	}
	if _, err := there.Read(make([]byte, 1)); err == nil {
		t.Error("it was not ended")
	}
}

func TestTheEndOfAStalledClientWaitsForNothing(t *testing.T) {
	here, there := net.Pipe()
	c := newClient(isolatedRouter(t), here, 1)
	c.conn = noAlert{c.conn, t}
	c.endStalled()
	if _, err := there.Read(make([]byte, 1)); err == nil {
		t.Error("it was not ended")
	}
}

// deadlines counts how often a deadline was set.
type deadlines struct {
	net.Conn
	set int
}

func (d *deadlines) SetReadDeadline(at time.Time) error {
	d.set++
	return d.Conn.SetReadDeadline(at)
}

// To set a deadline for each message costs as much as some messages do.
func TestOnlyStrangersHaveDeadlines(t *testing.T) {
	here, _ := net.Pipe()
	c := newClient(isolatedRouter(t), here, 1)
	d := &deadlines{Conn: c.conn}
	c.conn = d
	for i, want := range []int{1, 2, 3, 3, 3} { // the third one takes it away
		if i == 2 {
			c.account = new(account)
		}
		if c.limitSilence(); d.set != want {
			t.Errorf("before message %d a deadline was set %d times, want %d", i, d.set, want)
		}
	}
}

// A tracer keeps no name that no server accepts. That of a collection is made once while the client stays with it.
func TestTheNamesThatATracerGets(t *testing.T) {
	var p parser
	named := func(n int) *command {
		body := marshal(t, bson.D{{Key: "find", Value: strings.Repeat("x", n)}})
		return &command{ClientMessage: wire.ClientMessage{Name: "find", Body: body}}
	}
	for n, want := range map[int]int{1: 1, longestName: longestName, longestName + 1: 0} {
		if got := p.traceableCollection(named(n)); len(got) != want {
			t.Errorf("a collection of %d bytes: %q", n, got)
		}
		if got := traceable(strings.Repeat("x", n)); len(got) != want {
			t.Errorf("a name of %d bytes: %q", n, got)
		}
	}
	q := named(50)
	if allocs := testing.AllocsPerRun(100, func() { p.traceableCollection(q) }); allocs != 0 {
		t.Errorf("%v allocations for each command", allocs)
	}
}

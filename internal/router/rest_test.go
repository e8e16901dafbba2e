package router

import (
	"net"
	"testing"
)

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

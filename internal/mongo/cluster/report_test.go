package cluster

import (
	"io"
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/retry"
)

// failures are what can go wrong on a connection in use, and what each means for the server.
var failures = []struct {
	name  string
	hello bson.D
	fail  func(*Cluster, *Server, *Conn)
	want  reaction
}{
	{
		name: "a connection that breaks makes the server Unknown and clears its pool",
		fail: broke(io.EOF), want: reaction{unknown: true, cleared: true},
	},
	{name: "a time limit does not: the server may only be slow", fail: broke(timeout{})},
	{
		name: "not primary makes it Unknown and asks for a check",
		fail: answered(10107, "not primary"), want: reaction{unknown: true, checkNow: true},
	},
	{
		name: "so does a member that recovers",
		fail: answered(13436, "recovering"), want: reaction{unknown: true, checkNow: true},
	},
	{
		name: "so does a message without a code",
		fail: answered(0, "not master"), want: reaction{unknown: true, checkNow: true},
	},
	{
		name: "a shutdown clears the pool as well",
		fail: answered(91, "shutdown"), want: reaction{unknown: true, cleared: true, checkNow: true},
	},
	{
		name: "so does the other code of a shutdown",
		fail: answered(11600, "interrupted at shutdown"), want: reaction{unknown: true, cleared: true, checkNow: true},
	},
	{
		name: "a server older than 4.2 closes its connections whenever its state changes", hello: wireVersion(7),
		fail: answered(10107, "not master"), want: reaction{unknown: true, cleared: true, checkNow: true},
	},
	{
		name: "so does the other message without a code",
		fail: answered(0, "node is recovering"), want: reaction{unknown: true, checkNow: true},
	},
	{name: "a code that says nothing of it goes before the message", fail: answered(1, "node is recovering")},
	{name: "also before the other message", fail: answered(1, "not master")},
	{name: "another code changes nothing", fail: answered(11000, "not master: duplicate key")},
	{name: "another message without a code changes nothing", fail: answered(0, "bad value")},
}

func wireVersion(n int32) bson.D {
	return bson.D{{Key: "isWritablePrimary", Value: true}, {Key: "maxWireVersion", Value: n}}
}

// timeout is an error that a time limit of the system's made.
type timeout struct{}

func (timeout) Error() string   { return "connection timed out" }
func (timeout) Timeout() bool   { return true }
func (timeout) Temporary() bool { return true }

func broke(err error) func(*Cluster, *Server, *Conn) {
	return func(c *Cluster, s *Server, conn *Conn) {
		c.ConnectionFailed(s, conn, &IOError{Address: s.address, Stage: retry.InFlight, Err: err})
	}
}

func answered(code int32, message string) func(*Cluster, *Server, *Conn) {
	return func(c *Cluster, s *Server, conn *Conn) { c.Answered(s, conn, code, message, nil) }
}

func TestAFailureOnAConnectionInUse(t *testing.T) {
	for _, c := range failures {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hello := c.hello
				if hello == nil {
					hello = standalone()
				}
				s := bare(t, &peer{hello: hello}, nil)
				found(t, s, hello)
				conn := checkOut(t, s)
				c.fail(s.cluster, s, conn)
				c.want.check(t, s)
				s.CheckIn(conn)
			})
		})
	}
}

func TestAFailureIsIgnoredFromBeforeThePoolWasCleared(t *testing.T) {
	for _, c := range failures {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := bare(t, &peer{hello: standalone()}, nil)
				found(t, s, standalone())
				conn := checkOut(t, s)
				s.pool.clear(errDown, false).run()
				found(t, s, standalone())
				c.fail(s.cluster, s, conn)
				reaction{}.check(t, s)
				s.CheckIn(conn)
			})
		})
	}
}

func TestAnAnswerIsIgnoredThatIsNotNewerThanWhatIsKnown(t *testing.T) {
	version := func(counter int64) bson.D {
		return bson.D{{Key: "processId", Value: bson.ObjectID{1}}, {Key: "counter", Value: counter}}
	}
	for _, c := range []struct {
		name    string
		counter int64
		want    reaction
	}{
		{"older", 4, reaction{}},
		{"the same", 5, reaction{}},
		{"newer", 6, reaction{unknown: true, checkNow: true}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				hello := append(standalone(), bson.E{Key: "topologyVersion", Value: version(5)})
				s := bare(t, &peer{hello: hello}, nil)
				found(t, s, hello)
				conn := checkOut(t, s)
				raw, _ := bson.Marshal(version(c.counter))
				s.cluster.Answered(s, conn, 10107, "not primary", raw)
				c.want.check(t, s)
				s.CheckIn(conn)
			})
		})
	}
}

func TestAFailureIsIgnoredOnAServerThatLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set := network{addrA: {hello: member(true, addrA, addrB)}, addrB: {hello: member(false, addrA, addrB)}}
		c := start(t, set, nil)
		selected(t, c)
		pass(t, 0)
		s := c.servers[addrB]
		conn := checkOut(t, s)
		set[addrA].set(func(p *peer) { p.hello = member(true, addrA) })
		pass(t, c.cfg.HeartbeatInterval)
		before := c.Snapshot()
		broke(io.EOF)(c, s, conn)
		if c.checkFailed(s, errDown) || c.Snapshot() != before {
			t.Error("a server that left changes the topology")
		}
		target := c.TargetOf(s)
		if target.Server != s || target.Description.Kind != topology.Unknown {
			t.Errorf("its target is %+v", target)
		}
		s.CheckIn(conn)
	})
}

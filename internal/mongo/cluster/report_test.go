package cluster

import (
	"io"
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/retry"
)

// failures are failures of a connection in use, each with its effect on the server.
var failures = []struct {
	name  string
	hello bson.D
	fail  func(*Cluster, *Server, *Conn)
	want  reaction
}{
	{
		name: "a network error makes the server Unknown and clears its pool",
		fail: broke(io.EOF), want: reaction{unknown: true, cleared: true},
	},
	{name: "a timeout changes nothing: the server may only be slow", fail: broke(timeout{})},
	{
		name: "not primary makes the server Unknown and requests a check",
		fail: answered(10107, "not primary"), want: reaction{unknown: true, checkNow: true},
	},
	{
		name: "node is recovering makes the server Unknown and requests a check",
		fail: answered(13436, "recovering"), want: reaction{unknown: true, checkNow: true},
	},
	{
		name: "not primary in a message without a code makes the server Unknown and requests a check",
		fail: answered(0, "not master"), want: reaction{unknown: true, checkNow: true},
	},
	{
		name: "a shutdown clears the pool as well",
		fail: answered(91, "shutdown"), want: reaction{unknown: true, cleared: true, checkNow: true},
	},
	{
		name: "the other shutdown code clears the pool as well",
		fail: answered(11600, "interrupted at shutdown"), want: reaction{unknown: true, cleared: true, checkNow: true},
	},
	{
		name: "a state change of a server older than 4.2 clears the pool", hello: wireVersion(7),
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

// timeout is a timeout error of the system.
type timeout struct{}

func (timeout) Error() string   { return "connection timed out" }
func (timeout) Timeout() bool   { return true }
func (timeout) Temporary() bool { return true }

func broke(err error) func(*Cluster, *Server, *Conn) {
	return func(c *Cluster, s *Server, conn *Conn) {
		c.ConnectionFailed(s, conn, &IOError{Address: s.address, Stage: retry.StageInFlight, Err: err})
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

func TestAFailureOfAStaleConnectionIsIgnored(t *testing.T) {
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

func TestAnErrorWithAnOldTopologyVersionIsIgnored(t *testing.T) {
	version := func(counter int64) bson.D {
		return bson.D{{Key: "processId", Value: bson.ObjectID{1}}, {Key: "counter", Value: counter}}
	}
	for _, c := range []struct {
		name    string
		counter int64
		want    reaction
	}{
		{"an older topologyVersion", 4, reaction{}},
		{"an equal topologyVersion", 5, reaction{}},
		{"a newer topologyVersion", 6, reaction{unknown: true, checkNow: true}},
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

func TestAFailureOfARemovedServerIsIgnored(t *testing.T) {
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
			t.Error("a removed server changes the topology")
		}
		target := c.TargetOf(s)
		if target.Server != s || target.Description.Type != topology.Unknown {
			t.Errorf("its target is %+v", target)
		}
		s.CheckIn(conn)
	})
}

package mongotest_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest"
)

// known returns a hello's topologyVersion as extended JSON.
func known(t *testing.T, hello bson.Raw) string {
	t.Helper()
	return hello.Lookup("topologyVersion").String()
}

func TestAwaitableHello(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 1)
		first := c.ok(`{"hello": 1, "$db": "admin"}`)
		began := time.Now()
		c.ok(`{"hello": 1, "topologyVersion": %s, "maxAwaitTimeMS": 10000, "$db": "admin"}`, known(t, first))
		if took := time.Since(began); took != 10*time.Second {
			t.Errorf("without a change the answer took %v, want 10s", took)
		}
		time.AfterFunc(3*time.Second, func() { rs.Kill(0) })
		began = time.Now()
		next := c.ok(`{"hello": 1, "topologyVersion": %s, "maxAwaitTimeMS": 10000, "$db": "admin"}`, known(t, first))
		if took := time.Since(began); took != 3*time.Second {
			t.Errorf("after a change the answer took %v, want 3s", took)
		}
		if _, err := next.LookupErr("primary"); err == nil || known(t, next) == known(t, first) {
			t.Errorf("the answer after the primary's death is %v", next)
		}
	})
}

func TestStreamedHello(t *testing.T) {
	bubble(t, func(t *testing.T, rs *mongotest.Deployment) {
		c := dial(t, rs, 1)
		first := c.ok(`{"hello": 1, "$db": "admin"}`)
		rs.Kill(0)
		c.send(wire.ExhaustAllowed, j(`{"hello": 1, "topologyVersion": %s, "maxAwaitTimeMS": 30000, "$db": "admin"}`, known(t, first)))
		previous := c.id
		var last bson.Raw
		for _, want := range []bool{false, true} { // the primary is lost, then this member is primary
			h, m, err := c.receive()
			if err != nil || h.ResponseTo != previous || m.Flags&wire.MoreToCome == 0 {
				t.Fatalf("header %+v, flags %b, %v; want more to come, in response to %d", h, m.Flags, err, previous)
			}
			previous, last = h.RequestID, m.Body
			if got := last.Lookup("isWritablePrimary").Boolean(); got != want {
				t.Errorf("isWritablePrimary is %t, want %t: %v", got, want, last)
			}
		}
		if id := last.Lookup("electionId").ObjectID(); id.Hex() != "7fffffff0000000000000002" {
			t.Errorf("the election id of term 2 is %s", id.Hex())
		}
	}, mongotest.Member(2, mongotest.Priority(0)))
}

func TestLegacyHello(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory())
	c := dial(t, rs, 0)
	for command, code := range map[string]int64{`{"isMaster": 1, "helloOk": true}`: -1, `{"ismaster": 1}`: -1, `{"find": "c"}`: 352} {
		doc := must[[]byte](t)(bson.Marshal(j("%s", command)))
		must[int](t)(c.conn.Write(wire.AppendQuery(nil, 7, wire.SecondaryOk, "admin.$cmd", doc)))
		b := must[[]byte](t)(wire.ReadMessage(c.conn, nil, wire.MaxMessageLength))
		reply := bson.Raw(must[[]byte](t)(wire.ParseReply(b)))
		if number(reply, "code") != code || code < 0 && !reply.Lookup("ismaster").Boolean() {
			t.Errorf("%s: %v", command, reply)
		}
	}
}

func TestMalformedMessagesEndTheirConnectionOnly(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory())
	other := dial(t, rs, 0)
	for name, b := range map[string][]byte{
		"a length below the header's": {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0},
		"a length beyond the limit":   {0, 0, 0, 0x7f, 0, 0, 0, 0, 0, 0, 0, 0, 0xdd, 7, 0, 0},
		"an unknown opcode":           {16, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 99, 0, 0, 0},
		"an OP_MSG without a body":    {20, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xdd, 7, 0, 0, 0, 0, 0, 0},
	} {
		c := dial(t, rs, 0)
		must[int](t)(c.conn.Write(b))
		if _, _, err := c.receive(); err == nil {
			t.Errorf("%s was answered", name)
		}
		other.ok(`{"ping": 1, "$db": "admin"}`)
	}
}

func TestUnacknowledgedWriteIsExecutedWithoutAnAnswer(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory())
	c := dial(t, rs, 0)
	c.send(wire.MoreToCome, j(`{"insert": "c", "documents": [{"_id": 1}], "writeConcern": {"w": 0}, "$db": "test"}`))
	if n := number(c.ok(`{"count": "c", "$db": "test"}`), "n"); n != 1 {
		t.Errorf("there are %d documents, want 1", n)
	}
}

func TestReadsOnASecondary(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 3, mongotest.InMemory())
	c := dial(t, rs, 2)
	for mode, code := range map[string]int64{"primary": 13435, "primaryPreferred": -1, "secondary": -1, "nearest": -1, "frob": 2} {
		reply := c.run(`{"find": "c", "$readPreference": {"mode": "%s"}, "$db": "test"}`, mode)
		if number(reply, "code") != code {
			t.Errorf("mode %s: %v, want code %d", mode, reply, code)
		}
	}
	if reply := c.run(`{"find": "c", "readConcern": {"level": "frob"}, "$db": "test"}`); number(reply, "code") != 2 {
		t.Errorf("read concern frob: %v", reply)
	}
}

package mongotest_test

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest"
)

// rawClient is a connection on which a test writes commands as they stand.
type rawClient struct {
	t    testing.TB
	conn net.Conn
	id   int32
}

// dial connects to a member.
func dial(t testing.TB, rs *mongotest.Deployment, member int) *rawClient {
	t.Helper()
	return dialAt(t, rs.Dialer().DialContext, rs.Addr(member))
}

func dialAt(t testing.TB, dial func(context.Context, string, string) (net.Conn, error), addr string) *rawClient {
	t.Helper()
	conn, err := dial(context.Background(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return &rawClient{t: t, conn: conn}
}

// send writes a command, which need not be answered.
func (c *rawClient) send(flags wire.MsgFlags, command bson.D) {
	c.t.Helper()
	if err := c.trySend(flags, command); err != nil {
		c.t.Fatal(err)
	}
}

// trySend is send for a connection that the server may have closed.
func (c *rawClient) trySend(flags wire.MsgFlags, command bson.D) error {
	body, err := bson.Marshal(command)
	if err != nil {
		return err
	}
	return c.write(flags, body)
}

// sendBytes writes a command as it stands in bytes.
func (c *rawClient) sendBytes(flags wire.MsgFlags, body []byte) {
	c.t.Helper()
	if err := c.write(flags, body); err != nil {
		c.t.Fatal(err)
	}
}

func (c *rawClient) write(flags wire.MsgFlags, body []byte) error {
	c.id++
	at, msg := wire.BeginMsg(nil, c.id, 0, flags)
	_, err := c.conn.Write(wire.EndMessage(append(msg, body...), at))
	return err
}

// receive reads a reply.
func (c *rawClient) receive() (wire.Header, wire.Msg, error) {
	b, err := wire.ReadMessage(c.conn, nil, wire.MaxMessageLength)
	if err != nil {
		return wire.Header{}, wire.Msg{}, err
	}
	h, err := wire.ParseHeader(b)
	if err != nil {
		return h, wire.Msg{}, err
	}
	m, err := wire.ParseMsg(b)
	return h, m, err
}

// run sends a command, written as extended JSON, and returns the reply.
func (c *rawClient) run(command string, values ...any) bson.Raw {
	c.t.Helper()
	c.send(0, j(command, values...))
	_ = c.conn.SetReadDeadline(time.Now().Add(20 * time.Second))
	h, m, err := c.receive()
	if err != nil {
		c.t.Fatalf("%s: %v", command, err)
	}
	if h.ResponseTo != c.id {
		c.t.Fatalf("the reply is to message %d, want %d", h.ResponseTo, c.id)
	}
	return m.Body
}

// ok runs a command that must succeed.
func (c *rawClient) ok(command string, values ...any) bson.Raw {
	c.t.Helper()
	reply := c.run(command, values...)
	if number(reply, "ok") != 1 {
		c.t.Fatalf("%s: %v", command, reply)
	}
	return reply
}

// silent tells that nothing comes on the connection within a time.
func (c *rawClient) silent(d time.Duration) bool {
	_ = c.conn.SetReadDeadline(time.Now().Add(d))
	_, _, err := c.receive()
	var timeout net.Error
	return errors.As(err, &timeout) && timeout.Timeout()
}

// number returns a numeric field of a document, by its path; -1 if it has none.
func number(doc bson.Raw, path ...string) int64 {
	v, err := doc.LookupErr(path...)
	if err != nil {
		return -1
	}
	n, ok := v.AsInt64OK()
	if !ok {
		return -1
	}
	return n
}

// volatile are the fields of replies that differ from run to run.
var volatile = []string{"$clusterTime", "operationTime", "electionId", "opTime"}

// without returns a document's text without some fields that differ from run to run.
func without(doc bson.Raw, names ...string) string {
	elements, _ := doc.Elements()
	out := bson.D{}
next:
	for _, e := range elements {
		for _, name := range names {
			if e.Key() == name {
				continue next
			}
		}
		out = append(out, bson.E{Key: e.Key(), Value: e.Value()})
	}
	b, _ := bson.Marshal(out)
	return bson.Raw(b).String()
}

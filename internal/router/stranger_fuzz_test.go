package router

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/auth"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/internal/router/scramserver"
	"github.com/holdfast-db/holdfast/internal/router/userfile"
)

// noNetwork is a dialer that reaches nobody.
type noNetwork struct{}

func (noNetwork) DialContext(context.Context, string, string) (net.Conn, error) {
	return nil, errors.New("there is no network")
}

// recorder is a connection that keeps what is written to it.
type recorder struct {
	net.Conn
	written []byte
}

func (r *recorder) Write(b []byte) (int, error) {
	r.written = append(r.written, b...)
	return len(b), nil
}
func (*recorder) Read([]byte) (int, error)         { return 0, errors.New("nothing comes") }
func (*recorder) SetReadDeadline(time.Time) error  { return nil }
func (*recorder) SetWriteDeadline(time.Time) error { return nil }

// isolatedRouter is a router with a user of a file, and without members.
func isolatedRouter(t testing.TB) *Router {
	t.Helper()
	v, err := scramserver.NewVerifier(auth.SCRAMSHA256, "ann", "nobody knows it")
	if err != nil {
		t.Fatal(err)
	}
	ann := userfile.User{Name: "ann", DB: "app", Credentials: map[string]scramserver.Verifier{auth.SCRAMSHA256: v}}
	entry, err := ann.Entry()
	if err != nil {
		t.Fatal(err)
	}
	file, err := userfile.Parse([]byte(`{"users": [` + string(entry) + `]}`))
	if err != nil {
		t.Fatal(err)
	}
	r, err := New(Config{Upstream: options.Client().ApplyURI("mongodb://nowhere:1/?replicaSet=rs").SetDialer(noNetwork{}), Users: file})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(r.Close)
	r.wire.Store(25)
	return r
}

// Whatever two commands a stranger sends, one after the other, it stays one, gets a whole message as the answer, and has nothing done for it that needs
// a login.
func FuzzAStranger(f *testing.F) {
	first := bson.Binary{Data: []byte("n,,n=ann,r=nonce")}
	start := bson.D{{Key: "saslStart", Value: 1}, {Key: "mechanism", Value: auth.SCRAMSHA256}, {Key: "payload", Value: first}, {Key: "$db", Value: "app"}}
	finish := bson.D{
		{Key: "saslContinue", Value: 1}, {Key: "conversationId", Value: 1}, {Key: "payload", Value: bson.Binary{Data: []byte("c=biws,r=nonce,p=AAAA")}}, {Key: "$db", Value: "app"},
	}
	hello := bson.D{
		{Key: "hello", Value: 1},
		{Key: "saslSupportedMechs", Value: "app.ann"},
		{Key: "speculativeAuthenticate", Value: append(start, bson.E{Key: "db", Value: "app"})},
		{Key: "topologyVersion", Value: bson.D{{Key: "processId", Value: bson.NewObjectID()}}},
		{Key: "maxAwaitTimeMS", Value: 1},
		{Key: "$db", Value: "admin"},
	}
	certificate := bson.D{{Key: "authenticate", Value: 1}, {Key: "mechanism", Value: "MONGODB-X509"}, {Key: "user", Value: "CN=a"}, {Key: "$db", Value: "$external"}}
	for _, one := range []bson.D{start, hello, certificate, {{Key: "logout", Value: 1}, {Key: "$db", Value: "app"}}, {{Key: "find", Value: "c"}, {Key: "$db", Value: "app"}}} {
		for _, old := range []bool{true, false} {
			f.Add(marshal(f, one), marshal(f, finish), old)
			f.Add(marshal(f, one), marshal(f, bson.D{{Key: "connectionStatus", Value: 1}, {Key: "$db", Value: "app"}}), old)
		}
	}
	r := isolatedRouter(f)
	local, remote := net.Pipe()
	f.Cleanup(func() { _, _ = local.Close(), remote.Close() })
	f.Fuzz(func(t *testing.T, first, second []byte, old bool) {
		conn := &recorder{Conn: local}
		c := newClient(r, conn, 1)
		defer c.end()
		for _, body := range [][]byte{first, second} {
			message := wire.AppendQuery(nil, 1, 0, "app.$cmd", body)
			if !old {
				at, b := wire.BeginMsg(nil, 1, 0, 0)
				message = wire.EndMessage(append(b, body...), at)
			}
			q, err := c.parser.parse(message)
			if err != nil {
				return
			}
			if err := c.deal(q); err != nil {
				return
			}
			checkAnswer(t, q, conn.written)
			conn.written = nil
		}
		if c.account != nil {
			t.Fatal("the stranger has logged in")
		}
	})
}

// checkAnswer fails unless a stranger's command has one whole answer, and that says no more than it may know.
func checkAnswer(t *testing.T, q *command, answer []byte) {
	t.Helper()
	h, err := wire.ParseHeader(answer)
	if err != nil || int(h.Length) != len(answer) {
		t.Fatalf("the answer to %s is %x: %v", q.Name, answer, err)
	}
	if h.OpCode != wire.OpMsg {
		return
	}
	m, err := wire.ParseMsg(answer)
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, name := range beforeLogin {
		known[name] = true
	}
	ok := field(m.Body, "ok")
	if ok.True() && !known[q.Name] {
		t.Fatalf("%s is answered %v", q.Name, bson.Raw(m.Body))
	}
}

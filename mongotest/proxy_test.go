package mongotest_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

// recorder is a dialer that remembers where it was sent.
type recorder struct {
	mu    sync.Mutex
	addrs []string
}

func (r *recorder) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	r.mu.Lock()
	r.addrs = append(r.addrs, addr)
	r.mu.Unlock()
	return new(net.Dialer).DialContext(ctx, network, addr)
}

func proxied(t *testing.T, target string) (*mongotest.Proxy, *mongo.Collection, *recorder) {
	t.Helper()
	p := mongotest.RunProxyT(t, target)
	seen := &recorder{}
	client := must[*mongo.Client](t)(mongo.Connect(options.Client().ApplyURI(p.URI()).SetDialer(seen).
		SetServerSelectionTimeout(10 * time.Second).SetHeartbeatInterval(500 * time.Millisecond)))
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	return p, client.Database("test").Collection("c"), seen
}

func TestProxyStandsInFrontOfEveryMember(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 3, mongotest.ElectionTimeout(200*time.Millisecond))
	// One member is enough: the others are learned from its hello.
	p, c, seen := proxied(t, "mongodb://"+rs.Addr(1)+"/?replicaSet=rs0&compressors=zlib")
	ctx := within(t)
	must[*mongo.InsertOneResult](t)(c.InsertOne(ctx, j(`{"_id": 1, "n": 0}`)))
	must[any](t)(nil, rs.StepDown())
	must[int](t)(rs.WaitPrimary(ctx))
	for range 50 {
		must[*mongo.UpdateResult](t)(c.UpdateOne(ctx, j(`{"_id": 1}`), j(`{"$inc": {"n": 1}}`)))
	}
	if n := lastN(rs); n != 50 {
		t.Errorf("n = %d, want 50", n)
	}
	var fronts []string
	for i := range p.Members() {
		fronts = append(fronts, p.Addr(i))
	}
	seen.mu.Lock()
	defer seen.mu.Unlock()
	for _, addr := range seen.addrs {
		if !slices.Contains(fronts, addr) {
			t.Errorf("the driver went round the proxy to %s", addr)
		}
	}
	if len(fronts) != 3 {
		t.Errorf("the proxy has %d members, want 3", len(fronts))
	}
}

func TestProxyFaults(t *testing.T) {
	for _, test := range []struct {
		name     string
		fault    mongotest.Fault
		attempts int // that reached the server
	}{
		{"none", mongotest.Fault{}, 1},
		{"the request is lost", mongotest.Fault{LoseRequest: true}, 1},
		{"the reply is lost", mongotest.Fault{LoseReply: true}, 2},
		{"half of the reply is lost", mongotest.Fault{LoseReply: true, CutReplyAfter: 20}, 2},
		{"an error instead", mongotest.Fault{Error: &mongotest.CommandError{Code: 6, Labels: []string{"RetryableWriteError"}}}, 1},
		{"a delay", mongotest.Fault{Delay: time.Millisecond}, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			rs := mongotest.RunReplicaSetT(t, 3)
			p, c, _ := proxied(t, rs.URI())
			ctx := within(t)
			var order []string
			p.Use("insert", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
				if n := number(r.Body, "documents", "0", "_id"); n != 1 {
					t.Errorf("the intercepted document has _id %d, want 1", n)
				}
				return next(r)
			})
			f := test.fault
			f.Before = func() { order = append(order, "before") }
			f.After = func() { order = append(order, "after") }
			p.Use("insert", mongotest.FaultOnce(f))
			must[*mongo.InsertOneResult](t)(c.InsertOne(ctx, j(`{"_id": 1}`)))
			must[any](t)(nil, rs.WaitIdle(ctx))
			attempts, applied := 0, 0
			for _, e := range rs.Journal() {
				if e.Command == "insert" {
					attempts++
					if e.Applied {
						applied++
					}
				}
			}
			if attempts != test.attempts || applied != 1 {
				t.Errorf("%d attempts, %d applied, want %d and 1", attempts, applied, test.attempts)
			}
			if len(order) == 0 || order[0] != "before" {
				t.Errorf("the order was %v", order)
			}
		})
	}
}

func TestALateMessageThroughAProxy(t *testing.T) {
	rs := mongotest.RunStandaloneT(t)
	p := mongotest.RunProxyT(t, rs.Addr())
	arrival, arrived := make(chan struct{}), make(chan struct{})
	p.Use("insert", mongotest.FaultOnce(mongotest.Fault{Late: arrival, After: func() { close(arrived) }}))
	c := dialAt(t, new(net.Dialer).DialContext, p.Addr(0))
	c.send(0, j(`{"insert": "c", "documents": [{"_id": 1}], "$db": "test"}`))
	if _, _, err := c.receive(); !errors.Is(err, io.EOF) {
		t.Errorf("the client got %v, want the connection's end", err)
	}
	if n := len(rs.ReadAll("test.c")); n != 0 {
		t.Errorf("there are %d documents before the message has arrived", n)
	}
	close(arrival)
	<-arrived
	if n := len(rs.ReadAll("test.c")); n != 1 {
		t.Errorf("there are %d documents, want 1", n)
	}
}

func TestAProxysMiddlewareThatEndsItsGoroutineEndsTheConnection(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1)
	p := must[*mongotest.Proxy](t)(mongotest.RunProxy(rs.Addr()))
	p.Use("ping", mongotest.Always(mongotest.Fault{After: runtime.Goexit}))
	c := dialAt(t, new(net.Dialer).DialContext, p.Addr(0))
	c.send(0, j(`{"ping": 1, "$db": "admin"}`))
	if _, _, err := c.receive(); !errors.Is(err, io.EOF) {
		t.Errorf("the client got %v, want the connection's end", err)
	}
	must[any](t)(nil, p.Close()) // waits for what still runs
}

func TestProxySilence(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 3)
	p := must[*mongotest.Proxy](t)(mongotest.RunProxy(rs.Addr(0)))
	defer p.Close()
	p.Use("ping", mongotest.Always(mongotest.Fault{LoseReply: true, Silent: true, CutReplyAfter: 5}))
	c := dialAt(t, new(net.Dialer).DialContext, p.Addr(0))
	c.send(0, j(`{"ping": 1, "$db": "admin"}`))
	if !c.silent(50 * time.Millisecond) {
		t.Error("the connection is not silent")
	}
}

func TestProxyRefusesTLS(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 3)
	if _, err := mongotest.RunProxy(rs.URI() + "&tls=true"); err == nil || !strings.Contains(err.Error(), "TLS") {
		t.Errorf("a target with TLS: %v", err)
	}
	p := must[*mongotest.Proxy](t)(mongotest.RunProxy(rs.Addr(0)))
	defer p.Close()
	_, err := tls.Dial("tcp", p.Addr(0), &tls.Config{InsecureSkipVerify: true}) //nolint:gosec // nothing is to be verified
	if err == nil || !strings.Contains(err.Error(), "handshake failure") {
		t.Errorf("a client with TLS: %v", err)
	}
}

func TestProxyTargets(t *testing.T) {
	for target, want := range map[string]string{
		"127.0.0.1:1":                              "mongodb://ADDR/",
		"mongodb://127.0.0.1:1":                    "mongodb://ADDR/",
		"mongodb://u:p%40@127.0.0.1:1/db?w=1":      "mongodb://u:p%40@ADDR/db?w=1",
		"mongodb://127.0.0.1:1/?compressors=zlib":  "mongodb://ADDR/",
		"mongodb+srv://example.com/":               "",
		"mongodb://u:secret@%zz/":                  "",
		"mongodb:///tmp":                           "",
		"mongodb://127.0.0.1:1/?ssl=true":          "",
		"mongodb://%2Ftmp%2Fmongodb-27017.sock/db": "",
	} {
		p, err := mongotest.RunProxy(target)
		if want == "" {
			if err == nil || strings.Contains(err.Error(), "secret") {
				t.Errorf("%s: %v", target, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", target, err)
			continue
		}
		if got := strings.ReplaceAll(p.URI(), p.Addr(0), "ADDR"); got != want {
			t.Errorf("%s: the URI is %s, want %s", target, got, want)
		}
		must[any](t)(nil, p.Close())
	}
}

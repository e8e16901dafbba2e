package mongotest_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest"
)

// piped runs a test with a pipe in memory, on the fake clock, and returns the errors that the pipe reported.
func piped(t *testing.T, test func(t *testing.T, p *mongotest.BlackPipe), opts ...mongotest.PipeOption) []string {
	t.Helper()
	r := &tester{}
	synctest.Test(t, func(t *testing.T) {
		test(t, mongotest.RunBlackPipeT(r, append(opts, mongotest.InMemory())...))
		r.end()
	})
	return r.take()
}

func TestABlackPipeSendsTheReplyThatTheTestChose(t *testing.T) {
	ok := bson.D{{Key: "n", Value: 1}}
	for _, test := range []struct {
		rule  string
		tell  func(*mongotest.Expectation)
		check func(h wire.Header, m wire.Msg, err error) bool
		next  error // of reading on
	}{
		{
			"it replies", func(e *mongotest.Expectation) { e.Reply(ok) },
			func(h wire.Header, m wire.Msg, err error) bool {
				return err == nil && h.ResponseTo == 1 && number(m.Body, "n") == 1 && number(m.Body, "ok") == 1
			}, nil,
		},
		{
			"it fails", func(e *mongotest.Expectation) {
				e.Fail(&mongotest.CommandError{Code: 91, Message: "bye", Labels: []string{"Frob"}})
			},
			func(_ wire.Header, m wire.Msg, err error) bool {
				return err == nil && number(m.Body, "ok") == 0 && number(m.Body, "code") == 91 && labelled(m.Body, "Frob")
			}, nil,
		},
		{
			"it hangs up", func(e *mongotest.Expectation) { e.CloseConnection() },
			func(_ wire.Header, _ wire.Msg, err error) bool { return errors.Is(err, io.EOF) }, io.EOF,
		},
		{
			"it hangs up after its reply", func(e *mongotest.Expectation) {
				e.Send(&mongotest.Reply{Body: mongotest.NewReply(ok).Body, Close: true})
			},
			func(_ wire.Header, m wire.Msg, err error) bool { return err == nil && number(m.Body, "n") == 1 }, io.EOF,
		},
		{
			"it sends a part", func(e *mongotest.Expectation) {
				e.Send(&mongotest.Reply{Body: mongotest.NewReply(ok).Body, Lost: true, CutAfter: 20})
			},
			func(_ wire.Header, _ wire.Msg, err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }, io.EOF,
		},
		{
			"it answers something else", func(e *mongotest.Expectation) {
				e.Send(&mongotest.Reply{Body: mongotest.NewReply(ok).Body, ResponseTo: 77})
			},
			func(h wire.Header, _ wire.Msg, err error) bool { return err == nil && h.ResponseTo == 77 }, nil,
		},
		{
			"it sends garbage", func(e *mongotest.Expectation) {
				e.Send(&mongotest.Reply{Garbage: []byte("HTTP/1.1 400 Bad Request\r\n\r\n"), Close: true})
			},
			func(_ wire.Header, _ wire.Msg, err error) bool { return err != nil && !errors.Is(err, io.EOF) }, nil,
		},
		{
			"it falls silent", func(e *mongotest.Expectation) { e.Send(&mongotest.Reply{Lost: true, Silent: true}) },
			func(_ wire.Header, _ wire.Msg, err error) bool {
				var timeout net.Error
				return errors.As(err, &timeout) && timeout.Timeout()
			}, nil,
		},
	} {
		failures := piped(t, func(t *testing.T, p *mongotest.BlackPipe) {
			test.tell(p.Expect("find"))
			c := dialAt(t, p.Dialer().DialContext, p.Addr())
			c.send(0, j(`{"find": "c", "$db": "test"}`))
			_ = c.conn.SetReadDeadline(time.Now().Add(time.Hour))
			if h, m, err := c.receive(); !test.check(h, m, err) {
				t.Errorf("%s: %+v, %s, %v", test.rule, h, bson.Raw(m.Body), err)
			}
			if test.next != nil {
				if _, _, err := c.receive(); !errors.Is(err, test.next) {
					t.Errorf("%s: then came %v, want %v", test.rule, err, test.next)
				}
			}
		})
		if len(failures) > 0 {
			t.Errorf("%s: %q", test.rule, failures)
		}
	}
}

func TestABlackPipeFailsTheTestAtOnce(t *testing.T) {
	for _, test := range []struct {
		rule string
		do   func(t *testing.T, p *mongotest.BlackPipe, c *rawClient)
		want string // in the error
		took time.Duration
	}{
		{"nothing was expected", func(_ *testing.T, _ *mongotest.BlackPipe, c *rawClient) {
			c.send(0, j(`{"find": "c", "$db": "test"}`))
			_, _, _ = c.receive()
		}, "find came on connection 1; nothing was expected", 0},
		{"something else was expected", func(_ *testing.T, p *mongotest.BlackPipe, c *rawClient) {
			p.Expect("insert").Reply(bson.D{})
			c.send(0, j(`{"find": "c", "$db": "test"}`))
			_, _, _ = c.receive()
		}, "find came on connection 1; insert was expected", 0},
		{"a condition does not hold", func(_ *testing.T, p *mongotest.BlackPipe, c *rawClient) {
			p.Expect("find", func(r *mongotest.Request) bool { return r.Database == "other" }).Reply(bson.D{})
			c.send(0, j(`{"find": "c", "$db": "test"}`))
			_, _, _ = c.receive()
		}, "find came", 0},
		{"it came once too often", func(_ *testing.T, p *mongotest.BlackPipe, c *rawClient) {
			p.Expect("find").Reply(bson.D{})
			c.ok(`{"find": "c", "$db": "test"}`)
			c.send(0, j(`{"find": "c", "$db": "test"}`))
			_, _, _ = c.receive()
		}, "nothing was expected", 0},
		{"it did not come in time", func(_ *testing.T, p *mongotest.BlackPipe, c *rawClient) {
			p.Expect("find").Reply(bson.D{})
			_, _, _ = c.receive()
		}, "find did not come within 5s", 5 * time.Second},
		{"the second did not come in time after the first", func(_ *testing.T, p *mongotest.BlackPipe, c *rawClient) {
			p.Expect("find").Reply(bson.D{})
			p.Expect("getMore").Reply(bson.D{})
			pass(3 * time.Second)
			c.ok(`{"find": "c", "$db": "test"}`)
			_ = c.conn.SetReadDeadline(time.Time{})
			_, _, _ = c.receive()
		}, "getMore did not come within 5s", 8 * time.Second},
		{"it came and the test gave no reply", func(_ *testing.T, p *mongotest.BlackPipe, c *rawClient) {
			p.Expect("find")
			c.send(0, j(`{"find": "c", "$db": "test"}`))
			_, _, _ = c.receive()
		}, "find got no reply within 5s", 5 * time.Second},
		{"it did not come before the pipe was closed", func(_ *testing.T, p *mongotest.BlackPipe, _ *rawClient) {
			p.Expect("find").Reply(bson.D{})
			p.Expect("getMore").Reply(bson.D{})
		}, "find, getMore did not come before the pipe was closed", 0},
		{"the bytes are not a message", func(_ *testing.T, _ *mongotest.BlackPipe, c *rawClient) {
			_, _ = c.conn.Write([]byte("\x14\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\xdd\x07\x00\x00\x00\x00\x00\x00"))
			_, _, _ = c.receive()
		}, "not a message", 0},
		{"the test waits for a message that does not come", func(t *testing.T, p *mongotest.BlackPipe, _ *rawClient) {
			if r := p.Expect("find").Request(); r != nil {
				t.Errorf("a request: %v", r)
			}
		}, "find did not come within 5s", 5 * time.Second},
	} {
		failures := piped(t, func(t *testing.T, p *mongotest.BlackPipe) {
			c := dialAt(t, p.Dialer().DialContext, p.Addr())
			began := time.Now()
			test.do(t, p, c)
			if took := time.Since(began); took != test.took {
				t.Errorf("%s: it took %v, want %v", test.rule, took, test.took)
			}
		})
		if len(failures) == 0 || !strings.Contains(failures[0], test.want) {
			t.Errorf("%s: the errors are %q, want %q", test.rule, failures, test.want)
		}
	}
}

func TestTheTranscriptOfAFailureIsJSON(t *testing.T) {
	failures := piped(t, func(t *testing.T, p *mongotest.BlackPipe) {
		p.Expect("find").Reply(j(`{"cursor": {"id": {"$numberLong": "0"}, "ns": "test.c", "firstBatch": [{"_id": 1}]}}`))
		c := dialAt(t, p.Dialer().DialContext, p.Addr())
		c.ok(`{"find": "c", "filter": {"_id": {"$oid": "0123456789abcdef01234567"}}, "$db": "test"}`)
		c.send(0, j(`{"insert": "c", "$db": "test"}`))
		_, _, _ = c.receive()
	})
	if len(failures) != 1 {
		t.Fatalf("the errors are %q, want one", failures)
	}
	lines := strings.Split(strings.TrimSpace(failures[0]), "\n")[1:]
	want := []string{"request find", "reply cursor", "request insert"}
	if len(lines) != len(want) {
		t.Fatalf("the transcript has %d lines, want %d:\n%s", len(lines), len(want), failures[0])
	}
	for i, line := range lines {
		var m struct {
			Time      time.Time
			Direction string
			ConnID    int64
			RequestID int32
			Body      map[string]any
		}
		if err := json.Unmarshal([]byte(line), &m); err != nil {
			t.Errorf("line %d: %v", i, err)
		}
		direction, field, _ := strings.Cut(want[i], " ")
		if m.Direction != direction || m.Body[field] == nil || m.ConnID != 1 || m.Time.IsZero() {
			t.Errorf("line %d is %s, want %s", i, line, want[i])
		}
	}
}

func TestTheTestSeesTheRequestBeforeItChoosesTheReply(t *testing.T) {
	failures := piped(t, func(t *testing.T, p *mongotest.BlackPipe) {
		e := p.Expect("find").After(2 * time.Second)
		c := dialAt(t, p.Dialer().DialContext, p.Addr())
		began := time.Now()
		c.send(0, j(`{"find": "c", "filter": {"a": 1}, "$db": "test"}`))
		r := e.Request()
		if number(r.Body, "filter", "a") != 1 || r.Command != "find" || r.Database != "test" || r.ConnID != 1 {
			t.Errorf("the request is %+v", r)
		}
		e.Reply(bson.D{})
		if _, _, err := c.receive(); err != nil || time.Since(began) != 2*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
	if len(failures) > 0 {
		t.Error(failures)
	}
}

func TestABlackPipeRepliesToHandshakesUnlessAHelloIsExpected(t *testing.T) {
	for name, opts := range map[string][]mongotest.PipeOption{"set": {mongotest.SetName("rs7")}, "standalone": {mongotest.AsStandalone()}} {
		failures := piped(t, func(t *testing.T, p *mongotest.BlackPipe) {
			c := dialAt(t, p.Dialer().DialContext, p.Addr())
			reply := c.ok(`{"hello": 1, "$db": "admin"}`)
			if set, _ := reply.Lookup("setName").StringValueOK(); (set == "rs7") != (name == "set") || number(reply, "maxWireVersion") != 25 {
				t.Errorf("%s: hello is answered %v", name, reply)
			}
			p.Expect("hello").Fail(&mongotest.CommandError{Code: 91})
			if reply := c.run(`{"isMaster": 1, "$db": "admin"}`); number(reply, "code") != 91 {
				t.Errorf("an expected hello is answered %v", reply)
			}
			remove := p.Use("hello", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
				reply := next(r)
				reply.Body = mongotest.NewReply(bson.D{{Key: "maxWireVersion", Value: 3}}).Body
				return reply
			})
			if reply := c.run(`{"hello": 1, "$db": "admin"}`); number(reply, "maxWireVersion") != 3 {
				t.Errorf("hello with middleware is answered %v", reply)
			}
			remove()
			c.ok(`{"hello": 1, "$db": "admin"}`)
			c.ok(`{"endSessions": [], "$db": "admin"}`)
		}, append(opts, mongotest.Version("8.0"))...)
		if len(failures) > 0 {
			t.Error(failures)
		}
	}
}

func TestABlackPipeOnTCPWithADriver(t *testing.T) { driverOnPipe(t, mongotest.RunBlackPipeT(t)) }

func TestABlackPipeInMemoryWithADriver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		driverOnPipe(t, mongotest.RunBlackPipeT(t, mongotest.InMemory(), mongotest.Latency(time.Millisecond, time.Millisecond)))
	})
}

// driverOnPipe has the official driver as the client: it retries what the pipe breaks.
func driverOnPipe(t *testing.T, p *mongotest.BlackPipe) {
	ctx := context.Background()
	client := must[*mongo.Client](t)(mongo.Connect(options.Client().ApplyURI(p.URI()).SetDialer(p.Dialer()).
		SetHeartbeatInterval(500 * time.Millisecond)))
	retries := func(r *mongotest.Request) bool { return r.TxnNumber == 1 }
	p.Expect("insert", retries).CloseConnection()
	p.Expect("insert", retries).Reply(bson.D{{Key: "n", Value: 1}})
	p.Expect("find").Send(&mongotest.Reply{Body: mongotest.NewReply(bson.D{}).Body, Lost: true, CutAfter: 17})
	p.Expect("find").Fail(&mongotest.CommandError{Code: 50, Message: "it took too long"})
	c := client.Database("test").Collection("c")
	if _, err := c.InsertOne(ctx, bson.D{{Key: "_id", Value: 1}}); err != nil {
		t.Error(err)
	}
	if err := c.FindOne(ctx, bson.D{}).Err(); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Errorf("the find's error is %v", err)
	}
	if err := client.Disconnect(ctx); err != nil {
		t.Error(err)
	}
}

func TestOptionsThatABlackPipeCannotHave(t *testing.T) {
	for want, opts := range map[string][]mongotest.PipeOption{
		"ExpectTimeout(0s): it must be positive":              {mongotest.ExpectTimeout(0)},
		"SetName: the name is empty":                          {mongotest.SetName("")},
		"Latency needs InMemory":                              {mongotest.Latency(1, 2)},
		"Listen: 2 addresses for a black pipe, which has one": {mongotest.Listen("127.0.0.1:0", "127.0.0.1:0")},
		"one of the options is nil":                           {nil},
	} {
		if _, err := mongotest.RunBlackPipe(opts...); err == nil || err.Error() != "mongotest: "+want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

func TestABlackPipeWithoutATestReturnsItsFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, c := range []struct {
			name, want string
			do         func(*mongotest.BlackPipe, *rawClient)
		}{
			{"an unexpected message", "ping came on connection 1; nothing was expected", func(_ *mongotest.BlackPipe, c *rawClient) {
				c.send(0, j(`{"ping": 1, "$db": "admin"}`))
				if _, _, err := c.receive(); err == nil {
					t.Error("it was answered")
				}
			}},
			{"an expected message that does not come", "ping did not come within 5s", func(p *mongotest.BlackPipe, _ *rawClient) {
				if r := p.Expect("ping").Request(); r != nil {
					t.Errorf("it came: %+v", r)
				}
			}},
			{"an expected message that did not come", "ping did not come before the pipe was closed", func(p *mongotest.BlackPipe, _ *rawClient) {
				p.Expect("ping")
			}},
			{"nothing", "", func(p *mongotest.BlackPipe, c *rawClient) {
				p.Expect("ping").Reply(bson.D{})
				c.ok(`{"ping": 1, "$db": "admin"}`)
				if m := p.Transcript(); len(m) != 2 || m[0].Reply || !m[1].Reply || m[1].ResponseTo != m[0].RequestID {
					t.Errorf("the transcript is %v", m)
				}
			}},
		} {
			p := must[*mongotest.BlackPipe](t)(mongotest.RunBlackPipe(mongotest.InMemory()))
			c.do(p, dialAt(t, p.Dialer().DialContext, p.Addr()))
			err := p.Close()
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("%s: the failure is %v, want %q", c.name, err, c.want)
			}
		}
	})
}

func TestMisuseOfABlackPipePanics(t *testing.T) {
	piped(t, func(_ *testing.T, p *mongotest.BlackPipe) {
		e := p.Expect("find")
		for want, f := range map[string]func(){
			"Use: the middleware of find is nil":        func() { p.Use("find", nil) },
			"Expect: condition 0 of find is nil":        func() { p.Expect("find", nil) },
			"Send: the reply to find is nil":            func() { e.Send(nil) },
			"Send: the reply to find has nothing in it": func() { e.Send(&mongotest.Reply{ResponseTo: 7}) },
			"Fail: the error for find is nil":           func() { e.Fail(nil) },
			"While: the condition is nil":               func() { mongotest.While(nil, mongotest.Fault{}) },
			"Decide: the function is nil":               func() { mongotest.Decide(nil) },
		} {
			if got := panics(f); got != "mongotest: "+want {
				t.Errorf("%q, want %q", got, want)
			}
		}
		e.CloseConnection()
		if got, want := panics(func() { e.Reply(bson.D{}) }), "mongotest: the black pipe: find is already answered"; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	})
}

func TestAnEmptyReplyOfMiddlewareIsAnError(t *testing.T) {
	empty := func(*mongotest.Request, mongotest.Handler) *mongotest.Reply { return &mongotest.Reply{Silent: true} }
	answered := func(place string, c *rawClient) {
		c.send(wire.MoreToCome, j(`{"ping": 1, "$db": "admin"}`)) // wants none
		if reply := c.run(`{"ping": 1, "$db": "admin"}`); number(reply, "code") != 238 {
			t.Errorf("%s: %v", place, reply)
		}
	}
	if failures := piped(t, func(t *testing.T, p *mongotest.BlackPipe) {
		p.Use("ping", empty)
		answered("a pipe", dialAt(t, p.Dialer().DialContext, p.Addr()))
	}); failures != nil {
		t.Error(failures)
	}
	p := mongotest.RunProxyT(t, mongotest.RunReplicaSetT(t, 1).Addr())
	p.Use("ping", empty)
	answered("a proxy", dialAt(t, new(net.Dialer).DialContext, p.Addr(0)))
}

func TestAProxyRefusesNilOptions(t *testing.T) {
	for want, opt := range map[string]mongotest.ProxyOption{
		"one of the options is nil": nil, "ProxyDial: the function is nil": mongotest.ProxyDial(nil),
	} {
		if _, err := mongotest.RunProxy("127.0.0.1:1", opt); err == nil || err.Error() != "mongotest: "+want {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

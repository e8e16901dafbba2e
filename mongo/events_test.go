package mongo_test

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// heard is what a listener of commands was told.
type heard struct {
	mu        sync.Mutex
	started   []*event.CommandStartedEvent
	succeeded []*event.CommandSucceededEvent
	failed    []*event.CommandFailedEvent
}

func (h *heard) monitor() *event.CommandMonitor {
	return &event.CommandMonitor{
		Started: func(_ context.Context, ev *event.CommandStartedEvent) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.started = append(h.started, ev)
		},
		Succeeded: func(_ context.Context, ev *event.CommandSucceededEvent) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.succeeded = append(h.succeeded, ev)
		},
		Failed: func(_ context.Context, ev *event.CommandFailedEvent) {
			h.mu.Lock()
			defer h.mu.Unlock()
			h.failed = append(h.failed, ev)
		},
	}
}

// Command Logging and Monitoring, "Events API": a reply that is ok is a success, whatever it says of statements.
func TestTheEventsOfACommand(t *testing.T) {
	const delay = 3 * time.Millisecond
	for _, c := range []struct {
		name    string
		fault   mongotest.Fault
		do      func(w *world) error
		command string
		ok      bool
		failure string // in the event's error
	}{
		{"it succeeds", mongotest.Fault{Delay: delay}, updateOne, "update", true, ""},
		{"a statement fails", mongotest.Fault{Delay: delay}, func(w *world) error {
			_, err := w.coll.InsertOne(w.ctx, doc("_id", 1))
			return err
		}, "insert", true, ""},
		{"it is refused", mongotest.Fault{Delay: delay, Error: &mongotest.CommandError{Code: 13, Message: "no"}}, updateOne, "update", false, "no"},
		{"its connection breaks", mongotest.Fault{Delay: delay, LoseRequest: true}, runUpdate, "update", false, "EOF"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var h heard
			in(t, func(o *options.ClientOptions) { o.SetMonitor(h.monitor()) }, func(w *world) {
				w.seed()
				h.started, h.succeeded, h.failed = nil, nil, nil
				w.script(c.command, c.fault)
				err := c.do(w)
				var common event.CommandFinishedEvent
				switch {
				case len(h.started) != 1 || len(h.succeeded)+len(h.failed) != 1 || (len(h.succeeded) == 1) != c.ok:
					t.Fatalf("%d started, %d succeeded, %d failed: %v", len(h.started), len(h.succeeded), len(h.failed), err)
				case c.ok:
					common = h.succeeded[0].CommandFinishedEvent
					if h.succeeded[0].Reply.Validate() != nil || !h.succeeded[0].Reply.Lookup("ok").IsNumber() {
						t.Errorf("the reply is %v", h.succeeded[0].Reply)
					}
				default:
					common = h.failed[0].CommandFinishedEvent
					if !strings.Contains(h.failed[0].Failure.Error(), c.failure) {
						t.Errorf("the failure is %v", h.failed[0].Failure)
					}
				}
				s := h.started[0]
				id := int64(-1)
				if common.ServerConnectionID != nil {
					id = *common.ServerConnectionID
				}
				if common.CommandName != c.command || s.CommandName != c.command || common.DatabaseName != "test" ||
					s.DatabaseName != "test" || common.RequestID != s.RequestID || common.RequestID == 0 ||
					common.ConnectionID != s.ConnectionID || common.ConnectionID != fmt.Sprintf("%s[-1]", w.set.Addr(0)) ||
					s.ServerConnectionID == nil || *s.ServerConnectionID != id || id <= 0 || common.Duration != delay {
					t.Errorf("started %+v, finished %+v", s, common)
				}
			})
		})
	}
}

// A listener needs not want every kind of event.
func TestAListenerMayWantSomeEventsOnly(t *testing.T) {
	for name, monitor := range map[string]*event.CommandMonitor{
		"none": {}, "the beginnings": {Started: (&heard{}).monitor().Started},
		"the successes": {Succeeded: (&heard{}).monitor().Succeeded}, "the failures": {Failed: (&heard{}).monitor().Failed},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(o *options.ClientOptions) { o.SetMonitor(monitor) }, func(w *world) {
				w.seed()
				w.must(updateOne(w))
				w.script("update", refuse(13))
				checkCode(t, updateOne(w), 13)
			})
		})
	}
}

// onPipe connects to a server of which the test says what it answers.
func onPipe(t *testing.T, configure func(*options.ClientOptions), f func(t *testing.T, p *mongotest.BlackPipe, coll *mongo.Collection), opts ...mongotest.PipeOption) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p := mongotest.RunBlackPipeT(t, append(opts, mongotest.InMemory())...)
		o := options.Client().ApplyURI(p.URI()).SetDialer(p.Dialer())
		if configure != nil {
			configure(o)
		}
		client, err := mongo.Connect(o)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = client.Disconnect(t.Context()) }()
		f(t, p, client.Database("test").Collection("c"))
	})
}

// names returns the names of a document's fields.
func names(t *testing.T, raw bson.Raw) []string {
	t.Helper()
	elements, err := raw.Elements()
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, element := range elements {
		out = append(out, element.Key())
	}
	return out
}

var (
	found   = doc("cursor", doc("id", int64(0), "ns", "test.c", "firstBatch", []d{doc("_id", 1)}))
	written = doc("n", 1)
)

// Every command has these fields besides its own.
func TestWhatEveryCommandCarries(t *testing.T) {
	time1, time2 := doc("clusterTime", bson.Timestamp{T: 5}), doc("clusterTime", bson.Timestamp{T: 7})
	gossip := func(reply, clusterTime d) d {
		return append(append(d{}, reply...), e{Key: "$clusterTime", Value: clusterTime})
	}
	find := func(t *testing.T, coll *mongo.Collection) {
		t.Helper()
		if err := coll.FindOne(t.Context(), doc("_id", 1)).Err(); err != nil {
			t.Error(err)
		}
	}
	insert := func(t *testing.T, coll *mongo.Collection) {
		t.Helper()
		if _, err := coll.InsertOne(t.Context(), doc("_id", 1)); err != nil {
			t.Error(err)
		}
	}
	for _, c := range []struct {
		name      string
		configure func(*options.ClientOptions)
		set       []mongotest.PipeOption
		want      [][]string // of each command, the fields from the collection's on that are not the command's own
	}{
		{"a member", nil, nil, [][]string{
			{"lsid", "$db"}, {"lsid", "$clusterTime", "$db"}, {"lsid", "txnNumber", "$clusterTime", "$db"},
		}},
		{"a standalone", nil, []mongotest.PipeOption{mongotest.AsStandalone()}, [][]string{
			{"lsid", "$db"}, {"lsid", "$db"}, {"lsid", "$db"},
		}},
		{"a member of 3.6", nil, []mongotest.PipeOption{mongotest.Version("3.6")}, [][]string{
			{"lsid", "$db"}, {"lsid", "$clusterTime", "$db"}, {"lsid", "txnNumber", "$clusterTime", "$db"},
		}},
		{"a read concern", func(o *options.ClientOptions) { o.SetReadConcern(readconcern.Majority()) }, nil, [][]string{
			{"readConcern", "lsid", "$db"}, {"readConcern", "lsid", "$clusterTime", "$db"}, {"lsid", "txnNumber", "$clusterTime", "$db"},
		}},
		{"an empty read concern", func(o *options.ClientOptions) { o.SetReadConcern(&readconcern.ReadConcern{}) }, nil, [][]string{
			{"lsid", "$db"}, {"lsid", "$clusterTime", "$db"}, {"lsid", "txnNumber", "$clusterTime", "$db"},
		}},
		{"a timeout", func(o *options.ClientOptions) { o.SetTimeout(time.Second) }, nil, [][]string{
			{"maxTimeMS", "lsid", "$db"},
			{"maxTimeMS", "lsid", "$clusterTime", "$db"},
			{"maxTimeMS", "lsid", "txnNumber", "$clusterTime", "$db"},
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			onPipe(t, c.configure, func(t *testing.T, p *mongotest.BlackPipe, coll *mongo.Collection) {
				first := p.Expect("find").Reply(gossip(found, time1))
				second := p.Expect("find").Reply(gossip(found, time2))
				third := p.Expect("insert").Reply(gossip(written, time1))
				find(t, coll)
				find(t, coll)
				insert(t, coll)
				for i, x := range []*mongotest.Expectation{first, second, third} {
					got := names(t, x.Request().Body)
					for len(got) > 0 && !isCommon(got[0]) {
						got = got[1:]
					}
					if i == 2 && len(got) > 0 { // the document sequence is shown behind
						got = got[:len(got)-1]
					}
					if fmt.Sprint(got) != fmt.Sprint(c.want[i]) {
						t.Errorf("command %d has %v, want %v", i+1, got, c.want[i])
					}
				}
				if len(c.want[2]) < 3 {
					return
				}
				if told, err := third.Request().Body.LookupErr("$clusterTime", "clusterTime"); err != nil || told.String() != bsonText(t, bson.Timestamp{T: 7}) {
					t.Errorf("the third command tells the time %v", told)
				}
			}, c.set...)
		})
	}
}

func isCommon(name string) bool {
	switch name {
	case "maxTimeMS", "readConcern", "writeConcern", "lsid", "txnNumber", "$clusterTime", "$readPreference", "$db":
		return true
	}
	return false
}

func bsonText(t *testing.T, value any) string {
	t.Helper()
	kind, raw, err := bson.MarshalValue(value)
	if err != nil {
		t.Fatal(err)
	}
	return bson.RawValue{Type: kind, Value: raw}.String()
}

// The command that is refused before it is sent names the server's limit.
func TestAMessageOverTheServersLimitIsNotSent(t *testing.T) {
	const limit = 2000
	for _, c := range []struct {
		pad  int
		sent bool
	}{{1000, true}, {2000, false}} {
		onPipe(t, nil, func(t *testing.T, p *mongotest.BlackPipe, coll *mongo.Collection) {
			p.Use("hello", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
				reply := next(r)
				var fields d
				if err := bson.Unmarshal(reply.Body, &fields); err != nil {
					t.Error(err)
				}
				for i := range fields {
					if fields[i].Key == "maxMessageSizeBytes" {
						fields[i].Value = int32(limit)
					}
				}
				return mongotest.NewReply(fields)
			})
			if c.sent {
				p.Expect("find").Reply(found)
			}
			err := coll.FindOne(t.Context(), doc("pad", string(make([]byte, c.pad)))).Err()
			if (err == nil) != c.sent || !c.sent && !strings.Contains(err.Error(), "over the server's maxMessageSizeBytes of 2000") {
				t.Errorf("with %d bytes: %v", c.pad, err)
			}
		})
	}
}

// The header of a message: a request id of its own, which the events tell, and an answer to nothing.
func TestTheHeaderOfARequest(t *testing.T) {
	var h heard
	var mu sync.Mutex
	var headers []wire.Header
	in(t, func(o *options.ClientOptions) {
		inner := o.Dialer
		o.SetMonitor(h.monitor()).SetDialer(dialerFunc(func(ctx context.Context, network, address string) (net.Conn, error) {
			nc, err := inner.DialContext(ctx, network, address)
			return tapped{nc, func(b []byte) {
				mu.Lock()
				defer mu.Unlock()
				if header, err := wire.ParseHeader(b); err == nil && header.OpCode == wire.OpMsg && commandOf(b) != "hello" { // monitors count for themselves
					headers = append(headers, header)
				}
			}}, err
		}))
	}, func(w *world) {
		for range 3 {
			w.must(writes[0].do(w.ctx, w.coll))
		}
		sent := map[int64]int{}
		for _, header := range headers {
			if header.ResponseTo != 0 {
				t.Errorf("a request answers %d", header.ResponseTo)
			}
			sent[int64(header.RequestID)]++
		}
		for _, ev := range h.started {
			if sent[ev.RequestID] != 1 {
				t.Errorf("%d messages have the request id %d", sent[ev.RequestID], ev.RequestID)
			}
		}
	})
}

// commandOf returns the name of a message's command.
func commandOf(message []byte) string {
	m, err := wire.ParseMsg(message)
	if err != nil {
		return ""
	}
	first, err := bson.Raw(m.Body).IndexErr(0)
	if err != nil {
		return ""
	}
	return first.Key()
}

// tapped is a connection of which a test sees each message that is written.
type tapped struct {
	net.Conn
	written func([]byte)
}

func (c tapped) Write(b []byte) (int, error) {
	c.written(b)
	return c.Conn.Write(b)
}

package mongo_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// The prose tests of the SDAM, Server Selection, CMAP and Command Logging specifications. Each is named after its heading.

// failHello makes the next hellos of an application fail.
func failHello(w *world, application string, times int32) {
	w.Helper()
	w.must(w.client.Database("admin").RunCommand(w.ctx, bson.D{
		{Key: "configureFailPoint", Value: "failCommand"},
		{Key: "mode", Value: bson.D{{Key: "times", Value: times}}},
		{Key: "data", Value: bson.D{
			{Key: "failCommands", Value: bson.A{"hello", "isMaster"}}, {Key: "errorCode", Value: 1234}, {Key: "appName", Value: application},
		}},
	}).Err())
}

// another connects a second client to the set's member.
func (w *world) another(member int, uriOptions string, configure func(*options.ClientOptions)) *mongo.Client {
	w.Helper()
	o := options.Client().ApplyURI("mongodb://" + w.set.Addr(member) + "/?" + uriOptions).SetDialer(w.set.Dialer())
	if configure != nil {
		configure(o)
	}
	client, err := mongo.Connect(o)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	return client
}

func TestProseSDAMAllServersUnavailable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client, err := mongo.Connect(options.Client().ApplyURI("mongodb://a,b,c/?replicaSet=rs").SetDialer(noNetwork{func() error { return errors.New("no network") }}))
		if err != nil {
			t.Fatal(err)
		}
		_ = client.Disconnect(t.Context())
	})
}

// noNetwork is a dialer without a network.
type noNetwork struct{ dial func() error }

// DialContext implements [options.ContextDialer].
func (n noNetwork) DialContext(context.Context, string, string) (net.Conn, error) {
	return nil, n.dial()
}

// poolEventsOf returns the pool events of a type.
func (w *world) poolEventsOf(kind string) []*event.PoolEvent {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(w.pool), func(e *event.PoolEvent) bool { return e.Type != kind })
}

// kinds records the changes of a client's servers and topology.
type kinds struct {
	mu      sync.Mutex
	servers map[string]string
	set     string
}

func (k *kinds) monitor() *event.ServerMonitor {
	return &event.ServerMonitor{TopologyDescriptionChanged: func(e *event.TopologyDescriptionChangedEvent) {
		k.mu.Lock()
		defer k.mu.Unlock()
		k.set, k.servers = e.NewDescription.Kind, make(map[string]string)
		for _, s := range e.NewDescription.Servers {
			k.servers[string(s.Addr)] = s.Kind
		}
	}}
}

func (k *kinds) now(address string) (server, set string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.servers[address], k.set
}

func TestProseSDAMErrorsOfOperations(t *testing.T) {
	for _, c := range []struct {
		name   string
		member int
		do     func(w *world) error
		fault  func() (command string, f mongotest.Fault)
		set    string
		again  bool // a check follows at once
	}{
		{"Network error writing to primary", 0, insertOneOf, func() (string, mongotest.Fault) { return "insert", loseReply }, "ReplicaSetNoPrimary", false},
		{"Not writable primary error when reading without SecondaryOk bit", 0, findOneOrNone, func() (string, mongotest.Fault) { return "find", refuse(13435) }, "ReplicaSetNoPrimary", true},
		{"Node is recovering error reading with SecondaryOk bit", 1, secondaryRead, func() (string, mongotest.Fault) { return "find", refuse(11600) }, "ReplicaSetWithPrimary", true},
		{"Node is recovering error from a write concern error", 0, insertOneOf, func() (string, mongotest.Fault) {
			return "insert", mongotest.Fault{Error: &mongotest.CommandError{Code: 91, Name: "ShutdownInProgress", Message: "Replication is being shut down"}}
		}, "ReplicaSetNoPrimary", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := new(kinds)
			in(t, func(o *options.ClientOptions) {
				poll(o)
				o.SetServerMonitor(k.monitor()).SetRetryReads(false).SetRetryWrites(false)
			}, func(w *world) {
				w.seed()
				w.must(w.set.WaitIdle(w.ctx))
				w.pass(time.Second) // a check that was requested during the first one is over
				var checks [3]atomic.Int64
				failed := c.member
				command, fault := c.fault()
				w.set.Use("hello", mongotest.Decide(func(r *mongotest.Request) mongotest.Fault {
					checks[r.Member].Add(1)
					return mongotest.Fault{Delay: 100 * time.Millisecond} // so that the check ends after the operation
				}))
				w.heal = w.set.Use(command, mongotest.FaultOnce(fault))
				err := c.do(w)
				if err == nil {
					t.Fatal("the operation succeeds")
				}
				server, set := k.now(w.set.Addr(c.member))
				if c.member == 1 && server != "Unknown" { // either secondary was read
					failed = 2
					server, set = k.now(w.set.Addr(2))
				}
				if server != "Unknown" || set != c.set {
					t.Errorf("the server is %s, the topology %s, want Unknown and %s", server, set, c.set)
				}
				w.pass(3 * time.Second)
				if got := checks[failed].Load() > 0; got != c.again {
					t.Errorf("the server was checked again: %t", got)
				}
			})
		})
	}
}

func secondaryRead(w *world) error {
	coll := w.client.Database("test").Collection("c", options.Collection().SetReadPreference(readpref.Secondary()))
	err := coll.FindOne(w.ctx, d{}).Err()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil
	}
	return err
}

func TestProseSDAMTopologyDiscoveryAndDirectConnection(t *testing.T) {
	for _, c := range []struct {
		name, option string
		code         int
	}{
		{"Topology discovery", "directConnection=false", 0},
		{"Direct connection", "directConnection=true", 10107},
		{"Existing behavior: discovery", "", 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				w.seed()
				client := w.another(1, c.option, nil)
				_, err := client.Database("test").Collection("c").InsertOne(w.ctx, d{})
				if c.code == 0 {
					w.must(err)
					return
				}
				checkCode(t, err, c.code)
			})
		})
	}
}

func TestProseSDAMMonitorsSleepAtLeastMinHeartbeatFrequencyMSBetweenChecks(t *testing.T) {
	in(t, nil, func(w *world) {
		const application = "SDAMMinHeartbeatFrequencyTest"
		failHello(w, application, 5)
		client := w.another(0, "directConnection=true&serverSelectionTimeoutMS=5000&appName="+application, nil)
		began := time.Now()
		w.must(client.Ping(w.ctx, nil))
		if took := time.Since(began); took < 2*time.Second || took > 3500*time.Millisecond {
			t.Errorf("the ping took %v", took)
		}
	})
}

func TestProseSDAMConnectionPoolManagement(t *testing.T) {
	in(t, nil, func(w *world) {
		const application = "SDAMPoolManagementTest"
		var mu sync.Mutex
		var events []string
		add := func(name string) {
			mu.Lock()
			defer mu.Unlock()
			events = append(events, name)
		}
		taken := func() []string {
			mu.Lock()
			defer mu.Unlock()
			e := slices.Compact(events)
			events = nil
			return e
		}
		w.another(0, "directConnection=true&heartbeatFrequencyMS=500&appName="+application, func(o *options.ClientOptions) {
			o.SetServerMonitor(&event.ServerMonitor{
				ServerHeartbeatSucceeded: func(*event.ServerHeartbeatSucceededEvent) { add("heartbeat succeeded") },
				ServerHeartbeatFailed:    func(*event.ServerHeartbeatFailedEvent) { add("heartbeat failed") },
			})
			o.SetPoolMonitor(&event.PoolMonitor{Event: func(e *event.PoolEvent) {
				if strings.HasPrefix(e.Type, "ConnectionPool") && e.Type != event.ConnectionPoolCreated {
					add(e.Type)
				}
			}})
		})
		w.pass(300 * time.Millisecond)
		if got := taken(); !slices.Equal(got, []string{"heartbeat succeeded", event.ConnectionPoolReady}) {
			t.Errorf("at the start: %q", got)
		}
		failHello(w, application, 2)
		w.pass(3 * time.Second)
		got := taken()
		failed, cleared := slices.Index(got, "heartbeat failed"), slices.Index(got, event.ConnectionPoolCleared)
		ready := slices.Index(got, event.ConnectionPoolReady)
		if failed < 0 || cleared < failed || ready < cleared || got[len(got)-1] != "heartbeat succeeded" && got[len(got)-1] != event.ConnectionPoolReady {
			t.Errorf("with the fail point: %q", got)
		}
	})
}

// "Streaming protocol Tests": with heartbeatFrequencyMS=500 the hellos of the stream come every 500 ms.
func TestProseSDAMStreamingProtocol(t *testing.T) {
	for name, c := range map[string]struct {
		run     func() (*mongotest.Deployment, error)
		servers int64
	}{"a standalone": {standalone, 1}, "a replica set": {replicaSet, 3}, "a sharded cluster": {sharded(2), 2}} {
		t.Run(name, func(t *testing.T) {
			var awaited atomic.Int64
			inside(t, c.run, func(o *options.ClientOptions) {
				o.SetHeartbeatInterval(500 * time.Millisecond)
				o.SetServerMonitor(&event.ServerMonitor{ServerHeartbeatSucceeded: func(e *event.ServerHeartbeatSucceededEvent) {
					if e.Awaited {
						awaited.Add(1)
					}
				}})
			}, func(w *world) {
				w.pass(time.Second) // all servers are known
				before := awaited.Load()
				w.pass(5 * time.Second)
				if got := awaited.Load() - before; got < 9*c.servers || got > 11*c.servers {
					t.Errorf("%d hellos of the streams in 5 s, want some 10 for each of %d servers", got, c.servers)
				}
			})
		})
	}
}

// "Parsing \"not writable primary\" and \"node is recovering\" errors". Servers of today send a code; without a code the texts
// of older servers count.
func TestProseSDAMParsingErrors(t *testing.T) {
	for _, c := range []struct {
		message string
		fields  bson.D
		unknown bool
	}{
		{"not writable primary", doc("code", 10107), true},
		{"any text", doc("code", 10107), true},
		{"node is recovering", doc("code", 13436), true},
		{"not master", nil, true},
		{"not master or secondary; cannot currently read from this replSet member", nil, true},
		{"node is recovering", nil, true},
		{"not master", doc("code", 1), false},
		{"an error of another kind", nil, false},
	} {
		for _, codeFirst := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s %v %t", c.message, c.fields, codeFirst), func(t *testing.T) {
				k := new(kinds)
				in(t, func(o *options.ClientOptions) {
					poll(o)
					o.SetServerMonitor(k.monitor()).SetRetryWrites(false)
				}, func(w *world) {
					w.seed()
					w.pass(time.Second)
					reply := slices.Concat(doc("ok", 0), c.fields, doc("errmsg", c.message))
					if !codeFirst {
						slices.Reverse(reply)
					}
					w.heal = w.set.Use("insert", func(*mongotest.Request, mongotest.Handler) *mongotest.Reply { return mongotest.NewReply(reply) })
					w.set.Use("hello", mongotest.Always(mongotest.Fault{Delay: 100 * time.Millisecond})) // so that the check ends later
					if insertOneOf(w) == nil {
						t.Fatal("the insert succeeds")
					}
					if server, _ := k.now(w.set.Addr(0)); (server == "Unknown") != c.unknown {
						t.Errorf("the server is %s", server)
					}
				})
			})
		}
	}
}

// Server Selection, "ReadPreference Document Validation".
func TestProseServerSelectionPrimaryWithTagsIsRefused(t *testing.T) {
	if _, err := readpref.New(readpref.PrimaryMode, readpref.WithTags("a", "b")); err == nil {
		t.Error("the package readpref accepts it")
	}
	_, err := mongo.Connect(options.Client().ApplyURI("mongodb://a/?readPreference=primary&readPreferenceTags=a:b"))
	if err == nil || !strings.Contains(err.Error(), "tag") {
		t.Errorf("a connection string with it: %v", err)
	}
}

// "Heartbeat Tests": the event is published before the socket is created.
func TestProseSDAMHeartbeatStartedBeforeTheSocketIsCreated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		var order []string
		add := func(what string) error {
			mu.Lock()
			defer mu.Unlock()
			order = append(order, what)
			return errors.New(what)
		}
		client, err := mongo.Connect(options.Client().ApplyURI("mongodb://a/").SetDialer(noNetwork{func() error { return add("dialled") }}).
			SetServerMonitor(&event.ServerMonitor{
				ServerHeartbeatStarted: func(*event.ServerHeartbeatStartedEvent) { _ = add("started") },
				ServerHeartbeatFailed:  func(*event.ServerHeartbeatFailedEvent) { _ = add("failed") },
			}))
		if err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		_ = client.Disconnect(t.Context())
		if want := []string{"started", "dialled", "failed"}; !slices.Equal(order, want) {
			t.Errorf("%q, want %q", order, want)
		}
	})
}

// Server Selection: operations avoid a mongos that is slow, by their number in flight.
func TestProseServerSelectionLoadBalancing(t *testing.T) {
	inside(t, sharded(2), func(o *options.ClientOptions) { o.SetAppName("loadBalancingTest").SetLocalThreshold(30 * time.Second) }, func(w *world) {
		w.seed()
		count := func(threads, each int) (slow, all int) {
			w.forget()
			var group sync.WaitGroup
			for range threads {
				group.Go(func() {
					for range each {
						w.must(findOneOrNone(w))
					}
				})
			}
			group.Wait()
			for _, e := range w.started("find") {
				all++
				if strings.HasPrefix(e.ConnectionID, w.set.MongosAddr(1)) {
					slow++
				}
			}
			return slow, all
		}
		w.heal = w.set.Use("find", mongotest.While(func(r *mongotest.Request) bool { return r.Mongos == 1 }, mongotest.Fault{Delay: 500 * time.Millisecond}))
		w.set.Use("find", mongotest.Always(mongotest.Fault{Delay: time.Millisecond}))
		count(10, 1) // the pools are filled
		if slow, all := count(10, 10); slow*4 >= all {
			t.Errorf("%d of %d reads went to the slow mongos", slow, all)
		}
		w.heal()
		if second, all := count(10, 100); second*10 < all*4 || second*10 > all*6 {
			t.Errorf("%d of %d reads went to the second mongos", second, all)
		}
	})
}

func TestProseCMAP(t *testing.T) {
	const uri = "&minPoolSize=2&maxPoolSize=7&maxIdleTimeMS=9000&maxConnecting=2"
	in(t, func(o *options.ClientOptions) { o.ApplyURI(o.GetURI() + uri) }, func(w *world) {
		w.pass(time.Second)
		t.Log("1 to 4: the options are those of the client, in a URI, and the same for all pools; PoolMonitor hears of them")
		pools := 0
		for _, e := range w.poolEventsOf(event.ConnectionPoolCreated) {
			pools++
			if o := e.PoolOptions; o == nil || o.MinPoolSize != 2 || o.MaxPoolSize != 7 {
				t.Errorf("the options of %s are %+v", e.Address, o)
			}
		}
		if pools != 3 {
			t.Errorf("%d pools", pools)
		}
	})
	in(t, poll, func(w *world) {
		w.seed()
		w.disconnected()
		w.greet(func(int) mongotest.Fault { return refuse(18) })
		if updateOne(w) == nil {
			t.Fatal("it succeeds")
		}
		t.Log("5: a checkout that fails by its connection has the reason connectionError")
		failed := w.poolEventsOf(event.ConnectionCheckOutFailed)
		if len(failed) == 0 || failed[0].Reason != event.ReasonConnectionErrored || failed[0].Error == nil {
			t.Errorf("%+v", failed)
		}
	})
}

func TestProseCommandLoggingTruncation(t *testing.T) {
	const ellipsis = len("...")
	docs := make([]any, 100)
	for i := range docs {
		docs[i] = bson.D{{Key: "x", Value: "y"}}
	}
	text := func(m []logMessage, key string) string { return fmt.Sprint(m[len(m)-1].fields[key]) }
	log, configure := logging(options.LogLevelDebug)
	in(t, configure, func(w *world) {
		_, err := w.coll.InsertMany(w.ctx, docs)
		w.must(err)
		if got := len(text(log.with("Command started"), "command")); got != 1000+ellipsis {
			t.Errorf("test 1: the command has %d bytes", got)
		}
		if got := len(text(log.with("Command succeeded"), "reply")); got > 1000+ellipsis {
			t.Errorf("test 1: the reply has %d bytes", got)
		}
		cursor, err := w.coll.Find(w.ctx, d{})
		w.must(err)
		afterFind := log.with("Command succeeded")
		w.must(cursor.Close(w.ctx))
		if got := len(text(afterFind, "reply")); got != 1000+ellipsis {
			t.Errorf("test 1: the reply of find has %d bytes", got)
		}
	})
	short, _ := logging(options.LogLevelDebug)
	in(t, func(o *options.ClientOptions) {
		o.SetLoggerOptions(options.Logger().SetSink(short).SetMaxDocumentLength(5).SetComponentLevel(options.LogComponentCommand, options.LogLevelDebug))
	}, func(w *world) {
		w.must(w.client.Database("test").RunCommand(w.ctx, bson.D{{Key: "hello", Value: true}}).Err())
		if c, r := text(short.with("Command started"), "command"), text(short.with("Command succeeded"), "reply"); len(c) != 5+ellipsis || len(r) != 5+ellipsis {
			t.Errorf("test 2: %q and %q", c, r)
		}
	})
}

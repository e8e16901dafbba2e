package mongo_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// balanced returns a function that runs a sharded cluster with a load balancer before its mongos.
func balanced(mongos int, opts ...mongotest.Option) func() (*mongotest.Deployment, error) {
	return func() (*mongotest.Deployment, error) {
		return mongotest.RunSharded(3, mongos, append(opts, mongotest.InMemory(), mongotest.LoadBalancer())...)
	}
}

func TestOperationsBehindALoadBalancer(t *testing.T) {
	inside(t, balanced(2), nil, func(w *world) {
		for i := range 10 {
			w.must(w.insertText(i, "text"))
		}
		for _, op := range writes {
			if err := op.do(w.ctx, w.coll); err != nil && !errors.Is(err, mongo.ErrNoDocuments) { // one of them deletes it
				t.Error(err)
			}
		}
		w.must(w.coll.FindOne(w.ctx, d{}).Err())
		w.must(w.client.Ping(w.ctx, nil))
	})
}

// "When using load balancers, each getMore must be sent on the connection of its cursor."
func TestACursorBehindALoadBalancerStaysOnItsConnection(t *testing.T) {
	inside(t, balanced(3), nil, func(w *world) {
		for i := range 10 {
			w.must(w.insertText(i, "text"))
		}
		var cursors []*mongo.Cursor
		for range 4 { // all of them are open at once, so each has a connection of its own
			cursor, err := w.coll.Find(w.ctx, d{}, options.Find().SetBatchSize(2))
			w.must(err)
			cursors = append(cursors, cursor)
		}
		for _, cursor := range cursors {
			var all []bson.M
			if err := cursor.All(w.ctx, &all); err != nil || len(all) != 10 {
				t.Errorf("%d documents, %v", len(all), err)
			}
		}
		byCursor := map[int64][]string{}
		for _, ev := range w.started("getMore") {
			id := ev.Command.Lookup("getMore").AsInt64()
			byCursor[id] = append(byCursor[id], ev.ConnectionID)
		}
		seen := map[string]bool{}
		for id, connections := range byCursor {
			seen[connections[0]] = true
			if len(slices.Compact(connections)) != 1 {
				t.Errorf("cursor %d: getMore was sent on %v", id, connections)
			}
		}
		if len(byCursor) != 4 || len(seen) != 4 {
			t.Errorf("%d cursors used %d connections", len(byCursor), len(seen))
		}
		if out := w.poolEvents("ConnectionCheckedOut") - w.poolEvents("ConnectionCheckedIn"); out != 0 {
			t.Errorf("%d connections were not returned", out)
		}
	})
}

// "Drivers MUST NOT start a monitor"; the only hellos are those of application connections.
func TestALoadBalancerIsNotMonitored(t *testing.T) {
	inside(t, balanced(1, mongotest.TranscriptLimit(1000)), nil, func(w *world) {
		w.must(w.insertText(1, "text"))
		w.pass(5 * time.Minute)
		w.must(w.insertText(2, "text"))
		hellos := w.hellos()
		if len(hellos) != 1 || !strings.Contains(hellos[0], `"loadBalanced": true`) || !strings.Contains(hellos[0], `"hello"`) {
			t.Errorf("the hellos are %v", hellos)
		}
	})
}

// "Driver attempted to initialize in load balancing mode, but the server does not support this mode."
func TestAServerWithoutAServiceIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, err := mongotest.RunSharded(1, 1, mongotest.InMemory())
		if err != nil {
			t.Fatal(err)
		}
		defer set.Close()
		client, err := mongo.Connect(options.Client().ApplyURI(set.URI() + "?loadBalanced=true").SetDialer(set.Dialer()))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = client.Disconnect(context.Background()) }()
		err = client.Ping(context.Background(), nil)
		if err == nil || !strings.Contains(err.Error(), "load balancing mode, but the server does not support this mode") {
			t.Errorf("error: %v", err)
		}
	})
}

// A mongos that fails loses its own connections only: each service has a generation of its own.
func TestAFailedMongosBehindALoadBalancerLosesItsOwnConnectionsOnly(t *testing.T) {
	inside(t, balanced(2), nil, func(w *world) {
		w.must(w.insertText(1, "text"))
		var open []*mongo.Cursor
		for range 4 {
			cursor, err := w.coll.Find(w.ctx, d{}, options.Find().SetBatchSize(1))
			w.must(err)
			open = append(open, cursor)
		}
		for _, cursor := range open {
			w.must(cursor.Close(w.ctx))
		}
		w.forget()
		w.set.KillMongos(0)
		for i := range 20 {
			w.must(w.insertText(10+i, "text"))
		}
		if cleared, created := w.poolEvents("ConnectionPoolCleared"), w.poolEvents("ConnectionCreated"); cleared > 1 || created > 1 {
			t.Errorf("the pool was cleared %d times, %d connections were made: those to the other mongos are good", cleared, created)
		}
	})
}

func TestACursorWhoseMongosDiedIsLost(t *testing.T) {
	inside(t, balanced(1), nil, func(w *world) {
		for i := range 4 {
			w.must(w.insertText(i, "text"))
		}
		cursor, err := w.coll.Find(w.ctx, d{}, options.Find().SetBatchSize(2))
		w.must(err)
		w.set.KillMongos(0)
		w.set.RestartMongos(0)
		n := 0
		for cursor.Next(w.ctx) {
			n++
		}
		if n != 2 || !mongo.IsNetworkError(cursor.Err()) {
			t.Errorf("%d documents, %v", n, cursor.Err())
		}
		w.must(w.insertText(10, "text"))
		if err := cursor.Close(w.ctx); err != nil && !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	})
}

// Prose test 9 of Polling SRV Records for mongos Discovery.
func TestSRVRecordsOfALoadBalancerAreNotPolled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		set, err := balanced(2)()
		if err != nil {
			t.Fatal(err)
		}
		defer set.Close()
		z := published()
		dialer := resolving{set.Dialer(), map[string]string{h17: set.LoadBalancerAddr(0), h18: set.MongosAddr(0)}}
		client, err := mongo.Open("mongodb+srv://test3"+testDomain+"/?loadBalanced=true&tls=false", mongo.Config{Resolver: z}, options.Client().SetDialer(dialer))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = client.Disconnect(context.Background()) }()
		z.set("_mongodb._tcp.test3"+testDomain, h17, h18)
		wait(2 * rescan)
		if err := client.Ping(context.Background(), nil); err != nil {
			t.Error(err)
		}
		if got := client.Hosts(); !slices.Equal(got, []string{h17}) {
			t.Errorf("the hosts are %v", got)
		}
	})
}

// "Wait queue timeout errors include details about checked out connections."
func TestTheErrorOfAnExhaustedPoolCountsPinnedConnections(t *testing.T) {
	inside(t, balanced(1), func(o *options.ClientOptions) { o.SetMaxPoolSize(1) }, func(w *world) {
		for i := range 4 {
			w.must(w.insertText(i, "text"))
		}
		cursor, err := w.coll.Find(w.ctx, d{}, options.Find().SetBatchSize(2))
		w.must(err)
		ctx, cancel := context.WithTimeout(w.ctx, time.Second)
		defer cancel()
		_, err = w.coll.InsertOne(ctx, doc("_id", 100))
		const want = "maxPoolSize: 1, connections in use by cursors: 1, connections in use by transactions: 0, connections in use by other operations: 0"
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error: %v", err)
		}
		w.must(cursor.Close(w.ctx))
		w.must(w.insertText(100, "text"))
	})
}

func TestTheErrorOfAnExhaustedPoolCountsTheConnectionsOfTransactions(t *testing.T) {
	inside(t, balanced(1), func(o *options.ClientOptions) { o.SetMaxPoolSize(1) }, func(w *world) {
		w.seed()
		s, inTransaction := w.transaction()
		w.must(insertOne(inTransaction, w.coll))
		ctx, cancel := context.WithTimeout(w.ctx, time.Second)
		defer cancel()
		if err := insertOne(ctx, w.coll); err == nil || !strings.Contains(err.Error(), "in use by transactions: 1,") {
			t.Errorf("error: %v", err)
		}
		s.EndSession(w.ctx)
		w.must(insertOne(w.ctx, w.coll))
	})
}

// "Pinned connection": a cursor whose getMore was given up loses its connection, because the server may still use it for the
// cursor. It is closed when the cursor is closed, and not used again.
func TestAPinnedConnectionWhoseReplyWasGivenUpIsClosed(t *testing.T) {
	inside(t, balanced(1), nil, func(w *world) {
		w.insert(1, 2, 3, 4)
		cursor, err := w.coll.Find(w.ctx, d{}, options.Find().SetBatchSize(2))
		w.must(err)
		w.script("getMore", mongotest.Fault{Delay: 100 * time.Millisecond})
		ctx, cancel := context.WithTimeout(w.ctx, 50*time.Millisecond)
		defer cancel()
		for cursor.Next(ctx) {
		}
		if !errors.Is(cursor.Err(), context.DeadlineExceeded) {
			t.Errorf("error: %v", cursor.Err())
		}
		w.forget()
		w.must(cursor.Close(w.ctx))
		w.pass(time.Second)
		if closed, kills := w.poolEvents("ConnectionClosed"), len(w.started("killCursors")); closed != 1 || kills != 0 {
			t.Errorf("%d connections were closed, %d killCursors were sent", closed, kills)
		}
	})
}

func TestTheEventsBehindALoadBalancerHaveTheService(t *testing.T) {
	var services []*bson.ObjectID
	inside(t, balanced(2), func(o *options.ClientOptions) {
		o.SetMonitor(&event.CommandMonitor{
			Started:   func(_ context.Context, ev *event.CommandStartedEvent) { services = append(services, ev.ServiceID) },
			Succeeded: func(_ context.Context, ev *event.CommandSucceededEvent) { services = append(services, ev.ServiceID) },
			Failed:    func(_ context.Context, ev *event.CommandFailedEvent) { services = append(services, ev.ServiceID) },
		})
	}, func(w *world) {
		w.must(w.insertText(1, "text"))
		if err := w.insertText(1, "text"); err == nil {
			t.Error("the second insert succeeds")
		}
		w.script("find", mongotest.Fault{LoseReply: true})
		w.must(w.coll.FindOne(w.ctx, d{}).Err())
		if len(services) != 8 {
			t.Errorf("%d events", len(services))
		}
		for _, id := range services {
			if id == nil || id.IsZero() {
				t.Errorf("the services are %v", services)
			}
		}
	})
}

// Load Balancers, "Session Support" and "Session Expiration": sessions are always supported, and they do not expire,
// whatever logicalSessionTimeoutMinutes says.
func TestBehindALoadBalancerTheSessionTimeoutIsIgnored(t *testing.T) {
	for name, timeout := range map[string]any{"it is short": int32(2), "there is none": nil} {
		t.Run(name, func(t *testing.T) {
			inside(t, balanced(1), nil, func(w *world) {
				defer w.set.Use("hello", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
					reply := next(r)
					if reply == nil || reply.Body == nil {
						return reply
					}
					var body d
					if err := bson.Unmarshal(reply.Body, &body); err != nil {
						t.Error(err)
					}
					body = slices.DeleteFunc(body, func(f e) bool { return f.Key == "logicalSessionTimeoutMinutes" })
					if timeout != nil {
						body = append(body, e{Key: "logicalSessionTimeoutMinutes", Value: timeout})
					}
					return mongotest.NewReply(body)
				})()
				w.must(insertOne(w.ctx, w.coll))
				w.pass(time.Hour)
				w.must(insertOne(w.ctx, w.coll))
				s, ctx := w.session()
				defer s.EndSession(w.ctx)
				w.must(insertOne(ctx, w.coll))
				if used := w.lsids("insert"); used[0] != used[1] || used[1] != used[2] || used[0] == "" {
					t.Errorf("the sessions are %v", used)
				}
			})
		})
	}
}

// resolvesNothing is a dialer that cannot look the host up.
type resolvesNothing struct{ dials atomic.Int64 }

func (r *resolvesNothing) DialContext(context.Context, string, string) (net.Conn, error) {
	r.dials.Add(1)
	return nil, &net.DNSError{Err: "no such host", Name: "balancer", IsNotFound: true}
}

// With a deadline the retries go on until the deadline. Behind a load balancer the topology never changes, so nothing else
// prevents thousands of them.
func TestBehindALoadBalancerRetriesAreAtLeastHalfASecondApart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var dialer resolvesNothing
		client, err := mongo.Connect(options.Client().ApplyURI("mongodb://balancer/?loadBalanced=true").SetDialer(&dialer))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = client.Disconnect(context.Background()) }()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := client.Database("test").Collection("c").FindOne(ctx, d{}).Err(); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error: %v", err)
		}
		if n := dialer.dials.Load(); n < 10 || n > 22 {
			t.Errorf("%d dials in 10 seconds", n)
		}
	})
}

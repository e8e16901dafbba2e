package mongo_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/telemetry"
)

// trap makes the application's code panic at one place, on the goroutine of the operation.
type trap struct {
	mu        sync.Mutex
	goroutine string // the operation's; "" while the trap is not set
	anywhere  bool   // the trap is for every goroutine
	place     string
	sprung    bool
	seen      map[string]bool // the places that the operation passed
}

// goroutineID returns the beginning of the text of the caller's stack.
func goroutineID() string {
	b := make([]byte, 64)
	name, _, _ := bytes.Cut(b[:runtime.Stack(b, false)], []byte("["))
	return string(name)
}

// at is called by the application's code at a place. It panics the first time that the operation comes to the place of the trap.
func (p *trap) at(place string) {
	p.mu.Lock()
	if !p.anywhere && (p.goroutine == "" || p.goroutine != goroutineID()) { // the id costs much
		p.mu.Unlock()
		return
	}
	p.seen[place] = true
	springs := p.place == place && !p.sprung
	p.sprung = p.sprung || springs
	p.mu.Unlock()
	if springs {
		panic(errTrap)
	}
}

var errTrap = errors.New("a panic of the application")

// set sets the trap, and calls f. It reports whether f panicked.
func (p *trap) set(place string, f func()) (panicked bool) {
	p.mu.Lock()
	p.goroutine, p.place, p.sprung, p.seen = goroutineID(), place, false, map[string]bool{}
	p.mu.Unlock()
	defer func() {
		p.mu.Lock()
		p.goroutine, p.anywhere = "", false
		p.mu.Unlock()
		v := recover()
		if v != nil && v != any(errTrap) {
			panic(v)
		}
		panicked = v != nil
	}()
	f()
	return false
}

// trapped is a document whose MarshalBSON and UnmarshalBSON are places.
type trapped struct {
	trap  *trap
	place string
	doc   bson.D
}

func (m *trapped) MarshalBSON() ([]byte, error) {
	m.trap.at("MarshalBSON of " + m.place)
	return bson.Marshal(m.doc)
}

func (m *trapped) UnmarshalBSON([]byte) error {
	m.trap.at("UnmarshalBSON of " + m.place)
	return nil
}

// trappedConn is a connection whose methods are places.
type trappedConn struct {
	net.Conn
	trap *trap
}

func (c *trappedConn) Read(b []byte) (int, error) {
	c.trap.at("Read")
	return c.Conn.Read(b)
}

func (c *trappedConn) Write(b []byte) (int, error) {
	c.trap.at("Write")
	return c.Conn.Write(b)
}

func (c *trappedConn) SetDeadline(t time.Time) error {
	c.trap.at("SetDeadline")
	return c.Conn.SetDeadline(t)
}

func (c *trappedConn) Close() error {
	defer c.trap.at("Close")
	return c.Conn.Close()
}

type trappedSink struct{ trap *trap }

func (s *trappedSink) Info(_ int, message string, _ ...any) { s.trap.at("log: " + message) }
func (s *trappedSink) Error(error, string, ...any)          {}

// victim is a client whose application's code can panic everywhere.
type victim struct {
	*testing.T
	trap
	set    *mongotest.Deployment
	client *mongo.Client
	coll   *mongo.Collection
	dialer *countingDialer

	mu   sync.Mutex
	pool map[string]int // pool events by type
}

func (v *victim) doc(place string, pairs ...any) *trapped {
	return &trapped{trap: &v.trap, place: place, doc: doc(pairs...)}
}

func (v *victim) pooled(ev *event.PoolEvent) {
	v.mu.Lock()
	v.pool[ev.Type]++
	v.mu.Unlock()
	v.at(ev.Type)
}

func (v *victim) events(eventType string) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.pool[eventType]
}

func (v *victim) options() *options.ClientOptions {
	levels := options.Logger().SetSink(&trappedSink{&v.trap}).SetComponentLevel(options.LogComponentAll, options.LogLevelDebug)
	return options.Client().SetMaxPoolSize(1).SetLoggerOptions(levels).SetDialer(dialerFunc(v.dial)).
		SetPoolMonitor(&event.PoolMonitor{Event: v.pooled}).
		SetMonitor(&event.CommandMonitor{
			Started:   func(context.Context, *event.CommandStartedEvent) { v.at("CommandStarted") },
			Succeeded: func(context.Context, *event.CommandSucceededEvent) { v.at("CommandSucceeded") },
			Failed:    func(context.Context, *event.CommandFailedEvent) { v.at("CommandFailed") },
		}).
		SetServerMonitor(&event.ServerMonitor{
			ServerDescriptionChanged:   func(*event.ServerDescriptionChangedEvent) { v.at("ServerDescriptionChanged") },
			TopologyDescriptionChanged: func(*event.TopologyDescriptionChangedEvent) { v.at("TopologyDescriptionChanged") },
		})
}

func (v *victim) dial(ctx context.Context, network, address string) (net.Conn, error) {
	nc, err := v.dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &trappedConn{nc, &v.trap}, nil
}

// tracer has places but for the events of pools, which the PoolMonitor has.
func (v *victim) tracer() *telemetry.Tracer {
	t := everyCall(func(ctx context.Context, place string) context.Context {
		v.at(place)
		return ctx
	})
	t.Pool = nil
	return t
}

// RetryAfter implements [retry.Strategy].
func (v *victim) RetryAfter(context.Context, retry.OperationState, retry.Failure) (retry.Action, error) {
	v.at("Strategy")
	return retry.After(0), nil
}

func (v *victim) insert(ctx context.Context) error {
	_, err := v.coll.InsertOne(ctx, v.doc("a document", "x", 1))
	return err
}

// actions are what an application does when its own code panics.
var actions = []struct {
	name string
	pins bool // keeps its connection behind a load balancer
	do   func(v *victim, ctx context.Context) error
}{
	{"InsertOne", false, func(v *victim, ctx context.Context) error { return v.insert(ctx) }},
	{"an InsertOne that is retried", false, func(v *victim, ctx context.Context) error {
		defer v.set.Use("insert", mongotest.FaultOnce(mongotest.Fault{LoseReply: true}))()
		return v.insert(ctx)
	}},
	{"an InsertOne that fails", false, func(v *victim, ctx context.Context) error {
		defer v.set.Use("insert", mongotest.FaultOnce(mongotest.Fault{Error: &mongotest.CommandError{Code: 8000, Message: "scripted"}}))()
		_ = v.insert(ctx)
		return nil
	}},
	{"UpdateOne", false, func(v *victim, ctx context.Context) error {
		_, err := v.coll.UpdateOne(ctx, v.doc("a filter"), bson.D{{Key: "$set", Value: v.doc("a value", "x", 2)}},
			options.UpdateOne().SetComment(v.doc("a comment")).SetLet(v.doc("let")).SetHint(v.doc("a hint", "_id", 1)))
		return err
	}},
	{"FindOne", false, func(v *victim, ctx context.Context) error {
		return v.coll.FindOne(ctx, v.doc("a filter"), options.FindOne().SetHint(v.doc("a hint", "_id", 1))).Decode(v.doc("a result"))
	}},
	{"a cursor", true, func(v *victim, ctx context.Context) error {
		cursor, err := v.coll.Find(ctx, v.doc("a filter"), options.Find().SetBatchSize(1))
		if err != nil {
			return err
		}
		defer cursor.Close(ctx)
		for cursor.Next(ctx) {
			if err := cursor.Decode(v.doc("a result")); err != nil {
				return err
			}
			if cursor.RemainingBatchLength() == 0 {
				break
			}
		}
		return cursor.Err()
	}},
	{"Aggregate, All", true, func(v *victim, ctx context.Context) error {
		cursor, err := v.coll.Aggregate(ctx, []any{v.doc("a stage", "$match", doc())}, options.Aggregate().SetBatchSize(1))
		if err != nil {
			return err
		}
		results := make([]trapped, 5)
		for i := range results {
			results[i] = *v.doc("a result")
		}
		return cursor.All(ctx, &results)
	}},
	{"InsertMany", false, func(v *victim, ctx context.Context) error {
		_, err := v.coll.InsertMany(ctx, []any{doc(), v.doc("a document")})
		return err
	}},
	{"BulkWrite", false, func(v *victim, ctx context.Context) error {
		_, err := v.coll.BulkWrite(ctx, []mongo.WriteModel{
			mongo.NewInsertOneModel().SetDocument(v.doc("a document")),
			mongo.NewUpdateOneModel().SetFilter(v.doc("a filter")).SetUpdate(bson.D{{Key: "$set", Value: v.doc("a value", "x", 2)}}),
			mongo.NewDeleteOneModel().SetFilter(doc("x", 17)).SetHint(v.doc("a hint", "_id", 1)),
		})
		return err
	}},
	{"Client.BulkWrite", true, func(v *victim, ctx context.Context) error {
		_, err := v.client.BulkWrite(ctx, []mongo.ClientBulkWrite{
			{Database: "test", Collection: "c", Model: mongo.NewClientInsertOneModel().SetDocument(v.doc("a document"))},
			{Database: "test", Collection: "c", Model: mongo.NewClientUpdateOneModel().SetFilter(v.doc("a filter")).SetUpdate(bson.D{{Key: "$set", Value: doc("x", 2)}})},
		})
		return err
	}},
	{"a transaction", true, func(v *victim, ctx context.Context) error {
		s, err := v.client.StartSession()
		if err != nil {
			return err
		}
		defer s.EndSession(ctx)
		_, err = s.WithTransaction(ctx, func(ctx context.Context) (any, error) {
			v.at("the callback")
			return nil, v.insert(ctx)
		})
		return err
	}},
	{"UseSession", false, func(v *victim, ctx context.Context) error {
		return v.client.UseSession(ctx, func(ctx context.Context) error {
			v.at("the callback")
			return v.insert(ctx)
		})
	}},
	{"a request", false, func(v *victim, ctx context.Context) error {
		ctx, end := mongo.WithRequest(ctx)
		defer end()
		return v.insert(ctx)
	}},
	{"a change stream", true, func(v *victim, ctx context.Context) error {
		stream, err := v.coll.Watch(ctx, []any{v.doc("a stage", "$match", doc())})
		if err != nil {
			return err
		}
		defer stream.Close(ctx)
		stream.TryNext(ctx)
		return stream.Err()
	}},
	{"a Ping when the pool is exhausted", false, func(v *victim, ctx context.Context) error {
		cursor, done := make(chan struct{}), make(chan struct{})
		defer v.set.Use("distinct", mongotest.FaultOnce(mongotest.Fault{Before: func() { close(cursor) }, Delay: 50 * time.Millisecond}))()
		go func() {
			defer close(done)
			v.coll.Distinct(context.Background(), "x", doc())
		}()
		<-cursor
		defer func() { <-done }()
		ctx, cancel := context.WithTimeout(ctx, time.Millisecond)
		defer cancel()
		if err := v.client.Ping(ctx, nil); !errors.Is(err, context.DeadlineExceeded) {
			return errors.Join(errors.New("the pool was not exhausted"), err)
		}
		return nil
	}},
	{"a Ping after a second", false, func(v *victim, ctx context.Context) error {
		<-time.After(2 * time.Second)
		return v.client.Ping(ctx, nil)
	}},
}

// panicCase is an action whose code panics at a place.
type panicCase struct {
	run   func() (*mongotest.Deployment, error)
	do    func(v *victim, ctx context.Context) error
	place string
}

func one() (*mongotest.Deployment, error) {
	return mongotest.RunReplicaSet(1, mongotest.InMemory(), mongotest.Version("8.0"))
}

func behindALoadBalancer() (*mongotest.Deployment, error) {
	return mongotest.RunSharded(1, 1, mongotest.InMemory(), mongotest.LoadBalancer(), mongotest.Version("8.0"))
}

// A panic of the application's own code on the goroutine of its operation is the application's to recover from, as package
// net/http does for its handlers. The client keeps no connection, session, place in a queue or lock.
func TestAPanicInAnOperationLeavesNothingBehind(t *testing.T) {
	for _, action := range actions {
		t.Run(action.name, func(t *testing.T) { panicAtEachPlace(t, panicCase{run: one, do: action.do}) })
		if action.pins {
			t.Run(action.name+", load balanced", func(t *testing.T) { panicAtEachPlace(t, panicCase{run: behindALoadBalancer, do: action.do}) })
		}
	}
}

// panicAtEachPlace does an action without a panic, and then with one at each place that it passed. One log message stands for
// the other ones.
func panicAtEachPlace(t *testing.T, c panicCase) {
	for _, c.place = range c.survive(t) {
		if !strings.HasPrefix(c.place, "log: ") || c.place == "log: Connection checked in" {
			c.survive(t)
		}
	}
}

// survive does the action and checks that nothing is left. It returns the places that the action passed.
func (c *panicCase) survive(t *testing.T) []string {
	v := &victim{pool: map[string]int{}}
	t.Run(c.place, func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			v.T = t
			c.in(v)
		})
	})
	return slices.Sorted(maps.Keys(v.seen))
}

func (c *panicCase) in(v *victim) {
	var err error
	if v.set, err = c.run(); err != nil {
		v.Fatal(err)
	}
	defer v.set.Close()
	v.dialer = &countingDialer{departure: &departure{}, to: v.set.Dialer()}
	if v.client, err = mongo.Open(v.set.URI(), mongo.Config{Strategy: v, Tracer: v.tracer()}, v.options()); err != nil {
		v.Fatal(err)
	}
	defer func() { _ = v.client.Disconnect(context.Background()) }() // if the test ends early
	v.coll = v.client.Database("test").Collection("c")
	if _, err := v.coll.InsertMany(v.Context(), []bson.D{{}, {}, {}}); err != nil {
		v.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(v.Context(), time.Hour)
	defer cancel()
	panicked := v.trap.set(c.place, func() { err = c.do(v, ctx) })
	switch {
	case c.place == "" && err != nil:
		v.Errorf("it fails: %v", err)
	case c.place != "" && !panicked && c.place != "Close": // nobody waits for a Close
		v.Error("the panic did not come back")
	}
	v.check()
}

// check checks that nothing of the last operation is left.
func (v *victim) check() {
	synctest.Wait()
	if n := v.client.NumberSessionsInProgress(); n != 0 {
		v.Errorf("%d sessions are in use", n)
	}
	ctx, cancel := context.WithTimeout(v.Context(), 10*time.Second)
	defer cancel()
	if err := v.insert(ctx); err != nil {
		v.Errorf("the next operation: %v", err)
	}
	synctest.Wait()
	if out, in := v.events(event.ConnectionCheckedOut), v.events(event.ConnectionCheckedIn); out != in {
		v.Errorf("%d checked out, %d checked in", out, in)
	}
	if n := v.events(event.ConnectionCreated) - v.events(event.ConnectionClosed); n != 1 {
		v.Errorf("%d connections in the pool", n)
	}
	began := time.Now()
	ctx, cancel = context.WithTimeout(v.Context(), time.Minute)
	defer cancel()
	if err := v.client.Disconnect(ctx); err != nil {
		v.Error(err)
	}
	if took := time.Since(began); took > time.Second {
		v.Errorf("Disconnect took %v", took)
	}
	if n := v.dialer.open.Load(); n != 0 {
		v.Errorf("%d connections are open", n)
	}
	if out := v.events(event.ConnectionCreated) - v.events(event.ConnectionClosed); out != 0 {
		v.Errorf("%d connections were not closed", out)
	}
	synctest.Wait()
	if left := goroutinesOfTheClient(); left != "" && !strings.Contains(left, "panics_test") {
		v.Errorf("goroutines are left:\n%s", left)
	}
}

// A listener that panics while the client begins or ends. A Disconnect whose context can end calls the listeners in a goroutine of
// its own.
func TestAPanicOfConnectOrDisconnectLeavesNothingBehind(t *testing.T) {
	for _, c := range []struct {
		place string
		in    string // the call that panics
		ends  bool   // the context of Disconnect can end
	}{
		{event.ConnectionPoolCreated, "Connect", false},
		{"ClientOpened", "Connect", false},
		{"ClientClosed", "Disconnect", false},
		{"ClientClosed", "Disconnect", true},
		{event.ConnectionClosed, "Disconnect", false},
		{event.ConnectionPoolClosed, "Disconnect", false},
		{"ServerClosed", "Disconnect", false},
		{"TopologyClosed", "Disconnect", false},
		{"CommandStarted", "Disconnect", false}, // of endSessions
		{event.ConnectionClosed, "Disconnect", true},
		{"TopologyClosed", "Disconnect", true},
		{"CommandStarted", "Disconnect", true},
	} {
		t.Run(fmt.Sprintf("%s, the context can end: %t", c.place, c.ends), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				set := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
				v := &victim{T: t, pool: map[string]int{}, dialer: &countingDialer{departure: &departure{}, to: set.Dialer()}}
				o := v.options().SetServerMonitor(&event.ServerMonitor{
					ServerClosed:   func(*event.ServerClosedEvent) { v.at("ServerClosed") },
					TopologyClosed: func(*event.TopologyClosedEvent) { v.at("TopologyClosed") },
				})
				place := map[string]string{c.in: c.place}
				if panicked := v.trap.set(place["Connect"], func() { v.client, _ = mongo.Open(set.URI(), mongo.Config{Tracer: v.tracer()}, o) }); panicked != (c.in == "Connect") {
					t.Errorf("Connect panicked: %v", panicked)
				}
				if v.client != nil {
					if err := v.client.Ping(t.Context(), nil); err != nil {
						t.Error(err)
					}
					ctx := context.Background()
					if c.ends {
						ctx, v.anywhere = t.Context(), true
					}
					if panicked := v.trap.set(place["Disconnect"], func() { _ = v.client.Disconnect(ctx) }); panicked != (c.in == "Disconnect") {
						t.Errorf("Disconnect panicked: %v", panicked)
					}
				}
				synctest.Wait()
				if left := goroutinesOfTheClient(); left != "" || v.dialer.open.Load() != 0 {
					t.Errorf("%d connections are open; goroutines:\n%s", v.dialer.open.Load(), left)
				}
			})
		})
	}
}

package mongo_test

import (
	"context"
	"net"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"weak"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// departure is a client that is disconnected in the middle of something.
type departure struct {
	*testing.T
	set     *mongotest.Deployment
	client  *mongo.Client
	coll    *mongo.Collection
	connect func(...*options.ClientOptions) (*mongo.Client, error)
	dialer  *countingDialer
	hangs   atomic.Bool   // each dial ends with its context only
	atMost  time.Duration // that Disconnect may take
	release func()        // ends what the application must end even after Disconnect
	log     logSink
	reached chan struct{} // gets a value each time that the something is reached
	events  atomic.Int64  // of checkouts that began
	made    atomic.Int64  // connections that were created and not closed, by the events

	running sync.WaitGroup // the operations
	mu      sync.Mutex
	errs    []error // theirs
}

// countingDialer counts the connections of a client.
type countingDialer struct {
	*departure
	to          options.ContextDialer
	dials, open atomic.Int64
}

func (c *countingDialer) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	c.dials.Add(1)
	if c.hangs.Load() {
		c.here()
		<-ctx.Done()
		return nil, ctx.Err()
	}
	conn, err := c.to.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	c.open.Add(1)
	return &closingConn{Conn: conn, open: &c.open}, nil
}

type closingConn struct {
	net.Conn
	open *atomic.Int64
	once sync.Once
}

func (c *closingConn) Close() error {
	c.once.Do(func() { c.open.Add(-1) })
	return c.Conn.Close()
}

// operate runs an operation that Disconnect interrupts.
func (d *departure) operate(f func(ctx context.Context) error) {
	d.running.Go(func() {
		err := f(context.Background())
		d.mu.Lock()
		defer d.mu.Unlock()
		d.errs = append(d.errs, err)
	})
}

// silently lets the server fall silent when a command comes, and returns when it has come.
func (d *departure) silently(command string, f func(ctx context.Context) error) {
	d.set.Use(command, mongotest.Always(mongotest.Fault{Before: d.here, LoseRequest: true, Silent: true}))
	d.operate(f)
	<-d.reached
}

// here tells the test that the something is reached.
func (d *departure) here() {
	select {
	case d.reached <- struct{}{}:
	default:
	}
}

func (d *departure) must(err error) {
	d.Helper()
	if err != nil {
		d.Fatal(err)
	}
}

func (d *departure) ping(ctx context.Context) error { return d.client.Ping(ctx, nil) }

func (d *departure) insert(ctx context.Context) error {
	_, err := d.coll.InsertOne(ctx, doc("x", 1))
	return err
}

// until waits for a message of the log.
func (d *departure) until(message string) {
	for len(d.log.with(message)) == 0 {
		<-time.After(time.Millisecond)
	}
}

func members(opts ...mongotest.Option) (*mongotest.Deployment, error) {
	return mongotest.RunReplicaSet(3, opts...)
}

func (d *departure) kill() {
	for i := range d.set.Members() {
		d.set.Kill(i)
	}
}

// departures are the situations in which a client is disconnected. begin returns in the middle of the situation.
var departures = []struct {
	name      string
	run       func(opts ...mongotest.Option) (*mongotest.Deployment, error)
	configure func(d *departure, o *options.ClientOptions)
	begin     func(d *departure)
}{
	{"of nothing", members, nil, func(*departure) {}},
	{"of nothing, idle", members, nil, func(d *departure) {
		d.must(d.insert(context.Background()))
		d.must(d.ping(context.Background()))
	}},
	{"of nothing, polling", members, func(_ *departure, o *options.ClientOptions) { poll(o) }, func(d *departure) {
		d.must(d.ping(context.Background()))
	}},
	{"of nothing, behind a load balancer", func(opts ...mongotest.Option) (*mongotest.Deployment, error) {
		return mongotest.RunSharded(1, 2, append(opts, mongotest.LoadBalancer())...)
	}, nil, func(d *departure) {
		d.must(d.insert(context.Background()))
		_, err := d.coll.Find(context.Background(), doc(), options.Find().SetBatchSize(1))
		d.must(err)
	}},
	{"of an operation", members, nil, func(d *departure) { d.silently("insert", d.insert) }},
	{"of an outage, before the first operation", members, nil, func(d *departure) {
		d.kill()
		d.operate(d.insert)
		d.until("Waiting for suitable server")
	}},
	{"of an outage, in an operation", members, nil, func(d *departure) {
		d.must(d.insert(context.Background()))
		d.kill()
		d.operate(d.insert)
		d.until("Waiting for suitable server")
	}},
	{"of a partition", members, nil, func(d *departure) {
		d.must(d.insert(context.Background()))
		for i := range d.set.Members() {
			d.set.Isolate(i)
		}
		d.operate(func(ctx context.Context) error {
			d.here()
			return d.insert(ctx)
		})
		<-d.reached
	}},
	{"of a change stream whose getMore has no answer yet", members, nil, func(d *departure) {
		stream, err := d.coll.Watch(context.Background(), bson.A{}, options.ChangeStream().SetMaxAwaitTime(time.Hour))
		d.must(err)
		d.set.Use("getMore", mongotest.Always(mongotest.Fault{Before: d.here}))
		d.operate(func(ctx context.Context) error {
			stream.Next(ctx)
			return stream.Err()
		})
		<-d.reached
	}},
	{"of a change stream that resumes", members, nil, func(d *departure) {
		stream, err := d.coll.Watch(context.Background(), bson.A{})
		d.must(err)
		d.kill()
		d.operate(func(ctx context.Context) error {
			stream.Next(ctx)
			return stream.Err()
		})
		d.until("Waiting for suitable server")
	}},
	{"of a tailable cursor whose getMore has no answer yet", members, nil, func(d *departure) {
		d.must(d.coll.Database().CreateCollection(context.Background(), "capped", options.CreateCollection().SetCapped(true).SetSizeInBytes(4096)))
		capped := d.coll.Database().Collection("capped")
		_, err := capped.InsertOne(context.Background(), doc("x", 1))
		d.must(err)
		cursor, err := capped.Find(context.Background(), doc(), options.Find().SetCursorType(options.TailableAwait).SetMaxAwaitTime(time.Hour))
		d.must(err)
		d.set.Use("getMore", mongotest.Always(mongotest.Fault{Before: d.here}))
		d.operate(func(ctx context.Context) error {
			for cursor.Next(ctx) {
			}
			return cursor.Err()
		})
		<-d.reached
	}},
	{"of an open cursor", members, nil, func(d *departure) {
		_, err := d.coll.InsertMany(context.Background(), []bson.D{{}, {}, {}})
		d.must(err)
		_, err = d.coll.Find(context.Background(), doc(), options.Find().SetBatchSize(1))
		d.must(err)
	}},
	{"of a transaction", members, nil, func(d *departure) {
		s, err := d.client.StartSession()
		d.must(err)
		d.must(s.StartTransaction())
		d.must(d.insert(mongo.NewSessionContext(context.Background(), s)))
	}},
	{"of a transaction on a mongos", func(opts ...mongotest.Option) (*mongotest.Deployment, error) {
		return mongotest.RunSharded(1, 2, opts...)
	}, nil, func(d *departure) {
		s, err := d.client.StartSession()
		d.must(err)
		d.must(s.StartTransaction())
		d.must(d.insert(mongo.NewSessionContext(context.Background(), s)))
	}},
	{"of a transaction behind a load balancer", func(opts ...mongotest.Option) (*mongotest.Deployment, error) {
		return mongotest.RunSharded(1, 2, append(opts, mongotest.LoadBalancer())...)
	}, nil, func(d *departure) {
		s, err := d.client.StartSession()
		d.must(err)
		d.must(s.StartTransaction())
		d.must(d.insert(mongo.NewSessionContext(context.Background(), s)))
	}},
	{"of a commit", members, nil, func(d *departure) {
		s, err := d.client.StartSession()
		d.must(err)
		d.must(s.StartTransaction())
		d.must(d.insert(mongo.NewSessionContext(context.Background(), s)))
		d.silently("commitTransaction", s.CommitTransaction)
	}},
	{"of a callback of WithTransaction", members, nil, func(d *departure) {
		d.set.Use("insert", mongotest.Always(mongotest.Fault{Before: d.here, LoseRequest: true, Silent: true}))
		d.transact(d.insert)
		<-d.reached
	}},
	{"of the retries of WithTransaction", members, nil, func(d *departure) {
		d.set.Use("commitTransaction", mongotest.Always(mongotest.Fault{
			Before: d.here, Error: &mongotest.CommandError{Code: 251, Message: "scripted", Labels: []string{transient}},
		}))
		d.transact(d.insert)
		for range 8 {
			<-d.reached
		}
	}},
	{"of server selection", members, nil, func(d *departure) {
		d.must(d.ping(context.Background()))
		nowhere, err := readpref.New(readpref.SecondaryMode, readpref.WithTags("there", "are none"))
		d.must(err)
		d.operate(func(ctx context.Context) error { return d.client.Ping(ctx, nowhere) })
		d.until("Waiting for suitable server")
	}},
	{"of a full queue for connections", members, func(_ *departure, o *options.ClientOptions) { o.SetMaxPoolSize(1) }, func(d *departure) {
		d.must(d.ping(context.Background()))
		d.events.Store(0)
		d.silently("insert", d.insert)
		const waiting = 20
		for range waiting {
			d.operate(d.insert)
		}
		for d.events.Load() < 1+waiting {
			<-time.After(time.Millisecond)
		}
	}},
	{"of a dial", members, nil, func(d *departure) {
		d.must(d.ping(context.Background()))
		d.silently("insert", d.insert) // it has the only connection
		d.hangs.Store(true)
		for range 5 {
			d.operate(d.insert)
		}
		<-d.reached
	}},
	{"of a monitor's dial", members, func(d *departure, _ *options.ClientOptions) { d.hangs.Store(true) }, func(d *departure) {
		d.operate(d.insert)
		<-d.reached
	}},
	{"of a TLS handshake", func(opts ...mongotest.Option) (*mongotest.Deployment, error) {
		return mongotest.RunReplicaSet(3, append(opts, mongotest.TLS())...)
	}, func(d *departure, o *options.ClientOptions) {
		secure, err := d.set.ClientTLS()
		d.must(err)
		o.SetTLSConfig(secure)
	}, func(d *departure) {
		d.must(d.ping(context.Background()))
		for i := range d.set.Members() {
			d.set.Isolate(i) // they accept connections and say nothing
		}
		for range 5 {
			d.operate(func(ctx context.Context) error {
				d.here()
				return d.insert(ctx)
			})
			<-d.reached
		}
	}},
	{"of a hello", members, func(d *departure, _ *options.ClientOptions) {
		d.set.Use("hello", mongotest.Always(mongotest.Fault{Before: d.here, LoseRequest: true, Silent: true}))
	}, func(d *departure) {
		d.operate(d.insert)
		<-d.reached
	}},
	{"of a login", func(opts ...mongotest.Option) (*mongotest.Deployment, error) {
		return mongotest.RunReplicaSet(3, append(opts, mongotest.Users(mongotest.User{Database: "admin", Name: "u", Password: "p"}))...)
	}, func(_ *departure, o *options.ClientOptions) {
		o.SetAuth(options.Credential{Username: "u", Password: "p"})
	}, func(d *departure) { d.silently("saslContinue", d.insert) }},
	{"of a backoff", members, nil, func(d *departure) {
		d.must(d.ping(context.Background()))
		d.set.Use("insert", func(*mongotest.Request, mongotest.Handler) *mongotest.Reply {
			defer d.here()
			return mongotest.NewReply(doc("ok", 0, "code", 462, "errmsg", "scripted", "baseBackoffMS", 1_000_000,
				"errorLabels", bson.A{"SystemOverloadedError", "RetryableError"}))
		})
		d.operate(d.insert)
		<-d.reached
	}},
	{"of a reply that nobody waits for", members, nil, func(d *departure) {
		d.must(d.ping(context.Background()))
		d.set.Use("insert", mongotest.Always(mongotest.Fault{Before: d.here, Delay: time.Hour}))
		ctx, cancel := context.WithCancel(context.Background())
		d.operate(func(context.Context) error { return d.insert(ctx) })
		<-d.reached
		cancel()
		d.running.Wait()
	}},
	{"of unacknowledged writes", members, func(_ *departure, o *options.ClientOptions) { o.SetWriteConcern(writeconcern.Unacknowledged()) }, func(d *departure) {
		for range 10 {
			d.must(d.insert(context.Background()))
		}
	}},
	{"of a request", members, nil, func(d *departure) {
		ctx, cancel := mongo.WithRequest(context.Background())
		d.release = cancel
		d.must(d.insert(ctx))
		d.must(d.client.Ping(ctx, readpref.Secondary()))
	}},
	{"of the filling of pools", members, func(_ *departure, o *options.ClientOptions) { o.SetMinPoolSize(20) }, func(d *departure) {
		for d.dialer.dials.Load() < 8 {
			<-time.After(time.Millisecond)
		}
		d.hangs.Store(true)
	}},
}

// transact runs a callback in a transaction.
func (d *departure) transact(callback func(context.Context) error) {
	d.operate(func(ctx context.Context) error {
		s, err := d.client.StartSession()
		if err != nil {
			return err
		}
		defer s.EndSession(ctx)
		_, err = s.WithTransaction(ctx, func(ctx context.Context) (any, error) { return nil, callback(ctx) })
		return err
	})
}

// depart connects a client, disconnects it in the middle of a situation, with a context that has ended or without a
// deadline, and checks that the operations have ended and that nothing is left. settled waits until
// goroutines have gone, later until anything else could happen.
func (d *departure) depart(run func() (*mongotest.Deployment, error), configure func(*departure, *options.ClientOptions), begin func(*departure), settled, later func()) {
	var err error
	d.set, err = run()
	d.must(err)
	defer d.set.Close()
	d.reached = make(chan struct{}, 1)
	d.dialer = &countingDialer{departure: d, to: d.set.Dialer()}
	o := options.Client().ApplyURI(d.set.URI()).SetDialer(d.dialer).SetRetryWrites(true).
		SetLoggerOptions(options.Logger().SetSink(&d.log).SetComponentLevel(options.LogComponentServerSelection, options.LogLevelDebug)).
		SetPoolMonitor(&event.PoolMonitor{Event: func(e *event.PoolEvent) {
			switch e.Type {
			case event.ConnectionCheckOutStarted:
				d.events.Add(1)
			case event.ConnectionCreated:
				d.made.Add(1)
			case event.ConnectionClosed:
				d.made.Add(-1)
			}
		}})
	if configure != nil {
		configure(d, o)
	}
	d.client, err = d.connect(o)
	d.must(err)
	d.coll = d.client.Database("test").Collection("c")
	begin(d)
	d.end(settled, later)
}

func (d *departure) end(settled, later func()) {
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	began := time.Now()
	d.must(d.client.Disconnect(ended))
	if took := time.Since(began); took > d.atMost {
		d.Errorf("Disconnect took %v", took)
	}
	d.running.Wait()
	for _, err := range d.errs {
		if err == nil {
			d.Error("an operation succeeds after Disconnect")
		}
	}
	client := weak.Make(d.client)
	d.client, d.coll = nil, nil
	settled()
	if left := goroutinesOfTheClient(); left != "" {
		d.Errorf("goroutines are left:\n%s", left)
	}
	d.allClosed()
	if d.release != nil {
		d.release()
		d.release = nil
		settled()
		d.allClosed()
	}
	for range 3 { // a sync.Pool keeps its values for one collection more
		if client.Value() != nil {
			runtime.GC()
		}
	}
	if client.Value() != nil {
		d.Error("something holds the client: perhaps a timer")
	}
	dials := d.dialer.dials.Load()
	later()
	if n := d.dialer.dials.Load() - dials; n != 0 {
		d.Errorf("%d connections were made after Disconnect", n)
	}
}

// allClosed checks that each connection was closed, and that its events say so once.
func (d *departure) allClosed() {
	d.Helper()
	if open, made := d.dialer.open.Load(), d.made.Load(); open != 0 || made != 0 {
		d.Errorf("%d connections are open, %d by the events", open, made)
	}
}

// goroutinesOfTheClient returns the stacks of the goroutines that run code of the client, except those of tests.
func goroutinesOfTheClient() string {
	buf := make([]byte, 4<<20)
	var left []string
	for stack := range strings.SplitSeq(string(buf[:runtime.Stack(buf, true)]), "\n\n") {
		ours := strings.Contains(stack, "holdfast/internal/mongo/") || strings.Contains(stack, "holdfast/mongo.(")
		if ours && !strings.Contains(stack, "mongotest.") && !strings.Contains(stack, "goroutinesOfTheClient") {
			left = append(left, stack)
		}
	}
	return strings.Join(left, "\n\n")
}

func TestDisconnectLeavesNothingInTheMiddle(t *testing.T) {
	for _, c := range departures {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				run := func() (*mongotest.Deployment, error) { return c.run(mongotest.InMemory()) }
				(&departure{T: t, atMost: time.Second, connect: mongo.Connect}).depart(run, c.configure, c.begin, synctest.Wait, func() { wait(time.Hour) })
			})
		})
	}
}

// The look-up of SRV records is repeated each minute, so this is on the fake clock only.
func TestDisconnectLeavesNothingInTheMiddleOfAnSRVPoll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &departure{T: t, atMost: time.Second}
		d.connect = func(o ...*options.ClientOptions) (*mongo.Client, error) {
			d.dialer.to = mongosAt(d.set)
			return mongo.Open(test1URI, mongo.Config{Resolver: &lateSilence{zone: published()}}, options.Client().SetDialer(o[0].Dialer))
		}
		run := func() (*mongotest.Deployment, error) { return mongotest.RunSharded(1, 2, mongotest.InMemory()) }
		d.depart(run, nil, func(d *departure) {
			d.must(d.ping(context.Background()))
			wait(rescan + time.Second)
		}, synctest.Wait, func() { wait(time.Hour) })
	})
}

func TestDisconnectLeavesNothingInTheMiddleOnTCP(t *testing.T) {
	for _, c := range departures {
		t.Run(c.name, func(t *testing.T) {
			run := func() (*mongotest.Deployment, error) { return c.run() }
			// A busy machine may take a while; how long Disconnect takes is a matter of the fake clock.
			(&departure{T: t, atMost: time.Minute, connect: mongo.Connect}).depart(run, c.configure, c.begin, func() {
				for until := time.Now().Add(time.Minute); goroutinesOfTheClient() != "" && time.Now().Before(until); {
					<-time.After(time.Millisecond)
				}
			}, func() {})
		})
	}
}

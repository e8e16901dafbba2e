package simulation

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	events "go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// cast is all that takes part in a life.
type cast struct {
	settings
	rs       *mongotest.Deployment
	routers  *routers // nil if the clients reach the members themselves
	clients  []*mongo.Client
	out      []*atomic.Int64 // connections of each client that are checked out
	history  *history
	injector *injector
	watching []*watcher
	// base is the context of all operations. On TCP it ends some time after the life, so that no operation holds the end up.
	base context.Context
}

// life is what remains of one.
type life struct {
	settings
	history  *history
	truth    *truth
	watchers []*watcher
	hits     []hit
	dump     string
	lasted   time.Duration
	error    error // why there is no truth
}

// lead leads a life. It runs in a bubble unless the servers are on TCP.
func lead(t *testing.T, s settings) *life {
	t.Helper()
	opts := []mongotest.Option{
		mongotest.Seed(int64(s.Seed)), mongotest.ElectionTimeout(s.election), mongotest.Version("8.0"),
		mongotest.ReplicationDelay(time.Duration(s.Seed%4) * time.Millisecond),
	}
	if !s.TCP {
		opts = append(opts, mongotest.InMemory(), mongotest.Latency(200*time.Microsecond, 2*time.Millisecond))
	}
	rs, err := mongotest.RunReplicaSet(3, opts...)
	if err != nil {
		t.Fatal(err)
	}
	c := &cast{settings: s, rs: rs, history: &history{begin: time.Now()}}
	if s.routers > 0 {
		if c.routers, err = startRouters(s, rs, c.history); err != nil {
			t.Fatal(err)
		}
	}
	c.injector = newInjector(s, rs, c.routers, c.history)
	l := &life{settings: s, history: c.history}
	l.error = c.lead(t, l)
	l.watchers, l.hits, l.lasted = c.watching, c.injector.hits, time.Since(c.history.begin)
	if l.error != nil || testing.Verbose() {
		l.dump = rs.Dump()
	}
	if err := rs.Close(); err != nil {
		c.history.violated("leak", "the servers' end: %v", err)
	}
	return l
}

// lead connects the clients, makes the documents, runs workers and watchers, and reads the truth.
func (c *cast) lead(t *testing.T, l *life) error {
	t.Helper()
	defer c.disconnect()
	if err := c.connect(); err != nil {
		return err
	}
	from, err := c.furnish()
	if err != nil {
		return err
	}
	c.watching = c.watchers()
	var watching, working sync.WaitGroup
	for _, w := range c.watching {
		stream, err := w.open(context.Background())
		if err != nil {
			return err
		}
		watching.Go(func() { w.watch(stream) })
	}
	if err := c.mark(beginMarker); err != nil {
		return err
	}
	c.history.begin = time.Now()
	cancel := c.limit()
	defer cancel()
	remove := c.rs.Use(mongotest.AnyCommand, c.injector.handle)
	if c.calm {
		defer c.stepDowns()()
	}
	for id := range c.Workers {
		w := &worker{cast: c, id: id, client: c.clients[id%len(c.clients)]}
		working.Go(w.run)
	}
	working.Wait()
	c.injector.finish()
	remove()
	if err := c.quiet(); err != nil {
		return err
	}
	if err := c.mark(endMarker); err != nil {
		return err
	}
	watching.Wait()
	l.truth, err = readTruth(c.rs, from, c.injector)
	return err
}

// limit makes the context of the operations.
func (c *cast) limit() context.CancelFunc {
	const patience = 10 * time.Second
	c.base = context.Background()
	if !c.TCP {
		return func() {}
	}
	ctx, cancel := context.WithTimeout(c.base, c.Duration+patience)
	c.base = ctx
	return cancel
}

// quiet waits until the cluster is whole and nothing runs on the servers.
func (c *cast) quiet() error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute)
	defer cancel()
	if _, err := c.rs.WaitPrimary(ctx); err != nil {
		return err
	}
	return c.rs.WaitIdle(ctx)
}

// mark inserts a marker that all watchers see.
func (c *cast) mark(name string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_, err := c.clients[0].Database(database).Collection(registers).InsertOne(ctx, bson.D{{Key: "_id", Value: name}})
	return err
}

// furnish makes the documents of all epochs, and returns the time of the oplog afterwards.
func (c *cast) furnish() (bson.Timestamp, error) {
	var docs []any
	for i := range c.Epochs() * c.Hot() {
		docs = append(docs, document{ID: fmt.Sprintf("d%d", i), Log: []string{}})
	}
	ctx := context.Background()
	session, err := c.clients[0].StartSession()
	if err != nil {
		return bson.Timestamp{}, err
	}
	defer session.EndSession(ctx)
	ctx = mongo.NewSessionContext(ctx, session)
	for _, ns := range []string{registers, accounts} {
		if _, err := c.clients[0].Database(database).Collection(ns).InsertMany(ctx, docs); err != nil {
			return bson.Timestamp{}, err
		}
	}
	return *session.OperationTime(), nil
}

// connect connects clients with different settings.
func (c *cast) connect() error {
	variants := c.variants()
	if c.routers != nil {
		variants = c.routers.variants()
	}
	for _, variant := range variants {
		if err := c.connectOne(variant); err != nil {
			return err
		}
	}
	return nil
}

// variant connects one client with options that are its own, beside those of all.
type variant func(o *options.ClientOptions) (*mongo.Client, error)

// variants are those of clients that reach the members themselves.
func (c *cast) variants() []variant {
	return []variant{
		func(o *options.ClientOptions) (*mongo.Client, error) { return mongo.Connect(o.ApplyURI(c.rs.URI())) },
		func(o *options.ClientOptions) (*mongo.Client, error) {
			return mongo.Open(c.rs.URI(), mongo.Config{AttemptTimeout: 3 * time.Second}, o.SetMaxPoolSize(uint64(c.Hot())))
		},
		func(o *options.ClientOptions) (*mongo.Client, error) {
			return mongo.Connect(o.ApplyURI(c.rs.URI()).SetServerMonitoringMode("poll").SetCompressors([]string{"snappy"}))
		},
		func(o *options.ClientOptions) (*mongo.Client, error) {
			return mongo.Connect(o.ApplyURI(c.rs.URI()).SetTimeout(max(5*time.Second, c.Scaled(20*time.Second))).SetMinPoolSize(2).SetMaxConnIdleTime(c.Scaled(5 * time.Second)))
		},
	}
}

// connectOne connects a client, and counts its connections that are checked out.
func (c *cast) connectOne(connect variant) error {
	out := new(atomic.Int64)
	o := options.Client().SetDialer(c.rs.Dialer()).SetHeartbeatInterval(c.heartbeat()).SetPoolMonitor(&events.PoolMonitor{Event: func(e *events.PoolEvent) {
		switch e.Type {
		case events.ConnectionCheckedOut:
			out.Add(1)
		case events.ConnectionCheckedIn:
			out.Add(-1)
		}
	}})
	client, err := connect(o)
	if err != nil {
		return err
	}
	c.clients, c.out = append(c.clients, client), append(c.out, out)
	return nil
}

// disconnect ends the clients, and checks that nothing of them is left.
func (c *cast) disconnect() {
	for i, client := range c.clients {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		err := client.Disconnect(ctx)
		cancel()
		if err != nil {
			c.history.violated("leak", "Disconnect of client %d: %v", i, err)
		}
		if n := c.out[i].Load(); n != 0 {
			c.history.violated("leak", "%d connections of client %d are checked out at the end", n, i)
		}
	}
	if c.routers != nil {
		c.routers.close()
	}
	c.awaitNoConnections()
}

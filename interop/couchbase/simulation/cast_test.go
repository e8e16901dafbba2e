package simulation

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/interop/internal/simlife"
)

const (
	scopeName      = "sim"
	collectionName = "named"
)

// cast is all that takes part in a life.
type cast struct {
	settings
	server   *couchbasetest.Cluster
	clients  []*client
	history  *history
	injector *injector
	// base is the context of all operations. On TCP it ends some time after the life, so that no operation holds the end up.
	base context.Context
	// from is the number of the journal's last entry before the life.
	from int64
	// begin is when the time of faults begins.
	begin time.Time
}

// client is a client of the cluster.
type client struct {
	*couchbase.Cluster
	bucket *couchbase.Bucket
	spans  *openSpans // nil if the client has another tracer
	// noTokens means that the client gets no mutation tokens, so that it looks for a write on the copies by the write's CAS.
	noTokens bool
}

// life is what remains of one.
type life struct {
	settings
	history *history
	truth   *truth
	hits    []hit
	dump    string
	lasted  time.Duration
	error   error // why there is no truth
	// moved is the number of calls while all vbuckets moved, and moving how long that took.
	moved  int
	moving time.Duration
}

// lead leads a life. It runs in a bubble unless the servers are on TCP.
func lead(t *testing.T, s settings) *life {
	t.Helper()
	opts := []couchbasetest.Option{
		couchbasetest.Nodes(s.nodes()), couchbasetest.Buckets(couchbasetest.Bucket{Name: bucketName, Replicas: s.replicas}),
		couchbasetest.VBuckets(s.vbuckets), couchbasetest.Seed(s.Seed + 1), couchbasetest.Version(s.version),
		couchbasetest.ReplicationLag(s.lag), couchbasetest.PersistenceLag(s.saving), couchbasetest.JournalLimit(1 << 20),
	}
	if !s.TCP {
		opts = append(opts, couchbasetest.InMemory(), couchbasetest.Latency(200*time.Microsecond, 2*time.Millisecond))
	}
	server, err := couchbasetest.Run(opts...)
	if err != nil {
		t.Fatal(err)
	}
	c := &cast{settings: s, server: server, history: newHistory()}
	c.injector = newInjector(s, server, c.history)
	l := &life{settings: s, history: c.history}
	l.error = c.lead(l)
	l.hits, l.lasted = c.injector.hits, time.Since(c.history.begin)
	l.dump = server.Dump()
	if err := server.Close(); err != nil {
		c.history.violated("leak", "the servers' end: %v", err)
	}
	return l
}

// lead connects the clients, makes the documents, runs the workers, and reads the truth.
func (c *cast) lead(l *life) error {
	defer c.disconnect()
	c.server.SetErrorMapEntry(unknownStatus, "SIMULATED", "a status of the simulation", "retry-now")
	c.server.HTTP().Script(couchbasetest.HTTPWhen{Services: []couchbasetest.Service{couchbasetest.Query}}, 0, script(c.history))
	if err := c.connect(); err != nil {
		return err
	}
	c.base = context.Background()
	if err := c.furnish(); err != nil {
		return err
	}
	c.history.begin = time.Now()
	defer c.server.Use(couchbasetest.AnyOpcode, c.injector.handle)()
	if c.staleReads {
		defer c.server.Use(memd.OpGet, c.stale)()
	}
	if c.TCP {
		c.moveAll()
		l.moved, l.moving = len(c.history.calls), time.Since(c.history.begin)
		c.Duration = max(c.Duration-l.moving, c.Duration/2)
	}
	c.begin = time.Now()
	cancel := c.limit()
	defer cancel()
	c.work(func(w *worker) { w.run() })
	if err := c.injector.finish(); err != nil {
		return err
	}
	if !c.TCP {
		c.probe()
	}
	l.truth = readTruth(c)
	return nil
}

// work runs a function for each worker at once.
func (c *cast) work(f func(*worker)) {
	var working sync.WaitGroup
	for id := range c.Workers {
		w := &worker{cast: c, id: id, client: c.clients[id%len(c.clients)]}
		working.Go(func() { f(w) })
	}
	working.Wait()
}

// limit makes the context of the operations.
func (c *cast) limit() context.CancelFunc {
	const patience = 30 * time.Second
	if !c.TCP {
		return func() {}
	}
	ctx, cancel := context.WithTimeout(c.base, c.Duration+patience)
	c.base = ctx
	return cancel
}

// furnish makes the collection and the documents of all epochs.
func (c *cast) furnish() error {
	if _, err := c.server.CreateScope(bucketName, scopeName); err != nil {
		return err
	}
	if _, err := c.server.CreateCollection(bucketName, scopeName, couchbasetest.Collection{Name: collectionName}); err != nil {
		return err
	}
	for i := range c.Epochs() * c.Hot() {
		for doc, value := range map[string]any{fmt.Sprint("r", i): &register{Log: []string{}}, fmt.Sprint("c", i): uint64(counterBase)} {
			_, err := c.clients[0].collection(doc).Upsert(doc, value, &couchbase.UpsertOptions{
				Timeout: time.Minute, DurabilityLevel: couchbase.DurabilityLevelPersistToMajority,
			})
			if err != nil {
				return fmt.Errorf("%s: %w", doc, err)
			}
		}
	}
	c.from = int64(len(c.server.Journal()))
	return nil
}

// connect connects clients with different settings.
func (c *cast) connect() error {
	for _, variant := range []struct {
		options string
		change  func(o *couchbase.ClusterOptions)
	}{
		{"", func(*couchbase.ClusterOptions) {}},
		{"?compression=off&enable_mutation_tokens=false&unordered_execution_enabled=false", func(o *couchbase.ClusterOptions) {
			o.RetryStrategy = couchbase.NewBestEffortRetryStrategy(func(uint32) time.Duration { return 2 * time.Millisecond })
		}},
		{"?enable_cluster_config_notifications=false&config_poll_interval=1s", func(o *couchbase.ClusterOptions) {
			o.CircuitBreakerConfig = couchbase.CircuitBreakerConfig{VolumeThreshold: 5, ErrorThresholdPercentage: 30, SleepWindow: time.Second}
		}},
		{"?max_queue_size=8&compression_min_size=8", func(o *couchbase.ClusterOptions) { o.Tracer = new(openSpans) }},
	} {
		o := couchbase.ClusterOptions{
			Username: c.server.Username(), Password: c.server.Password(),
			TimeoutsConfig: couchbase.TimeoutsConfig{ConnectTimeout: 5 * time.Second},
		}
		variant.change(&o)
		cluster, err := couchbase.Open(c.server.ConnectionString()+variant.options, couchbase.Config{Dial: c.server.Dialer().DialContext}, o)
		if err != nil {
			return err
		}
		spans, _ := o.Tracer.(*openSpans)
		noTokens := strings.Contains(variant.options, "enable_mutation_tokens=false")
		c.clients = append(c.clients, &client{Cluster: cluster, bucket: cluster.Bucket(bucketName), spans: spans, noTokens: noTokens})
	}
	return nil
}

// disconnect ends the clients, and checks that nothing of them is left.
func (c *cast) disconnect() {
	for i, client := range c.clients {
		if err := client.Close(nil); err != nil {
			c.history.violated("leak", "Close of client %d: %v", i, err)
		}
		if client.spans != nil && client.spans.n.Load() != 0 {
			c.history.violated("leak", "%d operations of client %d, or parts of them, have not ended", client.spans.n.Load(), i)
		}
	}
	c.awaitNoConnections()
}

// awaitNoConnections waits until the servers have no connection any more.
func (c *cast) awaitNoConnections() {
	const patience = 5 * time.Second
	deadline := time.Now().Add(patience)
	for c.server.Counters().Current > 0 {
		if time.Now().After(deadline) {
			c.history.violated("leak", "%d connections are open %v after all clients have ended", c.server.Counters().Current, patience)
			return
		}
		simlife.Pause(10 * time.Millisecond)
	}
}

// openSpans is a tracer that counts the spans that have not ended.
type openSpans struct{ n atomic.Int64 }

// RequestSpan begins a span.
func (o *openSpans) RequestSpan(couchbase.RequestSpanContext, string) couchbase.RequestSpan {
	o.n.Add(1)
	return &span{of: o}
}

type span struct{ of *openSpans }

func (s *span) End()                                  { s.of.n.Add(-1) }
func (s *span) Context() couchbase.RequestSpanContext { return s }
func (s *span) AddEvent(string, time.Time)            {}
func (s *span) SetAttribute(string, any)              {}

package couchbase_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/retry"
)

// write is one write of a worker. Its value is like no other's.
type write struct {
	key, value string
	durable    bool
	cas        couchbase.Cas
	err        error
}

// cas returns the CAS of a write that succeeded.
func cas(r *couchbase.MutationResult, err error) (couchbase.Cas, error) {
	if err != nil {
		return 0, err
	}
	return r.Cas(), nil
}

// writes are the kinds of writes of a worker.
var writes = []func(*couchbase.Collection, *write, context.Context, time.Duration, couchbase.DurabilityLevel) (couchbase.Cas, error){
	func(c *couchbase.Collection, w *write, ctx context.Context, timeout time.Duration, level couchbase.DurabilityLevel) (couchbase.Cas, error) {
		w.key = w.value
		return cas(c.Insert(w.key, w.value, &couchbase.InsertOptions{Context: ctx, Timeout: timeout, DurabilityLevel: level}))
	},
	func(c *couchbase.Collection, w *write, ctx context.Context, timeout time.Duration, level couchbase.DurabilityLevel) (couchbase.Cas, error) {
		return cas(c.Upsert(w.key, w.value, &couchbase.UpsertOptions{Context: ctx, Timeout: timeout, DurabilityLevel: level}))
	},
	func(c *couchbase.Collection, w *write, ctx context.Context, timeout time.Duration, level couchbase.DurabilityLevel) (couchbase.Cas, error) {
		return cas(c.Replace(w.key, w.value, &couchbase.ReplaceOptions{Context: ctx, Timeout: timeout, DurabilityLevel: level}))
	},
	func(c *couchbase.Collection, w *write, ctx context.Context, timeout time.Duration, level couchbase.DurabilityLevel) (couchbase.Cas, error) {
		return cas(c.Binary().Append(w.key, []byte(w.value), &couchbase.AppendOptions{Context: ctx, Timeout: timeout, DurabilityLevel: level}))
	},
	func(c *couchbase.Collection, w *write, ctx context.Context, timeout time.Duration, level couchbase.DurabilityLevel) (couchbase.Cas, error) {
		w.key = "list" + w.key
		r, err := c.MutateIn(w.key, []couchbase.MutateInSpec{couchbase.ArrayAppendSpec("list", w.value, &couchbase.ArrayAppendSpecOptions{CreatePath: true})},
			&couchbase.MutateInOptions{Context: ctx, Timeout: timeout, DurabilityLevel: level, StoreSemantic: couchbase.StoreSemanticsUpsert})
		if err != nil {
			return 0, err
		}
		return r.Cas(), nil
	},
}

// writeValue finds the value of a write in what was sent.
var writeValue = regexp.MustCompile(`\d+-\d+`)

// storm is a cluster to which faults happen while workers write. The journal of the server judges the writes.
type storm struct {
	*testing.T

	server *couchbasetest.Cluster
	client *couchbase.Cluster
	docs   *couchbase.Collection
	random *rand.Rand // of the goroutine of the faults
	ended  atomic.Bool

	mu     sync.Mutex
	writes []write
	read   int
}

func pause(d time.Duration) { <-time.After(d) }

// work writes and reads until the storm has ended. Some contexts are cancelled at any moment.
func (s *storm) work(worker int, random *rand.Rand) {
	for i := 0; !s.ended.Load(); i++ {
		ctx, cancel := context.WithCancel(context.Background())
		if random.IntN(4) == 0 {
			time.AfterFunc(time.Duration(random.IntN(3000))*time.Microsecond, cancel)
		}
		if random.IntN(3) == 0 {
			_, err := s.docs.Get(fmt.Sprintf("k%d", random.IntN(64)), &couchbase.GetOptions{Context: ctx, Timeout: time.Second})
			if err == nil {
				s.mu.Lock()
				s.read++
				s.mu.Unlock()
			}
		} else {
			s.write(ctx, worker, i, random)
		}
		cancel()
		pause(time.Duration(random.IntN(5)) * time.Millisecond)
	}
}

func (s *storm) write(ctx context.Context, worker, i int, random *rand.Rand) {
	w := write{key: fmt.Sprintf("k%d", random.IntN(64)), value: fmt.Sprintf("%d-%d", worker, i)}
	level := couchbase.DurabilityLevelNone
	if w.durable = random.IntN(3) == 0; w.durable {
		level = couchbase.DurabilityLevelMajority
	}
	timeout := time.Duration(20+random.IntN(1500)) * time.Millisecond
	w.cas, w.err = writes[random.IntN(len(writes))](s.docs, &w, ctx, timeout, level)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.writes = append(s.writes, w)
}

// fault does one thing to the cluster and undoes it.
func (s *storm) fault() {
	c, node := s.server, s.random.IntN(3)
	while := time.Duration(s.random.IntN(400)) * time.Millisecond
	use := func(f couchbasetest.Fault) {
		remove := c.Use(couchbasetest.AnyOpcode, couchbasetest.Times(1+s.random.IntN(40), f))
		pause(while)
		remove()
	}
	switch s.random.IntN(12) {
	case 0:
		c.Kill(node)
		pause(while)
		c.Restart(node)
	case 1:
		c.Pause(node)
		pause(while)
		c.Resume(node)
	case 2:
		c.BlackHole(node)
		pause(while)
		c.Heal(node)
	case 3:
		use(couchbasetest.Fault{LoseReply: true, CutReplyAfter: 1 + s.random.IntN(30)})
	case 4:
		use(couchbasetest.Fault{LoseRequest: true})
	case 5:
		use(couchbasetest.Fault{Status: 0x07})
	case 6:
		use(couchbasetest.Fault{Status: 0x86})
	case 7:
		use(couchbasetest.Fault{LoseReply: true, Silent: true})
	case 8:
		use(couchbasetest.Fault{ReplyDelay: while})
	case 9:
		s.rebalance()
	case 10:
		use(couchbasetest.Fault{Status: 0x0d})
	case 11:
		c.Kill(node)
		pause(while)
		s.must("Failover", c.Failover(node))
		pause(while)
		c.Restart(node)
		s.must("AddBack", c.AddBack(node))
		s.must("Rebalance", c.Rebalance())
	}
}

// rebalance takes a node out and brings another one in, vbucket by vbucket.
func (s *storm) rebalance() {
	r, err := s.server.StartRebalance()
	s.must("StartRebalance", err)
	for r.Move() {
		pause(time.Duration(s.random.IntN(3)) * time.Millisecond)
	}
	r.Finish()
}

func (s *storm) must(name string, err error) {
	if err != nil {
		s.Errorf("%s: %v", name, err)
	}
}

// judge compares what the writes returned with the journal.
func (s *storm) judge() {
	s.Helper()
	entries := make(map[string][]couchbasetest.Entry)
	for _, e := range s.server.Journal() {
		if e.Applied {
			value := writeValue.FindString(string(e.Value))
			entries[value] = append(entries[value], e)
		}
	}
	acknowledged, unknown := 0, 0
	for _, w := range s.writes {
		applied := entries[w.value]
		if w.err == nil {
			acknowledged++
		}
		var history *retry.Error
		hasHistory := errors.As(w.err, &history)
		if hasHistory && !history.OutcomeKnown() {
			unknown++
		}
		switch {
		case len(applied) > 1:
			s.Errorf("%+v was applied %d times", w, len(applied))
		case w.err == nil && len(applied) == 0:
			s.Errorf("%+v was acknowledged, but not applied", w)
		case w.err == nil && couchbase.Cas(applied[0].CAS) != w.cas:
			s.Errorf("%+v was acknowledged with another CAS than that of %v", w, &applied[0])
		case w.err == nil && w.durable && applied[0].Lost:
			s.Errorf("%+v was durable and is lost: %v", w, &applied[0])
		case errors.Is(w.err, couchbase.ErrUnambiguousTimeout) && len(applied) > 0:
			s.Errorf("%+v is called unambiguous, but was applied: %v", w, &applied[0])
		case w.err != nil && hasHistory && history.OutcomeKnown() && len(applied) > 0:
			s.Errorf("%+v says that its outcome is known, but it was applied: %v", w, &applied[0])
		case w.err != nil && !hasHistory && len(applied) > 0:
			s.Errorf("%+v has no history, but it was applied: %v", w, &applied[0])
		}
	}
	s.Logf("%d writes: %d acknowledged, %d with an unknown outcome; %d reads", len(s.writes), acknowledged, unknown, s.read)
	if acknowledged < 100 {
		s.Errorf("only %d of %d writes were acknowledged", acknowledged, len(s.writes))
	}
}

func (s *storm) run(seed uint64, faults int) {
	var workers sync.WaitGroup
	for worker := range 16 {
		workers.Go(func() { s.work(worker, rand.New(rand.NewPCG(seed, uint64(worker)))) })
	}
	pause(50 * time.Millisecond)
	for range faults {
		s.fault()
		pause(time.Duration(s.random.IntN(200)) * time.Millisecond)
	}
	s.calm()
	if n := s.server.Counters().Current; n > 4 {
		s.Errorf("%d connections are open to three nodes", n)
	}
	if seed%2 == 0 { // Close in the middle of everything
		s.ended.Store(true)
		workers.Wait()
	}
	s.must("Close", s.client.Close(nil))
	s.ended.Store(true)
	workers.Wait()
	s.must("WaitIdle", s.server.WaitIdle(context.Background()))
	s.judge()
}

// calm checks that all documents can be written soon after the storm. A connection that stopped responding is replaced in half a minute or
// so.
func (s *storm) calm() {
	over := time.Now()
	for i := 0; i < 64; i++ {
		_, err := s.docs.Upsert(fmt.Sprintf("k%d", i), "calm", nil)
		if err == nil {
			continue
		}
		i--
		if time.Since(over) > time.Minute {
			s.Errorf("a minute after the storm: %v", err)
			return
		}
	}
}

func newStorm(t *testing.T, seed uint64, opts ...couchbasetest.Option) *storm {
	t.Helper()
	server, err := couchbasetest.Run(append([]couchbasetest.Option{
		couchbasetest.Nodes(3), couchbasetest.VBuckets(64), couchbasetest.Seed(seed), couchbasetest.JournalLimit(1 << 20),
		couchbasetest.Buckets(couchbasetest.Bucket{Name: "default", Replicas: 2}),
	}, opts...)...)
	if err != nil {
		t.Fatal(err)
	}
	s := &storm{T: t, server: server, random: rand.New(rand.NewPCG(seed, 1<<32))}
	s.client = connect(t, server, couchbase.ClusterOptions{CompressionConfig: couchbase.CompressionConfig{Disabled: true}})
	s.docs = s.client.Bucket("default").DefaultCollection()
	return s
}

// seeds repeats the storms: the many seeds of a search for rare defects are not needed each time.
var seeds = flag.Uint64("seeds", 1, "how many seeds each storm has, on each kind of server")

// servers are the kinds of servers that take turns.
var servers = [][]couchbasetest.Option{
	nil,
	{couchbasetest.BareRefusals()},
	{couchbasetest.ReplicationLag(20 * time.Millisecond)},
	{couchbasetest.Version("6.6")},
}

// Each acknowledged write is there once, none is applied twice, and an error that says that its write was not applied is right,
// whatever happens to the cluster.
func TestTheJournalAgreesWithTheResultsInAStorm(t *testing.T) {
	for seed := range *seeds * uint64(len(servers)) {
		t.Run(fmt.Sprint("seed ", seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				opts := []couchbasetest.Option{couchbasetest.InMemory(), couchbasetest.Latency(100*time.Microsecond, 2*time.Millisecond)}
				s := newStorm(t, seed, append(opts, servers[seed%uint64(len(servers))]...)...)
				s.run(seed, 16)
				pause(10 * time.Millisecond) // the ends of the connections travel, too
				synctest.Wait()
				if n := s.server.Counters().Current; n != 0 {
					t.Errorf("%d connections are open after Close", n)
				}
				s.must("Close of the server", s.server.Close())
			})
		})
	}
}

// The same on sockets.
func TestTheJournalAgreesWithTheResultsInAStormOnTCP(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits on the real clock")
	}
	s := newStorm(t, 100)
	defer s.server.Close()
	s.run(1, 12)
}

package failures

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/interop/internal/driver"
	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// situation is a failure of a deployment on the fake clock, under operations that are to survive it.
type situation struct {
	name string
	runs int // at different moments
	// prepare, unless nil, is called before the client exists.
	prepare func(w *world, run int)
	run     func(w *world, run int)
	// limit limits each attempt of our client. The official driver has no such limit: it gets the time as its Timeout, which is
	// for the whole operation.
	limit   time.Duration
	slowest time.Duration // the longest time that an operation of our client may take
	// errorAllowed is for the operation that the specifications permit one retry only, which fails too.
	errorAllowed bool
	// figure is the name of the figure of the commands that one operation sent.
	figure string
}

var situations = []situation{
	{name: "all connections dropped with the server alive", runs: 60, run: dropAll, slowest: time.Second},
	{
		name: "a new primary answering \"not writable primary\" for 100 ms, with a deadline", runs: 20,
		run: func(w *world, run int) { refuseWrites(w, run, 10*time.Second) }, slowest: time.Second, figure: "notprimary-window-commands",
	},
	{
		name: "a new primary answering \"not writable primary\" for 100 ms, without a deadline", runs: 20,
		run: func(w *world, run int) { refuseWrites(w, run, 0) }, slowest: time.Second, errorAllowed: true,
	},
	{name: "a black-holed primary without the per-attempt timeout", runs: 5, run: blackHole, slowest: time.Minute},
	{name: "a black-holed primary with the per-attempt timeout", runs: 5, run: blackHole, limit: time.Second, slowest: 1500 * time.Millisecond},
	{name: "one slow hello followed by short deadlines", runs: 10, prepare: slowFirstHello, run: slowHello, slowest: 100 * time.Millisecond},
	{name: "a burst of short deadlines on an empty pool", runs: 5, run: burst, slowest: 100 * time.Millisecond},
}

// TestSituations runs each situation with both drivers, on servers of the same kind, by the same script, and prints both. Ours
// is judged.
func TestSituations(t *testing.T) {
	var table strings.Builder
	fmt.Fprintf(&table, "%-78s %-46s %s\n", "situation: operations that failed, slowest operation, commands", "official", "ours")
	for _, s := range situations {
		shown := map[string]string{}
		for _, name := range driver.Names() {
			t.Run(s.name+"/"+name, func(t *testing.T) {
				o := s.outcome(t, name)
				shown[name] = o.String()
				if name == driver.NameOurs {
					s.judge(t, o)
				}
			})
		}
		fmt.Fprintf(&table, "%-78s %-46s %s\n", s.name, shown[driver.NameOfficial], shown[driver.NameOurs])
	}
	fmt.Print(table.String())
}

func (s situation) judge(t *testing.T, o *outcome) {
	t.Helper()
	if o.operations == 0 {
		t.Error("no operation was run")
	}
	if o.failed > 0 && !s.errorAllowed {
		t.Errorf("%d operations failed", o.failed)
	}
	if o.slowest > s.slowest {
		t.Errorf("an operation took %v; it may take %v", o.slowest, s.slowest)
	}
	if s.figure != "" {
		fmt.Printf("figure %s %d\n", s.figure, o.commands)
	}
	if o.commands > windowCommands {
		t.Errorf("one operation sent %d commands in the window; it may send %d", o.commands, windowCommands)
	}
}

// outcome is how the operations of all runs ended.
type outcome struct {
	mu                 sync.Mutex
	operations, failed int
	slowest            time.Duration
	commands           int // the most that one operation sent in the window of a refusal
}

func (o *outcome) String() string {
	text := fmt.Sprintf("%d of %d, %v", o.failed, o.operations, o.slowest.Round(time.Millisecond/10))
	if o.commands > 0 {
		text += fmt.Sprintf(", %d commands", o.commands)
	}
	return text
}

// world is one run: servers and one client on the fake clock.
type world struct {
	*testing.T

	set    *mongotest.Deployment
	net    *network
	client driver.Client
	coll   driver.Collection
	result *outcome
}

func (s situation) outcome(t *testing.T, name string) *outcome {
	o := new(outcome)
	for run := range s.runs {
		synctest.Test(t, func(t *testing.T) {
			w := &world{T: t, result: o}
			w.set = mongotest.RunReplicaSetT(t, 3, mongotest.InMemory(), mongotest.ElectionTimeout(200*time.Millisecond),
				mongotest.Latency(time.Millisecond, time.Millisecond))
			w.net = &network{dialer: w.set.Dialer()}
			if s.prepare != nil {
				s.prepare(w, run)
			}
			w.connect(name, s, run)
			defer func() { _ = w.client.Disconnect(context.Background()) }()
			s.run(w, run)
			w.set.Heal()
		})
	}
	return o
}

// connect connects with streaming monitors in the runs with an even number, and with polling ones in the others.
func (w *world) connect(name string, s situation, run int) {
	w.Helper()
	mode := options.ServerMonitoringModeStream
	if run%2 == 1 {
		mode = options.ServerMonitoringModePoll
	}
	o, uri, limit := options.Client().SetDialer(w.net).SetServerMonitoringMode(mode), w.set.URI(), s.limit
	var err error
	switch {
	case limit == 0:
		w.client, err = driver.Connect(name, o.ApplyURI(uri))
	case name == driver.NameOurs:
		w.client, err = driver.OpenOurs(uri, mongo.Config{AttemptTimeout: limit}, o)
	default:
		w.client, err = driver.Connect(name, o.ApplyURI(uri).SetTimeout(limit))
	}
	if err != nil {
		w.Fatal(err)
	}
	w.coll = w.client.Collection("failures", "things")
}

// insert inserts a document with this deadline, 0 for none, and counts the result.
func (w *world) insert(deadline time.Duration) {
	w.count(deadline, func(ctx context.Context) error {
		_, err := w.coll.InsertOne(ctx, bson.D{})
		return err
	})
}

func (w *world) find(deadline time.Duration) {
	w.count(deadline, func(ctx context.Context) error {
		var found bson.Raw
		return w.coll.FindOne(ctx, bson.D{{Key: "_id", Value: "known"}}, &found)
	})
}

func (w *world) count(deadline time.Duration, do func(context.Context) error) {
	ctx, cancel := w.Context(), func() {}
	if deadline > 0 {
		ctx, cancel = context.WithTimeout(ctx, deadline)
	}
	defer cancel()
	began := time.Now()
	err := do(ctx)
	took := time.Since(began)
	w.result.mu.Lock()
	defer w.result.mu.Unlock()
	w.result.operations++
	w.result.slowest = max(w.result.slowest, took)
	if err != nil {
		w.result.failed++
		w.Logf("returned after %v: %v", took, err)
	}
}

// begin makes sure that the client is connected and that the pool of the primary has a connection.
func (w *world) begin() {
	w.Helper()
	if _, err := w.coll.InsertOne(w.Context(), bson.D{{Key: "_id", Value: "known"}}); err != nil {
		w.Fatal(err)
	}
}

// dropAll resets all connections of the client, those of its monitors too, while ten goroutines insert and ten read.
func dropAll(w *world, run int) {
	w.begin()
	var over atomic.Bool
	var workers sync.WaitGroup
	for i := range 20 {
		do := w.insert
		if i%2 == 1 {
			do = w.find
		}
		workers.Go(func() {
			for !over.Load() {
				do(0)
			}
		})
	}
	wait(w.T, 50*time.Millisecond+time.Duration(run)*100*time.Microsecond)
	for began := time.Now(); w.net.open() < 20; wait(w.T, time.Millisecond) { // a busy machine opens them later
		if time.Since(began) > time.Minute {
			w.Error("20 connections were never open")
			break
		}
	}
	w.net.drop()
	wait(w.T, 50*time.Millisecond)
	over.Store(true)
	workers.Wait()
}

const (
	window         = 100 * time.Millisecond
	windowCommands = 20
)

// refuseWrites has the primary step down. The new primary, whose hellos say that it is one, refuses the inserts of 100 ms. In
// half of the runs its refusals have its topologyVersion, as those of servers from 4.4 on: nothing has changed since its
// hello, so that a client has no reason to ask again.
func refuseWrites(w *world, run int, deadline time.Duration) {
	w.begin()
	wait(w.T, 2*time.Second+time.Duration(run)*500*time.Millisecond)
	var commands atomic.Int64
	old := w.set.Primary()
	var first atomic.Pointer[time.Time]
	defer w.set.Use("insert", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
		if r.Member == old {
			return next(r)
		}
		now := time.Now()
		first.CompareAndSwap(nil, &now)
		if now.Sub(*first.Load()) >= window {
			return next(r)
		}
		commands.Add(1)
		return w.refusal(r.Member, run%4 >= 2)
	})()
	if err := w.set.StepDown(); err != nil {
		w.Fatal(err)
	}
	w.insert(deadline)
	if commands.Load() == 0 {
		w.Error("the new primary refused nothing")
	}
	w.result.commands = max(w.result.commands, int(commands.Load()))
}

// refusal is a member's reply that it is not the primary.
func (w *world) refusal(member int, withVersion bool) *mongotest.Reply {
	body := bson.D{
		{Key: "ok", Value: 0.0},
		{Key: "errmsg", Value: "not primary"},
		{Key: "code", Value: int32(10107)},
		{Key: "codeName", Value: "NotWritablePrimary"},
		{Key: "errorLabels", Value: bson.A{"RetryableWriteError"}},
	}
	if withVersion {
		hello, err := w.set.Command(member, "admin", bson.D{{Key: "hello", Value: 1}})
		if err != nil {
			w.Error(err)
		}
		body = append(body, bson.E{Key: "topologyVersion", Value: hello.Lookup("topologyVersion")})
	}
	return mongotest.NewReply(body)
}

// blackHole cuts the primary off from the client and from the other members. Its connections stay open and silent.
func blackHole(w *world, run int) {
	w.begin()
	wait(w.T, time.Minute+time.Duration(run)*1700*time.Millisecond)
	w.set.Isolate(w.set.Primary())
	w.insert(0)
	w.find(0)
}

// slowFirstHello delays the first hellos of the client by a second, in half of the runs.
func slowFirstHello(w *world, run int) {
	if run < 5 {
		w.set.Use("hello", mongotest.Times(w.set.Members(), mongotest.Fault{Delay: time.Second}))
	}
}

// slowHello delays later hellos by a second, in the other half of the runs. Then it runs operations that have 100 ms.
func slowHello(w *world, run int) {
	w.begin()
	if run >= 5 {
		var delayed atomic.Int64
		wait(w.T, time.Duration(30+10*run)*time.Second)
		defer w.set.Use("hello", mongotest.Times(w.set.Members(), mongotest.Fault{
			Before: func() { delayed.Add(1) }, Delay: time.Second,
		}))()
		wait(w.T, 15*time.Second)
		if delayed.Load() == 0 {
			w.Error("no hello was delayed")
		}
	}
	for range 20 {
		w.insert(100 * time.Millisecond)
		w.find(100 * time.Millisecond)
		wait(w.T, 10*time.Millisecond)
	}
}

// burst starts 100 operations at once, of which each has 5 ms: less than a handshake takes. Those after the burst have 100 ms:
// they are counted.
func burst(w *world, _ int) {
	w.begin()
	w.net.drop()
	wait(w.T, time.Second)
	var callers sync.WaitGroup
	for range 100 {
		callers.Go(func() {
			ctx, cancel := context.WithTimeout(w.Context(), 5*time.Millisecond)
			defer cancel()
			_, _ = w.coll.InsertOne(ctx, bson.D{})
		})
	}
	callers.Wait()
	for range 20 {
		w.insert(100 * time.Millisecond)
		w.find(100 * time.Millisecond)
	}
}

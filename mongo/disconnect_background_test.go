package mongo_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/retry"
)

// disconnected is an operation that runs while its client is disconnected without a deadline.
type disconnected struct {
	name    string
	command string
	do      func(ctx context.Context, w *world) error
	fault   mongotest.Fault
	takes   time.Duration // Disconnect
	fails   bool
	applied bool // the error says that the command may have been executed
}

var silent = mongotest.Fault{LoseRequest: true, Silent: true}

// `defer client.Disconnect(ctx)` with context.Background() ends, whatever the servers do.
func TestDisconnectWithoutADeadline(t *testing.T) {
	find := func(ctx context.Context, w *world) error { return w.coll.FindOne(ctx, doc("_id", 1)).Err() }
	insert := func(ctx context.Context, w *world) error { _, err := w.coll.InsertOne(ctx, doc("n", 1)); return err }
	const second = time.Second
	for _, c := range []disconnected{
		{"nothing runs", "", nil, mongotest.Fault{}, 0, false, false},
		{"a read at a silent server", "find", find, silent, 2 * second, true, true},
		{"a write at a silent server", "insert", insert, silent, 2 * second, true, true},
		{"a write of many at a silent server", "insert", func(ctx context.Context, w *world) error {
			_, err := w.coll.InsertMany(ctx, []any{doc("n", 1), doc("n", 2)})
			return err
		}, silent, 2 * second, true, true},
		{"a command at a silent server", "ping", func(ctx context.Context, w *world) error { return w.client.Ping(ctx, nil) }, silent, 2 * second, true, true},
		{"a read that ends in time", "find", find, mongotest.Fault{Delay: 1900 * time.Millisecond}, 1900 * time.Millisecond, false, false},
		{"a write that ends too late", "insert", insert, mongotest.Fault{Delay: 2100 * time.Millisecond}, 2 * second, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, configure := range monitoring {
				in(t, configure, func(w *world) { c.check(w, context.Background()) })
			}
		})
	}
}

// A context that is cancelled ends the wait earlier.
func TestDisconnectWhoseContextIsCancelled(t *testing.T) {
	in(t, nil, func(w *world) {
		ctx, cancel := context.WithCancel(w.ctx)
		time.AfterFunc(300*time.Millisecond, cancel)
		(&disconnected{
			command: "insert", do: func(ctx context.Context, w *world) error { return insertOne(ctx, w.coll) }, fault: silent,
			takes: 300 * time.Millisecond, fails: true, applied: true,
		}).check(w, ctx)
	})
}

// check disconnects a second client, while its operation runs.
func (c *disconnected) check(w *world, ctx context.Context) {
	w.Helper()
	w.seed()
	second := w.another(0, "", func(o *options.ClientOptions) { o.SetDirect(false) })
	other := &world{T: w.T, client: second, coll: second.Database("test").Collection("c")}
	w.must(second.Ping(w.ctx, nil))
	result := make(chan error, 1)
	result <- nil
	if c.do != nil {
		<-result
		w.heal = w.set.Use(c.command, mongotest.Always(c.fault))
		go func() { result <- c.do(w.ctx, other) }()
		synctest.Wait()
	}
	began := time.Now()
	w.must(second.Disconnect(ctx))
	const look = 2 * time.Millisecond // so often Disconnect looks whether the operation has ended
	if took := time.Since(began); took < c.takes || took > c.takes+look {
		w.Errorf("Disconnect took %v, want %v", took, c.takes)
	}
	err := <-result
	if took := time.Since(began); took < c.takes || took > c.takes+look {
		w.Errorf("the operation took %v, want %v", took, c.takes)
	}
	if errors.Is(err, mongo.ErrClientDisconnected) != c.fails || (err != nil) != c.fails {
		w.Errorf("the operation's error is %v", err)
	}
	var history *retry.Error
	if c.fails && (!errors.As(err, &history) || history.MayHaveApplied() != c.applied) {
		w.Errorf("the history of %v is %v", err, history)
	}
}

// A selection that waits has sent nothing: it ends at once, also that of a retry.
func TestDisconnectWithoutADeadlineEndsSelectionsAtOnce(t *testing.T) {
	for _, retries := range []bool{false, true} {
		in(t, nil, func(w *world) {
			w.seed()
			if retries {
				w.heal = w.set.Use("insert", mongotest.FaultOnce(mongotest.Fault{Before: func() { w.set.Kill(0); w.set.Kill(1); w.set.Kill(2) }, LoseReply: true}))
			} else {
				w.set.Kill(0)
				w.set.Kill(1)
				w.set.Kill(2)
				w.pass(time.Second) // the client learns of it
			}
			result := make(chan error, 1)
			go func() { result <- insertOne(w.ctx, w.coll) }()
			w.pass(time.Second)
			began := time.Now()
			w.must(w.client.Disconnect(context.Background()))
			err := <-result
			if took := time.Since(began); took != 0 {
				t.Errorf("after %v", took)
			}
			if !retries && err != mongo.ErrClientDisconnected || retries && err == nil { //nolint:errorlint // programs compare it so
				t.Errorf("retries %v: %v", retries, err)
			}
			w.client = w.another(0, "", nil) // for the end of the test
		})
	}
}

// What Disconnect interrupts in a transaction has the labels that say what is known.
func TestDisconnectKeepsTheLabelsOfATransaction(t *testing.T) {
	for command, want := range map[string]string{"commitTransaction": "UnknownTransactionCommitResult", "insert": "TransientTransactionError"} {
		for _, limit := range []time.Duration{0, 500 * time.Millisecond} {
			in(t, nil, func(w *world) {
				w.seed()
				second := w.another(0, "", func(o *options.ClientOptions) { o.SetDirect(false) })
				coll := second.Database("test").Collection("c")
				s, err := second.StartSession()
				w.must(err)
				w.must(s.StartTransaction())
				inside := mongo.NewSessionContext(w.ctx, s)
				w.must(insertOne(inside, coll))
				w.heal = w.set.Use(command, mongotest.Always(mongotest.Fault{LoseReply: true, Silent: true}))
				result := make(chan error, 1)
				go func() {
					if command == "insert" {
						result <- insertOne(inside, coll)
					} else {
						result <- s.CommitTransaction(w.ctx)
					}
				}()
				synctest.Wait()
				ctx, cancel := w.ctx, context.CancelFunc(func() {})
				if limit > 0 {
					ctx, cancel = context.WithTimeout(w.ctx, limit)
				}
				defer cancel()
				w.must(second.Disconnect(ctx))
				if err := <-result; len(labels(err, want)) != 1 || !errors.Is(err, mongo.ErrClientDisconnected) {
					t.Errorf("%s, limit %v: %v", command, limit, err)
				}
			})
		}
	}
}

// An operation that waits for a server, or for the pace of its attempts, ends at once, also while another one has its 2 s.
func TestDisconnectEndsWaitsBesideASilentOperation(t *testing.T) {
	for _, paced := range []bool{false, true} {
		in(t, nil, func(w *world) {
			w.seed()
			second := w.another(0, "", func(o *options.ClientOptions) { o.SetDirect(false) })
			coll := second.Database("test").Collection("c")
			w.must(second.Ping(w.ctx, nil))
			w.pass(time.Second)
			w.heal = w.set.Use("ping", mongotest.Always(silent))
			inFlight, waiting := make(chan error, 1), make(chan error, 1)
			go func() { inFlight <- second.Ping(w.ctx, readpref.Secondary()) }()
			if paced {
				heal := w.set.Use("find", mongotest.Always(refuse(6)))
				defer heal()
			} else {
				w.set.Kill(0)
				w.set.Isolate(1)
			}
			w.pass(50 * time.Millisecond)
			go func() {
				ctx, cancel := context.WithTimeout(w.ctx, time.Minute)
				defer cancel()
				waiting <- coll.FindOne(ctx, doc("_id", 1)).Err()
			}()
			w.pass(50 * time.Millisecond)
			began := time.Now()
			go func() { w.must(second.Disconnect(context.Background())) }()
			err := <-waiting
			if took := time.Since(began); took != 0 || err == nil {
				t.Errorf("paced %v: the one that waits ended after %v: %v", paced, took, err)
			}
			err = <-inFlight
			if took := time.Since(began); took < 2*time.Second || !errors.Is(err, mongo.ErrClientDisconnected) {
				t.Errorf("paced %v: the one in flight ended after %v: %v", paced, took, err)
			}
			synctest.Wait()
		})
	}
}

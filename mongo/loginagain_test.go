package mongo_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// renewal is an operation whose command the server refuses with 391 (ReauthenticationRequired).
type renewal struct {
	name    string
	command string
	do      func(w *world) error
	applied map[string]int // the statements that were applied, by command
}

// renewals are one operation for each way in which commands are sent. Each leaves the number of documents that applied says.
var renewals = []renewal{
	{"an insert", "insert", (*world).insertOne, map[string]int{"insert": 1}},
	{"an update of many, which is never retried", "update", func(w *world) error {
		_, err := w.coll.UpdateMany(w.ctx, d{}, doc("$inc", doc("n", 1)))
		if n, wrong := w.coll.CountDocuments(w.ctx, doc("n", doc("$gt", 1))); n != 4 || wrong != nil {
			w.Errorf("%d documents were updated, %v", n, wrong)
		}
		return err
	}, map[string]int{"update": 1}},
	{"the second batch of a bulk write", "insert", func(w *world) error {
		one := mongo.NewInsertOneModel().SetDocument(d{})
		got, err := w.coll.BulkWrite(w.ctx, []mongo.WriteModel{one, mongo.NewDeleteOneModel().SetFilter(doc("n", 1)), one, one})
		if err == nil && got.InsertedCount != 3 {
			w.Errorf("%+v", got)
		}
		return err
	}, map[string]int{"insert": 3, "delete": 1}},
	{"an insert in a transaction", "insert", (*world).insertTwice, map[string]int{"insert": 2}},
	{"a commit", "commitTransaction", (*world).insertTwice, map[string]int{"insert": 2}},
	{"a getMore of a cursor", "getMore", (*world).readFour, nil},
	{"a find of a cursor", "find", (*world).readFour, nil},
	{"a killCursors", "killCursors", func(w *world) error {
		cursor, err := w.coll.Find(w.ctx, d{}, options.Find().SetBatchSize(2))
		if err != nil {
			return err
		}
		return cursor.Close(w.ctx)
	}, nil},
	{"an aggregate with a session", "aggregate", func(w *world) error {
		return w.client.UseSession(w.ctx, func(ctx context.Context) error {
			n, err := w.coll.CountDocuments(ctx, d{})
			if n != 4 {
				w.Errorf("%d documents, %v", n, err)
			}
			return err
		})
	}, nil},
	{"a change stream", "aggregate", (*world).watchOne, map[string]int{"insert": 1}},
	{"a getMore of a change stream", "getMore", (*world).watchOne, map[string]int{"insert": 1}},
	{"an abort", "abortTransaction", func(w *world) error {
		return w.client.UseSession(w.ctx, func(ctx context.Context) error {
			s := mongo.SessionFromContext(ctx)
			if err := s.StartTransaction(); err != nil {
				return err
			}
			if _, err := w.coll.InsertOne(ctx, d{}); err != nil {
				return err
			}
			return s.AbortTransaction(ctx)
		})
	}, nil},
	{"a bulk write of the client", "bulkWrite", func(w *world) error {
		_, err := w.client.BulkWrite(w.ctx, []mongo.ClientBulkWrite{{Database: "test", Collection: "c", Model: mongo.NewClientInsertOneModel().SetDocument(d{})}})
		return err
	}, map[string]int{"bulkWrite": 1}},
}

func (w *world) insertTwice() error {
	return w.client.UseSession(w.ctx, func(ctx context.Context) error {
		s := mongo.SessionFromContext(ctx)
		if err := s.StartTransaction(); err != nil {
			return err
		}
		for range 2 {
			if _, err := w.coll.InsertOne(ctx, d{}); err != nil {
				return err
			}
		}
		return s.CommitTransaction(ctx)
	})
}

func (w *world) readFour() error {
	cursor, err := w.coll.Find(w.ctx, d{}, options.Find().SetBatchSize(2))
	if err != nil {
		return err
	}
	var all []d
	err = cursor.All(w.ctx, &all)
	if len(all) != 4 {
		w.Errorf("%d documents", len(all))
	}
	return err
}

func (w *world) watchOne() error {
	stream, err := w.coll.Watch(w.ctx, mongo.Pipeline{})
	if err != nil {
		return err
	}
	w.must(w.insertOne())
	if !stream.Next(w.ctx) {
		return errors.Join(errors.New("no event"), stream.Err())
	}
	return stream.Close(w.ctx)
}

// renewed runs f with four documents in the collection, after the client has logged in.
func renewed(t *testing.T, balanced bool, change func(*options.ClientOptions), f func(w *world, i *issuer)) {
	t.Helper()
	i := &issuer{}
	run := func() (*mongotest.Deployment, error) {
		if balanced {
			return mongotest.RunSharded(1, 1, mongotest.InMemory(), mongotest.LoadBalancer(), mongotest.Version("8.0"), i.server())
		}
		return mongotest.RunReplicaSet(1, mongotest.InMemory(), mongotest.Version("8.0"), i.server())
	}
	inside(t, run, func(o *options.ClientOptions) {
		o.SetAuth(i.machine())
		if change != nil {
			change(o)
		}
	}, func(w *world) {
		_, err := w.coll.InsertMany(w.ctx, []any{doc("n", 1), doc("n", 2), doc("n", 3), doc("n", 4)})
		w.must(err)
		f(w, i)
	})
}

// Source: Driver Authentication, "Reauthentication": the client logs the connection in again, and sends the operation again, whether it
// is retryable or not. Each write is applied once, on one connection.
func TestEachKindOfOperationRenewsItsLogin(t *testing.T) {
	for _, c := range []struct {
		name     string
		balanced bool
		change   func(*options.ClientOptions)
	}{
		{"with retries", false, nil},
		{"without retries", false, func(o *options.ClientOptions) { o.SetRetryReads(false).SetRetryWrites(false) }},
		{"behind a load balancer", true, nil},
		{"with compression", false, func(o *options.ClientOptions) { o.SetCompressors([]string{"zlib"}) }},
	} {
		for _, r := range renewals {
			t.Run(c.name+"/"+r.name, func(t *testing.T) {
				renewed(t, c.balanced, c.change, func(w *world, i *issuer) {
					r.check(w, i)
					if !c.balanced || !strings.Contains(r.name, "change stream") { // which keeps its connection there
						w.wantOneConnection()
					}
				})
			})
		}
	}
}

func (r *renewal) check(w *world, i *issuer) {
	w.Helper()
	before := map[string]int{"insert": w.applied("insert")}
	refusals := []mongotest.Fault{refuse(391)}
	if strings.Contains(r.name, "second batch") {
		refusals = []mongotest.Fault{{}, refuse(391)}
	}
	w.script(r.command, refusals...)
	w.must(r.do(w))
	i.wantCalls(w, 2)
	for command, want := range r.applied {
		if got := w.applied(command) - before[command]; got != want {
			w.Errorf("%d statements of %s were applied, want %d", got, command, want)
		}
	}
}

// wantOneConnection checks that the pool of the client has had one connection, which is not in use.
func (w *world) wantOneConnection() {
	w.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	n := map[string]int{}
	for _, ev := range w.pool {
		n[ev.Type]++
	}
	if n[event.ConnectionCreated] != 1 || n[event.ConnectionClosed] != 0 || n[event.ConnectionCheckedOut] != n[event.ConnectionCheckedIn] {
		w.Errorf("pool events %v", n)
	}
}

// A login that expires at once ends the operation with the server's error: there is no endless loop.
func TestALoginThatExpiresAgainAndAgainIsAnError(t *testing.T) {
	for _, retries := range []bool{true, false} {
		for command, do := range map[string]func(*world) error{"find": (*world).find, "insert": (*world).insertOne, "commitTransaction": (*world).insertTwice} {
			renewed(t, false, func(o *options.ClientOptions) { o.SetRetryReads(retries).SetRetryWrites(retries) }, func(w *world, i *issuer) {
				w.heal = w.set.Use(command, mongotest.Always(refuse(391)))
				before := len(w.started(command))
				err := do(w)
				var refused mongo.CommandError
				if !errors.As(err, &refused) || refused.Code != 391 {
					t.Errorf("%s: %v", command, err)
				}
				if n := len(w.started(command)) - before; n != 2 {
					t.Errorf("%s was sent %d times, want 2", command, n)
				}
				i.wantCalls(t, 2)
				w.heal()
				if command != "commitTransaction" {
					w.must(do(w))
				}
				i.wantCalls(t, 2)
			})
		}
	}
}

// The sessions are ended at the end of the client, also if its login has expired by then.
func TestEndSessionsRenewsTheLogin(t *testing.T) {
	renewed(t, false, nil, func(w *world, i *issuer) {
		ends := 0
		w.heal = w.set.Use("endSessions", mongotest.Decide(func(*mongotest.Request) mongotest.Fault {
			if ends++; ends == 1 {
				return refuse(391)
			}
			return mongotest.Fault{}
		}))
		w.reconnect()
		if i.wantCalls(t, 2); ends != 2 {
			t.Errorf("endSessions was sent %d times", ends)
		}
	})
}

// What a server does during the renewal of a login.
func TestAServerThatFailsDuringARenewal(t *testing.T) {
	silent := mongotest.Fault{LoseRequest: true, Silent: true}
	for _, c := range []struct {
		name   string
		fault  mongotest.Fault
		fails  bool // without retries
		closed bool
		tells  bool // the client learns something about the server
		takes  time.Duration
	}{
		{"it closes the connection before the login", loseRequest, true, true, true, 0},
		{"it closes the connection after the login", loseReply, true, true, true, 0},
		{"it is silent", silent, true, true, false, 2 * time.Second},
		{"it is slow", mongotest.Fault{Delay: time.Second}, false, false, false, time.Second},
		{"it steps down", refuse(10107), true, true, true, 0},
	} {
		for _, retries := range []bool{false, true} {
			for command, do := range map[string]func(*world) error{"find": (*world).find, "insert": (*world).insertOne} {
				t.Run(c.name+"/"+command, func(t *testing.T) {
					var unknown atomic.Int64
					renewed(t, false, func(o *options.ClientOptions) {
						o.SetRetryReads(retries).SetRetryWrites(retries).SetConnectTimeout(2 * time.Second)
						o.SetServerMonitor(&event.ServerMonitor{ServerDescriptionChanged: func(ev *event.ServerDescriptionChangedEvent) {
							if ev.PreviousDescription.Kind != "Unknown" && ev.NewDescription.Kind == "Unknown" {
								unknown.Add(1)
							}
						}})
					}, func(w *world, _ *issuer) {
						before := w.applied("insert")
						w.script(command, refuse(391))
						remove := w.set.Use("saslStart", mongotest.FaultOnce(c.fault))
						defer remove()
						began := time.Now()
						err := do(w)
						if fails := c.fails && !retries; (err != nil) != fails {
							t.Errorf("retries %t: %v", retries, err)
						}
						if took := time.Since(began); took < c.takes || took > c.takes+time.Second {
							t.Errorf("it took %v, want %v", took, c.takes)
						}
						if err != nil {
							w.must(do(w))
						}
						if n := w.applied("insert") - before; command == "insert" && n != 1 {
							t.Errorf("%d inserts were applied", n)
						}
						if told := unknown.Load() > 0; told != c.tells {
							t.Errorf("the server became unknown: %t", told)
						}
						if closed := w.closed() > 0; closed != c.closed {
							t.Errorf("a connection was closed: %t", closed)
						}
					})
				})
			}
		}
	}
}

func (w *world) closed() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(slices.DeleteFunc(slices.Clone(w.pool), func(ev *event.PoolEvent) bool { return ev.Type != event.ConnectionClosed }))
}

// A connection whose renewal was interrupted is not used again: nobody knows who it belongs to. It tells nothing about the server.
func TestARenewalThatIsInterruptedClosesTheConnection(t *testing.T) {
	var unknown atomic.Int64
	watched := func(o *options.ClientOptions) {
		o.SetServerMonitor(&event.ServerMonitor{ServerDescriptionChanged: func(ev *event.ServerDescriptionChangedEvent) {
			if ev.NewDescription.Kind == "Unknown" {
				unknown.Add(1)
			}
		}})
	}
	renewed(t, false, watched, func(w *world, i *issuer) {
		w.script("find", refuse(391))
		remove := w.set.Use("saslStart", mongotest.Times(1, mongotest.Fault{Delay: time.Minute}))
		ctx, cancel := context.WithCancel(w.ctx)
		time.AfterFunc(time.Second, cancel)
		began, before := time.Now(), unknown.Load()
		if err := w.coll.FindOne(ctx, d{}).Err(); !errors.Is(err, context.Canceled) || time.Since(began) != time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		remove()
		for _, ev := range w.pool {
			if ev.Type == event.ConnectionClosed && !errors.Is(ev.Error, context.Canceled) {
				t.Errorf("the event of the closed connection has the error %v", ev.Error)
			}
		}
		if w.closed() != 1 || unknown.Load() != before {
			t.Errorf("%d connections were closed, the server became unknown %d times", w.closed(), unknown.Load()-before)
		}
		w.must(w.find())
		i.wantCalls(t, 2)
	})
}

// The option socketTimeoutMS limits each round trip of a renewal, as it does those of the first login.
func TestARenewalHasTheSocketTimeout(t *testing.T) {
	renewed(t, false, func(o *options.ClientOptions) {
		o.ApplyURI(o.GetURI() + "&socketTimeoutMS=500&retryReads=false")
	}, func(w *world, _ *issuer) {
		w.script("find", refuse(391))
		remove := w.set.Use("saslStart", mongotest.FaultOnce(mongotest.Fault{Delay: 1500 * time.Millisecond}))
		defer remove()
		began := time.Now()
		const callbacks = 100 * time.Millisecond // between two calls
		if err := w.find(); !mongo.IsNetworkError(err) || time.Since(began) != callbacks+500*time.Millisecond {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}

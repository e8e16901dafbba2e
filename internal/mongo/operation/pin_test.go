package operation

import (
	"context"
	"errors"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/mongotest"
)

// connection runs an operation and returns the server's connectionId of its connection.
func (w *world) connection(pin *Pin, s *Session) int64 {
	w.Helper()
	c := constant("hello", 1)
	o := op(Generic, c)
	o.Pin, o.Session = pin, s
	w.must(w.runner.Run(w.Context(), o))
	return c.reply.Lookup("connectionId").AsInt64()
}

// occupy checks out the connection that the pool would return next.
func (w *world) occupy() (release func()) {
	w.Helper()
	server := w.server()
	conn, err := server.CheckOut(w.Context(), nil)
	w.must(err)
	return func() { server.CheckIn(conn) }
}

func TestAPinPinsOperationsToTheServerOfTheFirst(t *testing.T) {
	inside(t, func() (*mongotest.Deployment, error) {
		return mongotest.RunSharded(1, 2, mongotest.InMemory())
	}, func(w *world) {
		<-time.After(time.Second) // both mongos are known
		var to map[int]bool
		w.set.Use("ping", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
			to[r.Mongos] = true
			return next(r)
		})
		pinned := map[string]bool{}
		for range 20 {
			var pin Pin
			to = map[int]bool{}
			for range 10 {
				o := op(Generic, constant("ping", 1))
				o.Pin = &pin
				w.must(w.runner.Run(w.Context(), o))
			}
			if len(to) != 1 {
				t.Errorf("the operations went to %v", to)
			}
			pinned[pin.Server().Address()] = true
			pin.Release()
			if pin.Server() != nil {
				t.Error("a released pin has a server")
			}
		}
		if len(pinned) != 2 {
			t.Errorf("the pins are those of %v", pinned)
		}
	})
}

func TestAPinnedConnectionStaysCheckedOutUntilRelease(t *testing.T) {
	in(t, func(w *world) {
		pin := &Pin{KeepConnection: true}
		first := w.connection(pin, nil)
		other := w.connection(nil, nil)
		if other == first {
			t.Error("another operation runs on the pin's connection")
		}
		if again := w.connection(pin, nil); again != first {
			t.Errorf("the pin's second operation runs on connection %d, want %d", again, first)
		}
		if w.runner.Cluster().Busy() {
			t.Error("a pinned connection counts as an operation in flight")
		}
		pin.Release()
		pin.Release()
		done := w.occupy() // it was used last
		if next := w.connection(nil, nil); next != other {
			t.Errorf("the next operation runs on connection %d, want %d", next, other)
		}
		done()
	})
}

// Load Balancers specification: a transaction and a cursor in it have one connection. It is checked in when both have ended,
// in either order.
func TestATransactionAndItsCursorShareAConnection(t *testing.T) {
	for name, release := range map[string][]string{
		"the cursor ends first": {"cursor", "transaction"}, "the transaction ends first": {"transaction", "cursor"},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(w *world) {
				s := w.runner.StartSession(SessionOptions{})
				w.must(s.StartTransaction(TransactionOptions{}))
				s.transaction.pin.KeepConnection = true // as behind a load balancer
				pins := map[string]*Pin{"transaction": &s.transaction.pin, "cursor": {}}
				first := w.connection(pins["transaction"], nil)
				o := withSession(op(Read, constant("find", "c")), s)
				o.Pin = pins["cursor"]
				w.must(w.runner.Run(w.Context(), o))
				if o.Pin.kept != s.transaction.pin.kept || w.last("startTransaction").IsZero() {
					t.Error("the cursor's command does not run on the connection of the transaction")
				}
				pins[release[0]].Release()
				if next := w.connection(nil, nil); next == first {
					t.Error("the connection was checked in before both had ended")
				}
				if again := w.connection(pins[release[1]], nil); again != first {
					t.Errorf("the next command runs on connection %d, want %d", again, first)
				}
				pins[release[1]].Release()
				if next := w.connection(nil, nil); next != first {
					t.Errorf("the next operation runs on connection %d, want %d", next, first)
				}
				s.End()
			})
		})
	}
}

// Transactions, "When to unpin".
func TestTheConnectionOfATransactionIsCheckedIn(t *testing.T) {
	for name, end := range map[string]func(w *world, s *Session){
		"by an abort": func(w *world, s *Session) {
			abort, err := s.Abort()
			w.must(err)
			abort.Selection = &topology.Selection{Write: true}
			w.must(w.runner.Run(w.Context(), abort))
		},
		"by a new transaction": func(w *world, s *Session) {
			s.transaction.state = transactionCommitted
			w.must(s.StartTransaction(TransactionOptions{}))
		},
		"by an operation outside": func(w *world, s *Session) {
			s.transaction.state = transactionCommitted
			w.must(w.runner.Run(w.Context(), withSession(op(Read, constant("find", "c")), s)))
		},
		"by the session's end": func(_ *world, s *Session) { s.End() },
	} {
		t.Run(name, func(t *testing.T) {
			in(t, func(w *world) {
				s := w.runner.StartSession(SessionOptions{})
				w.must(s.StartTransaction(TransactionOptions{}))
				s.transaction.pin.KeepConnection = true // as behind a load balancer
				w.connection(&s.transaction.pin, nil)
				w.must(w.runner.Run(w.Context(), withSession(op(Read, constant("find", "c")), s)))
				kept := s.transaction.pin.kept
				end(w, s)
				if kept == nil || kept.pins != 0 || s.transaction.pin.Server() != nil {
					t.Errorf("the pin is %+v", s.transaction.pin)
				}
				s.End()
			})
		})
	}
}

func TestAPinIsLostWhenItsConnectionBreaks(t *testing.T) {
	in(t, func(w *world) {
		pin := &Pin{KeepConnection: true}
		w.connection(pin, nil)
		w.set.Use("ping", mongotest.FaultOnce(mongotest.Fault{LoseReply: true}))
		o := op(Generic, constant("ping", 1))
		o.Pin = pin
		if err := w.runner.Run(w.Context(), o); err == nil || !pin.Lost() {
			t.Fatalf("error %v, lost: %v", err, pin.Lost())
		}
		sent := len(w.sent)
		if err := w.runner.Run(w.Context(), o); !errors.Is(err, errConnectionLost) || len(w.sent) != sent {
			t.Errorf("the next operation: %v; %d commands were sent", err, len(w.sent)-sent)
		}
		pin.Release()
		w.must(w.runner.Run(w.Context(), o))
		pin.Release()
		if w.runner.Cluster().Busy() {
			t.Error("the lost connection counts as an operation in flight")
		}
	})
}

// Its end also ends the cursor or transaction on the server.
func TestAPinnedConnectionIsClosedWhenTheContextOfItsOperationEnds(t *testing.T) {
	in(t, func(w *world) {
		pin := &Pin{KeepConnection: true}
		first := w.connection(pin, nil)
		w.set.Use("ping", mongotest.FaultOnce(mongotest.Fault{Delay: 500 * time.Millisecond}))
		o := op(Generic, constant("ping", 1))
		o.Pin = pin
		ctx, cancel := context.WithTimeout(w.Context(), 10*time.Millisecond)
		defer cancel()
		if err := w.runner.Run(ctx, o); !errors.Is(err, context.DeadlineExceeded) || !pin.Lost() {
			t.Errorf("error %v, lost: %v", err, pin.Lost())
		}
		<-time.After(time.Second) // the reply has come
		if next := w.connection(nil, nil); next == first {
			t.Error("the connection is used again")
		}
		pin.Release()
	})
}

func TestAFailedAttemptDoesNotPin(t *testing.T) {
	in(t, func(w *world) {
		w.set.Use("find", mongotest.FaultOnce(mongotest.Fault{Error: &mongotest.CommandError{Code: 2, Message: "no"}}))
		pin := &Pin{KeepConnection: true}
		o := op(Read, constant("find", "c"))
		o.Pin = pin
		if err := w.runner.Run(w.Context(), o); err == nil || pin.Server() != nil {
			t.Errorf("error %v, pinned to %v", err, pin.Server())
		}
		w.must(w.runner.Run(w.Context(), o))
		if pin.Server() == nil || pin.Lost() {
			t.Error("the success did not pin")
		}
		pin.Release()
	})
}

// A getMore has the server and the session of the command that opened the cursor.
func TestAGetMoreHasTheServerAndSessionOfItsCursor(t *testing.T) {
	in(t, func(w *world) {
		for i := range 5 {
			w.insert(i, nil)
		}
		w.set.Use("getMore", mongotest.FaultOnce(mongotest.Fault{}))
		s, pin := w.runner.ImplicitSession(), new(Pin)
		find := constant("find", "c", "batchSize", 2)
		o := op(Read, find)
		o.Session, o.Pin = s, pin
		w.must(w.runner.Run(w.Context(), o))
		lsid, id := w.last("lsid"), find.cursor.ID
		more := op(Read, constant("getMore", id, "collection", "c"))
		more.Session, more.Pin, more.ReadConcern, more.OwnTimeLimit = s, pin, nil, true
		w.must(w.runner.Run(w.Context(), more))
		if !w.last("lsid").Equal(lsid) || w.last("getMore").AsInt64() != id || id == 0 {
			t.Errorf("the getMore was %v", w.sent[len(w.sent)-1])
		}
		s.Release()
		pin.Release()
	})
}

// The application may recover from a panic. Nobody releases a pin whose first operation panicked.
func TestAnOperationThatPanicsDoesNotPin(t *testing.T) {
	in(t, func(w *world) {
		pin := &Pin{KeepConnection: true}
		o := op(Generic, constant("ping", 1))
		o.Pin, o.Command = pin, &command{write: func(Attempt) bson.D { panic("the marshaler") }}
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the operation did not panic")
				}
			}()
			_ = w.runner.Run(w.Context(), o)
		}()
		if pin.Server() != nil {
			t.Errorf("it pinned to %s", pin.Server().Address())
		}
		if w.runner.Cluster().Busy() {
			t.Error("an operation counts as in flight")
		}
		first := w.connection(nil, nil)
		if again := w.connection(nil, nil); first != again {
			t.Errorf("connections %d and %d", first, again)
		}
	})
}

// Nothing is sent with a context that has ended, so the connection and its cursor or transaction are as before.
func TestAnEndedContextDoesNotBreakAPinnedConnection(t *testing.T) {
	in(t, func(w *world) {
		pin := &Pin{KeepConnection: true}
		first := w.connection(pin, nil)
		ctx, cancel := context.WithCancel(w.Context())
		cancel()
		sent := len(w.sent)
		o := op(Generic, constant("ping", 1))
		o.Pin = pin
		if err := w.runner.Run(ctx, o); !errors.Is(err, context.Canceled) || len(w.sent) != sent {
			t.Errorf("error %v; %d commands were sent", err, len(w.sent)-sent)
		}
		if pin.Lost() || w.runner.Cluster().Busy() {
			t.Fatalf("lost: %v, busy: %v", pin.Lost(), w.runner.Cluster().Busy())
		}
		if next := w.connection(pin, nil); next != first {
			t.Errorf("the next operation runs on connection %d, want %d", next, first)
		}
		pin.Release()
	})
}

// Driver Sessions, "Server Session Pool". The time that counts is that of the operation, not that of the checkout.
func TestAnOperationOnAPinnedConnectionDoesNotReuseAnExpiredSession(t *testing.T) {
	in(t, func(w *world) {
		pin := &Pin{KeepConnection: true}
		w.connection(pin, nil)
		old := w.last("lsid")
		<-time.After(30 * time.Minute)
		w.connection(pin, nil)
		if w.last("lsid").Equal(old) {
			t.Errorf("the session %v is used after 30 minutes", old)
		}
		pin.Release()
	})
}

// Retryable Writes, "Executing Retryable Write Commands": the retry of a sharded cluster goes to another mongos, also if the failed
// attempt has a cursor, to whose mongos the operation was pinned.
func TestTheRetryOfAWriteThatPinnedGoesToAnotherMongos(t *testing.T) {
	inside(t, func() (*mongotest.Deployment, error) {
		return mongotest.RunSharded(1, 2, mongotest.InMemory())
	}, func(w *world) {
		<-time.After(time.Second) // both mongos are known
		for id := range 10 {
			var tried []int
			remove := w.set.Use("insert", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
				if tried = append(tried, r.Mongos); len(tried) > 1 {
					return next(r)
				}
				body, err := bson.Marshal(doc("ok", 1, "writeConcernError", doc("code", 64), "errorLabels", bson.A{"RetryableWriteError"}))
				w.must(err)
				return &mongotest.Reply{Body: body}
			})
			var pin Pin
			o := op(Write, constant("insert", "c", "documents", bson.A{doc("_id", id)}))
			o.Pin = &pin
			w.must(w.runner.Run(w.Context(), o))
			if len(tried) != 2 || tried[0] == tried[1] || pin.Server().Address() != w.set.MongosAddr(tried[1]) {
				t.Errorf("the attempts went to the mongos %v, the pin is that of %s", tried, pin.Server().Address())
			}
			pin.Release()
			remove()
		}
	})
}

// The reply of bulkWrite has a cursor beside its write concern error. A retry may select another server.
func TestAWriteThatTheServerExecutedPinsUnlessItIsRetried(t *testing.T) {
	for _, c := range []struct {
		name   string
		label  string
		pinned int // the attempt whose server the pin has
	}{
		{"a write concern error that is not retried", "Other", 0},
		{"a write concern error that is retried", "RetryableWriteError", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, func(w *world) {
				attempts := 0
				w.set.Use("insert", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
					attempts++
					if attempts > 1 {
						return next(r)
					}
					body, err := bson.Marshal(bson.D{
						{Key: "ok", Value: 1},
						{Key: "writeConcernError", Value: bson.D{{Key: "code", Value: 64}}},
						{Key: "errorLabels", Value: bson.A{c.label}},
					})
					w.must(err)
					return &mongotest.Reply{Body: body}
				})
				pin := &Pin{KeepConnection: true}
				cmd := constant("insert", "c", "documents", bson.A{bson.D{{Key: "_id", Value: 1}}})
				o := op(Write, cmd)
				o.Pin = pin
				err := w.runner.Run(w.Context(), o)
				if (err == nil) != (c.pinned == 1) || attempts != c.pinned+1 || pin.Server() == nil || pin.Lost() {
					t.Errorf("error %v, %d attempts, pinned to %v", err, attempts, pin.Server())
				}
				pin.Release()
				if w.runner.Cluster().Busy() {
					t.Error("an operation counts as in flight")
				}
			})
		})
	}
}

// The first attempt is answered and pins; the second one, on its connection, is not answered and pins nothing.
func TestAnAttemptWithoutAnAnswerDoesNotPin(t *testing.T) {
	in(t, func(w *world) {
		n := 0
		w.set.Use("insert", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
			if n++; n == 1 {
				return mongotest.NewReply(doc("ok", 1, "errorLabels", bson.A{labelRetryableWrite}, "writeConcernError", doc("code", 91, "errmsg", "m")))
			}
			return mongotest.FaultOnce(mongotest.Fault{LoseReply: true})(r, next)
		})
		o := op(Write, constant("insert", "c", "documents", bson.A{doc("_id", 1)}))
		o.Pin, o.ReadConcern = new(Pin), nil
		err := w.runner.Run(w.Context(), o)
		if err == nil || n != 2 || o.Pin.Server() != nil {
			t.Errorf("%d attempts pinned to %v: %v", n, o.Pin.Server(), err)
		}
	})
}

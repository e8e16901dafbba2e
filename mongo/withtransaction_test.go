package mongo_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

const (
	transient = "TransientTransactionError"
	unknown   = "UnknownTransactionCommitResult"
)

func constantly(jitter float64) func() float64 { return func() float64 { return jitter } }

// insertIn is a callback that inserts a document.
func insertIn(w *world) func(context.Context) (any, error) {
	return func(ctx context.Context) (any, error) { return "inserted", insertOne(ctx, w.coll) }
}

// Prose test "Callback Raises a Custom Error".
func TestTheCallbacksErrorIsReturned(t *testing.T) {
	in(t, nil, func(w *world) {
		s, _ := w.session()
		defer s.EndSession(w.ctx)
		custom, calls := errors.New("custom"), 0
		_, err := s.WithTransaction(w.ctx, func(ctx context.Context) (any, error) {
			calls++
			w.must(insertOne(ctx, w.coll))
			return nil, custom
		})
		if err != custom || calls != 1 || len(w.started("abortTransaction")) != 1 || w.documents() != 0 { //nolint:errorlint // it is returned as it is
			t.Errorf("%d calls, %d aborts: %v", calls, len(w.started("abortTransaction")), err)
		}
	})
}

// Prose test "Callback Returns a Value".
func TestTheCallbacksValueIsReturned(t *testing.T) {
	in(t, nil, func(w *world) {
		s, _ := w.session()
		defer s.EndSession(w.ctx)
		v, err := s.WithTransaction(w.ctx, insertIn(w))
		if err != nil || v != "inserted" || w.documents() != 1 {
			t.Errorf("%v, %v; %d documents", v, err, w.documents())
		}
	})
}

// Prose test "Retry Timeout is Enforced": the error is a timeout with the labels of the last error.
func TestTheTimeOfWithTransactionIsLimited(t *testing.T) {
	slow := func(f mongotest.Fault) mongotest.Fault {
		f.Delay = 50 * time.Second
		return f
	}
	for _, c := range []struct {
		name    string
		command string
		fault   mongotest.Fault
		label   string
	}{
		{"the callback's error is transient", "insert", refuse(251, transient), transient},
		{"the commit's result is unknown", "commitTransaction", refuse(91, "RetryableWriteError"), unknown},
		{"the commit's error is transient", "commitTransaction", refuse(251, transient), transient},
	} {
		for limit, configure := range map[time.Duration]func(*options.ClientOptions){
			120 * time.Second: nil,
			time.Minute:       func(o *options.ClientOptions) { o.SetTimeout(time.Minute) },
			5 * time.Minute:   func(o *options.ClientOptions) { o.SetTimeout(5 * time.Minute) },
		} {
			t.Run(fmt.Sprintf("%s, limit %v", c.name, limit), func(t *testing.T) {
				in(t, configure, func(w *world) {
					w.set.Use(c.command, mongotest.Always(slow(c.fault)))
					s, _ := w.session()
					defer s.EndSession(w.ctx)
					began := time.Now()
					_, err := s.WithTransaction(w.ctx, insertIn(w))
					if err == nil || !mongo.IsTimeout(err) || !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("no timeout: %v", err)
					}
					if took := time.Since(began); took < limit-50*time.Second || took > limit+100*time.Second {
						t.Errorf("it took %v", took)
					}
					var last mongo.CommandError
					if !errors.As(err, &last) {
						t.Errorf("the last error is not in %v", err)
					}
					if limit == 120*time.Second && len(labels(err, c.label)) == 0 {
						t.Errorf("without the label %s: %v", c.label, err)
					}
				})
			})
		}
	}
}

// An error that is a timeout already is returned as it is.
func TestTheLastErrorOfWithTransactionMayBeTheTimeout(t *testing.T) {
	in(t, nil, func(w *world) {
		s, _ := w.session()
		defer s.EndSession(w.ctx)
		_, err := s.WithTransaction(w.ctx, func(context.Context) (any, error) {
			w.pass(50 * time.Second)
			return nil, mongo.CommandError{Code: 50, Message: "scripted", Labels: []string{transient}}
		})
		if !mongo.IsTimeout(err) || strings.Contains(err.Error(), "operation timed out") {
			t.Errorf("error: %v", err)
		}
	})
}

// A context that has ended is the reason, also if the time is up meanwhile: the application has cancelled, and nothing has timed out.
func TestWithTransactionWhoseContextEndedBeforeItsTimeWasUpIsCancelled(t *testing.T) {
	for name, end := range map[string]func(w *world, cancel func()){
		"in the callback": func(w *world, cancel func()) {
			cancel()
			w.pass(121 * time.Second)
		},
		"in the last moment of its time": func(w *world, cancel func()) {
			w.pass(120 * time.Second)
			cancel()
		},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				s, _ := w.session()
				defer s.EndSession(w.ctx)
				ctx, cancel := context.WithCancel(w.ctx)
				defer cancel()
				_, err := s.WithTransaction(ctx, func(context.Context) (any, error) {
					end(w, cancel)
					return nil, mongo.CommandError{Message: "scripted", Labels: []string{transient}}
				})
				if !errors.Is(err, context.Canceled) || mongo.IsTimeout(err) || !strings.Contains(err.Error(), "scripted") {
					t.Errorf("error: %v", err)
				}
			})
		})
	}
}

// Prose test "Retry Backoff is Enforced".
func TestTheRetriesOfWithTransactionHaveBackoff(t *testing.T) {
	took := func(t *testing.T, jitter float64) (took time.Duration) {
		in(t, nil, func(w *world) {
			w.seed()
			faults := make([]mongotest.Fault, 13)
			for i := range faults {
				faults[i] = refuse(251, transient)
			}
			w.script("commitTransaction", faults...)
			s, _ := w.session()
			defer s.EndSession(w.ctx)
			s.SetJitter(constantly(jitter))
			began := time.Now()
			_, err := s.WithTransaction(w.ctx, insertIn(w))
			w.must(err)
			took = time.Since(began)
			if n := len(w.started("commitTransaction")); n != 14 || w.documents() != 2 {
				t.Errorf("%d commits, %d documents", n, w.documents())
			}
		})
		return took
	}
	sum, next := 0.0, 5.0 // milliseconds
	for range 13 {
		next *= 1.5
		sum += min(next, 500)
	}
	want := time.Duration(sum * float64(time.Millisecond))
	if more := took(t, 1) - took(t, 0); (more - want).Abs() > time.Millisecond {
		t.Errorf("the backoff makes it %v longer, want %v", more, want)
	}
}

// A commit whose result stays unknown is sent again at once the first time, then with backoff.
func TestACommitIsSentAgainWhileItsResultIsUnknown(t *testing.T) {
	took := func(t *testing.T, jitter float64) (took time.Duration) {
		in(t, nil, func(w *world) {
			w.seed()
			var faults []mongotest.Fault
			for range 8 { // two attempts for each call; the server stays known
				faults = append(faults, refuse(262, "RetryableWriteError"))
			}
			w.script("commitTransaction", faults...)
			s, _ := w.session()
			defer s.EndSession(w.ctx)
			s.SetJitter(constantly(jitter))
			calls := 0
			began := time.Now()
			_, err := s.WithTransaction(w.ctx, func(ctx context.Context) (any, error) {
				calls++
				return nil, insertOne(ctx, w.coll)
			})
			w.must(err)
			took = time.Since(began)
			if n := len(w.started("commitTransaction")); n != 9 || calls != 1 || w.documents() != 2 {
				t.Errorf("%d commits, %d calls, %d documents", n, calls, w.documents())
			}
		})
		return took
	}
	const want = 11_250*time.Microsecond + 16_875*time.Microsecond + 25_312*time.Microsecond // the second to the fourth wait
	if more := took(t, 1) - took(t, 0); (more - want).Abs() > time.Millisecond {
		t.Errorf("the backoff makes it %v longer, want %v", more, want)
	}
}

// A commit that a server keeps refusing at once ends with the time of WithTransaction.
func TestTheCommitsOfWithTransactionEndWithItsTime(t *testing.T) {
	in(t, nil, func(w *world) {
		w.seed()
		w.heal = w.set.Use("commitTransaction", mongotest.Always(refuse(91, "RetryableWriteError")))
		s, _ := w.session()
		defer s.EndSession(w.ctx)
		s.SetJitter(constantly(1))
		began := time.Now()
		_, err := s.WithTransaction(w.ctx, insertIn(w))
		if took := time.Since(began); !mongo.IsTimeout(err) || took > 120*time.Second || took < 119*time.Second {
			t.Errorf("after %v: %v", took, err)
		}
	})
}

func TestACommitThatReachedItsTimeLimitIsNotSentAgain(t *testing.T) {
	in(t, nil, func(w *world) {
		w.script("commitTransaction", refuse(50))
		s, _ := w.session()
		defer s.EndSession(w.ctx)
		_, err := s.WithTransaction(w.ctx, insertIn(w))
		if n := len(w.started("commitTransaction")); n != 1 || len(labels(err, unknown)) != 1 {
			t.Errorf("%d commits: %v", n, err)
		}
	})
}

// A primary that dies makes the error transient, so the callback is called again and the data is there once.
func TestWithTransactionSurvivesAPrimaryThatDies(t *testing.T) {
	in(t, nil, func(w *world) {
		s, _ := w.session()
		defer s.EndSession(w.ctx)
		calls := 0
		_, err := s.WithTransaction(w.ctx, func(ctx context.Context) (any, error) {
			if err := insertOne(ctx, w.coll); err != nil {
				return nil, err
			}
			if calls++; calls == 1 {
				w.set.Kill(w.set.Primary())
			}
			return nil, insertOne(ctx, w.coll)
		})
		w.must(err)
		if n := w.documents(); n != 2 || calls < 2 {
			t.Errorf("%d documents, %d calls", n, calls)
		}
	})
}

func TestACallbackThatEndsTheTransactionItself(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(*mongo.Session, context.Context) error
		want int
	}{"commits": {(*mongo.Session).CommitTransaction, 1}, "aborts": {(*mongo.Session).AbortTransaction, 0}} {
		t.Run(name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				s, _ := w.session()
				defer s.EndSession(w.ctx)
				v, err := s.WithTransaction(w.ctx, func(ctx context.Context) (any, error) {
					w.must(insertOne(ctx, w.coll))
					return "done", c.end(s, ctx)
				})
				sent := len(w.started("commitTransaction")) + len(w.started("abortTransaction"))
				if err != nil || v != "done" || sent != 1 || w.documents() != c.want {
					t.Errorf("%v, %v: %d ends, %d documents", v, err, sent, w.documents())
				}
			})
		})
	}
}

func TestACallbackThatPanicsAborts(t *testing.T) {
	in(t, nil, func(w *world) {
		s, _ := w.session()
		defer s.EndSession(w.ctx)
		func() {
			defer func() {
				if recover() != "the callback" {
					t.Error("the panic did not reach the caller")
				}
			}()
			_, _ = s.WithTransaction(w.ctx, func(ctx context.Context) (any, error) {
				w.must(insertOne(ctx, w.coll))
				panic("the callback")
			})
		}()
		if n := len(w.started("abortTransaction")); n != 1 || s.TransactionRunning() {
			t.Errorf("%d aborts; running: %v", n, s.TransactionRunning())
		}
	})
}

// A context that ends is reported at once, and the transaction is aborted all the same.
func TestWithTransactionEndsWithItsContext(t *testing.T) {
	for name, callback := range map[string]func(w *world, cancel func()) func(context.Context) (any, error){
		"before the commit": func(w *world, cancel func()) func(context.Context) (any, error) {
			return func(ctx context.Context) (any, error) {
				defer cancel()
				return nil, insertOne(ctx, w.coll)
			}
		},
		"in an operation": func(w *world, cancel func()) func(context.Context) (any, error) {
			return func(ctx context.Context) (any, error) {
				w.must(insertOne(ctx, w.coll))
				w.script("insert", mongotest.Fault{Before: cancel, Delay: time.Second})
				return nil, insertOne(ctx, w.coll)
			}
		},
		"in the backoff": func(w *world, cancel func()) func(context.Context) (any, error) {
			return func(ctx context.Context) (any, error) {
				w.must(insertOne(ctx, w.coll))
				time.AfterFunc(time.Millisecond, cancel)
				return nil, mongo.CommandError{Message: "scripted", Labels: []string{transient}}
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				s, _ := w.session()
				defer s.EndSession(w.ctx)
				s.SetJitter(constantly(1))
				ctx, cancel := context.WithCancel(w.ctx)
				defer cancel()
				began := time.Now()
				_, err := s.WithTransaction(ctx, callback(w, cancel))
				if took := time.Since(began); !errors.Is(err, context.Canceled) || took > 100*time.Millisecond {
					t.Errorf("after %v: %v", took, err)
				}
				if strings.HasPrefix(err.Error(), "mongo: WithTransaction:") != (name == "in the backoff") {
					t.Errorf("only in the backoff the last error does not have the cause: %v", err)
				}
				if len(w.started("abortTransaction")) == 0 || len(w.started("commitTransaction")) != 0 {
					t.Errorf("%d aborts, %d commits", len(w.started("abortTransaction")), len(w.started("commitTransaction")))
				}
			})
		})
	}
}

// Client-Side Operations Timeout, "Convenient Transactions API": one time limit for all, except for the abort.
func TestTheClientsTimeoutIsForTheWholeTransaction(t *testing.T) {
	in(t, func(o *options.ClientOptions) { o.SetTimeout(time.Second) }, func(w *world) {
		s, _ := w.session()
		defer s.EndSession(w.ctx)
		calls := 0
		began := time.Now()
		_, err := s.WithTransaction(w.ctx, func(ctx context.Context) (any, error) {
			for {
				calls++
				if err := insertOne(ctx, w.coll); err != nil {
					return nil, err
				}
				w.pass(300 * time.Millisecond)
			}
		})
		if took := time.Since(began); took > 1300*time.Millisecond || calls != 5 || !mongo.IsTimeout(err) {
			t.Errorf("%d operations in %v: %v", calls, took, err)
		}
		if n := len(w.started("abortTransaction")); n != 1 {
			t.Errorf("%d aborts", n)
		}
	})
}

// The abort after the end of a context's time has the same time again, but at most a second; the server is told.
func TestTheAbortHasTheTimeOfTheTransactionAgain(t *testing.T) {
	for _, c := range []struct {
		name   string
		limit  time.Duration // of the context
		client time.Duration // timeoutMS
		want   time.Duration // the time until the abort is given up
	}{
		{"a context with a short time", 300 * time.Millisecond, 0, 300 * time.Millisecond},
		{"a context with a long time", time.Minute, 0, time.Second},
		{"the client's timeout", 0, 300 * time.Millisecond, 300 * time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, func(o *options.ClientOptions) {
				if c.client > 0 {
					o.SetTimeout(c.client)
				}
			}, func(w *world) {
				w.seed()
				w.script("abortTransaction", mongotest.Fault{Delay: 2 * time.Minute})
				ctx := w.ctx
				if c.limit > 0 {
					var cancel context.CancelFunc
					ctx, cancel = context.WithTimeout(ctx, c.limit)
					defer cancel()
				}
				s, _ := w.session()
				defer s.EndSession(w.ctx)
				began := time.Now()
				_, err := s.WithTransaction(ctx, func(ctx context.Context) (any, error) {
					w.must(insertOne(ctx, w.coll))
					<-ctx.Done()
					return nil, context.Cause(ctx)
				})
				took := (time.Since(began) - max(c.limit, c.client)).Truncate(100 * time.Millisecond)
				if !mongo.IsTimeout(err) || took != c.want {
					t.Errorf("%v after the end: %v", took, err)
				}
				aborts := w.started("abortTransaction")
				if ms, _ := aborts[0].Command.Lookup("maxTimeMS").AsInt64OK(); len(aborts) != 1 || ms != c.want.Milliseconds() {
					t.Errorf("%d aborts, maxTimeMS %d", len(aborts), ms)
				}
			})
		})
	}
}

func TestWithTransactionWithBadArguments(t *testing.T) {
	in(t, nil, func(w *world) {
		s, ctx := w.session()
		defer s.EndSession(w.ctx)
		if _, err := s.WithTransaction(ctx, nil); err == nil || !strings.Contains(err.Error(), "the function is nil") {
			t.Errorf("a nil function: %v", err)
		}
		w.must(s.StartTransaction())
		if _, err := s.WithTransaction(ctx, insertIn(w)); err == nil || err.Error() != "transaction already in progress" {
			t.Errorf("inside a transaction: %v", err)
		}
		w.must(s.AbortTransaction(w.ctx))
		v, err := s.WithTransaction(nil, insertIn(w)) //nolint:staticcheck // a nil context is allowed
		if err != nil || v != "inserted" {
			t.Errorf("without a context: %v", err)
		}
	})
}

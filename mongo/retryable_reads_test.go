package mongo_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/retry"
)

func findOne(w *world) error { return w.coll.FindOne(w.ctx, doc("_id", 1)).Err() }

func TestRetriesOfAReadByFailure(t *testing.T) {
	type row struct {
		name      string
		configure func(*options.ClientOptions)
		faults    []mongotest.Fault
		attempts  int
		code      int
	}
	rows := []row{
		{"a network error", nil, []mongotest.Fault{loseRequest}, 2, 0},
		{"a lost reply", nil, []mongotest.Fault{loseReply}, 2, 0},
		{"two network errors", nil, []mongotest.Fault{loseReply, loseReply}, 2, -1},
		{"a code that is not retryable", nil, []mongotest.Fault{refuse(13)}, 1, 13},
		{"the server's second error is returned", nil, []mongotest.Fault{loseReply, refuse(13)}, 2, 13},
		{"a read ignores NoWritesPerformed", nil, []mongotest.Fault{refuse(91), refuse(10107, "NoWritesPerformed")}, 2, 10107},
		{"retryReads=false", func(o *options.ClientOptions) { o.SetRetryReads(false) }, []mongotest.Fault{loseReply}, 1, -1},
	}
	for _, code := range []int32{11600, 11602, 10107, 13435, 13436, 189, 91, 7, 6, 89, 9001, 262, 134} {
		rows = append(rows, row{fmt.Sprintf("code %d", code), nil, []mongotest.Fault{refuse(code)}, 2, 0})
	}
	for _, c := range rows {
		t.Run(c.name, func(t *testing.T) {
			in(t, c.configure, func(w *world) {
				w.seed()
				w.script("find", c.faults...)
				err := findOne(w)
				s := w.started("find")
				if len(s) != c.attempts || w.ends != c.attempts {
					t.Errorf("%d attempts with %d ends, want %d", len(s), w.ends, c.attempts)
				}
				checkCode(t, err, c.code)
			})
		})
	}
}

func TestGetMoreAndRunCommandAreNeverRetried(t *testing.T) {
	for name, c := range map[string]struct {
		command string
		do      func(w *world) error
	}{
		"getMore": {"getMore", func(w *world) error {
			cursor, err := w.coll.Find(w.ctx, d{}, options.Find().SetBatchSize(1))
			w.must(err)
			for cursor.Next(w.ctx) {
			}
			return cursor.Err()
		}},
		"runCommand, even of a read": {"find", func(w *world) error {
			return w.client.Database("test").RunCommand(w.ctx, doc("find", "c")).Err()
		}},
	} {
		t.Run(name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				w.seed()
				w.must(writes[0].do(w.ctx, w.coll))
				w.script(c.command, loseReply)
				err := c.do(w)
				checkCode(t, err, -1)
				if n := len(w.started(c.command)); n != 1 {
					t.Errorf("%d attempts", n)
				}
			})
		})
	}
}

// A server whose hello says primary and whose replies say not primary must not get thousands of attempts a second.
func TestNotPrimaryIsRetriedUntilTheDeadlineAtALimitedRate(t *testing.T) {
	for _, withDeadline := range []bool{true, false} {
		in(t, nil, func(w *world) {
			w.seed()
			faults := make([]mongotest.Fault, 10_000)
			for i := range faults {
				faults[i] = refuse(10107)
			}
			w.script("find", faults...)
			ctx, cancel := w.ctx, context.CancelFunc(func() {})
			if withDeadline {
				ctx, cancel = context.WithTimeout(w.ctx, 10*time.Second)
			}
			defer cancel()
			start := time.Now()
			err := w.coll.FindOne(ctx, doc("_id", 1)).Err()
			took, n := time.Since(start), len(w.started("find"))
			switch {
			case withDeadline && (n < 10 || n > 30 || took < 9*time.Second || took > 10*time.Second):
				t.Errorf("%d attempts in %v", n, took)
			case withDeadline && !mongo.IsTimeout(err):
				t.Errorf("no timeout: %v", err)
			case !withDeadline && n != 2:
				t.Errorf("%d attempts", n)
			}
			checkCode(t, err, 10107)
		})
	}
}

func TestTheRetryContinuesWhenThereIsANewPrimary(t *testing.T) {
	in(t, nil, func(w *world) {
		w.seed()
		start := time.Now()
		w.set.Kill(w.set.Primary())
		w.must(writes[2].do(w.ctx, w.coll))
		if took := time.Since(start); took > 2*time.Second {
			t.Errorf("it took %v with an election timeout of 1s", took)
		}
	}, mongotest.ElectionTimeout(time.Second))
}

// The listener of CheckOutStarted clears the pool between selection and checkout.
func TestACheckoutFromAClearedPoolIsRetried(t *testing.T) {
	for name, do := range map[string]func(w *world) error{
		"read":  findOne,
		"write": func(w *world) error { return writes[2].do(w.ctx, w.coll) },
	} {
		t.Run(name, func(t *testing.T) {
			in(t, nil, func(w *world) {
				w.seed()
				w.onPool = w.clearAtNextCheckOut()
				w.must(do(w))
				failed := 0
				for _, ev := range w.pool {
					if ev.Type == event.ConnectionCheckOutFailed {
						failed++
					}
				}
				if failed != 1 {
					t.Errorf("%d checkouts failed, want 1", failed)
				}
			})
		})
	}
}

// clearAtNextCheckOut returns a listener that clears the pool when the next checkout starts: it runs another
// operation, which gets a shutdown error.
func (w *world) clearAtNextCheckOut() func(*event.PoolEvent) {
	armed := true
	return func(ev *event.PoolEvent) {
		if !armed || ev.Type != event.ConnectionCheckOutStarted {
			return
		}
		armed = false
		w.script("ping", refuse(91))
		_ = w.client.Ping(w.ctx, nil)
	}
}

func TestAnErrorInTheHandshakeOfTheFirstAttemptIsRetried(t *testing.T) {
	for name, fault := range map[string]mongotest.Fault{
		"the connection is closed": loseRequest, "the server shuts down": refuse(91), "the server is not primary": refuse(10107),
	} {
		for kind, do := range map[string]func(w *world) error{
			"read":  findOne,
			"write": func(w *world) error { return writes[2].do(w.ctx, w.coll) },
		} {
			t.Run(name+", "+kind, func(t *testing.T) {
				in(t, nil, func(w *world) {
					w.seed()
					w.script("ping", loseReply)
					_ = w.client.Ping(w.ctx, nil) // the pool has no connections now
					w.pass(time.Second)           // a check makes the primary selectable again
					var handshakes atomic.Int32
					w.set.Use("hello", mongotest.Decide(func(r *mongotest.Request) mongotest.Fault {
						if _, err := r.Body.LookupErr("backpressure"); err != nil || r.Member != w.set.Primary() {
							return mongotest.Fault{}
						}
						if handshakes.Add(1) > 1 {
							return mongotest.Fault{}
						}
						return fault
					}))
					w.must(do(w))
					if handshakes.Load() == 0 {
						t.Error("there was no handshake")
					}
				})
			})
		}
	}
}

func TestACancelledContextIsReturnedImmediatelyAndNotRetried(t *testing.T) {
	in(t, nil, func(w *world) {
		w.seed()
		w.script("update", mongotest.Fault{LoseReply: true, Silent: true})
		ctx, cancel := context.WithCancel(w.ctx)
		time.AfterFunc(3*time.Second, cancel)
		start := time.Now()
		_, err := w.coll.UpdateOne(ctx, doc("_id", 1), doc("$inc", doc("n", 1)))
		if took := time.Since(start); took != 3*time.Second {
			t.Errorf("it took %v", took)
		}
		var history *retry.Error
		if !errors.Is(err, context.Canceled) || !errors.As(err, &history) || history.StopReason() != retry.StopCancelled || history.OutcomeKnown() {
			t.Errorf("error: %v", err)
		}
		if n := len(w.started("update")); n != 1 {
			t.Errorf("%d attempts", n)
		}
	})
}

func TestADeadlineInFlightIsATimeoutWithAnUnknownOutcome(t *testing.T) {
	in(t, nil, func(w *world) {
		w.seed()
		w.script("update", mongotest.Fault{LoseReply: true, Silent: true})
		ctx, cancel := context.WithTimeout(w.ctx, 3*time.Second)
		defer cancel()
		_, err := w.coll.UpdateOne(ctx, doc("_id", 1), doc("$inc", doc("n", 1)))
		var history *retry.Error
		if !mongo.IsTimeout(err) || !errors.Is(err, context.DeadlineExceeded) || !errors.As(err, &history) || history.OutcomeKnown() {
			t.Errorf("error: %v", err)
		}
	})
}

func TestOverloadIsRetriedWithBackoff(t *testing.T) {
	overload := refuse(462, "SystemOverloadedError", "RetryableError")
	for _, c := range []struct {
		name      string
		configure func(*options.ClientOptions)
		do        func(w *world) error
		command   string
		times     int
		attempts  int
		code      int
	}{
		{"a write is retried twice", nil, func(w *world) error { return writes[2].do(w.ctx, w.coll) }, "update", 2, 3, 0},
		{"a read is not retried three times", nil, findOne, "find", 3, 3, 462},
		{"maxAdaptiveRetries limits it", func(o *options.ClientOptions) { o.SetMaxAdaptiveRetries(4) }, findOne, "find", 4, 5, 0},
		{"no retry with retryReads=false", func(o *options.ClientOptions) { o.SetRetryReads(false) }, findOne, "find", 1, 1, 462},
		{"runCommand is retried", nil, func(w *world) error {
			return w.client.Database("test").RunCommand(w.ctx, doc("find", "c")).Err()
		}, "find", 1, 2, 0},
		{"runCommand needs both options", func(o *options.ClientOptions) { o.SetRetryWrites(false) }, func(w *world) error {
			return w.client.Database("test").RunCommand(w.ctx, doc("find", "c")).Err()
		}, "find", 1, 1, 462},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, c.configure, func(w *world) {
				w.seed()
				faults := make([]mongotest.Fault, c.times)
				for i := range faults {
					faults[i] = overload
				}
				w.script(c.command, faults...)
				err := c.do(w)
				if n := len(w.started(c.command)); n != c.attempts {
					t.Errorf("%d attempts, want %d", n, c.attempts)
				}
				checkCode(t, err, c.code)
			})
		})
	}
}

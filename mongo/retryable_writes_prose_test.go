package mongo_test

import (
	"context"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

// The prose tests of Retryable Writes. Numbers 1 and 2 are in retryable_writes_test.go.

// failInsert returns the fail point failCommand for insert.
func failInsert(mode any, data ...any) d {
	return doc("configureFailPoint", "failCommand", "mode", mode, "data", doc(append([]any{"failCommands", bson.A{"insert"}}, data...)...))
}

// insertAfter inserts a document on a replica set with a first fail point, which is followed by a second one as soon as the
// reply to the first has been published. Then f gets the error and when the attempts began.
func insertAfter(t *testing.T, first, second d, f func(w *world, err error, began []time.Time)) {
	t.Helper()
	var set *mongotest.Deployment
	var began []time.Time
	failed := 0
	next := func() {
		if failed++; failed > 1 {
			return
		}
		for i := range set.Members() {
			if _, err := set.Command(i, "admin", second); err != nil {
				t.Error(err)
			}
		}
	}
	in(t, func(o *options.ClientOptions) {
		monitor := *o.Monitor
		started := monitor.Started
		monitor.Started = func(ctx context.Context, ev *event.CommandStartedEvent) {
			if ev.CommandName == "insert" {
				began = append(began, time.Now())
			}
			started(ctx, ev)
		}
		monitor.Succeeded = func(_ context.Context, ev *event.CommandSucceededEvent) {
			if _, err := ev.Reply.LookupErr("writeConcernError"); err == nil {
				next()
			}
		}
		monitor.Failed = func(context.Context, *event.CommandFailedEvent) { next() }
		o.SetMonitor(&monitor)
	}, func(w *world) {
		set = w.set
		w.must(w.set.WaitIdle(w.ctx))
		w.pass(time.Second)
		w.must(w.client.Ping(w.ctx, nil))
		_, err := w.set.Command(w.set.Primary(), "admin", first)
		w.must(err)
		err = insertOneOf(w)
		f(w, err, began)
	}, mongotest.Version("6.0"))
}

func TestRetryableWritesProse3TheErrorBeforeNoWritesPerformedIsReturned(t *testing.T) {
	insertAfter(t,
		failInsert(once, "errorLabels", bson.A{"RetryableWriteError"}, "writeConcernError", doc("code", 91, "errmsg", "scripted")),
		failInsert(once, "errorCode", 10107, "errorLabels", bson.A{"RetryableWriteError", "NoWritesPerformed"}),
		func(w *world, err error, began []time.Time) {
			checkCode(w.T, err, 91)
			if len(began) != 2 {
				w.Errorf("%d attempts", len(began))
			}
		})
}

func TestRetryableWritesProse4AnotherMongosIsUsed(t *testing.T) {
	inside(t, sharded(2), func(o *options.ClientOptions) { o.SetRetryWrites(true) }, func(w *world) {
		w.pass(time.Second) // both mongos are known
		w.script("insert", refuse(6, "RetryableWriteError"), refuse(6, "RetryableWriteError"))
		checkCode(t, insertOneOf(w), 6)
		if a := addresses(w.started("insert")); w.failed != 2 || len(a) != 2 || a[0] == a[1] {
			t.Errorf("%d failed on %v", w.failed, a)
		}
	})
}

func TestRetryableWritesProse5TheOnlyMongosIsUsedAgain(t *testing.T) {
	for name, fault := range map[string]mongotest.Fault{"an error": refuse(6, "RetryableWriteError"), "a connection that closes": loseRequest} {
		t.Run(name, func(t *testing.T) {
			inside(t, sharded(1), func(o *options.ClientOptions) { o.SetDirect(false) }, func(w *world) {
				w.must(w.client.Ping(w.ctx, nil))
				w.script("insert", fault)
				w.must(insertOneOf(w))
				if a := addresses(w.started("insert")); w.failed != 1 || len(a) != 2 || a[0] != a[1] {
					t.Errorf("%d failed on %v", w.failed, a)
				}
			})
		})
	}
}

func TestRetryableWritesProse6TheErrorAfterSeveral(t *testing.T) {
	overload := []any{"RetryableError", "SystemOverloadedError"}
	always := "alwaysOn"
	for _, c := range []struct {
		name          string
		first, second d
		code          int
		label         bool // the error has NoWritesPerformed
	}{
		{
			"case 1: without NoWritesPerformed the last error",
			failInsert(once, "errorCode", 91, "errorLabels", overload),
			failInsert(always, "errorCode", 10107, "errorLabels", overload), 10107, false,
		},
		{
			"case 2: with NoWritesPerformed only the first error",
			failInsert(once, "errorCode", 91, "errorLabels", noWrites(overload)),
			failInsert(always, "errorCode", 10107, "errorLabels", noWrites(overload)), 91, true,
		},
		{
			"case 3: the last error without NoWritesPerformed",
			failInsert(once, "errorCode", 91, "errorLabels", overload),
			failInsert(always, "errorCode", 91, "errorLabels", noWrites(overload)), 91, false,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			insertAfter(t, c.first, c.second, func(w *world, err error, began []time.Time) {
				checkCode(w.T, err, c.code)
				if got := len(labels(err, "NoWritesPerformed")) > 0; got != c.label {
					w.Errorf("the error has the label NoWritesPerformed: %t", got)
				}
				if len(began) != 3 {
					w.Errorf("%d attempts", len(began))
				}
			})
		})
	}
}

func noWrites(labels []any) []any { return append(slices.Clone(labels), "NoWritesPerformed") }

// overloadThen runs an insert that gets one overload error and then other retryable errors.
func overloadThen(t *testing.T, f func(w *world, err error, began []time.Time)) {
	t.Helper()
	insertAfter(t,
		failInsert(once, "errorCode", 91, "errorLabels", bson.A{"RetryableError", "SystemOverloadedError"}),
		failInsert("alwaysOn", "errorCode", 91, "errorLabels", bson.A{"RetryableError", "RetryableWriteError"}), f)
}

func TestRetryableWritesProse6Case4AnOverloadSetsTheLargestNumberOfRetries(t *testing.T) {
	overloadThen(t, func(w *world, err error, began []time.Time) {
		checkCode(w.T, err, 91)
		if len(began) != 3 {
			w.Errorf("%d attempts, want MAX_RETRIES + 1, which is 3", len(began))
		}
	})
}

// A backoff is random. The second retry waits for the check of the server only, whose time does not depend on the backoff.
func TestRetryableWritesProse6Case5ThereIsNoBackoffAfterOtherErrors(t *testing.T) {
	firsts, seconds := map[time.Duration]bool{}, map[time.Duration]bool{}
	for range 5 {
		overloadThen(t, func(_ *world, _ error, began []time.Time) {
			firsts[began[1].Sub(began[0])] = true
			seconds[began[2].Sub(began[0])] = true
		})
	}
	if len(firsts) == 1 || len(seconds) != 1 {
		t.Errorf("the first retries began after %v, the second ones after %v", firsts, seconds)
	}
}

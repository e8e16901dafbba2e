package mongo_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/mongotest"
)

// failFind sets the fail point failCommand for find on a server and returns how it is disabled.
func (w *world) failFind(member int, mode any, data ...any) {
	w.Helper()
	command := doc("configureFailPoint", "failCommand", "mode", mode,
		"data", doc(append([]any{"failCommands", bson.A{"find"}}, data...)...))
	_, err := w.set.Command(member, "admin", command)
	w.must(err)
}

var once = doc("times", 1)

// addresses returns the addresses of the servers that commands were sent to.
func addresses(sent []*event.CommandStartedEvent) []string {
	var out []string
	for _, ev := range sent {
		out = append(out, strings.Split(ev.ConnectionID, "[")[0])
	}
	return out
}

func TestRetryableReadsProse1AClearedPoolIsRetried(t *testing.T) {
	in(t, func(o *options.ClientOptions) { o.SetMaxPoolSize(1) }, func(w *world) {
		w.seed()
		w.failFind(w.set.Primary(), once, "errorCode", 91, "blockConnection", true, "blockTimeMS", 1000)
		w.forget()
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() {
				if err := w.coll.FindOne(w.ctx, d{}).Err(); err != nil {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		var kinds []string
		for _, ev := range w.pool {
			switch ev.Type {
			case event.ConnectionCheckedOut, event.ConnectionPoolCleared, event.ConnectionCheckOutFailed:
				kinds = append(kinds, ev.Type)
			}
		}
		// The retry of the first thread may come before the failure of the second one's checkout.
		text := strings.Join(kinds, " ")
		if !strings.HasPrefix(text, event.ConnectionCheckedOut+" "+event.ConnectionPoolCleared) ||
			strings.Count(text, event.ConnectionCheckOutFailed) != 1 {
			t.Errorf("the pool's events are %v", kinds)
		}
		if n := len(w.started("find")); n != 3 {
			t.Errorf("%d find commands", n)
		}
	})
}

func TestRetryableReadsProse2_1AnotherMongosIsUsed(t *testing.T) {
	inside(t, sharded(2), func(o *options.ClientOptions) { o.SetRetryReads(true) }, func(w *world) {
		w.seed()
		w.pass(time.Second) // both mongos are known
		code := refuse(6)
		w.script("find", code, code)
		w.forget()
		checkCode(t, findOne(w), 6)
		if a := addresses(w.started("find")); w.failed != 2 || len(a) != 2 || a[0] == a[1] {
			t.Errorf("%d failed on %v", w.failed, a)
		}
	})
}

func TestRetryableReadsProse2_2TheOnlyMongosIsUsedAgain(t *testing.T) {
	inside(t, sharded(1), nil, func(w *world) {
		w.seed()
		w.script("find", refuse(6))
		w.forget()
		w.must(findOne(w))
		if a := addresses(w.started("find")); w.failed != 1 || len(a) != 2 || a[0] != a[1] {
			t.Errorf("%d failed on %v", w.failed, a)
		}
	})
}

func TestRetryableReadsProse3WhereAnOverloadIsRetried(t *testing.T) {
	overloaded := bson.A{"RetryableError", "SystemOverloadedError"}
	for _, c := range []struct {
		name     string
		retarget bool
		labels   bson.A
		other    bool
	}{
		{"3.1 with enableOverloadRetargeting on another server", true, overloaded, true},
		{"3.2 an error that is no overload on the same server", false, bson.A{"RetryableError"}, false},
		{"3.3 without enableOverloadRetargeting on the same server", false, overloaded, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			configure := func(o *options.ClientOptions) {
				o.SetReadPreference(readpref.PrimaryPreferred()).SetEnableOverloadRetargeting(c.retarget)
			}
			in(t, configure, func(w *world) {
				w.seed()
				w.must(w.set.WaitIdle(w.ctx))
				w.failFind(w.set.Primary(), once, "errorLabels", c.labels, "errorCode", 6)
				w.forget()
				w.must(findOne(w))
				if a := addresses(w.started("find")); w.failed != 1 || len(a) != 2 || (a[0] != a[1]) != c.other {
					t.Errorf("%d failed on %v", w.failed, a)
				}
			})
		})
	}
}

// afterAnOverload runs f after a read that got an overload error and then other errors. times are when its attempts began.
func afterAnOverload(t *testing.T, f func(w *world, err error, times []time.Time)) {
	t.Helper()
	in(t, nil, func(w *world) {
		w.seed()
		w.pass(time.Second)
		var times []time.Time
		w.set.Use("find", mongotest.Decide(func(*mongotest.Request) mongotest.Fault {
			if times = append(times, time.Now()); len(times) == 1 {
				return refuse(91, "RetryableError", "SystemOverloadedError")
			}
			return refuse(91, "RetryableError")
		}))
		err := findOne(w)
		f(w, err, times)
	})
}

func TestRetryableReadsProse4AnOverloadSetsTheLargestNumberOfRetries(t *testing.T) {
	afterAnOverload(t, func(w *world, err error, times []time.Time) {
		checkCode(w.T, err, 91)
		if n := len(times); n != 3 {
			w.Errorf("%d attempts, want MAX_RETRIES + 1, which is 3", n)
		}
	})
}

// A backoff is random. The second retry waits for the check of the server only, whose time does not depend on the backoff.
func TestRetryableReadsProse5ThereIsNoBackoffAfterOtherErrors(t *testing.T) {
	firsts, seconds := map[time.Duration]bool{}, map[time.Duration]bool{}
	for range 5 {
		afterAnOverload(t, func(_ *world, _ error, times []time.Time) {
			firsts[times[1].Sub(times[0])] = true
			seconds[times[2].Sub(times[0])] = true
		})
	}
	if len(firsts) == 1 || len(seconds) != 1 {
		t.Errorf("the first retries began after %v, the second ones after %v", firsts, seconds)
	}
}

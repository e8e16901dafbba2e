package couchbase_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/couchbasereason"
)

// fixedDelay is the delay of the custom strategy, which retries whatever it is asked about.
const fixedDelay = 10 * time.Millisecond

type fixed struct{}

func (fixed) RetryAfter(couchbase.RetryRequest, couchbase.RetryReason) couchbase.RetryAction {
	return &couchbase.WithDurationRetryAction{WithDuration: fixedDelay}
}

type declining struct{}

func (declining) RetryAfter(couchbase.RetryRequest, couchbase.RetryReason) couchbase.RetryAction {
	return &couchbase.NoRetryRetryAction{}
}

// ways are the strategies, and the custom one with trouble that outlasts the operation.
var ways = []struct {
	name     string
	strategy couchbase.RetryStrategy
	timeout  time.Duration
	endless  bool
}{
	{"the default strategy", nil, 10 * time.Second, false},
	{"a custom strategy", fixed{}, 10 * time.Second, false},
	{"a declining strategy", declining{}, 10 * time.Second, false},
	{"a custom strategy until the timeout", fixed{}, 95 * time.Millisecond, true},
}

// Each of the RFC's 20 reasons is raised by its real path: requests, delays, verdict, error and log are those of its rule.
func TestAllReasons(t *testing.T) {
	named := map[string]bool{}
	for _, r := range raisings {
		for _, w := range ways {
			for _, idempotent := range []bool{true, false} {
				run := r.write
				if idempotent {
					run = r.read
				}
				if run == nil {
					continue
				}
				t.Run(fmt.Sprintf("%v, %s, %s, idempotent %t", r.reason, r.path, w.name, idempotent), func(t *testing.T) {
					lasts := max(r.lasts, 25*time.Millisecond)
					if w.endless {
						lasts = forever
					}
					configure := func(o *couchbase.ClusterOptions) {
						if r.configure != nil {
							r.configure(o, lasts)
						}
					}
					onBench(t, configure, r.prepare, func(b *bench) {
						t := b.t
						r.arrange(b, lasts)
						b.forget()
						began := time.Now()
						err := run(b, callOptions{timeout: w.timeout, strategy: w.strategy})
						o := seen{took: time.Since(began), lasts: lasts, err: err, requests: b.requests(began), log: b.log.take(t)}
						for _, d := range o.log {
							named[d.reason] = true
						}
						_, o.declines = w.strategy.(declining)
						_, o.fixed = w.strategy.(fixed)
						o.idempotent, o.timeout = idempotent, w.timeout
						o.forgetMissing()
						switch refused := r.never || o.declines && !r.always || !idempotent && r.readsOnly; {
						case refused:
							o.refused(t, r)
						case w.endless:
							o.timedOut(t, r)
						default:
							o.succeeded(t, r)
						}
					}, r.servers...)
				})
			}
		}
	}
	count := 0
	for _, reason := range couchbasereason.All() {
		if named[reason.String()] {
			count++
		} else {
			t.Errorf("no log names %v", reason)
		}
	}
	fmt.Printf("figure cb-reasons-raised %d\n", count)
	if count != 20 {
		t.Errorf("%d reasons were raised; the RFC has 20", count)
	}
}

// seen is everything that is seen of an operation under test.
type seen struct {
	declines, fixed, idempotent bool
	timeout, lasts, took        time.Duration
	err                         error
	requests                    []time.Duration
	log                         []decision
}

// forgetMissing removes the line about the last answer, that there is no such document. Of Exists that is a success.
func (o *seen) forgetMissing() {
	if last := len(o.log) - 1; o.err == nil && last >= 0 && o.log[last].reason == retry.ReasonUnknown.String() {
		o.log = o.log[:last]
	}
}

// refused checks an operation that was not retried: one attempt, one line in the log, and an error that says why.
func (o *seen) refused(t *testing.T, r raising) {
	t.Helper()
	stop := retry.StopNotRetryable
	switch {
	case r.never:
	case o.declines:
		stop = retry.StopStrategyDeclined
	case r.readsOnly:
		stop = retry.StopNotIdempotent
	}
	if want := []decision{{0, r.reason.String(), 0, stop.String()}}; !slices.Equal(o.log, want) {
		t.Errorf("the log is %v, want %v", o.log, want)
	}
	var want []time.Duration
	if r.sent {
		want = []time.Duration{0}
	}
	if !slices.Equal(o.requests, want) || o.took != 0 {
		t.Errorf("requests at %v, want %v; the operation took %v", o.requests, want, o.took)
	}
	if o.err == nil || errors.Is(o.err, couchbase.ErrTimeout) || r.kind != nil && !errors.Is(o.err, r.kind) {
		t.Errorf("the error is %v, want %v", o.err, r.kind)
	}
	if reasons, attempts := reported(t, o.err); attempts != 0 || len(reasons) != 0 {
		t.Errorf("the error names %d retries for %v: %v", attempts, reasons, o.err)
	}
	o.known(t, o.idempotent || !r.mayHaveDone)
}

// timedOut checks an operation that was retried until its timeout, which says so, is unambiguous and names the cause.
func (o *seen) timedOut(t *testing.T, r raising) {
	t.Helper()
	for _, want := range []error{couchbase.ErrTimeout, couchbase.ErrUnambiguousTimeout, r.kind} {
		if want != nil && !errors.Is(o.err, want) {
			t.Errorf("the error is %v, want %v", o.err, want)
		}
	}
	if errors.Is(o.err, couchbase.ErrAmbiguousTimeout) || o.took != o.timeout {
		t.Errorf("after %v: %v", o.took, o.err)
	}
	var at []time.Duration
	for sum := time.Duration(0); r.sent && sum < o.timeout; sum += r.delay(len(at)-1, o.fixed) {
		at = append(at, sum)
	}
	if !slices.Equal(o.requests, at) {
		t.Errorf("requests at %v, want %v", o.requests, at)
	}
	o.checkLog(t, r, true)
	reasons, attempts := reported(t, o.err)
	if !slices.Equal(reasons, []string{r.reason.String()}) || attempts == 0 {
		t.Errorf("the error names the reasons %v and %d retries; the log is %v", reasons, attempts, o.log)
	}
	o.known(t, true)
}

// succeeded checks an operation that was retried until the trouble was over.
func (o *seen) succeeded(t *testing.T, r raising) {
	t.Helper()
	if o.err != nil {
		t.Fatalf("%v; the log is %v", o.err, o.log)
	}
	o.checkLog(t, r, false)
	times := []time.Duration{0}
	for _, d := range o.log {
		next := times[len(times)-1] + d.delay
		if r.woken && next > o.lasts {
			next = o.lasts
		}
		times = append(times, next)
	}
	if len(times) < 2 || times[len(times)-1] < o.lasts || times[len(times)-2] > o.lasts {
		t.Errorf("the trouble lasted %v, and there were attempts at %v", o.lasts, times)
	}
	if !r.sent {
		times = times[len(times)-1:]
	}
	// A rebalance has many maps, and the client may see one of them before the last: it is woken twice then.
	woken := r.woken && !r.sent && len(o.requests) == 1 && o.requests[0] >= o.lasts && o.requests[0] < o.lasts+fixedDelay/2
	if !woken && !slices.Equal(o.requests, times) {
		t.Errorf("requests at %v, want %v; the log is %v", o.requests, times, o.log)
	}
}

// checkLog checks the numbers, reasons and delays of the log's lines.
func (o *seen) checkLog(t *testing.T, r raising, ends bool) {
	t.Helper()
	retries := o.log
	if ends { // the last line says that the time is up, after the delay until then
		last := len(o.log) - 1
		left := o.timeout % fixedDelay
		if r.always {
			left = 34 * time.Millisecond // of 95, after 1, 10 and 50
		}
		attempt := 9
		if r.always {
			attempt = 3
		}
		if want := (decision{attempt, r.reason.String(), left, retry.StopDeadlineWouldPass.String()}); last < 0 || o.log[last] != want {
			t.Errorf("the log is %v; its last line should be %v", o.log, want)
			return
		}
		retries = o.log[:last]
		if asleep := last - 1; r.wakes() && asleep >= 0 { // that delay could have been ended early
			if want := (decision{attempt, r.reason.String(), left, ""}); o.log[asleep] != want {
				t.Errorf("the line before the last one is %v, want %v", o.log[asleep], want)
			}
			retries = o.log[:asleep]
		}
		if len(retries) != attempt {
			t.Errorf("%d retries, want %d: %v", len(retries), attempt, o.log)
		}
	}
	for i, d := range retries {
		least, most := r.delay(i, o.fixed), r.delay(i, o.fixed)
		if !o.fixed && !r.always {
			least, most = time.Millisecond, min(500*time.Millisecond, time.Millisecond<<min(i, 9))
		}
		if d.attempt != i || d.reason != r.reason.String() || d.refusal != "" || d.delay < least || d.delay > most {
			t.Errorf("line %d of the log is %+v, want a delay from %v to %v", i, d, least, most)
		}
	}
}

// wakes reports whether something can end the delay early, so that the last delay, too, is that of a retry.
func (r *raising) wakes() bool { return r.woken || r.reason == couchbasereason.KVNotMyVBucket }

// delay is that of the retry after so many others, where it is not random.
func (r *raising) delay(retries int, isFixed bool) time.Duration {
	if r.always {
		return retry.ControlledBackoff(retries)
	}
	if isFixed {
		return fixedDelay
	}
	return 0
}

// known checks whether the error says that the outcome is known.
func (o *seen) known(t *testing.T, want bool) {
	t.Helper()
	var history *retry.Error
	if !errors.As(o.err, &history) || history.OutcomeKnown() != want {
		t.Errorf("outcome known: want %t; %v", want, o.err)
	}
}

// reported returns the names of the reasons, and the number of retries, in an error.
func reported(t *testing.T, err error) (names []string, attempts uint32) {
	t.Helper()
	var reasons []couchbase.RetryReason
	var timeout *couchbase.TimeoutError
	var keyValue *couchbase.KeyValueError
	var query *couchbase.QueryError
	var analytics *couchbase.AnalyticsError
	var search *couchbase.SearchError
	var view *couchbase.ViewError
	var manager *couchbase.HTTPError
	switch {
	case errors.As(err, &timeout):
		reasons, attempts = timeout.RetryReasons, timeout.RetryAttempts
	case errors.As(err, &keyValue):
		reasons, attempts = keyValue.RetryReasons, keyValue.RetryAttempts
	case errors.As(err, &query):
		reasons, attempts = query.RetryReasons, query.RetryAttempts
	case errors.As(err, &analytics):
		reasons, attempts = analytics.RetryReasons, analytics.RetryAttempts
	case errors.As(err, &search):
		reasons, attempts = search.RetryReasons, search.RetryAttempts
	case errors.As(err, &view):
		reasons, attempts = view.RetryReasons, view.RetryAttempts
	case errors.As(err, &manager):
		reasons, attempts = manager.RetryReasons, manager.RetryAttempts
	default:
		t.Errorf("an error of an unknown type: %v", err)
	}
	for _, r := range reasons {
		names = append(names, r.Description())
	}
	return names, attempts
}

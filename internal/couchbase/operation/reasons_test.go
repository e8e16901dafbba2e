package operation_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/cluster"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/internal/couchbase/operation"
	"github.com/holdfast-db/holdfast/retry"
)

// path raises one reason on its real path.
type path struct {
	reason string
	script nodeScript
	setups []setup
	// arrange runs before the operation; what it lets happen later ends the trouble.
	arrange func(w *world)
	// always: retried by the controlled backoff, whatever the strategy says. safe: retried also if the operation is not idempotent.
	// never: not retried.
	always, safe, never bool
	// kind is that of the error of a refusal; sent reports whether the refused attempt was sent.
	kind error
	sent bool
	// ends is when the trouble is over and the waiting operation is woken; 0: it is not woken, so its third request succeeds.
	ends time.Duration
	// host is the node that has the key in the end; "": a.
	host string
}

// paths has the reasons of a key-value operation, and those of our own.
var paths = []path{
	{reason: "UNKNOWN", script: status(0xff7f, 2), never: true, sent: true},
	{reason: "SOCKET_NOT_AVAILABLE", safe: true, kind: operation.ErrSocketNotAvailable, ends: 70 * ms, arrange: func(w *world) {
		<-time.After(5 * ms) // an idle connection notices its end
		w.nodes["a"].Refuse(true)
		w.nodes["a"].Cut()
		synctest.Wait() // the endpoint connects again after 10, 30, 70 ms
		time.AfterFunc(40*ms, func() { w.nodes["a"].Refuse(false) })
	}},
	{reason: "NODE_NOT_AVAILABLE", safe: true, kind: operation.ErrNodeNotAvailable, ends: 45 * ms, setups: []setup{func(w *world, _ *cluster.Config, _ *operation.Config) {
		m := newest(1)
		m.VBuckets = [][]int{{-1, 1}, {1, 0}}
		w.SetMap(m)
	}}, arrange: func(w *world) {
		time.AfterFunc(45*ms, func() {
			w.SetMap(newest(2))
			w.nodes["b"].Push(true)
		})
	}},
	{reason: "KV_NOT_MY_VBUCKET", script: status(memd.StatusNotMyVBucket, 2), always: true, sent: true},
	{reason: "KV_CONFIG_ONLY", script: status(memd.StatusConfigOnly, 2), always: true, sent: true},
	{reason: "KV_COLLECTION_OUTDATED", script: status(memd.StatusUnknownCollection, 2), always: true, sent: true},
	{reason: "BUCKET_OPEN_IN_PROGRESS", always: true, ends: 70 * ms, setups: []setup{func(w *world, _ *cluster.Config, _ *operation.Config) {
		w.missing("bucket")
	}}, arrange: func(w *world) { // the bucket is asked for after 10, 30, 70 ms
		time.AfterFunc(40*ms, func() { w.missing() })
	}},
	{reason: "NODE_CONNECT_IN_PROGRESS", always: true, ends: 70 * ms, setups: []setup{dialsB(70*ms, nil)}, arrange: bringB, host: "b"},
	{reason: "KV_ERROR_MAP_RETRY_INDICATED", script: status(0xff01, 2), safe: true, sent: true},
	{reason: "KV_LOCKED", script: status(memd.StatusLocked, 2), safe: true, sent: true, kind: operation.ErrDocumentLocked},
	{reason: "KV_TEMPORARY_FAILURE", script: status(memd.StatusTemporaryFailure, 2), safe: true, sent: true, kind: operation.ErrTemporaryFailure},
	{reason: "KV_SYNC_WRITE_IN_PROGRESS", script: status(memd.StatusSyncWriteInProgress, 2), safe: true, sent: true, kind: operation.ErrDurableWriteInProgress},
	{
		reason: "KV_SYNC_WRITE_RE_COMMIT_IN_PROGRESS", script: status(memd.StatusSyncWriteReCommit, 2), safe: true, sent: true,
		kind: operation.ErrDurableWriteReCommitInProgress,
	},
	{reason: "CIRCUIT_BREAKER_OPEN", safe: true, kind: operation.ErrCircuitBreakerOpen, ends: 100 * ms, setups: []setup{breaks}, arrange: openBreaker},
}

// dialsB gives the bucket a map without node b, and makes each dial to b end after a delay, by the error if there is one.
func dialsB(after time.Duration, err error) setup {
	return func(w *world, c *cluster.Config, _ *operation.Config) {
		m := newest(1)
		m.Hosts, m.VBuckets = m.Hosts[:1], [][]int{{0, -1}, {0, -1}}
		w.SetMap(m)
		c.KV.Dial = func(ctx context.Context, network, address string) (net.Conn, error) {
			if address == w.nodes["b"].Address() {
				<-time.After(after)
				if err != nil {
					return nil, err
				}
			}
			return w.DialContext(ctx, network, address)
		}
	}
}

// bringB tells the client of a map in which all vbuckets are on node b.
func bringB(w *world) {
	<-time.After(5 * ms) // an idle connection reads at once
	w.SetMap(moved(2))
	w.nodes["a"].Push(true)
	synctest.Wait()
}

// A node to which no connection can be made is not waited for any longer than the first dial takes.
func TestTheWaitForANewNodeEndsWithItsFirstDial(t *testing.T) {
	refused := errors.New("refused")
	inWorld(t, nil, func(w *world) {
		bringB(w)
		q := w.increment(keyOf0)
		q.Strategy = declining()
		began := time.Now()
		_, err := w.do(q)
		if !errors.Is(err, operation.ErrSocketNotAvailable) || !errors.Is(err, refused) || time.Since(began) != 70*ms {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	}, dialsB(70*ms, refused))
}

// breaks makes a breaker that one timeout opens, for 100 ms.
func breaks(_ *world, c *cluster.Config, _ *operation.Config) {
	c.Breaker = &cluster.Breaker{Options: retry.BreakerOptions{Volume: 1, Percent: 100, Window: time.Minute, OpenTimeout: 100 * ms}}
}

// openBreaker opens the breaker of node a by an operation that it does not answer. Then the node answers again.
func openBreaker(w *world) {
	silent := func(memd.Packet) (memd.Packet, bool) { return memd.Packet{}, false }
	w.nodes["a"].Change(func() { w.nodes["a"].Script = silent })
	if _, err := w.within(context.Background(), 5*ms, w.get(keyOf0)); !errors.Is(err, operation.ErrTimeout) {
		w.t.Errorf("the silent node: %v", err)
	}
	w.nodes["a"].Change(func() { w.nodes["a"].Script = nil })
}

// declining is a strategy that never retries.
func declining() retry.Strategy {
	return retry.StrategyFunc(func(context.Context, retry.OperationState, retry.Failure) (retry.Action, error) {
		return retry.Action{}, nil
	})
}

var strategies = []struct {
	name     string
	strategy func() retry.Strategy
	delay    func(i int) time.Duration // of the retry after failure i; negative: it is random
	declines bool
}{
	{"the default strategy", func() retry.Strategy { return nil }, func(int) time.Duration { return -1 }, false},
	{"a custom strategy", every10, func(int) time.Duration { return 10 * ms }, false},
	{"a declining strategy", declining, nil, true},
}

func TestEachReasonByItsRealPath(t *testing.T) {
	for _, p := range paths {
		for _, s := range strategies {
			for _, idempotent := range []bool{true, false} {
				name := fmt.Sprintf("%s, %s, idempotent %v", p.reason, s.name, idempotent)
				t.Run(name, func(t *testing.T) {
					inWorld(t, p.script, func(w *world) {
						if p.arrange != nil {
							p.arrange(w)
						}
						w.ClearLog()
						w.log.clear()
						q := w.increment(keyOf0)
						if idempotent {
							q = w.get(keyOf0)
						}
						q.Strategy = s.strategy()
						_, err := w.do(q)
						switch {
						case p.never || s.declines && !p.always || !idempotent && !p.safe && !p.always:
							p.refused(w, err, s.declines)
						default:
							delay := s.delay
							if p.always {
								delay = retry.ControlledBackoff
							}
							p.retried(w, err, delay)
						}
					}, p.setups...)
				})
			}
		}
	}
}

// refused checks that there was one attempt, and what is said about it.
func (p path) refused(w *world, err *operation.Error, declines bool) {
	w.t.Helper()
	if err == nil || p.kind != nil && !errors.Is(err, p.kind) || errors.Is(err, operation.ErrTimeout) {
		w.t.Fatalf("the error is %v", err)
	}
	stop := retry.StopNotRetryable
	if declines && !p.never {
		stop = retry.StopStrategyDeclined
	}
	equal(w.t, "decisions", w.log.all(), []string{fmt.Sprintf("0 %s %v 0s", p.reason, stop)})
	requests := 0
	if p.sent {
		requests = 1
	}
	if log := w.requests(); len(log) != requests || err.Retries != 0 || len(err.Reasons) != 0 || (err.DispatchedTo != "") != p.sent {
		w.t.Errorf("requests %v, %+v", log, err)
	}
}

// retried checks the delays and the requests of an operation that succeeded in the end.
func (p path) retried(w *world, err *operation.Error, delay func(int) time.Duration) {
	w.t.Helper()
	if err != nil {
		w.t.Fatal(err)
	}
	var sum time.Duration
	times := []time.Duration{0}
	for i, line := range w.log.all() {
		var d time.Duration
		if _, rest, found := strings.Cut(line, fmt.Sprintf("%d %s retried ", i, p.reason)); found {
			d, _ = time.ParseDuration(rest)
		}
		most := min(500*ms, ms<<min(i, 20))
		if want := delay(i); want >= 0 && d != want || want < 0 && (d < ms || d > max(most, ms)) {
			w.t.Errorf("decision %d is %q", i, line)
		}
		sum += d
		times = append(times, sum)
	}
	if p.ends > 0 { // only the last request was sent, when the wait was ended
		times = []time.Duration{p.ends}
	} else if len(times) != 3 {
		w.t.Errorf("decisions %q", w.log.all())
	}
	var want []string
	for _, at := range times {
		want = append(want, fmt.Sprintf("%v@%s", at, cmp.Or(p.host, "a")))
	}
	got := w.where()
	if p.reason == "CIRCUIT_BREAKER_OPEN" { // the probe comes before the operation
		if log := w.Log(); log[0].Request.Opcode != memd.OpNoop {
			w.t.Errorf("the probe is %v", log[0])
		}
		want = append([]string{want[0]}, want...)
	}
	equal(w.t, "requests", got, strings.Join(want, " "))
}

func (l *eventLog) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = nil
}

// SOCKET_CLOSED_WHILE_IN_FLIGHT: the node receives the request and ends the connection.
func TestAConnectionThatIsLostInFlight(t *testing.T) {
	cutting := func(w **world) nodeScript {
		return func(_ string, n int, _ memd.Packet) (answer, bool) {
			if n == 0 {
				(*w).nodes["a"].Cut()
				return answer{}, false
			}
			return answer{}, true
		}
	}
	for _, s := range strategies {
		for _, idempotent := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, idempotent %v", s.name, idempotent), func(t *testing.T) {
				var at *world
				inWorld(t, cutting(&at), func(w *world) {
					q := w.increment(keyOf0)
					if idempotent {
						q = w.get(keyOf0)
					}
					q.Strategy = s.strategy()
					_, err := w.do(q)
					if idempotent && !s.declines {
						if err != nil {
							t.Fatal(err)
						}
						equal(t, "requests", w.where(), "0s@a 10ms@a") // the endpoint connects again after 10 ms
						equal(t, "first decision", w.log.all()[0][:31], "0 SOCKET_CLOSED_WHILE_IN_FLIGHT")
						return
					}
					if !errors.Is(err, operation.ErrRequestCanceled) || errors.Is(err, operation.ErrTimeout) || err.Ambiguous == idempotent {
						t.Errorf("%v, ambiguous %v", err, err.Ambiguous)
					}
					stop := retry.StopNotIdempotent
					if s.declines {
						stop = retry.StopStrategyDeclined
					}
					equal(t, "decisions", w.log.all(), []string{fmt.Sprintf("0 SOCKET_CLOSED_WHILE_IN_FLIGHT %v 0s", stop)})
				}, func(w *world, _ *cluster.Config, _ *operation.Config) { at = w })
			})
		}
	}
}

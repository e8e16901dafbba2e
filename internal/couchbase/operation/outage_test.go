package operation_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/couchbase/cluster"
	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/internal/couchbase/nodescript"
	"github.com/holdfast-db/holdfast/internal/couchbase/operation"
	"github.com/holdfast-db/holdfast/retry"
)

func login(t *testing.T, password string) *kv.Login {
	t.Helper()
	l, err := kv.NewLogin(kv.Credential{Username: "user", Password: password, AllowPlain: true, Mechanisms: []string{kv.Plain}})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// password makes the nodes want "right", and the client log in with another one.
func password(p string) setup {
	return func(w *world, c *cluster.Config, _ *operation.Config) {
		for _, n := range w.nodes {
			n.Change(func() { n.Password = "right" })
		}
		c.KV.Login = login(w.t, p)
	}
}

func TestAWrongPasswordIsSaidAtOnce(t *testing.T) {
	t.Run("by an operation after it was refused", func(t *testing.T) {
		inWorld(t, nil, func(w *world) {
			began := time.Now()
			_, err := w.do(w.get(keyOf0))
			if !errors.Is(err, operation.ErrAuthenticationFailure) || !errors.Is(err, kv.ErrBadCredentials) || errors.Is(err, operation.ErrTimeout) || time.Since(began) != 0 {
				t.Errorf("%v after %v", err, time.Since(began))
			}
		}, password("wrong"))
	})
	t.Run("by an operation that waits for the connection", func(t *testing.T) {
		inWorld(t, nil, func(w *world) {
			for _, n := range w.nodes {
				n.Change(func() { n.Password = "other" }) // it was changed on the server
			}
			<-time.After(5 * ms)
			w.nodes["a"].Cut()
			began := time.Now()
			_, err := w.do(w.get(keyOf0))
			if !errors.Is(err, operation.ErrAuthenticationFailure) || time.Since(began) > 11*ms {
				t.Errorf("%v after %v", err, time.Since(began))
			}
		}, password("right"))
	})
	t.Run("and the right one works", func(t *testing.T) {
		inWorld(t, nil, func(w *world) {
			if _, err := w.do(w.get(keyOf0)); err != nil {
				t.Error(err)
			}
		}, password("right"))
	})
}

// Whatever is wrong with the login, an operation says it within one round trip.
func TestALoginThatFailsIsSaidAtOnce(t *testing.T) {
	scram, err := kv.NewLogin(kv.Credential{Username: "user", Password: "password"})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name     string
		password string // of the nodes, which have only PLAIN; "": every login succeeds at once
		cause    error
	}{
		{"the server calls SCRAM successful without a proof", "", kv.ErrUnprovedServer},
		{"the server has no mechanism that is allowed", "right", kv.ErrNoMechanism},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, nil, func(w *world) {
				began := time.Now()
				_, err := w.do(w.increment(keyOf0))
				if !errors.Is(err, operation.ErrAuthenticationFailure) || !errors.Is(err, c.cause) || errors.Is(err, operation.ErrTimeout) || time.Since(began) != 0 {
					t.Errorf("%v after %v", err, time.Since(began))
				}
			}, func(w *world, config *cluster.Config, _ *operation.Config) {
				for _, n := range w.nodes {
					n.Change(func() { n.Password = c.password })
				}
				config.KV.Login = scram
			})
		})
	}
}

func TestABucketToWhichTheUserHasNoAccess(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		_, err := w.within(context.Background(), 100*ms, w.increment(keyOf0))
		if !errors.Is(err, operation.ErrUnambiguousTimeout) || !errors.Is(err, operation.ErrBucketNotFound) || !errors.Is(err, operation.ErrAuthenticationFailure) {
			t.Errorf("it is waited for, and both are the timeout's cause: %v", err)
		}
	}, func(w *world, _ *cluster.Config, _ *operation.Config) {
		for _, n := range w.nodes {
			n.Change(func() { n.Forbidden = []string{"bucket"} })
		}
	})
}

// A memcached bucket has no vbuckets.
func TestABucketWithoutVBuckets(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		_, err := w.do(w.increment(keyOf0))
		if !errors.Is(err, operation.ErrFeatureNotAvailable) || errors.Is(err, operation.ErrTimeout) || err.Ambiguous || len(w.Log()) != 0 {
			t.Errorf("%v, requests %v", err, w.requests())
		}
	}, func(w *world, _ *cluster.Config, _ *operation.Config) {
		m := newest(1)
		m.VBuckets = nil
		w.SetMap(m)
	})
}

func TestABucketThatIsNotThere(t *testing.T) {
	missing := func(w *world, _ *cluster.Config, _ *operation.Config) {
		for _, n := range w.nodes {
			n.Change(func() { n.Missing = []string{"bucket"} })
		}
	}
	for _, globalMap := range []bool{true, false} {
		t.Run(fmt.Sprintf("the nodes have a map of the cluster: %v", globalMap), func(t *testing.T) {
			inWorld(t, nil, func(w *world) {
				_, err := w.within(context.Background(), 500*ms, w.increment(keyOf0))
				if open := w.client.Snapshot() != nil; open != globalMap {
					t.Errorf("the client has a map of the cluster: %v", open)
				}
				if !errors.Is(err, operation.ErrUnambiguousTimeout) || !errors.Is(err, operation.ErrBucketNotFound) || len(w.Log()) != 0 {
					t.Errorf("it is waited for, and is the timeout's cause: %v", err)
				}
				time.AfterFunc(100*ms, func() {
					for _, n := range w.nodes {
						n.Change(func() { n.Missing = nil })
					}
				})
				if _, err := w.do(w.increment(keyOf0)); err != nil {
					t.Error(err)
				}
				<-time.After(5 * ms)
				for _, n := range w.nodes {
					n.Cut() // the next connections select the bucket
				}
				<-time.After(50 * ms)
				if _, err := w.do(w.increment(keyOf0)); err != nil {
					t.Error(err)
				}
				for _, e := range w.bucket.Snapshot().Endpoints {
					if e.Conn() == nil || e.Conn().Bucket() != "bucket" {
						t.Errorf("%s: %v", e.Address(), e.Err())
					}
				}
			}, missing, strategy(declining()), func(w *world, _ *cluster.Config, _ *operation.Config) {
				if globalMap {
					m := newest(0)
					m.Bucket = ""
					w.SetMap(m)
				}
			})
		})
	}
}

func TestAFullQueueIsASocketThatIsNotAvailable(t *testing.T) {
	inWorld(t, func(_ string, n int, _ memd.Packet) (answer, bool) {
		if n == 0 {
			<-time.After(50 * ms)
		}
		return answer{}, true
	}, func(w *world) {
		done := make(chan error)
		go func() {
			var r operation.Result
			done <- w.runner.Run(context.Background(), time.Second, w.get(keyOf0), &r)
		}()
		<-time.After(ms)
		q := w.increment(keyOf0)
		q.Strategy = declining()
		if _, err := w.do(q); !errors.Is(err, operation.ErrOverload) || err.Ambiguous || err.DispatchedTo != "" {
			t.Errorf("%v, dispatched to %q", err, err.DispatchedTo)
		}
		q.Strategy = every10()
		if _, err := w.do(q); err != nil {
			t.Error(err)
		}
		if err := <-done; err != nil {
			t.Error(err)
		}
		equal(t, "requests", w.where(), "0s@a 51ms@a")
	}, func(_ *world, c *cluster.Config, _ *operation.Config) { c.KV.MaxQueue = 1 })
}

// Close ends everything, in each state of the client. The bubble finds a goroutine that is left.
func TestCloseLeavesNothing(t *testing.T) {
	for _, c := range []struct {
		name    string
		script  nodeScript
		arrange func(w *world)
		setups  []setup
		kind    error // of the increments that wait; nil: it is not sent
	}{
		{"while an operation is in flight", silence, func(*world) {}, nil, operation.ErrRequestCanceled},
		{"while an operation waits for a retry", status(memd.StatusLocked, always), func(*world) {}, nil, operation.ErrShutdown},
		{"in an outage", nil, func(w *world) {
			<-time.After(5 * ms)
			for _, n := range w.nodes {
				n.Refuse(true)
				n.Cut()
			}
			synctest.Wait()
		}, nil, operation.ErrShutdown},
		{"while the bucket is waited for", nil, func(*world) {}, []setup{func(w *world, _ *cluster.Config, _ *operation.Config) {
			for _, n := range w.nodes {
				n.Change(func() { n.Missing = []string{"bucket"} })
			}
		}}, operation.ErrShutdown},
		{"while nobody can be reached", nil, func(*world) {}, []setup{func(w *world, _ *cluster.Config, _ *operation.Config) {
			for _, n := range w.nodes {
				n.Refuse(true)
			}
		}}, operation.ErrShutdown},
		{"while a breaker is open", silence, func(w *world) {
			openBreaker(w)
			w.nodes["a"].Change(func() {
				w.nodes["a"].Script = func(memd.Packet) (memd.Packet, bool) { return memd.Packet{}, false }
			})
		}, []setup{breaks}, operation.ErrShutdown},
		{"while an id is looked up", silence, func(w *world) {
			w.others.Go(func() {
				var r operation.Result
				if err := w.runner.Run(context.Background(), time.Minute, w.named(w.get(keyOf0)), &r); !errors.Is(err, operation.ErrShutdown) {
					w.t.Errorf("the look-up: %v", err)
				}
			})
		}, nil, operation.ErrRequestCanceled},
		{"with the wrong password", nil, func(*world) {}, []setup{password("wrong")}, operation.ErrAuthenticationFailure},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, c.script, func(w *world) {
				c.arrange(w)
				done := make(chan error)
				go func() {
					var r operation.Result
					done <- w.runner.Run(context.Background(), time.Minute, w.increment(keyOf0), &r)
				}()
				<-time.After(4321 * ms) // the delays have grown
				began := time.Now()
				w.client.Close()
				if d := time.Since(began); d > 5*ms {
					t.Errorf("Close took %v", d)
				}
				err := <-done
				most := time.Duration(0)
				if c.name == "while an operation waits for a retry" {
					most = 500 * ms // Close does not end the delays of a strategy
				}
				if !errors.Is(err, c.kind) || !errors.Is(err, operation.ErrShutdown) && !errors.Is(err, operation.ErrAuthenticationFailure) || time.Since(began) > most {
					t.Errorf("%v after %v", err, time.Since(began))
				}
				began = time.Now()
				if _, err := w.do(w.get(keyOf0)); !errors.Is(err, operation.ErrShutdown) || time.Since(began) != 0 {
					t.Errorf("afterwards: %v after %v", err, time.Since(began))
				}
				w.others.Wait() // one that was in flight may wait for its retry, which finds that the client is closed
				if d := time.Since(began); d > 5*ms {
					t.Errorf("the others ended %v after Close", d)
				}
			}, c.setups...)
		})
	}
}

func TestWhatOpensABreaker(t *testing.T) {
	for _, c := range []struct {
		name   string
		script nodeScript
		ctx    func() (context.Context, context.CancelFunc)
		good   func(error) bool
		opens  bool
	}{
		{"a timeout", silence, deadline(5 * ms), nil, true},
		{"a timeout that the application judges otherwise", silence, deadline(5 * ms), func(error) bool { return true }, false},
		{"a cancellation is neutral", silence, cancelled(5*ms, nil), nil, false},
		{"an answer, whatever it says, is good", status(memd.StatusInternal, always), deadline(time.Second), nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, c.script, func(w *world) {
				ctx, cancel := c.ctx()
				defer cancel()
				if _, err := w.within(ctx, time.Second, w.get(keyOf0)); err == nil {
					t.Error("it succeeded")
				}
				w.ClearLog()
				q := w.get(keyOf0)
				q.Strategy = declining()
				_, err := w.within(context.Background(), ms, q)
				if opened := errors.Is(err, operation.ErrCircuitBreakerOpen); opened != c.opens || opened == (len(w.Log()) > 0) {
					t.Errorf("%v, requests %v", err, w.requests())
				}
			}, breaks, func(_ *world, config *cluster.Config, _ *operation.Config) { config.Breaker.Good = c.good })
		})
	}
}

// The probe is a NOOP of the client's own, never an operation, however long its answer takes.
func TestAnOperationIsNeverAProbe(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		openBreaker(w)
		w.nodes["a"].Change(func() { w.nodes["a"].Script = func(memd.Packet) (memd.Packet, bool) { return memd.Packet{}, false } })
		<-time.After(110 * ms) // the probe is under way
		w.ClearLog()
		for range 5 {
			<-time.After(100 * ms)
			q := w.increment(keyOf0)
			q.Strategy = declining()
			if _, err := w.do(q); !errors.Is(err, operation.ErrCircuitBreakerOpen) {
				t.Errorf("%v", err)
			}
		}
		if len(w.Log()) != 0 {
			t.Errorf("requests %v", w.requests())
		}
	}, breaks)
}

func TestABreakerStaysOpenUntilItsProbeIsAnswered(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		openBreaker(w)
		w.nodes["a"].Refuse(true)
		w.nodes["a"].Cut()
		<-time.After(500 * ms) // there is no connection for a half-open probe
		w.nodes["a"].Refuse(false)
		w.ClearLog()
		if _, err := w.do(w.increment(keyOf0)); err != nil {
			t.Fatal(err)
		}
		if log := w.Log(); len(log) != 2 || log[0].Request.Opcode != memd.OpNoop {
			t.Errorf("requests %v", w.requests())
		}
	}, breaks)
}

// An operation that its caller cancels shows nothing about the node.
func TestACancelledOperationDoesNotOpenABreaker(t *testing.T) {
	inWorld(t, silence, func(w *world) {
		ctx, cancel := cancelled(10*ms, nil)()
		defer cancel()
		if _, err := w.within(ctx, time.Second, w.get(keyOf0)); !errors.Is(err, operation.ErrRequestCanceled) {
			t.Fatal(err)
		}
		w.nodes["a"].Change(func() { w.nodes["a"].Script = nil })
		q := w.get(keyOf0)
		q.Strategy = declining()
		if _, err := w.do(q); err != nil {
			t.Error(err)
		}
	}, breaks, func(_ *world, c *cluster.Config, _ *operation.Config) {
		c.Breaker.Good = func(err error) bool { return err == nil }
	})
}

func TestCloseWakesAnOperationThatCouldBeRepeated(t *testing.T) {
	inWorld(t, silence, func(w *world) {
		time.AfterFunc(10*ms, w.client.Close)
		began := time.Now()
		q := w.get(keyOf0)
		q.Strategy = retry.BestEffort(retry.BackoffOptions{Min: time.Second, Max: time.Second})
		if _, err := w.do(q); !errors.Is(err, operation.ErrShutdown) || time.Since(began) != 10*ms {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// oneWay is the latency of the network in atALatency.
const oneWay = 10 * ms

// atALatency opens a client and its bucket, with a password, on a network with a latency, and makes an operation in the same moment. It
// returns how many round trips after the TCP connect it ended.
func atALatency(t *testing.T, password string) (trips float64, err *operation.Error) {
	t.Helper()
	w := &world{Cluster: nodescript.New(memnet.Config{MinLatency: oneWay, MaxLatency: oneWay}), t: t, nodes: make(map[string]*nodescript.Node)}
	w.nodes["a"] = w.Start(&nodescript.Node{Host: "a", Password: "right"})
	w.SetMap(nodescript.Map{Revision: 1, Bucket: "bucket", Hosts: []string{"a"}, VBuckets: [][]int{{0}, {0}}})
	var failed error
	w.client, failed = cluster.Open(cluster.Config{
		Seeds: []string{"a:11210"}, KV: kv.Config{Dial: w.DialContext, Features: features(), Login: login(t, password)},
	})
	if failed != nil {
		t.Fatal(failed)
	}
	defer w.close()
	w.bucket = w.client.Bucket("bucket")
	if w.runner, failed = operation.NewRunner(operation.Config{}); failed != nil {
		t.Fatal(failed)
	}
	began := time.Now()
	_, err = w.do(w.get(keyOf0))
	if len(w.Dials()) != 1 {
		t.Errorf("dialled %q", w.Dials())
	}
	return float64(time.Since(began)-oneWay) / float64(2*oneWay), err // a dial takes the latency
}

func TestConnectBucketAndGetInARow(t *testing.T) {
	t.Run("the reply is there 2 round trips after the TCP connect", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			if trips, err := atALatency(t, "right"); err != nil || trips != 2 {
				t.Errorf("%v after %v round trips", err, trips)
			}
		})
	})
	t.Run("a wrong password is said after one", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			if trips, err := atALatency(t, "wrong"); !errors.Is(err, operation.ErrAuthenticationFailure) || trips != 1 {
				t.Errorf("%v after %v round trips", err, trips)
			}
		})
	})
}

// A bucket that is deleted while the client has it open is the cause of the timeout.
func TestABucketThatIsDeleted(t *testing.T) {
	inWorld(t, nil, func(w *world) {
		<-time.After(5 * ms)
		for _, n := range w.nodes {
			n.Change(func() { n.Missing = []string{"bucket"} })
			n.Cut()
		}
		synctest.Wait()
		_, err := w.within(context.Background(), 200*ms, w.increment(keyOf0))
		if !errors.Is(err, operation.ErrUnambiguousTimeout) || !errors.Is(err, operation.ErrBucketNotFound) {
			t.Error(err)
		}
	})
}

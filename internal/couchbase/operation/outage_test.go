package operation_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/cluster"
	"github.com/holdfast-db/holdfast/internal/couchbase/kv"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/internal/couchbase/operation"
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
			done <- w.runner.Do(context.Background(), time.Second, w.get(keyOf0), &r)
		}()
		<-time.After(ms)
		q := w.increment(keyOf0)
		q.Strategy = declining()
		if _, err := w.do(q); !errors.Is(err, operation.ErrOverload) || err.Ambiguous {
			t.Error(err)
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
		{"while a breaker is open", nil, openBreaker, []setup{breaks}, operation.ErrShutdown},
		{"while an id is looked up", silence, func(w *world) {
			go func() {
				var r operation.Result
				if err := w.runner.Do(context.Background(), time.Minute, w.named(w.get(keyOf0)), &r); !errors.Is(err, operation.ErrShutdown) {
					w.t.Errorf("the look-up: %v", err)
				}
			}()
		}, nil, operation.ErrRequestCanceled},
		{"with the wrong password", nil, func(*world) {}, []setup{password("wrong")}, operation.ErrAuthenticationFailure},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, c.script, func(w *world) {
				c.arrange(w)
				done := make(chan error)
				go func() {
					var r operation.Result
					done <- w.runner.Do(context.Background(), time.Minute, w.increment(keyOf0), &r)
				}()
				synctest.Wait()
				began := time.Now()
				w.client.Close()
				if d := time.Since(began); d > 5*ms {
					t.Errorf("Close took %v", d)
				}
				err := <-done
				if !errors.Is(err, c.kind) || time.Since(began) > 600*ms {
					t.Errorf("%v after %v", err, time.Since(began))
				}
				began = time.Now()
				if _, err := w.do(w.get(keyOf0)); !errors.Is(err, operation.ErrShutdown) || time.Since(began) != 0 {
					t.Errorf("afterwards: %v after %v", err, time.Since(began))
				}
			}, c.setups...)
		})
	}
}

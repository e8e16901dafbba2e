package mongo_test

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// withCallback runs f with a client that logs in by a callback.
func withCallback(t *testing.T, callback options.OIDCCallback, f func(w *world)) {
	t.Helper()
	in(t, func(o *options.ClientOptions) {
		o.SetAuth(options.Credential{AuthMechanism: "MONGODB-OIDC", OIDCMachineCallback: callback})
	}, f, (&issuer{}).server())
}

func good() (*options.OIDCCredential, error) {
	return &options.OIDCCredential{AccessToken: "ada/1"}, nil
}

// A callback that does not come back as a function does is an error of its login. The connections, and the next login, are not held up.
func TestACallbackThatNeverReturnsProperly(t *testing.T) {
	for name, c := range map[string]struct {
		first func()
		want  string
	}{
		"a panic": {func() { panic("mine") }, "mine"},
		"Goexit":  {runtime.Goexit, "Goexit"},
	} {
		for when, before := range map[string]int64{"at a login": 0, "at a renewal": 1} {
			t.Run(name+" "+when, func(t *testing.T) {
				var calls atomic.Int64
				withCallback(t, func(context.Context, *options.OIDCArgs) (*options.OIDCCredential, error) {
					if n := calls.Add(1); n > before && n <= before+3 {
						c.first()
					}
					return good()
				}, func(w *world) {
					if before > 0 {
						w.must(w.find())
					}
					for range 3 { // more than MaxConnecting
						w.script("find", refuse(391))
						err := w.find()
						if err == nil || !strings.Contains(err.Error(), c.want) {
							t.Errorf("error %v, want %q", err, c.want)
						}
					}
					w.heal()
					w.must(w.find())
					if calls.Load() != before+4 {
						t.Errorf("%d calls", calls.Load())
					}
				})
			})
		}
	}
}

// A callback that ignores the end of its context holds nobody up.
func TestACallbackThatBlocks(t *testing.T) {
	for when, before := range map[string]int64{"at a login": 0, "at a renewal": 1} {
		t.Run(when, func(t *testing.T) {
			var calls atomic.Int64
			var release chan struct{}
			var ended atomic.Bool
			withCallback(t, func(ctx context.Context, _ *options.OIDCArgs) (*options.OIDCCredential, error) {
				if calls.Add(1) > before {
					context.AfterFunc(ctx, func() { ended.Store(true) })
					<-release
				}
				return good()
			}, func(w *world) {
				release = make(chan struct{}) // inside the bubble
				if before > 0 {
					w.must(w.find())
					w.script("find", refuse(391))
				}
				ctx, cancel := context.WithTimeout(w.ctx, time.Second)
				defer cancel()
				began := time.Now()
				err := w.coll.FindOne(ctx, d{}).Err()
				if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took > 1200*time.Millisecond {
					t.Errorf("after %v: %v", took, err)
				}
				ctx, cancel = context.WithTimeout(w.ctx, time.Second)
				defer cancel()
				began = time.Now()
				w.must(w.client.Disconnect(ctx))
				if took := time.Since(began); took > 1200*time.Millisecond || !ended.Load() {
					t.Errorf("Disconnect took %v, the context of the callback has ended: %t", took, ended.Load())
				}
				close(release)
				w.freshClient()
			})
		})
	}
}

// An operation that waits for the renewal of its login ends with the client, whether the callback or the server is slow.
func TestDisconnectEndsARenewal(t *testing.T) {
	for name, slowServer := range map[string]bool{"in the callback": false, "on the connection": true} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int64
			withCallback(t, func(ctx context.Context, _ *options.OIDCArgs) (*options.OIDCCredential, error) {
				if calls.Add(1) > 1 && !slowServer {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				return good()
			}, func(w *world) {
				w.must(w.find())
				w.script("find", refuse(391))
				if slowServer {
					w.set.Use("saslStart", mongotest.Times(1, mongotest.Fault{Delay: time.Hour}))
				}
				ended := make(chan error, 1)
				began := time.Now()
				go func() { ended <- w.coll.FindOne(context.Background(), d{}).Err() }()
				<-time.After(time.Second)
				stopped, stop := context.WithCancel(w.ctx)
				stop()
				w.must(w.client.Disconnect(stopped))
				if err := <-ended; !errors.Is(err, mongo.ErrClientDisconnected) || time.Since(began) != time.Second {
					t.Errorf("after %v: %v", time.Since(began), err)
				}
				w.freshClient()
			})
		})
	}
}

// freshClient gives the world a client that it can disconnect.
func (w *world) freshClient() {
	w.Helper()
	var err error
	w.client, err = mongo.Connect(options.Client().ApplyURI(w.set.URI()).SetDialer(w.set.Dialer()))
	w.must(err)
}

// A callback may disconnect the client, and may use it for what needs no login of its own.
func TestACallbackThatUsesTheClient(t *testing.T) {
	t.Run("Disconnect", func(t *testing.T) {
		var w *world
		withCallback(t, func(ctx context.Context, _ *options.OIDCArgs) (*options.OIDCCredential, error) {
			if err := w.client.Disconnect(context.WithoutCancel(ctx)); err != nil {
				return nil, err
			}
			return good()
		}, func(now *world) {
			w = now
			if err := w.find(); !errors.Is(err, mongo.ErrClientDisconnected) {
				t.Errorf("error %v", err)
			}
			w.freshClient()
		})
	})
	t.Run("a find", func(t *testing.T) {
		var w *world
		withCallback(t, func(ctx context.Context, _ *options.OIDCArgs) (*options.OIDCCredential, error) {
			if err := w.coll.FindOne(ctx, d{}).Err(); err != nil {
				return nil, err
			}
			return good()
		}, func(now *world) {
			w = now
			began := time.Now()
			err := w.find()
			if took := time.Since(began); err == nil || took > time.Minute+time.Second {
				t.Errorf("after %v: %v", took, err)
			}
		})
	})
}

// The time limit of connecting is not that of the callback, which has a minute.
func TestACallbackThatIsSlowerThanTheConnectTimeout(t *testing.T) {
	i := &issuer{pause: 59 * time.Second}
	in(t, func(o *options.ClientOptions) {
		o.SetAuth(i.machine()).SetConnectTimeout(time.Second)
	}, func(w *world) {
		w.must(w.find())
		i.refused.Store(true)
		w.script("find", refuse(391))
		w.must(w.find()) // a renewal too
		i.wantCalls(t, 2)
	}, i.server())
}

// Each caller has the whole time, also after it has waited for the call of another login.
func TestACallThatFollowsAFailedOneHasTheWholeTime(t *testing.T) {
	var calls atomic.Int64
	var left time.Duration
	withCallback(t, func(ctx context.Context, _ *options.OIDCArgs) (*options.OIDCCredential, error) {
		if calls.Add(1) == 1 {
			<-time.After(40 * time.Second)
			return nil, errors.New("mine")
		}
		end, _ := ctx.Deadline()
		left = time.Until(end)
		return good()
	}, func(w *world) {
		var wg sync.WaitGroup
		for range 2 {
			wg.Go(func() { _ = w.find() })
		}
		wg.Wait()
		if left != time.Minute {
			t.Errorf("the second call has %v", left)
		}
	})
}

// A refresh token for which the callback has no token is of no use: the server is asked again.
func TestOIDCHumanARefreshThatTheCallbackRefuses(t *testing.T) {
	mine := errors.New("the refresh token has expired")
	withTokens(t, func(i *issuer) options.Credential {
		credential := i.person()
		credential.OIDCHumanCallback = func(ctx context.Context, args *options.OIDCArgs) (*options.OIDCCredential, error) {
			got, err := i.issueRefreshable(ctx, args)
			if args.RefreshToken != nil {
				return nil, mine
			}
			return got, err
		}
		return credential
	}, func(w *world, i *issuer) {
		w.must(w.find())
		w.script("find", refuse(391))
		w.must(w.find())
		i.wantCalls(t, 3)
		if a := i.args[2]; a.RefreshToken != nil || a.IDPInfo == nil {
			t.Errorf("the third call got %+v", a)
		}
	})
}

// The prose tests' own faults: the server refuses saslStart with 391.
func TestOIDCHumanProse4_3And4_4RefusedWith391(t *testing.T) {
	for _, c := range []struct {
		times int
		calls int64
		fails bool
	}{{1, 3, false}, {2, 3, true}} {
		withTokens(t, (*issuer).person, func(w *world, i *issuer) {
			w.must(w.find())
			w.script("find", refuse(391))
			var seen int
			remove := w.set.Use("saslStart", mongotest.Decide(func(*mongotest.Request) mongotest.Fault {
				if seen++; seen <= c.times {
					return refuse(391)
				}
				return mongotest.Fault{}
			}))
			defer remove()
			err := w.find()
			if (err != nil) != c.fails {
				t.Errorf("%d refusals: %v", c.times, err)
			}
			i.wantCalls(t, c.calls-int64(c.times-1))
			if len(i.args) > 2 && i.args[2].RefreshToken != nil {
				t.Errorf("the third call got %+v", i.args[2])
			}
		})
	}
}

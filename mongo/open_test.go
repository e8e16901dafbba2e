package mongo_test

import (
	"context"
	"errors"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/retry"
)

// opened is in for a client that mongo.Open makes.
func opened(t *testing.T, cfg mongo.Config, configure func(*options.ClientOptions), f func(w *world), opts ...mongotest.Option) {
	t.Helper()
	run := func() (*mongotest.Deployment, error) {
		return mongotest.RunReplicaSet(3, append(opts, mongotest.InMemory())...)
	}
	insideWith(t, run, func(o *options.ClientOptions) (*mongo.Client, error) {
		given := options.Client().SetDialer(o.Dialer).SetMonitor(o.Monitor).SetPoolMonitor(o.PoolMonitor)
		if configure != nil {
			configure(given)
		}
		return mongo.Open(o.GetURI(), cfg, given)
	}, f)
}

// noLookup is a resolver that must not be used.
type noLookup struct{ t *testing.T }

func (n noLookup) LookupSRV(context.Context, string, string, string) (string, []*net.SRV, error) {
	n.t.Error("an SRV record was looked up")
	return "", nil, errors.New("not used")
}

func (n noLookup) LookupTXT(context.Context, string) ([]string, error) {
	n.t.Error("a TXT record was looked up")
	return nil, errors.New("not used")
}

// Bad input gets an error that names the field and the rule, before any network use.
func TestOpenRefuses(t *testing.T) {
	const host = unknownHost + "/"
	const srv = "mongodb+srv://a.example.com/?tls=false"
	var (
		resolver *net.Resolver
		strategy *declining
		observer *retryEvents
	)
	for _, c := range []struct {
		name string
		uri  string
		cfg  mongo.Config
		o    *options.ClientOptions
		want string
	}{
		{"no connection string", "", mongo.Config{}, nil, "the connection string is empty"},
		{"a string that is not a URI", "http://x", mongo.Config{}, nil, "scheme"},
		{"two connection strings", host, mongo.Config{}, options.Client().ApplyURI(host), "a connection string of their own"},
		{"a second connection string that is malformed", host, mongo.Config{}, options.Client().ApplyURI("http://x"), "scheme"},
		{"hosts beside the connection string", host, mongo.Config{}, options.Client().SetHosts([]string{"b"}), "Hosts"},
		{"an option that is not supported", host, mongo.Config{}, options.Client().SetAutoEncryptionOptions(options.AutoEncryption()), "AutoEncryptionOptions"},
		{"a negative time limit of attempts", host, mongo.Config{AttemptTimeout: -1}, nil, "Config.AttemptTimeout is -1ns; it must not be negative"},
		{"a nil resolver of a type", host, mongo.Config{Resolver: resolver}, nil, "Config.Resolver is a nil *net.Resolver"},
		{"a nil strategy of a type", host, mongo.Config{Strategy: strategy}, nil, "Config.Strategy is a nil"},
		{"a strategy with wrong arguments", host, mongo.Config{Strategy: retry.Limited(0, retry.RetryOnce())}, nil, "Config.Strategy: "},
		{"a nil observer of a type", host, mongo.Config{Observer: observer}, nil, "Config.Observer is a nil"},
		{"a breaker without a volume", host, mongo.Config{Breaker: &retry.BreakerOptions{}}, nil, "Config.Breaker: "},
		{"srvMaxHosts without SRV", host + "?srvMaxHosts=2", mongo.Config{}, nil, "srvMaxHosts"},
		{"SRVMaxHosts without SRV", host, mongo.Config{}, options.Client().SetSRVMaxHosts(2), "SRVMaxHosts needs a mongodb+srv connection string"},
		{"srvServiceName without SRV", host + "?srvServiceName=a", mongo.Config{}, nil, "srvServiceName"},
		{"SRVServiceName without SRV", host, mongo.Config{}, options.Client().SetSRVServiceName("a"), "SRVServiceName needs a mongodb+srv connection string"},
		{"SRV with a port", "mongodb+srv://a.example.com:27017/", mongo.Config{}, nil, "must not have a port"},
		{"SRV with several hosts", "mongodb+srv://a.example.com,b.example.com/", mongo.Config{}, nil, "must have one host"},
		{"SRV without a host", "mongodb+srv:///", mongo.Config{}, nil, "must have a host"},
		{"SRV with an unescaped @", "mongodb+srv://u:secret@x@a.example.com/?tls=false", mongo.Config{}, nil, "@"},
		{"SRV with an unescaped slash", "mongodb+srv://u:sec/ret@a.example.com/?tls=false", mongo.Config{}, nil, "slash"},
		{"SRV with an option of another client", srv + "&uuidRepresentation=csharpLegacy", mongo.Config{}, nil, `"uuidRepresentation"`},
		{"SRV with a wrong value", srv + "&retryWrites=maybe", mongo.Config{}, nil, "retryWrites"},
		{"SRV with directConnection", srv + "&directConnection=true", mongo.Config{}, nil, "directConnection"},
		{"SRV with a replica set and srvMaxHosts", srv + "&replicaSet=a&srvMaxHosts=1", mongo.Config{}, nil, "srvMaxHosts"},
		{"SRV with srvMaxHosts that is no number", srv + "&srvMaxHosts=two", mongo.Config{}, nil, `"srvMaxHosts" is "two"`},
		{"SRV with a negative srvMaxHosts", srv + "&srvMaxHosts=-1", mongo.Config{}, nil, `"srvMaxHosts" is "-1"`},
		{"SRV with a negative SRVMaxHosts", srv, mongo.Config{}, options.Client().SetSRVMaxHosts(-1), "SRVMaxHosts is -1"},
		{"SRV with a service name of digits", srv + "&srvServiceName=123", mongo.Config{}, nil, `SRVServiceName is "123"`},
		{"SRV with a service name with a dot", srv + "&srvServiceName=a.b", mongo.Config{}, nil, `SRVServiceName is "a.b"`},
		{"SRV with a service name with a hyphen at its end", srv + "&srvServiceName=a-", mongo.Config{}, nil, `SRVServiceName is "a-"`},
		{"SRV with a service name with two hyphens", srv + "&srvServiceName=a--b", mongo.Config{}, nil, `SRVServiceName is "a--b"`},
		{"SRV with a service name that is too long", srv + "&srvServiceName=" + strings.Repeat("a", 63), mongo.Config{}, nil, "at most 62 characters"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.cfg.Resolver == nil {
				c.cfg.Resolver = noLookup{t}
			}
			n := &networkUse{}
			n.countQueries(t)
			err := refused(t, n, func() (*mongo.Client, error) { return mongo.Open(c.uri, c.cfg, c.o, options.Client().SetDialer(n)) })
			if !strings.Contains(err.Error(), c.want) {
				t.Errorf("%q is not in: %v", c.want, err)
			}
			if strings.Contains(err.Error(), "sec") && strings.Contains(c.uri, "sec") {
				t.Errorf("the error shows the password: %v", err)
			}
		})
	}
}

func TestAnOptionOfOpenOverridesTheConnectionString(t *testing.T) {
	opened(t, mongo.Config{}, func(o *options.ClientOptions) { o.SetAppName("given") }, func(w *world) {
		w.must(w.insertText(1, "text"))
		if hello := w.hellos()[0]; !strings.Contains(hello, `"name": "given"`) {
			t.Errorf("the hello is %s", hello)
		}
	}, mongotest.TranscriptLimit(1000))
}

// declining is a strategy that records what it is asked and declines.
type declining struct {
	mu     sync.Mutex
	asked  []retry.Failure
	names  []string
	own    bool // a request had a strategy of the operation, which would ask this one again
	action retry.Action
}

func (s *declining) RetryAfter(_ context.Context, request retry.OperationState, failure retry.Failure) (retry.Action, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, failure)
	s.names = append(s.names, request.Name)
	s.own = s.own || request.Strategy != nil
	return s.action, nil
}

func TestTheStrategyCanOnlyRestrictTheRules(t *testing.T) {
	for _, c := range []struct {
		name   string
		action retry.Action
		faults int
		asked  int
		took   time.Duration
		ok     bool
	}{
		{"it allows the retry that the rules allow", retry.After(0), 1, 1, 0, true},
		{"it declines", retry.Action{}, 1, 1, 0, false},
		{"it delays the retry", retry.After(3 * time.Second), 1, 1, 3 * time.Second, true},
		{"it is not asked about a second retry, which the rules forbid", retry.After(0), 2, 1, 0, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &declining{action: c.action}
			opened(t, mongo.Config{Strategy: s}, nil, func(w *world) {
				w.seed()
				w.script("find", slices.Repeat([]mongotest.Fault{{LoseReply: true}}, c.faults)...)
				began := time.Now()
				err := findOne(w)
				if (err == nil) != c.ok || len(s.asked) != c.asked {
					t.Errorf("the strategy was asked %d times; %v", len(s.asked), err)
				}
				if took := time.Since(began).Truncate(time.Second); took != c.took {
					t.Errorf("it took %v, want %v", took, c.took)
				}
				if s.names[0] != "find" || s.asked[0].Reason != retry.ReasonNetworkError || s.own {
					t.Errorf("it was asked about %q, %+v; the request has a strategy: %v", s.names[0], s.asked[0], s.own)
				}
			})
		})
	}
}

func TestTheDelayOfAnOverloadIsNotShortenedByTheStrategy(t *testing.T) {
	s := &declining{action: retry.After(0)}
	opened(t, mongo.Config{Strategy: s}, nil, func(w *world) {
		w.seed()
		overloaded := &mongotest.CommandError{Code: 462, Message: "busy", Labels: []string{"SystemOverloadedError", "RetryableError"}}
		w.script("find", mongotest.Fault{Error: overloaded}, mongotest.Fault{Error: overloaded})
		began := time.Now()
		w.must(findOne(w))
		if time.Since(began) == 0 || len(s.asked) != 2 {
			t.Errorf("it took %v; the strategy was asked %d times", time.Since(began), len(s.asked))
		}
	})
}

func TestTheBudgetLimitsTheRetriesOfAllOperations(t *testing.T) {
	budget, err := retry.NewBudget(retry.BudgetOptions{Burst: 1})
	if err != nil {
		t.Fatal(err)
	}
	opened(t, mongo.Config{Budget: budget}, nil, func(w *world) {
		w.seed()
		w.script("find", mongotest.Fault{LoseReply: true})
		w.must(findOne(w))
		w.script("find", mongotest.Fault{LoseReply: true})
		var history *retry.Error
		if err := findOne(w); !errors.As(err, &history) || history.Last().StopReason != retry.StopBudgetEmpty {
			t.Errorf("error: %v", err)
		}
	})
}

// Each server has a breaker of its own. While that of the primary is open, no attempt reaches it.
func TestTheBreakerOfAServerStopsAttempts(t *testing.T) {
	breaker := &retry.BreakerOptions{Volume: 3, Percent: 60, Window: time.Minute, OpenTimeout: 10 * time.Second}
	opened(t, mongo.Config{Breaker: breaker}, nil, func(w *world) {
		w.seed() // a success
		w.script("find", slices.Repeat([]mongotest.Fault{{LoseReply: true}}, 2)...)
		if err := findOne(w); err == nil || errors.Is(err, retry.ErrBreakerOpen) {
			t.Fatalf("the attempts that fail: %v", err)
		}
		w.forget()
		if err := findOne(w); !errors.Is(err, retry.ErrBreakerOpen) {
			t.Errorf("while the breaker is open: %v", err)
		}
		if n := len(w.started("find")); n != 0 {
			t.Errorf("%d commands were sent while the breaker was open", n)
		}
		secondary := w.coll.Database().Collection("c", options.Collection().SetReadPreference(readpref.SecondaryPreferred()))
		w.must(w.set.WaitIdle(w.ctx))
		w.must(secondary.FindOne(w.ctx, d{}).Err())
		w.pass(10 * time.Second)
		w.must(findOne(w)) // the half-open probe
		w.must(findOne(w))
	})
}

// What an attempt shows about its server: nothing if the caller has cancelled it.
func TestWhichAttemptsOpenTheBreakerOfAServer(t *testing.T) {
	slow := mongotest.Fault{Delay: time.Second}
	cancelled := func(w *world) error {
		ctx, cancel := context.WithCancel(w.ctx)
		defer time.AfterFunc(100*time.Millisecond, cancel).Stop()
		return w.coll.FindOne(ctx, d{}).Err()
	}
	late := func(w *world) error {
		ctx, cancel := context.WithTimeout(w.ctx, 100*time.Millisecond)
		defer cancel()
		return w.coll.FindOne(ctx, d{}).Err()
	}
	for _, c := range []struct {
		name  string
		judge func(retry.Failure) retry.Health
		fault mongotest.Fault
		do    func(*world) error
		opens bool
	}{
		{"a reply that is lost", nil, loseReply, findOne, true},
		{"the caller's deadline", nil, slow, late, true},
		{"the caller cancels", nil, slow, cancelled, false},
		{"the server refuses", nil, refuse(2), findOne, false},
		{"the server refuses, which the application judges as bad", func(retry.Failure) retry.Health { return retry.HealthBad }, refuse(2), findOne, true},
		{"the caller cancels, which the application would judge as bad", func(retry.Failure) retry.Health { return retry.HealthBad }, slow, cancelled, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			breaker := &retry.BreakerOptions{Volume: 5, Percent: 60, Window: time.Hour, OpenTimeout: time.Hour, Judge: c.judge}
			opened(t, mongo.Config{Breaker: breaker}, func(o *options.ClientOptions) { o.SetRetryReads(false) }, func(w *world) {
				w.seed()
				w.script("find", slices.Repeat([]mongotest.Fault{c.fault}, 20)...)
				for range 20 {
					if err := c.do(w); err == nil {
						t.Fatal("an attempt succeeded")
					}
					w.pass(2 * time.Second)
				}
				w.heal()
				if err := findOne(w); errors.Is(err, retry.ErrBreakerOpen) != c.opens || !c.opens && err != nil {
					t.Errorf("the next operation: %v", err)
				}
			})
		})
	}
}

// An attempt that the breaker of one server stops is retried on another server that suits.
func TestTheRetryAfterAnOpenBreakerGoesToAnotherServer(t *testing.T) {
	breaker := &retry.BreakerOptions{Volume: 1, Percent: 50, Window: time.Hour, OpenTimeout: time.Hour}
	opened(t, mongo.Config{Breaker: breaker}, nil, func(w *world) {
		w.discovered()
		bad := (w.set.Primary() + 1) % w.set.Members()
		coll := w.with(readpref.Secondary())
		w.heal = w.set.Use("find", mongotest.Decide(func(r *mongotest.Request) mongotest.Fault {
			return mongotest.Fault{LoseReply: r.Member == bad}
		}))
		for range 40 {
			_ = readOne(w.ctx, coll) // until the breaker is open
			w.pass(time.Second)
		}
		for range 40 {
			w.must(readOne(w.ctx, coll))
		}
	})
}

// The monitors poll rarely, and nothing is retried. Yet the next operation goes to the new primary: the attempt that was too long has
// requested checks of all servers.
func TestAfterAnAttemptTimeoutAllServersAreChecked(t *testing.T) {
	opened(t, mongo.Config{AttemptTimeout: time.Second}, func(o *options.ClientOptions) {
		o.SetRetryWrites(false).SetHeartbeatInterval(time.Hour)
		poll(o)
	}, func(w *world) {
		w.seed()
		w.pass(time.Minute)
		w.set.Isolate(w.set.Primary())
		w.heal = w.set.Heal
		w.pass(5 * time.Second) // there is a new primary
		if err := w.insertText(2, "text"); !mongo.IsTimeout(err) {
			t.Errorf("error: %v", err)
		}
		w.pass(2 * time.Second)
		began := time.Now()
		w.must(w.insertText(3, "text"))
		if took := time.Since(began); took > 100*time.Millisecond {
			t.Errorf("the next operation took %v", took)
		}
	}, mongotest.ElectionTimeout(200*time.Millisecond))
}

// Attempts that a breaker stops are paced: an operation with a deadline does not spin.
func TestAnOpenBreakerIsAskedAtTheTopologysPace(t *testing.T) {
	breaker := &retry.BreakerOptions{Volume: 1, Percent: 50, Window: time.Minute, OpenTimeout: time.Hour}
	s := &declining{action: retry.After(0)}
	opened(t, mongo.Config{Breaker: breaker, Strategy: s}, nil, func(w *world) {
		w.seed()
		w.script("find", mongotest.Fault{LoseReply: true})
		ctx, cancel := context.WithTimeout(w.ctx, 10*time.Second)
		defer cancel()
		if err := w.coll.FindOne(ctx, d{}).Err(); !errors.Is(err, retry.ErrBreakerOpen) && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error: %v", err)
		}
		if n := len(s.asked); n < 10 || n > 60 {
			t.Errorf("%d attempts failed in 10 s", n)
		}
	})
}

// retryEvents is an observer that keeps the events.
type retryEvents struct {
	mu     sync.Mutex
	events []retry.Event
}

func (r *retryEvents) Observe(_ context.Context, e retry.Event) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.events = append(r.events, e)
}

func TestTheObserverReceivesTheEventsOfARetry(t *testing.T) {
	r := &retryEvents{}
	opened(t, mongo.Config{Observer: r}, nil, func(w *world) {
		w.seed()
		r.events = nil
		w.script("find", mongotest.Fault{LoseReply: true})
		ctx := retry.WithData(w.ctx, "the caller's")
		w.must(w.coll.FindOne(ctx, d{}).Err())
		var kinds []retry.EventKind
		for _, e := range r.events {
			kinds = append(kinds, e.Kind)
			if e.Name != "find" || e.Data != "the caller's" {
				t.Errorf("event %+v", e)
			}
		}
		if !slices.Equal(kinds, []retry.EventKind{retry.EventAttemptFailed, retry.EventDecided, retry.EventEnded}) {
			t.Errorf("the events are %v", kinds)
		}
	})
}

// A primary that is a black hole holds an operation for one AttemptTimeout; then the operation waits for the election only.
func TestABlackHoledPrimaryHoldsAnOperationForOneAttemptTimeout(t *testing.T) {
	const limit, election = time.Second, 200 * time.Millisecond
	for _, c := range []struct {
		name string
		do   func(*world) error
	}{
		{"a write", func(w *world) error { return w.insertText(2, "text") }},
		{"a read", findOne},
	} {
		t.Run(c.name, func(t *testing.T) {
			opened(t, mongo.Config{AttemptTimeout: limit}, nil, func(w *world) {
				w.seed()
				w.pass(time.Minute)
				w.set.Isolate(w.set.Primary())
				w.heal = w.set.Heal
				began := time.Now()
				w.must(c.do(w))
				if took := time.Since(began); took < limit || took > limit+2*election {
					t.Errorf("it took %v; the time limit of an attempt is %v, the election takes %v", took, limit, election)
				}
			}, mongotest.ElectionTimeout(election))
		})
	}
}

// The election takes longer than an attempt may: the one retry is not used up before there is a new primary. It makes no
// difference whether the attempt waits for its reply or, without an idle connection, for its connection.
func TestTheRetryAfterAnAttemptTimeoutWaitsForTheElection(t *testing.T) {
	for _, idle := range []time.Duration{0, time.Second} {
		t.Run("maxIdleTime "+idle.String(), func(t *testing.T) {
			opened(t, mongo.Config{AttemptTimeout: 300 * time.Millisecond}, func(o *options.ClientOptions) {
				o.SetMaxConnIdleTime(idle)
			}, func(w *world) {
				w.seed()
				w.pass(time.Minute)
				w.set.Isolate(w.set.Primary())
				w.heal = w.set.Heal
				began := time.Now()
				w.must(w.insertText(2, "text"))
				if took := time.Since(began); took < 5*time.Second || took > 7*time.Second {
					t.Errorf("it took %v; the election takes 5 s to 5.75 s", took)
				}
			}, mongotest.ElectionTimeout(5*time.Second))
		})
	}
}

// A slow command is no reason to distrust a server that answers its monitor.
func TestAnAttemptTimeoutOfASlowCommand(t *testing.T) {
	opened(t, mongo.Config{AttemptTimeout: time.Second}, nil, func(w *world) {
		w.seed()
		w.pass(time.Minute)
		slow := mongotest.Fault{Delay: 5 * time.Second}
		w.script("find", slow)
		began := time.Now()
		w.must(findOne(w)) // the retry is not slow
		if took := time.Since(began); took > 2*time.Second {
			t.Errorf("it took %v", took)
		}
		w.script("find", slow, slow)
		err := findOne(w)
		var history *retry.Error
		if !errors.As(err, &history) || history.Total != 2 || !mongo.IsTimeout(err) || !mongo.IsNetworkError(err) ||
			!errors.Is(err, retry.ErrAttemptTimeout) || history.Last().Reason != retry.ReasonAttemptTimeout {
			t.Errorf("error: %v", err)
		}
		if cleared := w.poolEvents("ConnectionPoolCleared"); cleared != 0 {
			t.Errorf("the pool was cleared %d times", cleared)
		}
	})
}

// The time limit of an attempt is not sent as maxTimeMS: the server would end the command with an error that is not retried.
func TestAnAttemptTimeoutIsNotSentToTheServer(t *testing.T) {
	opened(t, mongo.Config{AttemptTimeout: time.Second}, nil, func(w *world) {
		w.seed()
		w.must(findOne(w))
		ctx, cancel := context.WithTimeout(w.ctx, time.Minute)
		defer cancel()
		w.must(w.coll.FindOne(ctx, d{}).Err())
		finds := w.started("find")
		if _, err := finds[0].Command.LookupErr("maxTimeMS"); err == nil {
			t.Errorf("the command is %v", finds[0].Command)
		}
		if ms := finds[1].Command.Lookup("maxTimeMS").AsInt64(); ms <= 1000 {
			t.Errorf("maxTimeMS is %d with a deadline of a minute", ms)
		}
	})
}

// The limit holds for the wait for a connection too.
func TestAnAttemptTimeoutLimitsTheCheckOut(t *testing.T) {
	opened(t, mongo.Config{AttemptTimeout: time.Second}, func(o *options.ClientOptions) { o.SetMaxPoolSize(1) }, func(w *world) {
		w.seed()
		w.script("update", mongotest.Fault{Delay: 900 * time.Millisecond})
		done := make(chan error)
		go func() { done <- writes[2].do(w.ctx, w.coll) }()
		w.pass(time.Millisecond)
		held, cancel := context.WithCancel(w.ctx)
		defer cancel()
		began := time.Now()
		w.must(w.coll.FindOne(held, d{}).Err())
		if took := time.Since(began); took < 800*time.Millisecond {
			t.Errorf("it waited %v for the only connection", took)
		}
		w.must(<-done)
	})
}

func TestAWriteThatIsNotRetryableFailsAtItsAttemptTimeout(t *testing.T) {
	opened(t, mongo.Config{AttemptTimeout: time.Second}, func(o *options.ClientOptions) { o.SetRetryWrites(false) }, func(w *world) {
		w.seed()
		w.script("update", mongotest.Fault{Delay: 5 * time.Second})
		began := time.Now()
		err := writes[2].do(w.ctx, w.coll)
		if took := time.Since(began).Truncate(100 * time.Millisecond); took != time.Second || !mongo.IsTimeout(err) {
			t.Errorf("after %v: %v", took, err)
		}
	})
}

// Max Staleness: "-1 (or omitted) means no maximum". The official parser, which Connect gets its options from, refuses it.
func TestOpenTakesNoMaximumOfStaleness(t *testing.T) {
	for _, uri := range []string{
		"mongodb://a/?readPreference=secondary&maxStalenessSeconds=-1", "mongodb://a/db?MAXSTALENESSSECONDS=-1&readPreference=secondary&appName=x",
	} {
		client, err := mongo.Open(uri, mongo.Config{})
		if err != nil {
			t.Errorf("%s: %v", uri, err)
			continue
		}
		if err := client.Disconnect(t.Context()); err != nil {
			t.Error(err)
		}
	}
	for _, value := range []string{"-2", "-1.0", ""} {
		if _, err := mongo.Open("mongodb://a/?readPreference=secondary&maxStalenessSeconds="+value, mongo.Config{}); err == nil {
			t.Errorf("maxStalenessSeconds=%s is accepted", value)
		}
	}
	if _, err := mongo.Open("mongodb://a/?maxStalenessSeconds=-1&wTimeoutMS=x", mongo.Config{}); err == nil || !strings.Contains(err.Error(), "wTimeoutMS") {
		t.Errorf("the rest is not looked at: %v", err)
	}
}

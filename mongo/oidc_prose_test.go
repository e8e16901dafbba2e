package mongo_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// The prose tests of MONGODB-OIDC: https://github.com/mongodb/specifications/blob/master/source/auth/tests/mongodb-oidc.md

// issuer is an identity provider whose callback counts its calls. Its tokens are "user/number"; the servers accept those that it has
// not taken back.
type issuer struct {
	calls   atomic.Int64
	taken   atomic.Bool   // the tokens that are issued from now on are of no use
	refused atomic.Bool   // the servers refuse all tokens but new ones
	pause   time.Duration // that a call takes

	mu   sync.Mutex
	args []options.OIDCArgs
	left []time.Duration // until the contexts' deadlines
	last string
}

func (i *issuer) accept(token string) (mongotest.TokenOwner, error) {
	user, number, _ := strings.Cut(token, "/")
	i.mu.Lock()
	defer i.mu.Unlock()
	if number == "" || number == "bad" || i.refused.Load() && token != i.last {
		return mongotest.TokenOwner{}, errors.New("not mine")
	}
	return mongotest.TokenOwner{Name: user}, nil
}

// issue is a callback without refresh tokens.
func (i *issuer) issue(ctx context.Context, args *options.OIDCArgs) (*options.OIDCCredential, error) {
	n := i.calls.Add(1)
	<-time.After(i.pause)
	i.mu.Lock()
	defer i.mu.Unlock()
	i.args = append(i.args, *args)
	end, _ := ctx.Deadline()
	i.left = append(i.left, time.Until(end))
	i.last = fmt.Sprintf("ada/%d", n)
	if i.taken.Load() {
		i.last = "ada/bad"
	}
	return &options.OIDCCredential{AccessToken: i.last}, nil
}

// issueRefreshable is a callback with refresh tokens.
func (i *issuer) issueRefreshable(ctx context.Context, args *options.OIDCArgs) (*options.OIDCCredential, error) {
	got, err := i.issue(ctx, args)
	refresh := "refresh " + got.AccessToken
	got.RefreshToken = &refresh
	return got, err
}

func (i *issuer) server() mongotest.Option {
	return mongotest.OIDC(mongotest.IdentityProvider{
		Issuer: "https://issuer", ClientID: "client", RequestScopes: []string{"a", "b"}, Accept: i.accept,
	})
}

func (i *issuer) wantCalls(t testing.TB, want int64) {
	t.Helper()
	if got := i.calls.Load(); got != want {
		t.Errorf("the callback was called %d times, want %d", got, want)
	}
}

// machine is a credential with a callback that asks nobody.
func (i *issuer) machine() options.Credential {
	return options.Credential{AuthMechanism: "MONGODB-OIDC", OIDCMachineCallback: i.issue}
}

// person is one with a callback that asks a person.
func (i *issuer) person() options.Credential {
	return options.Credential{
		AuthMechanism: "MONGODB-OIDC", OIDCHumanCallback: i.issueRefreshable,
		AuthMechanismProperties: map[string]string{"ALLOWED_HOSTS": "*.mongotest"},
	}
}

// withTokens runs f with a client that logs in by a credential of a new issuer.
func withTokens(t *testing.T, credential func(*issuer) options.Credential, f func(w *world, i *issuer)) {
	t.Helper()
	i := &issuer{}
	in(t, func(o *options.ClientOptions) { o.SetAuth(credential(i)).SetRetryReads(false) }, func(w *world) { f(w, i) }, i.server())
}

func (w *world) find() error {
	err := w.coll.FindOne(w.ctx, d{}).Err()
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil
	}
	return err
}

func (w *world) insertOne() error {
	_, err := w.coll.InsertOne(w.ctx, d{})
	return err
}

// drop closes the client's connection.
func (w *world) drop() {
	w.Helper()
	w.script("ping", loseRequest)
	if err := w.client.Ping(w.ctx, nil); err == nil {
		w.Fatal("the connection was not closed")
	}
	w.heal()
}

// wantRefusal checks that an error is a refused login, as a CommandError.
func wantRefusal(t testing.TB, err error) {
	t.Helper()
	refused, ok := err.(mongo.CommandError) //nolint:errorlint // applications switch on the type
	if !ok || refused.Code != 18 || !strings.Contains(err.Error(), "MONGODB-OIDC") {
		t.Errorf("%T %v, want a login that was refused with 18", err, err)
	}
}

func TestOIDCProse1_1TheCallbackIsCalled(t *testing.T) {
	withTokens(t, (*issuer).machine, func(w *world, i *issuer) {
		w.must(w.find())
		i.wantCalls(t, 1)
	})
}

func TestOIDCProse1_2TheCallbackIsCalledOnceForManyConnections(t *testing.T) {
	withTokens(t, (*issuer).machine, func(w *world, i *issuer) {
		i.pause = time.Millisecond
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				for range 10 {
					if err := w.find(); err != nil {
						t.Error(err)
					}
				}
			})
		}
		wg.Wait()
		i.wantCalls(t, 1)
	})
}

func TestOIDCProse2_1TheInputsOfTheCallback(t *testing.T) {
	withTokens(t, (*issuer).machine, func(w *world, i *issuer) {
		w.must(w.find())
		if a := i.args[0]; a.Version != 1 || a.IDPInfo != nil || a.RefreshToken != nil || i.left[0] != time.Minute {
			t.Errorf("the callback got %+v and %v of time", a, i.left[0])
		}
	})
}

func TestOIDCProse2_2And2_3ACallbackWithoutAToken(t *testing.T) {
	mine := errors.New("mine")
	for _, c := range []struct {
		name       string
		credential *options.OIDCCredential
		err        error
		want       string
	}{
		{"nothing", nil, nil, "neither"},
		{"an empty token", &options.OIDCCredential{}, nil, "no access token"},
		{"an error", nil, mine, "mine"},
	} {
		t.Run(c.name, func(t *testing.T) {
			in(t, func(o *options.ClientOptions) {
				o.SetAuth(options.Credential{
					AuthMechanism: "MONGODB-OIDC",
					OIDCMachineCallback: func(context.Context, *options.OIDCArgs) (*options.OIDCCredential, error) {
						return c.credential, c.err
					},
				})
			}, func(w *world) {
				began := time.Now()
				err := w.find()
				if err == nil || !strings.Contains(err.Error(), c.want) || c.err != nil && !errors.Is(err, c.err) || time.Since(began) > time.Second {
					t.Errorf("after %v: %v, want %q", time.Since(began), err, c.want)
				}
			}, (&issuer{}).server())
		})
	}
}

func TestOIDCProse2_4And2_5OptionsThatContradictEachOther(t *testing.T) {
	i := &issuer{}
	for name, c := range map[string]options.Credential{
		"a callback and an environment": {
			AuthMechanism: "MONGODB-OIDC", OIDCMachineCallback: i.issue, AuthMechanismProperties: map[string]string{"ENVIRONMENT": "k8s"},
		},
		"a callback and the environment of tests": {
			AuthMechanism: "MONGODB-OIDC", OIDCMachineCallback: i.issue, AuthMechanismProperties: map[string]string{"ENVIRONMENT": "test"},
		},
		"a callback that asks a person, and the environment of tests": {
			AuthMechanism: "MONGODB-OIDC", OIDCHumanCallback: i.issue, AuthMechanismProperties: map[string]string{"ENVIRONMENT": "test"},
		},
		"two callbacks": {AuthMechanism: "MONGODB-OIDC", OIDCMachineCallback: i.issue, OIDCHumanCallback: i.issue},
		"hosts for an environment": {
			AuthMechanism: "MONGODB-OIDC", AuthMechanismProperties: map[string]string{"ENVIRONMENT": "azure", "TOKEN_RESOURCE": "r", "ALLOWED_HOSTS": "h"},
		},
		"neither":        {AuthMechanism: "MONGODB-OIDC"},
		"another source": {AuthMechanism: "MONGODB-OIDC", OIDCMachineCallback: i.issue, AuthSource: "admin"},
		"a callback of another mechanism": {
			AuthMechanism: "MONGODB-AWS", OIDCMachineCallback: i.issue,
		},
	} {
		if _, err := mongo.Connect(options.Client().SetAuth(c)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

func TestOIDCProse3_1ATokenThatIsRefusedIsReplaced(t *testing.T) {
	withTokens(t, (*issuer).machine, func(w *world, i *issuer) {
		w.must(w.find())
		i.refused.Store(true)
		i.mu.Lock()
		i.last = "" // nobody accepts the token that the client keeps
		i.mu.Unlock()
		w.drop()
		w.must(w.find())
		i.wantCalls(t, 2)
	})
}

func TestOIDCProse3_2WithoutAKeptTokenARefusalIsTheError(t *testing.T) {
	withTokens(t, (*issuer).machine, func(w *world, i *issuer) {
		i.taken.Store(true)
		wantRefusal(t, w.find())
		i.wantCalls(t, 1)
	})
}

func TestOIDCProse3_3AnotherErrorKeepsTheToken(t *testing.T) {
	withTokens(t, (*issuer).machine, func(w *world, i *issuer) {
		w.script("saslStart", refuse(20))
		if err := w.find(); err == nil {
			t.Error("no error")
		}
		i.wantCalls(t, 1)
		w.must(w.find())
		i.wantCalls(t, 1)
	})
}

func TestOIDCProse4_1AnExpiredLoginIsRenewed(t *testing.T) {
	withTokens(t, (*issuer).machine, func(w *world, i *issuer) {
		w.script("find", refuse(391))
		w.must(w.find())
		i.wantCalls(t, 2)
	})
}

func TestOIDCProse4_2And4_3ALoginThatCannotBeRenewedIsTheError(t *testing.T) {
	for command, run := range map[string]func(*world) error{"find": (*world).find, "insert": (*world).insertOne} {
		t.Run(command, func(t *testing.T) {
			withTokens(t, (*issuer).machine, func(w *world, i *issuer) {
				w.must(run(w))
				i.taken.Store(true)
				w.script(command, refuse(391))
				wantRefusal(t, run(w))
				i.wantCalls(t, 2)
			})
		})
	}
}

func TestOIDCProse4_4ARenewalDoesNotSpeculate(t *testing.T) {
	withTokens(t, (*issuer).machine, func(w *world, i *issuer) {
		w.must(w.insertOne())
		w.drop()
		starts := w.count("saslStart")
		w.must(w.insertOne()) // by the hello alone, with the token that is kept
		if n := starts(); n != 0 {
			t.Errorf("%d times saslStart, want none", n)
		}
		w.heal()
		starts = w.count("saslStart")
		remove := w.set.Use("insert", mongotest.FaultOnce(refuse(391)))
		w.must(w.insertOne())
		remove()
		if n := starts(); n != 1 {
			t.Errorf("%d times saslStart, want 1", n)
		}
		i.wantCalls(t, 2)
	})
}

func TestOIDCProse4_5ALoginIsRenewedInASession(t *testing.T) {
	withTokens(t, (*issuer).machine, func(w *world, i *issuer) {
		w.script("find", refuse(391))
		w.must(w.client.UseSession(w.ctx, func(ctx context.Context) error {
			if err := w.coll.FindOne(ctx, d{}).Err(); !errors.Is(err, mongo.ErrNoDocuments) {
				return err
			}
			return nil
		}))
		i.wantCalls(t, 2)
	})
}

// count counts the messages of a command from now on.
func (w *world) count(command string) func() int64 {
	var n atomic.Int64
	w.heal = w.set.Use(command, mongotest.Decide(func(*mongotest.Request) mongotest.Fault {
		n.Add(1)
		return mongotest.Fault{}
	}))
	return n.Load
}

func TestOIDCHumanProse1_1And1_2AUserWithAndWithoutAName(t *testing.T) {
	for _, name := range []string{"", "ada@domain"} {
		t.Run(name, func(t *testing.T) {
			withTokens(t, func(i *issuer) options.Credential {
				c := i.person()
				c.Username = name
				return c
			}, func(w *world, i *issuer) {
				w.must(w.find())
				i.wantCalls(t, 1)
			})
		})
	}
}

func TestOIDCHumanProse1_3To1_5SeveralProviders(t *testing.T) {
	i := &issuer{}
	provider := func(domain string) mongotest.IdentityProvider {
		return mongotest.IdentityProvider{Issuer: "https://" + domain, ClientID: domain, MatchPattern: "@" + domain + "$", Accept: i.accept}
	}
	for name, issuer := range map[string]string{"ada@one": "https://one", "ada@two": "https://two", "": ""} {
		in(t, func(o *options.ClientOptions) {
			c := i.person()
			c.Username = name
			o.SetAuth(c).SetRetryReads(false)
		}, func(w *world) {
			i.args = nil
			err := w.find()
			switch {
			case issuer == "":
				wantRefusal(t, err)
			case err != nil || i.args[0].IDPInfo.Issuer != issuer:
				t.Errorf("%s: %v, the callback got %+v", name, err, i.args)
			}
		}, mongotest.OIDC(provider("one"), provider("two")))
	}
}

// Nothing of the user is sent to another host either: neither a name nor a token.
func TestOIDCHumanProse1_6OnlyAllowedHosts(t *testing.T) {
	for _, c := range []struct {
		hosts   string
		allowed bool
	}{
		{"", false}, {"example.com", false}, {"mongotest", false}, {"*.mongotest", true}, {"x, *.RS0.mongotest", true}, {"*", true}, {"m?.rs0.mongotest", false},
	} {
		t.Run(c.hosts, func(t *testing.T) {
			withTokens(t, func(i *issuer) options.Credential {
				credential := i.person()
				credential.AuthMechanismProperties = map[string]string{"ALLOWED_HOSTS": c.hosts}
				return credential
			}, func(w *world, i *issuer) {
				starts := w.count("saslStart")
				err := w.find()
				if (err == nil) != c.allowed || !c.allowed && !strings.Contains(err.Error(), "ALLOWED_HOSTS") {
					t.Errorf("error %v, want allowed %t", err, c.allowed)
				}
				if sent := starts() > 0; sent != c.allowed || (i.calls.Load() > 0) != c.allowed {
					t.Errorf("a message was sent: %t; the callback was called %d times", sent, i.calls.Load())
				}
			})
		})
	}
}

func TestOIDCHumanProse1_6TheDefaultAllowedHosts(t *testing.T) {
	withTokens(t, func(i *issuer) options.Credential {
		return options.Credential{AuthMechanism: "MONGODB-OIDC", OIDCHumanCallback: i.issue}
	}, func(w *world, i *issuer) {
		if err := w.find(); err == nil || !strings.Contains(err.Error(), "ALLOWED_HOSTS") {
			t.Errorf("error %v, want that a host of mongotest is not allowed", err)
		}
		i.wantCalls(t, 0)
	})
}

func TestOIDCHumanProse1_7NoAllowedHostsInTheConnectionString(t *testing.T) {
	o := options.Client().ApplyURI("mongodb://localhost/?authMechanism=MONGODB-OIDC&authMechanismProperties=ALLOWED_HOSTS:example.com")
	if _, err := mongo.Connect(o); err == nil {
		t.Error("no error")
	}
}

func TestOIDCHumanProse1_8AProviderWithoutClientID(t *testing.T) {
	i := &issuer{}
	in(t, func(o *options.ClientOptions) { o.SetAuth(i.person()) }, func(w *world) {
		w.must(w.find())
		if p := i.args[0].IDPInfo; p == nil || p.ClientID != "" || p.Issuer != "https://machines" {
			t.Errorf("the callback got %+v", p)
		}
	}, mongotest.OIDC(mongotest.IdentityProvider{Issuer: "https://machines", Accept: i.accept}))
}

func TestOIDCHumanProse2_1TheInputsOfTheCallback(t *testing.T) {
	withTokens(t, (*issuer).person, func(w *world, i *issuer) {
		w.must(w.find())
		a := i.args[0]
		if a.Version != 1 || a.RefreshToken != nil || i.left[0] != 5*time.Minute {
			t.Errorf("the callback got %+v and %v of time", a, i.left[0])
		}
		if p := a.IDPInfo; p == nil || p.Issuer != "https://issuer" || p.ClientID != "client" || !slices.Equal(p.RequestScopes, []string{"a", "b"}) {
			t.Errorf("the callback got %+v", p)
		}
	})
}

func TestOIDCHumanProse2_3TheRefreshTokenIsPassed(t *testing.T) {
	withTokens(t, (*issuer).person, func(w *world, i *issuer) {
		w.must(w.find())
		w.script("find", refuse(391))
		w.must(w.find())
		i.wantCalls(t, 2)
		if a := i.args[1]; a.RefreshToken == nil || *a.RefreshToken != "refresh ada/1" || a.IDPInfo == nil {
			t.Errorf("the second call got %+v", a)
		}
	})
}

func TestOIDCHumanProse3_1AKeptTokenIsUsedInHello(t *testing.T) {
	withTokens(t, (*issuer).person, func(w *world, i *issuer) {
		w.script("find", loseReply)
		if err := w.find(); err == nil {
			t.Error("no error")
		}
		w.script("saslStart", refuse(18))
		w.must(w.find())
		i.wantCalls(t, 1)
	})
}

func TestOIDCHumanProse3_2WithoutAKeptTokenHelloHasNone(t *testing.T) {
	withTokens(t, (*issuer).person, func(w *world, _ *issuer) {
		w.script("saslStart", refuse(18))
		wantRefusal(t, w.find())
	})
}

func TestOIDCHumanProse4_1AnExpiredLoginIsRenewed(t *testing.T) {
	withTokens(t, (*issuer).person, func(w *world, i *issuer) {
		w.must(w.find())
		i.wantCalls(t, 1)
		w.forget()
		w.script("find", refuse(391))
		w.must(w.find())
		i.wantCalls(t, 2)
		if len(w.started("find")) != 2 || len(w.started("")) != 2 || w.ends != 2 || w.failed != 1 {
			t.Errorf("%d commands began, of them %d find; %d ended, of them %d failed", len(w.started("")), len(w.started("find")), w.ends, w.failed)
		}
	})
}

func TestOIDCHumanProse4_2WithoutARefreshToken(t *testing.T) {
	withTokens(t, func(i *issuer) options.Credential {
		c := i.person()
		c.OIDCHumanCallback = i.issue
		return c
	}, func(w *world, i *issuer) {
		w.must(w.find())
		w.script("find", refuse(391))
		w.must(w.find())
		i.wantCalls(t, 2)
		if i.args[1].RefreshToken != nil || i.args[1].IDPInfo == nil {
			t.Errorf("the second call got %+v", i.args[1])
		}
	})
}

func TestOIDCHumanProse4_3And4_4ARefreshThatFails(t *testing.T) {
	for _, c := range []struct {
		name  string
		bad   []int64 // the calls that return tokens of no use
		calls int64
		fails bool
	}{
		{"the refresh", []int64{2}, 3, false},
		{"the refresh and the new login", []int64{2, 3}, 3, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			withTokens(t, func(i *issuer) options.Credential {
				credential := i.person()
				credential.OIDCHumanCallback = func(ctx context.Context, args *options.OIDCArgs) (*options.OIDCCredential, error) {
					i.taken.Store(slices.Contains(c.bad, i.calls.Load()+1))
					return i.issueRefreshable(ctx, args)
				}
				return credential
			}, func(w *world, i *issuer) {
				w.must(w.find())
				i.wantCalls(t, 1)
				w.script("find", refuse(391))
				err := w.find()
				if c.fails {
					wantRefusal(t, err)
				} else {
					w.must(err)
				}
				i.wantCalls(t, c.calls)
				if a := i.args[2]; a.RefreshToken != nil || a.IDPInfo == nil {
					t.Errorf("the third call got %+v", a)
				}
			})
		})
	}
}

package mongo_test

import (
	"context"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

const (
	secret      = "s3cr3t-p4ssw0rd"
	wrongSecret = "wr0ng-p4ssw0rd"
)

var carol = pkix.Name{CommonName: "carol", Organization: []string{"holdfast"}}

// logins are the ways to log in, each with what the server's refusal of wrong credentials is.
var logins = []struct {
	name       string
	credential options.Credential
	code       int32
	mechanism  string // in the error
}{
	{"the default", options.Credential{Username: "alice", Password: secret}, 18, "SCRAM-SHA-256"},
	{"the default of a user with the older mechanism", options.Credential{Username: "old", Password: secret}, 18, "SCRAM-SHA-1"},
	{"SCRAM-SHA-1", options.Credential{AuthMechanism: "SCRAM-SHA-1", Username: "alice", Password: secret}, 18, "SCRAM-SHA-1"},
	{"SCRAM-SHA-256", options.Credential{AuthMechanism: "SCRAM-SHA-256", Username: "alice", Password: secret}, 18, "SCRAM-SHA-256"},
	{"a name that needs preparing", options.Credential{AuthMechanism: "SCRAM-SHA-256", Username: "new,=2C", Password: "IX a" + secret}, 18, "SCRAM-SHA-256"},
	{"a user of another database", options.Credential{Username: "app", Password: secret, AuthSource: "app"}, 18, "SCRAM-SHA-256"},
	{"PLAIN", options.Credential{AuthMechanism: "PLAIN", Username: "bob", Password: secret}, 18, "PLAIN"},
	{"MONGODB-X509", options.Credential{AuthMechanism: "MONGODB-X509"}, 11, "MONGODB-X509"},
	{
		"MONGODB-AWS", options.Credential{
			AuthMechanism: "MONGODB-AWS", Username: "AKIAADA", Password: secret, AuthMechanismProperties: map[string]string{"AWS_SESSION_TOKEN": secret + "/token"},
		}, 18, "MONGODB-AWS",
	},
	{"MONGODB-OIDC", options.Credential{AuthMechanism: "MONGODB-OIDC", OIDCMachineCallback: returning(secret)}, 18, "MONGODB-OIDC"},
}

// returning is a callback that always returns the same token.
func returning(token string) options.OIDCCallback {
	return func(context.Context, *options.OIDCArgs) (*options.OIDCCredential, error) {
		return &options.OIDCCredential{AccessToken: token}, nil
	}
}

// wrong makes a credential one that the server refuses.
func wrong(c options.Credential) options.Credential {
	if c.Password != "" {
		c.Password = wrongSecret
	}
	if c.OIDCMachineCallback != nil {
		c.OIDCMachineCallback = returning(wrongSecret)
	}
	return c
}

// guardedUsers are the users of a guarded set. The server derives the keys of each, which costs milliseconds.
var guardedUsers = []mongotest.User{
	{Name: "alice", Password: secret},
	{Name: "old", Password: secret, Mechanisms: []string{"SCRAM-SHA-1"}},
	{Name: "new,=2C", Password: "\u2168 \u00aa" + secret, Mechanisms: []string{"SCRAM-SHA-256"}},
	{Name: "app", Password: secret, Database: "app"},
	{Name: "bob", Password: secret, Database: "$external", Mechanisms: []string{"PLAIN"}},
	{Name: carol.String(), Database: "$external"},
}

// guardedSet runs a member with TLS and the guarded users with these names, and those of $external.
func guardedSet(t *testing.T, names []string, opts ...mongotest.Option) *mongotest.Deployment {
	t.Helper()
	users := slices.DeleteFunc(slices.Clone(guardedUsers), func(u mongotest.User) bool {
		return u.Database != "$external" && !slices.Contains(names, u.Name)
	})
	return mongotest.RunReplicaSetT(t, 1, append(opts, mongotest.TLS(), mongotest.Users(users...), mongotest.AWS(mongotest.AWSIdentity{
		ARN: "arn:aws:iam::1:user/ada", AccessKeyID: "AKIAADA", SecretAccessKey: secret, SessionToken: secret + "/token",
	}), mongotest.OIDC(mongotest.IdentityProvider{Accept: func(token string) (mongotest.TokenOwner, error) {
		if token != secret {
			return mongotest.TokenOwner{}, errors.New("not mine")
		}
		return mongotest.TokenOwner{Name: "oidc"}, nil
	}}))...)
}

// guest is a client's options, and everything that its listeners heard.
type guest struct {
	o     *options.ClientOptions
	mu    sync.Mutex
	heard []string
}

func (g *guest) hear(event any) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.heard = append(g.heard, fmt.Sprintf("%v\n%+v\n%#v", event, event, event))
}

func guestOf(t *testing.T, set *mongotest.Deployment, c options.Credential, subject ...pkix.Name) *guest {
	t.Helper()
	cfg, err := set.ClientTLS(subject...)
	if err != nil {
		t.Fatal(err)
	}
	g := &guest{}
	g.o = options.Client().ApplyURI(set.URI()).SetTLSConfig(cfg).SetAuth(c).SetDialer(set.Dialer()).
		SetPoolMonitor(&event.PoolMonitor{Event: func(e *event.PoolEvent) { g.hear(*e) }}).
		SetMonitor(&event.CommandMonitor{
			Started:   func(_ context.Context, e *event.CommandStartedEvent) { g.hear(*e) },
			Succeeded: func(_ context.Context, e *event.CommandSucceededEvent) { g.hear(*e) },
			Failed:    func(_ context.Context, e *event.CommandFailedEvent) { g.hear(*e) },
		})
	return g
}

// visit connects, runs a command and disconnects. It checks that nobody was told the secret.
func (g *guest) visit(t *testing.T) error {
	t.Helper()
	client, err := mongo.Connect(g.o)
	if err != nil {
		t.Fatal(err)
	}
	err = client.Database("db").Collection("c").FindOne(t.Context(), d{}).Err()
	g.hear(err)
	for e := err; e != nil; e = errors.Unwrap(e) {
		g.hear(e)
	}
	g.hear(client)
	if err := client.Disconnect(t.Context()); err != nil {
		t.Error(err)
	}
	for _, text := range g.heard {
		if strings.Contains(text, secret) || strings.Contains(text, wrongSecret) {
			t.Errorf("the password is in %s", text)
		}
	}
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil
	}
	return err
}

func onBothTransports(t *testing.T, user string, f func(t *testing.T, set *mongotest.Deployment)) {
	t.Helper()
	t.Run("in memory", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) { f(t, guardedSet(t, []string{user}, mongotest.InMemory())) })
	})
	t.Run("on TCP", func(t *testing.T) { f(t, guardedSet(t, []string{user})) })
}

func TestALoginSucceeds(t *testing.T) {
	for _, c := range logins {
		t.Run(c.name, func(t *testing.T) {
			onBothTransports(t, c.credential.Username, func(t *testing.T, set *mongotest.Deployment) {
				if err := guestOf(t, set, c.credential, carol).visit(t); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// The first thing that one sees is the refusal, as a CommandError with the server's code, and not a timeout.
func TestALoginFails(t *testing.T) {
	for _, c := range logins {
		t.Run(c.name, func(t *testing.T) {
			onBothTransports(t, c.credential.Username, func(t *testing.T, set *mongotest.Deployment) {
				g := guestOf(t, set, wrong(c.credential), pkix.Name{CommonName: "stranger"})
				began := time.Now()
				err := g.visit(t)
				refused, ok := err.(mongo.CommandError) //nolint:errorlint // applications switch on the type
				if !ok || refused.Code != c.code || len(refused.Labels) != 0 || len(refused.Raw) == 0 {
					t.Fatalf("%T with code %d and labels %v: %v", err, refused.Code, refused.Labels, err)
				}
				want := fmt.Sprintf("unable to authenticate using mechanism %q", c.mechanism)
				if !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "("+refused.Name+") "+refused.Message) {
					t.Errorf("the error is %v", err)
				}
				if mongo.IsTimeout(err) || mongo.IsNetworkError(err) || time.Since(began) > 20*time.Second {
					t.Errorf("after %v: timeout %v, network error %v", time.Since(began), mongo.IsTimeout(err), mongo.IsNetworkError(err))
				}
			})
		})
	}
}

// Source: Retryable Reads and Writes: the codes of the list are retried also if the handshake meets them.
func TestALoginThatMeetsARetryableCodeIsRetried(t *testing.T) {
	for _, c := range []struct {
		name    string
		fault   mongotest.Fault
		retried bool
	}{
		{"a shutdown", refuse(91), true},
		{"a new primary", refuse(10107), true},
		{"a lost reply", loseReply, true},
		{"wrong credentials", refuse(18), false},
	} {
		for _, write := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, write %t", c.name, write), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					set := guardedSet(t, []string{"alice"}, mongotest.InMemory())
					var seen atomic.Int64
					defer set.Use("saslContinue", mongotest.Decide(func(*mongotest.Request) mongotest.Fault {
						if seen.Add(1) == 1 {
							return c.fault
						}
						return mongotest.Fault{}
					}))()
					client, err := mongo.Connect(guestOf(t, set, options.Credential{Username: "alice", Password: secret}).o)
					if err != nil {
						t.Fatal(err)
					}
					defer client.Disconnect(t.Context())
					coll := client.Database("db").Collection("c")
					if write {
						_, err = coll.InsertOne(t.Context(), d{})
					} else if err = coll.FindOne(t.Context(), d{}).Err(); errors.Is(err, mongo.ErrNoDocuments) {
						err = nil
					}
					if (err == nil) != c.retried {
						t.Errorf("error: %v", err)
					}
					var labelled mongo.LabeledError
					if errors.As(err, &labelled) && labelled.HasErrorLabel("SystemOverloadedError") {
						t.Errorf("the error has the label of an overload: %v", err)
					}
				})
			})
		}
	}
}

func TestALoginCostsNoRoundTripOfItsOwnButOne(t *testing.T) {
	for mechanism, want := range map[string]int64{"SCRAM-SHA-256": 1, "SCRAM-SHA-1": 1, "": 1, "PLAIN": 1, "MONGODB-X509": 0} {
		synctest.Test(t, func(t *testing.T) {
			set := guardedSet(t, []string{"alice"}, mongotest.InMemory())
			var sent atomic.Int64
			for _, command := range []string{"saslStart", "saslContinue", "authenticate"} {
				defer set.Use(command, mongotest.Decide(func(*mongotest.Request) mongotest.Fault {
					sent.Add(1)
					return mongotest.Fault{}
				}))()
			}
			c := options.Credential{AuthMechanism: mechanism, Username: "alice", Password: secret}
			switch mechanism {
			case "PLAIN":
				c.Username = "bob"
			case "MONGODB-X509":
				c = options.Credential{AuthMechanism: mechanism}
			}
			if err := guestOf(t, set, c, carol).visit(t); err != nil {
				t.Error(err)
			}
			if sent.Load() != want {
				t.Errorf("%q: %d commands of the login, want %d", mechanism, sent.Load(), want)
			}
		})
	}
}

// The error of the login is what every caller sees, not a cleared pool without a reason, and not a timeout.
func TestEveryCallerSeesWhyALoginFails(t *testing.T) {
	for _, minPoolSize := range []uint64{0, 3} {
		t.Run(fmt.Sprintf("minPoolSize %d", minPoolSize), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				set := guardedSet(t, []string{"alice"}, mongotest.InMemory())
				g := guestOf(t, set, options.Credential{Username: "alice", Password: wrongSecret})
				client, err := mongo.Connect(g.o.SetMinPoolSize(minPoolSize))
				if err != nil {
					t.Fatal(err)
				}
				defer client.Disconnect(t.Context())
				var callers sync.WaitGroup
				for range 20 {
					callers.Go(func() {
						ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
						defer cancel()
						err := client.Database("db").Collection("c").FindOne(ctx, d{}).Err()
						if err == nil || !strings.Contains(err.Error(), "unable to authenticate") {
							t.Errorf("error: %v", err)
						}
					})
				}
				callers.Wait()
			})
		})
	}
}

package mongo_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/retry"
)

// The secrets begin alike, so that a part of one is found too. One has signs that connection strings and JSON escape.
const (
	hidden        = "H1DD3N"
	hiddenEscaped = hidden + "%2Fpass%40%22w%22"
	hiddenPlain   = hidden + `/pass@"w"`
)

// listener keeps all that a client tells, as text.
type listener struct{ guest }

// everything sets all listeners and the most detailed log.
func (l *listener) everything(o *options.ClientOptions) *options.ClientOptions {
	sink := logSinkFunc(func(message string, values []any) { l.hear([]any{message, values}) })
	return o.
		SetMonitor(&event.CommandMonitor{
			Started:   func(_ context.Context, e *event.CommandStartedEvent) { l.hear(*e) },
			Succeeded: func(_ context.Context, e *event.CommandSucceededEvent) { l.hear(*e) },
			Failed:    func(_ context.Context, e *event.CommandFailedEvent) { l.hear(*e); l.hearError(e.Failure) },
		}).
		SetPoolMonitor(&event.PoolMonitor{Event: func(e *event.PoolEvent) { l.hear(*e); l.hearError(e.Error) }}).
		SetServerMonitor(&event.ServerMonitor{
			ServerDescriptionChanged:   func(e *event.ServerDescriptionChangedEvent) { l.hear(*e) },
			TopologyDescriptionChanged: func(e *event.TopologyDescriptionChangedEvent) { l.hear(*e) },
			ServerHeartbeatFailed:      func(e *event.ServerHeartbeatFailedEvent) { l.hear(*e); l.hearError(e.Failure) },
			ServerHeartbeatSucceeded:   func(e *event.ServerHeartbeatSucceededEvent) { l.hear(*e) },
		}).
		SetLoggerOptions(options.Logger().SetSink(sink).SetComponentLevel(options.LogComponentAll, options.LogLevelDebug))
}

// Observe hears the events of the retry engine.
func (l *listener) Observe(_ context.Context, e retry.Event) { l.hear(e); l.hearError(e.Failure.Err) }

// hearError hears an error, all that it wraps, and its form in JSON.
func (l *listener) hearError(err error) {
	for e := err; e != nil; e = errors.Unwrap(e) {
		l.hear(e)
		text, _ := json.Marshal(e)
		l.hear(string(text))
	}
	var history *retry.Error
	if errors.As(err, &history) {
		l.hear(history.History())
		for _, attempt := range history.Attempts {
			l.hear(attempt)
			l.hear(attempt.Err)
		}
	}
}

type logSinkFunc func(message string, values []any)

func (f logSinkFunc) Info(_ int, message string, values ...any) { f(message, values) }
func (f logSinkFunc) Error(err error, message string, values ...any) {
	f(message, append(values, err))
}

// refusing is a dialer whose connections are refused.
type refusing struct{}

func (refusing) DialContext(context.Context, string, string) (net.Conn, error) {
	return nil, &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("connection refused")}
}

// noRecords is a resolver that finds nothing.
type noRecords struct{}

func (noRecords) LookupSRV(_ context.Context, _, _, name string) (string, []*net.SRV, error) {
	return "", nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

func (noRecords) LookupTXT(_ context.Context, name string) ([]string, error) {
	return nil, &net.DNSError{Err: "no such host", Name: name, IsNotFound: true}
}

// No text that a program can get from this module has a secret: not the errors, the events, the log, the observer's
// events, the client or the Config, with any verb. The options, which the program made itself, are the official types, and
// are not searched.
func TestNoTextShowsASecret(t *testing.T) {
	for _, place := range secretPlaces {
		for _, end := range secretEnds {
			t.Run(place.name+", "+end.name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					set := guardedSet(t, []string{place.user}, mongotest.InMemory())
					files := writePEMFiles(t, set)
					uri, o := place.options(set, files)
					o.SetServerSelectionTimeout(2 * time.Second).SetConnectTimeout(time.Second)
					if o.Dialer == nil { // the bubble has no name server
						o.SetDialer(set.Dialer())
					}
					uri = end.change(t, set, files, uri, o)
					l := &listener{}
					err := l.use(t, uri, l.everything(o))
					if err == nil && !place.right {
						t.Error("there is no error")
					}
					for _, text := range l.heard {
						if strings.Contains(text, hidden) || strings.Contains(text, keyPassword) {
							t.Errorf("the secret is in %s", text)
						}
					}
					if len(l.heard) < 3 {
						t.Error("nothing was heard")
					}
				})
			})
		}
	}
}

// use opens a client, runs an operation, and hears everything.
func (l *listener) use(t *testing.T, uri string, o *options.ClientOptions) error {
	cfg := mongo.Config{Observer: l, Tracer: l.tracer(), Resolver: noRecords{}}
	l.hear(fmt.Sprintf("%T", cfg.Observer)) // the observer itself has what it heard
	client, err := mongo.Open(uri, cfg, o)
	l.hearError(err)
	l.hear(err)
	if err != nil {
		l.hear(client)
		return err
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	_, err = client.Database("db").Collection("c").InsertOne(ctx, doc("_id", 1))
	l.hearError(err)
	l.hear(client)
	l.hear(reflect.ValueOf(client).Elem()) // its fields show more than a pointer
	l.hear(client.Database("db"))
	l.hear(reflect.ValueOf(client.Database("db").Collection("c")).Elem())
	if err := client.Disconnect(t.Context()); err != nil {
		t.Error(err)
	}
	return err
}

// secretPlaces are where a program can put a secret.
var secretPlaces = []struct {
	name    string
	user    string // whose keys the server needs, if any
	right   bool   // a login may succeed
	options func(*mongotest.Deployment, pemFiles) (string, *options.ClientOptions)
}{
	{"a password in the connection string", "alice", false, func(set *mongotest.Deployment, f pemFiles) (string, *options.ClientOptions) {
		return withUser(set.URI(), "alice:"+hiddenEscaped, "&tlsCAFile="+f.ca), options.Client().SetDialer(set.Dialer())
	}},
	{"a password of PLAIN in the connection string", "", false, func(set *mongotest.Deployment, f pemFiles) (string, *options.ClientOptions) {
		return withUser(set.URI(), "bob:"+hiddenEscaped, "&authMechanism=PLAIN&authSource=$external&tlsCAFile="+f.ca), options.Client().SetDialer(set.Dialer())
	}},
	{"a password in SetAuth", "alice", false, func(set *mongotest.Deployment, f pemFiles) (string, *options.ClientOptions) {
		o := options.Client().SetAuth(options.Credential{Username: "alice", Password: hiddenPlain}).SetDialer(set.Dialer())
		return set.URI() + "&tlsCAFile=" + f.ca, o
	}},
	{"the password of a key", "", true, func(set *mongotest.Deployment, f pemFiles) (string, *options.ClientOptions) {
		return set.URI() + "&authMechanism=MONGODB-X509&tlsCertificateKeyFilePassword=" + keyPassword + "&tlsCertificateKeyFile=" + f.encrypted + "&tlsCAFile=" + f.ca,
			options.Client().SetDialer(set.Dialer())
	}},
	{"a wrong password of a key", "", false, func(set *mongotest.Deployment, f pemFiles) (string, *options.ClientOptions) {
		return set.URI() + "&authMechanism=MONGODB-X509&tlsCertificateKeyFilePassword=" + hiddenEscaped + "&tlsCertificateKeyFile=" + f.encrypted,
			options.Client().SetDialer(set.Dialer())
	}},
	{"a session token", "", false, func(set *mongotest.Deployment, _ pemFiles) (string, *options.ClientOptions) {
		return withUser(set.URI(), "u:"+hiddenEscaped, "&authMechanism=MONGODB-AWS&authMechanismProperties=AWS_SESSION_TOKEN:"+hiddenEscaped), options.Client()
	}},
	{"a token in the properties of SetAuth", "", false, func(set *mongotest.Deployment, _ pemFiles) (string, *options.ClientOptions) {
		return set.URI(), options.Client().SetAuth(options.Credential{
			AuthMechanism: "MONGODB-OIDC", AuthMechanismProperties: map[string]string{"TOKEN_RESOURCE": hiddenPlain},
		})
	}},
	{"the password of a proxy", "", false, func(set *mongotest.Deployment, _ pemFiles) (string, *options.ClientOptions) {
		return set.URI() + "&proxyHost=h&proxyUsername=" + hiddenEscaped + "&proxyPassword=" + hiddenEscaped, options.Client()
	}},
	{"a password as the value of an unknown option", "", false, func(set *mongotest.Deployment, _ pemFiles) (string, *options.ClientOptions) {
		return set.URI() + "&password=" + hiddenEscaped, options.Client()
	}},
}

func withUser(uri, user, query string) string {
	return strings.Replace(uri, "mongodb://", "mongodb://"+user+"@", 1) + query
}

// secretEnds are what becomes of the client.
var secretEnds = []struct {
	name   string
	change func(t *testing.T, set *mongotest.Deployment, f pemFiles, uri string, o *options.ClientOptions) string
}{
	{"the login", func(_ *testing.T, _ *mongotest.Deployment, _ pemFiles, uri string, _ *options.ClientOptions) string {
		return uri
	}},
	{"a refused connection", func(_ *testing.T, _ *mongotest.Deployment, _ pemFiles, uri string, o *options.ClientOptions) string {
		o.SetDialer(refusing{})
		return uri
	}},
	{"an unknown authority", func(_ *testing.T, _ *mongotest.Deployment, f pemFiles, uri string, _ *options.ClientOptions) string {
		return strings.ReplaceAll(uri, f.ca, f.otherCA)
	}},
	{"a server that breaks the connection at login", func(_ *testing.T, set *mongotest.Deployment, _ pemFiles, uri string, _ *options.ClientOptions) string {
		for _, command := range []string{"saslStart", "saslContinue", "authenticate"} {
			set.Use(command, mongotest.Always(mongotest.Fault{LoseReply: true}))
		}
		return uri
	}},
	{"a server that is silent", func(_ *testing.T, set *mongotest.Deployment, _ pemFiles, uri string, _ *options.ClientOptions) string {
		set.Use(mongotest.AnyCommand, mongotest.Always(mongotest.Fault{LoseRequest: true, Silent: true}))
		return uri
	}},
	{"a server that refuses the command", func(_ *testing.T, set *mongotest.Deployment, _ pemFiles, uri string, _ *options.ClientOptions) string {
		set.Use("insert", mongotest.Always(mongotest.Fault{Error: &mongotest.CommandError{Code: 13, Name: "Unauthorized", Message: "not allowed"}}))
		return uri
	}},
	{"a malformed connection string", func(_ *testing.T, _ *mongotest.Deployment, _ pemFiles, uri string, _ *options.ClientOptions) string {
		return uri + "&x%zz=" + hiddenEscaped
	}},
	{"a wrong value beside it", func(_ *testing.T, _ *mongotest.Deployment, _ pemFiles, uri string, _ *options.ClientOptions) string {
		return uri + "&maxPoolSize=many"
	}},
	{"a connection string without its @", func(_ *testing.T, _ *mongotest.Deployment, _ pemFiles, uri string, _ *options.ClientOptions) string {
		return strings.Replace(uri, "@", "/", 1) + "&maxPoolSize=many"
	}},
	{"an SRV connection string", func(_ *testing.T, _ *mongotest.Deployment, _ pemFiles, uri string, _ *options.ClientOptions) string {
		return strings.Replace(uri, "mongodb://", "mongodb+srv://", 1)
	}},
	{"contradictory options", func(_ *testing.T, _ *mongotest.Deployment, _ pemFiles, uri string, o *options.ClientOptions) string {
		o.SetDirect(true).SetLoadBalanced(true)
		return uri
	}},
}

package compare

import (
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocb "github.com/couchbase/gocb/v2"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// logins is a server that takes tokens, with what clients log in with.
type logins struct {
	t      *testing.T
	server *couchbasetest.Cluster

	mu   sync.Mutex
	seen []string // the logins
	new  chan struct{}
}

// TestPrintLogins prints how tokens, passwords and certificates log in, and what a change of them does.
func TestPrintLogins(t *testing.T) {
	mechanisms()
	l := newLogins(t)
	l.token()
	l.refusedToken()
	l.byValue()
	l.kinds()
	l.password()
	l.otherKinds()
	l.withoutTLS()
	l.odd()
}

// mechanisms prints which logins each authenticator wants by itself.
func mechanisms() {
	for name, a := range map[string]gocb.Authenticator{
		"a password": gocb.PasswordAuthenticator{}, "a certificate": gocb.CertificateAuthenticator{}, "a token": gocb.JWTAuthenticator{Token: "t"},
	} {
		token, err := a.JWT(gocb.AuthCredsRequest{})
		line("login by "+name, "%v %v, the token %q, %v", a.SupportsTLS(), a.SupportsNonTLS(), token, err)
		line("mechanisms of "+name+" with TLS", "%v", a.DefaultSaslMechanisms(true))
		line("mechanisms of "+name+" without TLS", "%v", a.DefaultSaslMechanisms(false))
	}
	line("the mechanism of tokens", "%s", gocb.OAuthBearerSaslMechasnism)
}

func newLogins(t *testing.T) *logins {
	l := &logins{t: t, new: make(chan struct{}, 100)}
	l.server = couchbasetest.RunT(t, couchbasetest.Nodes(nodes), couchbasetest.TLS(), couchbasetest.Tokens("old", "new"))
	l.server.Use(memd.OpSASLAuth, func(r *couchbasetest.Request, next couchbasetest.Handler) *couchbasetest.Reply {
		login := r.Key + " " + string(r.Value)
		reply := next(r)
		l.mu.Lock()
		l.seen = append(l.seen, login)
		l.mu.Unlock()
		l.new <- struct{}{}
		return reply
	})
	return l
}

// take returns the different logins since the last call. It waits for so many logins, if it is told.
func (l *logins) take(atLeast int) string {
	for range atLeast {
		select {
		case <-l.new:
		case <-time.After(10 * time.Second):
			return "no login"
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.new) > 0 {
		<-l.new
	}
	slices.Sort(l.seen)
	seen := slices.Compact(l.seen)
	l.seen = nil
	return fmt.Sprintf("%q", seen)
}

// connect returns a client over TLS.
func (l *logins) connect(a gocb.Authenticator) *gocb.Cluster {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(l.server.CACertificate())
	cluster, err := gocb.Connect(l.server.ConnectionString(), gocb.ClusterOptions{
		Authenticator: a, SecurityConfig: gocb.SecurityConfig{TLSRootCAs: roots, AllowedSaslMechanisms: mechanismsOf(a)},
	})
	if err != nil {
		l.t.Fatal(err)
	}
	return cluster
}

// mechanismsOf makes both clients log in with the same mechanism: without it they do not agree on that of a password.
func mechanismsOf(a gocb.Authenticator) []gocb.SaslMechanism {
	if _, password := a.(gocb.PasswordAuthenticator); password {
		return []gocb.SaslMechanism{gocb.PlainSaslMechanism}
	}
	return nil
}

// kept are the errors about logins that applications look for.
func kept(err error) string {
	if err == nil {
		return "no error"
	}
	var names []string
	for name, sentinel := range map[string]error{
		"authentication": gocb.ErrAuthenticationFailure, "timeout": gocb.ErrTimeout, "argument": gocb.ErrInvalidArgument, "shutdown": gocb.ErrShutdown,
	} {
		if errors.Is(err, sentinel) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return "error: " + strings.Join(names, " ")
}

// write writes to each node.
func write(cluster *gocb.Cluster, timeout time.Duration) (err error) {
	c := cluster.Bucket("default").DefaultCollection()
	for i := range 10 {
		_, failed := c.Upsert(fmt.Sprint(i), i, &gocb.UpsertOptions{Timeout: timeout})
		err = errors.Join(err, failed)
	}
	return err
}

// ask asks the management service, and returns the header by which the last request logged in.
func (l *logins) ask(cluster *gocb.Cluster) string {
	_, err := cluster.Buckets().GetAllBuckets(&gocb.GetAllBucketsOptions{Timeout: 5 * time.Second})
	all := l.server.HTTP().Requests(couchbasetest.HTTPWhen{Path: "/pools/default/buckets"})
	return kept(err) + " " + all[len(all)-1].Header.Get("Authorization")
}

func change(cluster *gocb.Cluster, a gocb.Authenticator) string {
	return kept(cluster.SetAuthenticator(gocb.SetAuthenticatorOptions{Authenticator: a}))
}

func (l *logins) expire(tokens ...string) {
	if err := l.server.SetTokens(tokens...); err != nil {
		l.t.Fatal(err)
	}
}

// token prints a login by a token, its change, and the end of its time.
func (l *logins) token() {
	cluster := l.connect(&gocb.JWTAuthenticator{Token: "old"})
	line("token", "%v", kept(write(cluster, 10*time.Second)))
	line("token, the logins", "%s", l.take(0))
	line("token, HTTP", "%s", l.ask(cluster))

	made := l.server.Counters().Requests[memd.OpHello]
	line("token that changes", "%s", change(cluster, &gocb.JWTAuthenticator{Token: "new"}))
	line("token that changes, the logins", "%s", l.take(nodes))
	l.expire("new")
	line("token that changes, then the old one expires", "%v", kept(write(cluster, 10*time.Second)))
	line("token that changes, HTTP", "%s", l.ask(cluster))
	line("token that changes, connections made anew", "%d", l.server.Counters().Requests[memd.OpHello]-made)

	l.expire("third")
	line("token that expires, HTTP", "%s", l.ask(cluster))
	line("token that expires", "%v", kept(write(cluster, time.Second)))
	line("token that comes too late", "%s", change(cluster, &gocb.JWTAuthenticator{Token: "third"}))
	line("token that comes too late, then", "%v", kept(write(cluster, 20*time.Second)))

	line("token, then the end", "%v", kept(cluster.Close(nil)))
	line("token of a closed cluster", "%s", change(cluster, &gocb.JWTAuthenticator{Token: "third"}))
	l.expire("old", "new")
	l.take(0)
}

// refusedToken prints a change to a token that nobody knows.
func (l *logins) refusedToken() {
	cluster := l.connect(&gocb.JWTAuthenticator{Token: "old"})
	defer cluster.Close(nil)
	line("refused token, before", "%v", kept(write(cluster, 10*time.Second)))
	l.take(0)
	line("refused token", "%s", change(cluster, &gocb.JWTAuthenticator{Token: "unknown"}))
	line("refused token, the logins", "%s", l.take(nodes))
	line("refused token, then", "%v", kept(write(cluster, time.Second)))
	line("refused token, HTTP", "%s", l.ask(cluster))
	line("refused token, a right one", "%s", change(cluster, &gocb.JWTAuthenticator{Token: "new"}))
	line("refused token, after it", "%v", kept(write(cluster, 20*time.Second)))
	l.take(0)
}

// byValue prints a login by an authenticator that is no pointer.
func (l *logins) byValue() {
	cluster := l.connect(gocb.JWTAuthenticator{Token: "old"})
	defer cluster.Close(nil)
	line("token by value", "%v", kept(write(cluster, 300*time.Millisecond)))
	line("token by value, HTTP", "%s", l.ask(cluster))
	l.take(0)
}

// kinds prints a change to another kind of authenticator.
func (l *logins) kinds() {
	cluster := l.connect(&gocb.JWTAuthenticator{Token: "old"})
	defer cluster.Close(nil)
	line("kinds, before", "%v", kept(write(cluster, 10*time.Second)))
	line("kinds, a password for a token", "%s", change(cluster, gocb.PasswordAuthenticator{Username: l.server.Username(), Password: l.server.Password()}))
	line("kinds, the same again", "%s", change(cluster, &gocb.JWTAuthenticator{Token: "new"}))
	line("kinds, after it", "%v", kept(write(cluster, 20*time.Second)))
	l.take(0)
}

// password prints a change of the password.
func (l *logins) password() {
	old := l.server.Password()
	cluster := l.connect(gocb.PasswordAuthenticator{Username: l.server.Username(), Password: old})
	defer cluster.Close(nil)
	line("password", "%v", kept(write(cluster, 10*time.Second)))
	line("password, the logins", "%s", l.take(0))
	l.server.SetPassword("another")
	defer l.server.SetPassword(old)
	line("password that is old, HTTP", "%s", l.ask(cluster))
	line("password that changes", "%s", change(cluster, gocb.PasswordAuthenticator{Username: l.server.Username(), Password: "another"}))
	line("password that changes, HTTP", "%s", l.ask(cluster))
	line("password that changes, then", "%v", kept(write(cluster, 10*time.Second)))
	line("password that changes, the logins", "%s", l.take(0))
}

// withoutTLS prints what a client without TLS sends if nothing is said about mechanisms.
func (l *logins) withoutTLS() {
	cluster, err := gocb.Connect("couchbase://"+l.server.Address(0, "kv"), gocb.ClusterOptions{Username: l.server.Username(), Password: l.server.Password()})
	if err != nil {
		l.t.Fatal(err)
	}
	defer cluster.Close(nil)
	line("without TLS", "%v", kept(write(cluster, 10*time.Second)))
	mechanism, _, _ := strings.Cut(l.take(0), " ")
	line("without TLS, the mechanism", "%s", mechanism)
	line("without TLS, a token", "%s", change(cluster, &gocb.JWTAuthenticator{Token: "new"}))
}

// otherKinds prints a change from a password and from a certificate to a token, and back.
func (l *logins) otherKinds() {
	password := gocb.PasswordAuthenticator{Username: l.server.Username(), Password: l.server.Password()}
	for name, a := range map[string]gocb.Authenticator{"a password": password, "a certificate": l.certificate()} {
		cluster := l.connect(a)
		line("kinds, "+name+", before", "%v", kept(write(cluster, 10*time.Second)))
		line("kinds, a token for "+name, "%s", change(cluster, &gocb.JWTAuthenticator{Token: "new"}))
		line("kinds, "+name+" again", "%s", change(cluster, a))
		line("kinds, "+name+", after it", "%v", kept(write(cluster, 20*time.Second)))
		cluster.Close(nil)
	}
	l.take(0)
}

func (l *logins) certificate() gocb.CertificateAuthenticator {
	config, err := l.server.ClientTLS(l.server.Username())
	if err != nil {
		l.t.Fatal(err)
	}
	return gocb.CertificateAuthenticator{ClientCertificate: &config.Certificates[0]}
}

// odd prints what becomes of authenticators that have nothing, have what no header can carry, or need TLS.
func (l *logins) odd() {
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(l.server.CACertificate())
	for name, a := range map[string]gocb.Authenticator{
		"none": nil, "an empty token": &gocb.JWTAuthenticator{}, "a newline": &gocb.JWTAuthenticator{Token: "old\n"},
	} {
		cluster, err := gocb.Connect(l.server.ConnectionString(), gocb.ClusterOptions{Authenticator: a, SecurityConfig: gocb.SecurityConfig{TLSRootCAs: roots}})
		line("odd login, "+name, "%s", kept(err))
		if err == nil {
			cluster.Close(nil)
		}
		if a == nil {
			continue // after SetAuthenticator without one, gocb panics on its own goroutines
		}
		cluster = l.connect(&gocb.JWTAuthenticator{Token: "old"})
		line("odd login, "+name+", before", "%v", kept(write(cluster, 10*time.Second)))
		line("odd login, "+name+", as a change", "%s", change(cluster, a))
		cluster.Close(nil)
	}
	for name, a := range map[string]gocb.Authenticator{"a token": &gocb.JWTAuthenticator{Token: "old"}, "a certificate": l.certificate()} {
		cluster, err := gocb.Connect("couchbase://"+l.server.Address(0, "kv"), gocb.ClusterOptions{Authenticator: a})
		line("odd login, "+name+" without TLS", "%s", kept(err))
		if err == nil {
			cluster.Close(nil)
		}
	}
	l.take(0)
}

package couchbase_test

import (
	"crypto/tls"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// ownAuthenticator is an authenticator of an application. It does what a test says, and then answers as another one.
type ownAuthenticator struct {
	couchbase.Authenticator

	before *atomic.Pointer[func()]
}

func own(a couchbase.Authenticator) ownAuthenticator {
	return ownAuthenticator{a, new(atomic.Pointer[func()])}
}

// will says what the authenticator does from now on.
func (a ownAuthenticator) will(do func()) { a.before.Store(&do) }

func (a ownAuthenticator) do() {
	if before := a.before.Load(); before != nil {
		(*before)()
	}
}

func (a ownAuthenticator) JWT(r couchbase.AuthCredsRequest) (couchbase.JWT, error) {
	a.do()
	return a.Authenticator.JWT(r)
}

func (a ownAuthenticator) Certificate(r couchbase.AuthCertRequest) (*tls.Certificate, error) {
	a.do()
	return a.Authenticator.Certificate(r)
}

// certificateOf returns an authenticator with the certificate of a user.
func certificateOf(t *testing.T, server *couchbasetest.Cluster, user string) couchbase.CertificateAuthenticator {
	t.Helper()
	config, err := server.ClientTLS(user)
	if err != nil {
		t.Fatal(err)
	}
	return couchbase.CertificateAuthenticator{ClientCertificate: &config.Certificates[0]}
}

// restart ends all connections to a node, and waits until those to HTTP services that are idle have ended too.
func restart(server *couchbasetest.Cluster, node int) {
	server.Kill(node)
	server.Restart(node)
	<-time.After(6 * time.Second)
}

// Whatever an authenticator of the application does, the process lives, and operations and Close return. Once it behaves again, the
// operations succeed again.
func TestAnAuthenticatorThatMisbehaves(t *testing.T) {
	for _, c := range []struct {
		name   string
		does   func(client *couchbase.Cluster, ever <-chan struct{})
		closes bool
	}{
		{name: "panics", does: func(*couchbase.Cluster, <-chan struct{}) { panic("mine") }},
		{name: "calls Goexit", does: func(*couchbase.Cluster, <-chan struct{}) { runtime.Goexit() }},
		{name: "does not return", does: func(_ *couchbase.Cluster, ever <-chan struct{}) { <-ever }},
		{name: "calls Close", closes: true, does: func(client *couchbase.Cluster, _ <-chan struct{}) { client.Close(nil) }},
	} {
		for _, kind := range []string{"a token", "a certificate"} {
			t.Run(c.name+", with "+kind, func(t *testing.T) {
				withServer(t, func(t *testing.T, server *couchbasetest.Cluster) {
					var usual couchbase.Authenticator = bearer("old")
					if kind == "a certificate" {
						usual = certificateOf(t, server, server.Username())
					}
					a, ever := own(usual), make(chan struct{})
					client := connectSecurely(t, server, a)
					defer client.Close(nil)
					use(t, client)
					var running atomic.Int64
					a.will(func() {
						running.Add(1)
						defer running.Add(-1)
						c.does(client, ever)
					})
					restart(server, 0)
					if keyValue, http := useAll(client); keyValue == nil || http == nil {
						t.Errorf("key-value: %v; HTTP: %v", keyValue, http)
					}
					if _, err := client.Ping(nil); errors.Is(err, couchbase.ErrShutdown) != c.closes {
						t.Errorf("Ping: %v", err)
					}
					a.will(func() {})
					close(ever)
					<-time.After(6 * time.Second)
					if n := running.Load(); n != 0 {
						t.Errorf("%d calls of the authenticator have not returned", n)
					}
					if !c.closes {
						use(t, client)
					}
				}, couchbasetest.TLS(), couchbasetest.Nodes(2), couchbasetest.Tokens("old", "new"))
			})
		}
	}
}

// An authenticator that does not return while connections log in again holds the next one up for KVTimeout at most.
func TestTheNextAuthenticatorDoesNotWaitForOneThatDoesNotReturn(t *testing.T) {
	withTokens(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		use(t, client)
		connections := countRequests(server, memd.OpHello)
		ever := make(chan struct{})
		defer close(ever)
		a := own(bearer("old"))
		var asked atomic.Int64
		a.will(func() {
			if asked.Add(1) > 1 { // SetAuthenticator itself is answered
				<-ever
			}
		})
		change(t, client, a)
		change(t, client, bearer("new"))
		<-time.After(3 * time.Second)
		expire(t, server, "new")
		use(t, client)
		if n := connections.Load(); n != 0 || asked.Load() < 3 {
			t.Errorf("%d connections were made anew; the authenticator was asked %d times", n, asked.Load())
		}
	})
}

// Close does not wait for an authenticator that does not return.
func TestCloseDoesNotWaitForAnAuthenticator(t *testing.T) {
	withTokens(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		use(t, client)
		ever := make(chan struct{})
		defer close(ever)
		a := own(bearer("old"))
		change(t, client, a)
		a.will(func() { <-ever })
		restart(server, 0)
		go func() { _, _ = client.Buckets().GetAllBuckets(nil) }()
		<-time.After(time.Second)
		began := time.Now()
		if err := client.Close(nil); err != nil || time.Since(began) > time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// An operation says what the authenticator has said, in its text and for errors.Is.
func TestAnAuthenticatorThatHasNoToken(t *testing.T) {
	withTokens(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		mine := errors.New("there is no file with a token")
		a := failing{bearer("old"), new(atomic.Pointer[error])}
		change(t, client, a)
		a.err.Store(&mine)
		use := func() map[string]error {
			keyValue, http := useAll(client)
			return map[string]error{"key-value": keyValue, "HTTP": http}
		}
		for node := range 2 {
			restart(server, node)
		}
		for name, err := range use() {
			if !errors.Is(err, mine) || !errors.Is(err, couchbase.ErrAuthenticationFailure) || !strings.Contains(fmt.Sprint(err), mine.Error()) {
				t.Errorf("%s: %v", name, err)
			}
		}
		a.err.Store(nil)
		<-time.After(6 * time.Second)
		for name, err := range use() {
			if err != nil {
				t.Errorf("afterwards, %s: %v", name, err)
			}
		}
	})
}

// failing is an authenticator whose token cannot always be had.
type failing struct {
	couchbase.Authenticator

	err *atomic.Pointer[error]
}

func (f failing) JWT(r couchbase.AuthCredsRequest) (couchbase.JWT, error) {
	if err := f.err.Load(); err != nil {
		return "", *err
	}
	return f.Authenticator.JWT(r)
}

// uncertified is an authenticator whose certificate cannot always be had.
type uncertified struct {
	couchbase.Authenticator

	err *atomic.Pointer[error]
}

func (u uncertified) Certificate(r couchbase.AuthCertRequest) (*tls.Certificate, error) {
	if err := u.err.Load(); err != nil {
		return nil, *err
	}
	return u.Authenticator.Certificate(r)
}

// Without a certificate there is no connection, so operations wait for one; the timeout matches the authenticator's error.
func TestAnAuthenticatorThatHasNoCertificate(t *testing.T) {
	withServer(t, func(t *testing.T, server *couchbasetest.Cluster) {
		mine := errors.New("there is no file with a certificate")
		a := uncertified{certificateOf(t, server, server.Username()), new(atomic.Pointer[error])}
		client := connectSecurely(t, server, a)
		defer client.Close(nil)
		use(t, client)
		a.err.Store(&mine)
		restart(server, 0)
		keyValue, http := useAll(client)
		for name, err := range map[string]error{"key-value": keyValue, "HTTP": http} {
			if !errors.Is(err, mine) || !errors.Is(err, couchbase.ErrTimeout) || !strings.Contains(fmt.Sprint(err), mine.Error()) {
				t.Errorf("%s: %v", name, err)
			}
		}
		a.err.Store(nil)
		<-time.After(6 * time.Second)
		use(t, client)
	}, couchbasetest.TLS())
}

package couchbase_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// bearer returns an authenticator with a token.
func bearer(token string) couchbase.JWTAuthenticator { return couchbase.JWTAuthenticator{Token: token} }

// withTokens runs a test on the fake clock with a cluster of two nodes that takes the tokens "old" and "new", and a client with "old".
func withTokens(t *testing.T, test func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster)) {
	t.Helper()
	withServer(t, func(t *testing.T, server *couchbasetest.Cluster) {
		client := connectSecurely(t, server, bearer("old"))
		defer client.Close(nil)
		test(t, server, client)
	}, couchbasetest.TLS(), couchbasetest.Nodes(2), couchbasetest.Tokens("old", "new"))
}

// connectSecurely returns a client with an authenticator, over TLS.
func connectSecurely(t *testing.T, server *couchbasetest.Cluster, a couchbase.Authenticator) *couchbase.Cluster {
	t.Helper()
	trusted, err := server.ClientTLS()
	if err != nil {
		t.Fatal(err)
	}
	client, err := couchbase.Open(server.ConnectionString(), couchbase.Config{Dial: server.Dialer().DialContext}, couchbase.ClusterOptions{
		Authenticator: a, SecurityConfig: couchbase.SecurityConfig{TLSRootCAs: trusted.RootCAs},
	})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// countRequests counts the requests with an opcode.
func countRequests(server *couchbasetest.Cluster, op couchbasetest.Opcode) *atomic.Int64 {
	var n atomic.Int64
	server.Use(op, func(r *couchbasetest.Request, next couchbasetest.Handler) *couchbasetest.Reply {
		n.Add(1)
		return next(r)
	})
	return &n
}

// change replaces the authenticator, and waits until what that began has ended.
func change(t *testing.T, client *couchbase.Cluster, a couchbase.Authenticator) {
	t.Helper()
	if err := client.SetAuthenticator(couchbase.SetAuthenticatorOptions{Authenticator: a}); err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
}

// expire lets only one token be right.
func expire(t *testing.T, server *couchbasetest.Cluster, token string) {
	t.Helper()
	if err := server.SetTokens(token); err != nil {
		t.Fatal(err)
	}
}

// useAll writes to both nodes and asks an HTTP service, and returns the errors.
func useAll(client *couchbase.Cluster) (keyValue, http error) {
	c := client.Bucket("default").DefaultCollection()
	for i := range 10 {
		_, err := c.Upsert(fmt.Sprint(i), i, nil)
		keyValue = errors.Join(keyValue, err)
	}
	_, http = client.Buckets().GetAllBuckets(nil)
	return keyValue, http
}

// use is useAll that must succeed.
func use(t *testing.T, client *couchbase.Cluster) {
	t.Helper()
	if keyValue, http := useAll(client); keyValue != nil || http != nil {
		t.Fatalf("key-value: %v; HTTP: %v", keyValue, http)
	}
}

// refused is useAll whose operations the servers must refuse.
func refused(t *testing.T, client *couchbase.Cluster) {
	t.Helper()
	keyValue, http := useAll(client)
	for name, err := range map[string]error{"key-value": keyValue, "HTTP": http} {
		if !errors.Is(err, couchbase.ErrAuthenticationFailure) || errors.Is(err, couchbase.ErrTimeout) {
			t.Errorf("%s: %v", name, err)
		}
		if text := fmt.Sprint(err); name == "key-value" && !strings.Contains(text, "SASL_AUTH") && !strings.Contains(text, "authentication is stale") {
			t.Errorf("the text does not say why: %s", text)
		}
		for _, secret := range []string{"old", "new", "unknown"} {
			if err != nil && strings.Contains(fmt.Sprintf("%+v", err), secret) {
				t.Errorf("%s: the error shows the token: %v", name, err)
			}
		}
	}
}

// Source: RFC 0048, "Reauthenticating a existing KV connection": one SASL_AUTH, on the connection that is there.
func TestANewTokenIsGivenToOpenConnections(t *testing.T) {
	withTokens(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		connections, logins := countRequests(server, memd.OpHello), countRequests(server, memd.OpSASLAuth)
		use(t, client)
		before, made := connections.Load(), logins.Load()
		change(t, client, bearer("new"))
		if n := logins.Load() - made; n != before {
			t.Errorf("%d logins on %d connections", n, before)
		}
		expire(t, server, "new")
		use(t, client)
		if n := connections.Load(); n != before {
			t.Errorf("%d connections were made anew", n-before)
		}
		if pointer := bearer("old"); client.SetAuthenticator(couchbase.SetAuthenticatorOptions{Authenticator: &pointer}) != nil {
			t.Error("a pointer to an authenticator is refused")
		}
	})
}

// Source: RFC 0048, "Stale credentials": the connection is closed, and the error says that the credential is not valid any more.
func TestATokenExpires(t *testing.T) {
	withTokens(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		use(t, client)
		expire(t, server, "new")
		refused(t, client)
		change(t, client, bearer("new"))
		use(t, client)
	})
}

// A token that the nodes refuse ends the connections, not SetAuthenticator. The next token heals them.
func TestALoginIsRefusedAfterAChange(t *testing.T) {
	withTokens(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		use(t, client)
		connections := countRequests(server, memd.OpHello)
		change(t, client, bearer("unknown"))
		<-time.After(time.Second)
		if n := connections.Load(); n < 2 {
			t.Errorf("%d connections are made anew; both were refused", n)
		}
		refused(t, client)
		change(t, client, bearer("new"))
		use(t, client)
	})
}

// What was refused with the old credential is tried again at once with the next one, and does not fail meanwhile: before the first map,
// and on a connection that was lost.
func TestTheNextCredentialIsTriedAtOnce(t *testing.T) {
	withServer(t, func(t *testing.T, server *couchbasetest.Cluster) {
		password := func(p string) couchbase.Authenticator {
			return couchbase.PasswordAuthenticator{Username: server.Username(), Password: p}
		}
		for _, c := range []struct {
			name         string
			wrong, right couchbase.Authenticator
		}{
			{"a token", bearer("unknown"), bearer("new")},
			{"a password", password("wrong"), password(server.Password())},
		} {
			client := connectSecurely(t, server, c.wrong)
			refused(t, client)
			for _, when := range []string{"before the first map", "after a loss"} {
				<-time.After(time.Minute) // so that the next try is seconds away
				refused(t, client)
				if err := client.SetAuthenticator(couchbase.SetAuthenticatorOptions{Authenticator: c.right}); err != nil {
					t.Error(err)
				}
				began := time.Now()
				use(t, client)
				if took := time.Since(began); took > 100*time.Millisecond {
					t.Errorf("%s, %s: it took %v", c.name, when, took)
				}
				change(t, client, c.wrong)
				for node := range 2 {
					server.Kill(node)
					server.Restart(node)
				}
			}
			client.Close(nil)
		}
	}, couchbasetest.TLS(), couchbasetest.Nodes(2), couchbasetest.Tokens("old", "new"))
}

// A login with the old credential that is under way during the change, and is refused after it, is no reason for an operation to fail.
func TestALoginIsRefusedThatIsUnderWayDuringTheChange(t *testing.T) {
	withServer(t, func(t *testing.T, server *couchbasetest.Cluster) {
		slow := func() (remove func()) {
			return server.Use(memd.OpSASLAuth, couchbasetest.Always(couchbasetest.Fault{Delay: time.Second}))
		}
		upsert := func(when string, client *couchbase.Cluster) {
			if _, err := client.Bucket("default").DefaultCollection().Upsert("a", 1, &couchbase.UpsertOptions{Timeout: 10 * time.Second}); err != nil {
				t.Errorf("%s: %v", when, err)
			}
		}
		remove := slow()
		client := connectSecurely(t, server, bearer("unknown"))
		defer client.Close(nil)
		<-time.After(time.Second / 2)
		change(t, client, bearer("new"))
		upsert("before the first map", client)
		remove()
		use(t, client)

		change(t, client, bearer("unknown"))
		refused(t, client)
		remove = slow()
		defer remove()
		<-time.After(5200 * time.Millisecond) // so that a login is under way
		change(t, client, bearer("new"))
		upsert("after a loss", client)
	}, couchbasetest.TLS(), couchbasetest.Tokens("old", "new"))
}

// After the change operations wait for a node that is dead, as always: the refusal before it is no reason any more.
func TestARefusalIsForgottenAfterAChange(t *testing.T) {
	withServer(t, func(t *testing.T, server *couchbasetest.Cluster) {
		client := connectSecurely(t, server, bearer("unknown"))
		defer client.Close(nil)
		refused(t, client)
		server.Kill(0)
		change(t, client, bearer("new"))
		time.AfterFunc(time.Second, func() { server.Restart(0) })
		use(t, client)
	}, couchbasetest.TLS(), couchbasetest.Tokens("old", "new"))
}

// After the change the delays between the attempts to connect begin anew, also if refusals had made them long.
func TestTheDelaysBeginAnewAfterAChange(t *testing.T) {
	withTokens(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		use(t, client)
		change(t, client, bearer("unknown"))
		<-time.After(time.Minute)
		server.Kill(0)
		change(t, client, bearer("new"))
		server.Restart(0)
		began := time.Now()
		use(t, client)
		if took := time.Since(began); took > 100*time.Millisecond {
			t.Errorf("it took %v", took)
		}
	})
}

// A connection that waits until its bucket is there gets the new token too.
func TestAConnectionWithoutItsBucketGetsTheNewToken(t *testing.T) {
	withServer(t, func(t *testing.T, server *couchbasetest.Cluster) {
		client := connectSecurely(t, server, bearer("old"))
		defer client.Close(nil)
		use(t, client)
		later := client.Bucket("later").DefaultCollection()
		<-time.After(time.Second)
		connections := countRequests(server, memd.OpHello)
		change(t, client, bearer("new"))
		expire(t, server, "new")
		settings := couchbase.CreateBucketSettings{BucketSettings: couchbase.BucketSettings{Name: "later", RAMQuotaMB: 100}}
		if err := client.Buckets().CreateBucket(settings, nil); err != nil {
			t.Fatal(err)
		}
		if _, err := later.Upsert("a", 1, &couchbase.UpsertOptions{Timeout: 10 * time.Second}); err != nil {
			t.Error(err)
		}
		if n := connections.Load(); n != 0 {
			t.Errorf("%d connections were made anew", n)
		}
	}, couchbasetest.TLS(), couchbasetest.Tokens("old", "new"))
}

// A node that does not answer the new login loses its connection after KVTimeout.
func TestANewLoginIsNotAnswered(t *testing.T) {
	withTokens(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		use(t, client)
		connections := countRequests(server, memd.OpHello)
		remove := server.Use(memd.OpSASLAuth, couchbasetest.Always(couchbasetest.Fault{LoseReply: true, Silent: true}))
		change(t, client, bearer("new"))
		remove()
		<-time.After(2400 * time.Millisecond)
		if n := connections.Load(); n != 0 {
			t.Errorf("%d connections are made before KVTimeout", n)
		}
		<-time.After(time.Second)
		if n := connections.Load(); n != 2 {
			t.Errorf("%d connections are made after KVTimeout, not 2", n)
		}
		use(t, client)
	})
}

// A connection that is being made during the change, the first one or one to another node, gets the new token as soon as it has its place.
func TestATokenChangesWhileAConnectionIsMade(t *testing.T) {
	for nodes := range 2 {
		withServer(t, func(t *testing.T, server *couchbasetest.Cluster) {
			connections, logins := countRequests(server, memd.OpHello), countRequests(server, memd.OpSASLAuth)
			server.Use(memd.OpSASLAuth, func(r *couchbasetest.Request, next couchbasetest.Handler) *couchbasetest.Reply {
				reply := next(r)
				if logins.Load() == int64(nodes+1) {
					<-time.After(time.Second)
				}
				return reply
			})
			client := connectSecurely(t, server, bearer("old"))
			defer client.Close(nil)
			client.Bucket("default")
			<-time.After(time.Second / 2)
			change(t, client, bearer("new"))
			<-time.After(time.Second)
			if want := int64(nodes + 1); logins.Load() != 2*want || connections.Load() != want {
				t.Errorf("%d logins on %d connections; want 2 on each of %d", logins.Load(), connections.Load(), want)
			}
			expire(t, server, "new")
			use(t, client)
		}, couchbasetest.TLS(), couchbasetest.Nodes(nodes+1), couchbasetest.Tokens("old", "new"))
	}
}

// waiting is an authenticator whose token for a node comes late.
type waiting struct {
	couchbase.JWTAuthenticator

	ready chan struct{}
}

func (w waiting) JWT(req couchbase.AuthCredsRequest) (couchbase.JWT, error) {
	if req.Endpoint != "" {
		<-w.ready
	}
	return w.Token, nil
}

// A token that comes later than the next one does not replace it.
func TestATokenComesLate(t *testing.T) {
	withTokens(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		use(t, client)
		late := waiting{bearer("old"), make(chan struct{})}
		change(t, client, late)
		change(t, client, bearer("new"))
		close(late.ready)
		synctest.Wait()
		expire(t, server, "new")
		connections := countRequests(server, memd.OpHello)
		use(t, client)
		if n := connections.Load(); n != 0 {
			t.Errorf("%d connections were made anew", n)
		}
	})
}

// Of two changes in a row the last one counts, although the first one's login is still on its way.
func TestTheLastTokenCounts(t *testing.T) {
	withTokens(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		if err := server.SetTokens("old", "between", "new"); err != nil {
			t.Fatal(err)
		}
		use(t, client)
		server.Use(memd.OpSASLAuth, couchbasetest.Always(couchbasetest.Fault{Delay: time.Second}))
		change(t, client, bearer("between"))
		change(t, client, bearer("new"))
		<-time.After(3 * time.Second)
		expire(t, server, "new")
		use(t, client)
	})
}

// Source: RFC 0048, "Credential rotation": connections to nodes stay as they are, HTTP requests have the new password.
func TestANewPassword(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		use(t, client)
		logins := countRequests(server, memd.OpSASLAuth)
		server.SetPassword("new")
		if keyValue, http := useAll(client); keyValue != nil || !errors.Is(http, couchbase.ErrAuthenticationFailure) {
			t.Errorf("before the change: key-value: %v; HTTP: %v", keyValue, http)
		}
		change(t, client, couchbase.PasswordAuthenticator{Username: server.Username(), Password: "new"})
		use(t, client)
		if logins.Load() != 0 {
			t.Errorf("an open connection logged in again")
		}
		server.Kill(0)
		server.Restart(0)
		<-time.After(time.Second)
		use(t, client)
		change(t, client, couchbase.PasswordAuthenticator{Username: server.Username(), Password: "wrong"})
		if keyValue, http := useAll(client); keyValue != nil || !errors.Is(http, couchbase.ErrAuthenticationFailure) {
			t.Errorf("a wrong password: key-value: %v; HTTP: %v", keyValue, http)
		}
	})
}

// A new certificate is shown on the connections that are made afterwards.
func TestANewCertificate(t *testing.T) {
	withServer(t, func(t *testing.T, server *couchbasetest.Cluster) {
		client := connectSecurely(t, server, certificateOf(t, server, server.Username()))
		defer client.Close(nil)
		use(t, client)
		change(t, client, certificateOf(t, server, "somebody"))
		if keyValue, _ := useAll(client); keyValue != nil {
			t.Errorf("an open connection: %v", keyValue)
		}
		server.Kill(0)
		server.Restart(0)
		<-time.After(time.Second)
		if keyValue, http := useAll(client); keyValue == nil || !errors.Is(http, couchbase.ErrAuthenticationFailure) {
			t.Errorf("new connections of somebody: key-value: %v; HTTP: %v", keyValue, http)
		}
		change(t, client, certificateOf(t, server, server.Username()))
		<-time.After(6 * time.Second) // until the idle connections to HTTP services are closed
		use(t, client)
	}, couchbasetest.TLS())
}

// Source: RFC 0048, "Credential rotation": the checks are those of Connect, and the kind must stay.
func TestAuthenticatorsThatCannotReplaceAnother(t *testing.T) {
	withServer(t, func(t *testing.T, server *couchbasetest.Cluster) {
		certified, err := server.ClientTLS(server.Username())
		if err != nil {
			t.Fatal(err)
		}
		password := couchbase.PasswordAuthenticator{Username: server.Username(), Password: server.Password()}
		certificate := couchbase.CertificateAuthenticator{ClientCertificate: &certified.Certificates[0]}
		plain, err := couchbase.Open("couchbase://"+server.Address(0, "kv"), couchbase.Config{Dial: server.Dialer().DialContext},
			couchbase.ClusterOptions{Username: "u", Password: "p"})
		if err != nil {
			t.Fatal(err)
		}
		defer plain.Close(nil)
		clients := map[string]*couchbase.Cluster{"plain": plain}
		for name, a := range map[string]couchbase.Authenticator{"token": bearer("old"), "password": password, "certificate": certificate} {
			clients[name] = connectSecurely(t, server, a)
			defer clients[name].Close(nil)
		}
		for _, c := range []struct {
			client, name string
			replacement  couchbase.Authenticator
			says         string
		}{
			{"token", "nothing", nil, "SetAuthenticatorOptions.Authenticator is nil"},
			{"token", "a nil pointer", (*couchbase.JWTAuthenticator)(nil), "SetAuthenticatorOptions.Authenticator is nil"},
			{"token", "an empty token", bearer(""), "JWTAuthenticator.Token is empty"},
			{"token", "a token with a space", bearer("the token"), "RFC 6750"},
			{"token", "a password for a token", password, "a name and a password, but the cluster was connected with a token"},
			{"token", "a certificate for a token", certificate, "a certificate alone, but the cluster was connected with a token"},
			{"password", "a token for a password", bearer("new"), "a token, but the cluster was connected with a name and a password"},
			{"password", "a certificate for a password", certificate, "but the cluster was connected with a name and a password"},
			{"password", "no name", couchbase.PasswordAuthenticator{Password: "p"}, "Username is empty"},
			{"certificate", "a password for a certificate", password, "but the cluster was connected with a certificate alone"},
			{"certificate", "no certificate", couchbase.CertificateAuthenticator{}, "ClientCertificate is nil"},
			{"plain", "a token without TLS", bearer("new"), "needs TLS"},
			{"plain", "a certificate without TLS", certificate, "needs TLS"},
		} {
			err := clients[c.client].SetAuthenticator(couchbase.SetAuthenticatorOptions{Authenticator: c.replacement})
			if !errors.Is(err, couchbase.ErrInvalidArgument) || !strings.Contains(err.Error(), c.says) {
				t.Errorf("%s: %v", c.name, err)
			}
		}
		for name, client := range clients {
			if name != "plain" {
				use(t, client) // nothing has changed
			}
		}
		closed := clients["token"]
		closed.Close(nil)
		if err := closed.SetAuthenticator(couchbase.SetAuthenticatorOptions{Authenticator: bearer("new")}); !errors.Is(err, couchbase.ErrShutdown) {
			t.Errorf("a closed cluster: %v", err)
		}
	}, couchbasetest.TLS(), couchbasetest.Tokens("old", "new"))
}

// While operations run, each token is replaced before it expires: no operation fails, no connection is made anew, and at the end
// nothing of the client is left (the bubble would fail). A second goroutine changes the authenticator at the same time.
func TestTokensChangeWhileOperationsRun(t *testing.T) {
	withTokens(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		use(t, client)
		connections := countRequests(server, memd.OpHello)
		done := make(chan struct{})
		var workers sync.WaitGroup
		for w := range 8 {
			workers.Go(func() {
				c := client.Bucket("default").DefaultCollection()
				for i := 0; ; i++ {
					key := fmt.Sprint(w, i%20)
					if _, err := c.Upsert(key, i, nil); err != nil {
						t.Error(err)
					}
					if _, err := c.Get(key, nil); err != nil {
						t.Error(err)
					}
					select {
					case <-done:
						return
					case <-time.After(time.Duration(1+w) * 100 * time.Microsecond):
					}
				}
			})
		}
		for i, last := 0, "old"; i < 50; i++ {
			next := fmt.Sprint("token-", i)
			if err := server.SetTokens(last, next); err != nil {
				t.Error(err)
			}
			var both sync.WaitGroup
			for range 2 {
				both.Go(func() {
					if err := client.SetAuthenticator(couchbase.SetAuthenticatorOptions{Authenticator: bearer(next)}); err != nil {
						t.Error(err)
					}
				})
			}
			both.Wait()
			<-time.After(10 * time.Millisecond)
			if err := server.SetTokens(next); err != nil {
				t.Error(err)
			}
			last = next
		}
		close(done)
		workers.Wait()
		if n := connections.Load(); n != 0 {
			t.Errorf("%d connections were made anew", n)
		}
	})
}

// Closing the cluster during the change leaves nothing behind.
func TestCloseWhileTokensChange(t *testing.T) {
	withTokens(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		use(t, client)
		server.Use(memd.OpSASLAuth, couchbasetest.Always(couchbasetest.Fault{Delay: time.Minute}))
		change(t, client, bearer("new"))
		began := time.Now()
		if err := client.Close(nil); err != nil || time.Since(began) > time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

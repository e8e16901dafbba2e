package couchbasetest_test

import (
	"crypto/tls"
	"net/http"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// dialSecurely connects to a node over TLS, without a handshake of the protocol.
func dialSecurely(t *testing.T, c *couchbasetest.Cluster) *client {
	t.Helper()
	config, err := c.ClientTLS()
	if err != nil {
		t.Fatal(err)
	}
	config = config.Clone()
	config.ServerName = "localhost"
	nc, err := c.Dialer().DialContext(t.Context(), "tcp", c.Address(0, "kvSSL"))
	if err != nil {
		t.Fatal(err)
	}
	secure := tls.Client(nc, config)
	t.Cleanup(func() { secure.Close() })
	return &client{t: t, c: c, nc: secure}
}

// bearerLogin is a login with a message.
func bearerLogin(message string) memd.Packet {
	return memd.Packet{Opcode: memd.OpSASLAuth, Key: []byte("OAUTHBEARER"), Value: []byte(message)}
}

func message(token string) string { return "n,,\x01auth=Bearer " + token + "\x01\x01" }

// Source: RFC 7628, section 3.1, and RFC 0048 of Couchbase's SDKs.
func TestLoginsWithATokenHaveTheirStatuses(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		cl := dialSecurely(t, c)
		for _, test := range []struct {
			name, message string
			want          memd.Status
		}{
			{"a token", message("one"), 0},
			{"another token", message("two"), 0},
			{"the scheme in small letters", "n,,\x01auth=bearer one\x01\x01", 0},
			{"a name and other pairs beside it", "n,a=me,\x01host=h\x01port=1\x01auth=Bearer one\x01\x01", 0},
			{"an unknown token", message("three"), memd.StatusAuthError},
			{"no token", message(""), memd.StatusAuthError},
			{"another scheme", "n,,\x01auth=Basic one\x01\x01", memd.StatusInvalidArguments},
			{"a message without an end", "n,,\x01auth=Bearer one\x01", memd.StatusInvalidArguments},
			{"a message without a header", "auth=Bearer one\x01\x01", memd.StatusInvalidArguments},
			{"a message without a token", "n,,\x01\x01", memd.StatusInvalidArguments},
		} {
			reply := cl.do(bearerLogin(test.message))
			if reply.Status != test.want {
				t.Errorf("%s: %v, want %v", test.name, reply.Status, test.want)
			}
			want := memd.StatusAccess
			if test.want == 0 {
				want = 0
			}
			cl.status(memd.Packet{Opcode: memd.OpGetClusterConfig}, want)
		}
		if listed := cl.ok(memd.Packet{Opcode: memd.OpSASLListMechanisms}).Value; !strings.Contains(string(listed), "OAUTHBEARER") {
			t.Errorf("%s", listed)
		}
		plain := dial(t, c, 0)
		plain.status(bearerLogin(message("one")), memd.StatusAuthError)
		if listed := plain.ok(memd.Packet{Opcode: memd.OpSASLListMechanisms}).Value; strings.Contains(string(listed), "OAUTHBEARER") {
			t.Errorf("without TLS: %s", listed)
		}
	}, couchbasetest.TLS(), couchbasetest.Tokens("one", "two"))
}

func TestAClusterWithoutTokensTakesNone(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		cl := dialSecurely(t, c)
		cl.status(bearerLogin(message("one")), memd.StatusAuthError)
		if err := c.SetTokens("one"); err == nil || !strings.Contains(err.Error(), "needs the option Tokens") {
			t.Errorf("%v", err)
		}
	}, couchbasetest.TLS())
	if _, err := couchbasetest.Run(couchbasetest.TLS(), couchbasetest.Tokens("one", "")); err == nil || !strings.Contains(err.Error(), "one of the tokens is empty") {
		t.Errorf("%v", err)
	}
}

// Source: RFC 0048, "Stale credentials".
func TestAConnectionWhoseTokenHasExpired(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		cl := dialSecurely(t, c)
		cl.ok(bearerLogin(message("one")))
		cl.ok(memd.Packet{Opcode: memd.OpSelectBucket, Key: []byte("default")})
		if err := c.SetTokens(""); err == nil {
			t.Error("an empty token is accepted")
		}
		cl.ok(doc(memd.OpSet, "k", "1"))
		if err := c.SetTokens("two"); err != nil {
			t.Fatal(err)
		}
		for _, op := range []memd.Packet{doc(memd.OpGet, "k", ""), doc(memd.OpSet, "k", "2"), {Opcode: memd.OpGetClusterConfig}} {
			cl.status(op, memd.StatusAuthStale)
		}
		cl.ok(memd.Packet{Opcode: memd.OpNoop})
		cl.ok(bearerLogin(message("two")))
		if value := cl.ok(doc(memd.OpGet, "k", "")).Value; string(value) != "1" {
			t.Errorf("%s", value)
		}
		password := dialSecurely(t, c)
		password.ok(memd.Packet{Opcode: memd.OpSASLAuth, Key: []byte("PLAIN"), Value: []byte("\x00" + c.Username() + "\x00" + c.Password())})
		password.ok(memd.Packet{Opcode: memd.OpGetClusterConfig})
	}, couchbasetest.TLS(), couchbasetest.Tokens("one"))
}

// ask sends a request to the management service, and returns the status of its answer.
func ask(t *testing.T, c *couchbasetest.Cluster, secure bool, authorize func(*http.Request)) int {
	t.Helper()
	address := "http://" + c.Address(0, "mgmt")
	if secure {
		address = "https://" + c.Address(0, "mgmtSSL")
	}
	r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address+"/pools/default/buckets", nil)
	if err != nil {
		t.Fatal(err)
	}
	authorize(r)
	config, err := c.ClientTLS()
	if err != nil {
		t.Fatal(err)
	}
	client := &http.Client{Transport: &http.Transport{DialContext: c.Dialer().DialContext, TLSClientConfig: config, DisableKeepAlives: true}}
	reply, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer reply.Body.Close()
	return reply.StatusCode
}

func TestHTTPServicesTakeTokens(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		with := func(token string) func(*http.Request) {
			return func(r *http.Request) { r.Header.Set("Authorization", "Bearer "+token) }
		}
		for _, test := range []struct {
			name   string
			secure bool
			token  string
			want   int
		}{
			{"a token", true, "one", http.StatusOK},
			{"an unknown token", true, "two", http.StatusUnauthorized},
			{"a token without TLS", false, "one", http.StatusUnauthorized},
		} {
			if got := ask(t, c, test.secure, with(test.token)); got != test.want {
				t.Errorf("%s: %d", test.name, got)
			}
		}
		if err := c.SetTokens("two"); err != nil {
			t.Fatal(err)
		}
		if old, newer := ask(t, c, true, with("one")), ask(t, c, true, with("two")); old != http.StatusUnauthorized || newer != http.StatusOK {
			t.Errorf("after the change: %d, %d", old, newer)
		}
	}, couchbasetest.TLS(), couchbasetest.Tokens("one"))
}

// A new password is asked of each new login, and of each HTTP request. What is logged in stays so.
func TestANewPasswordIsAskedOfNewLogins(t *testing.T) {
	inBubble(t, func(t *testing.T, c *couchbasetest.Cluster) {
		cl, old := open(t, c, 0), c.Password()
		c.SetPassword("new")
		cl.ok(doc(memd.OpSet, "k", "1"))
		for password, want := range map[string]memd.Status{old: memd.StatusAuthError, "new": 0} {
			status := http.StatusOK
			if want != 0 {
				status = http.StatusUnauthorized
			}
			login := memd.Packet{Opcode: memd.OpSASLAuth, Key: []byte("PLAIN"), Value: []byte("\x00" + c.Username() + "\x00" + password)}
			dial(t, c, 0).status(login, want)
			if got := ask(t, c, false, func(r *http.Request) { r.SetBasicAuth(c.Username(), password) }); got != status {
				t.Errorf("HTTP with %q: %d", password, got)
			}
		}
		if c.Password() != "new" {
			t.Errorf("%q", c.Password())
		}
		defer func() {
			if recover() == nil {
				t.Error("an empty password is accepted")
			}
		}()
		c.SetPassword("")
	}, couchbasetest.TLS())
}

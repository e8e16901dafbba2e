package kv

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// The message of RFC 7628, section 3.1, with the token of these tests.
const (
	token         = "header.payload_-.signature~+/=="
	bearerPayload = "n,,\x01auth=Bearer " + token + "\x01\x01"
)

// Each is an error before the dial, and none shows a secret.
func TestCredentialsThatAreRefused(t *testing.T) {
	for _, c := range []struct {
		name       string
		credential Credential
		secure     bool
		says       string
	}{
		{"no name", Credential{Password: "secret"}, true, "Username is empty"},
		{"a zero byte", Credential{Username: "u", Password: "secret\x00"}, true, "zero byte"},
		{"an unknown mechanism", Credential{Username: "u", Mechanisms: []string{"X"}}, true, `"X"`},
		{"a password by OAUTHBEARER", Credential{Username: "u", Mechanisms: []string{OAuthBearer}}, true, "only OAUTHBEARER"},
		{"a token by PLAIN", Credential{Token: "secret", Mechanisms: []string{Plain, ScramSHA1}}, true, "lacks OAUTHBEARER"},
		{"a token without TLS", Credential{Token: "secret"}, false, "Token needs TLS"},
		{"a token without TLS, although PLAIN is allowed", Credential{Token: "secret", AllowPlain: true}, false, "Token needs TLS"},
		{"PLAIN and OAUTHBEARER without TLS", Credential{Username: "u", Mechanisms: []string{OAuthBearer, Plain}}, false, "only PLAIN"},
		{"a token that ends the message", Credential{Token: "secret\x01\x01"}, true, "at byte 6"},
		{"a token with = inside", Credential{Token: "se=cret"}, true, "at byte 2"},
		{"a token of another alphabet", Credential{Token: "secrét"}, true, "at byte 4"},
	} {
		l, err := NewLogin(c.credential)
		if err == nil {
			err = l.Check(c.secure)
		}
		if err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "secr") {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}

// tokenTaker is a script of a node that takes the tokens of its map, each with the status of its answer.
func tokenTaker(statuses map[string]memd.Status) *server {
	s := &server{mechanisms: "SCRAM-SHA1 OAUTHBEARER", quiet: true}
	s.change = func(r memd.Packet, honest *memd.Packet) bool {
		if r.Opcode == memd.OpSASLAuth && string(r.Key) == OAuthBearer {
			status, known := statuses[string(r.Value)]
			if honest.Status = status; !known {
				honest.Status = memd.StatusAuthError
			}
		}
		return true
	}
	return s
}

// Source: RFC 0048. OAUTHBEARER has one message, so the handshake is one batch.
func TestATokenLogsIn(t *testing.T) {
	for _, c := range []struct {
		name   string
		status memd.Status
		want   error
	}{
		{"the token is right", memd.StatusSuccess, nil},
		{"the token is wrong", memd.StatusAuthError, ErrBadCredentials},
		{"the login continues", memd.StatusAuthContinue, ErrProtocol},
		{"the authentication service is away", memd.StatusTemporaryFailure, ErrRefused},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := tokenTaker(map[string]memd.Status{bearerPayload: c.status})
				cfg := s.overTLS(t)
				cfg.Login = login(t, Credential{Username: "not used", Password: password, Token: token, Mechanisms: []string{ScramSHA1, OAuthBearer}})
				conn, err := Connect(t.Context(), cfg, nodeAddress, "b")
				if !errors.Is(err, c.want) {
					t.Errorf("%v", err)
				}
				if strings.Contains(fmt.Sprintf("%+v %+v %#v", err, cfg.Login, cfg), token) {
					t.Errorf("the token is shown: %v", err)
				}
				if err == nil {
					conn.Close(nil)
				}
				if got := s.names(); got != "HELLO GET_ERROR_MAP SASL_LIST_MECHS SASL_AUTH SELECT_BUCKET GET_CLUSTER_CONFIG" {
					t.Errorf("the steps are %s", got)
				}
			})
		})
	}
}

// A server without the mechanism gets no other one.
func TestATokenThatTheServerCannotTake(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &server{mechanisms: all, onlyListed: true, quiet: true}
		cfg := s.overTLS(t)
		cfg.Login = login(t, Credential{Username: username, Password: password, Token: token})
		if _, err := Connect(t.Context(), cfg, nodeAddress, ""); !errors.Is(err, ErrNoMechanism) {
			t.Errorf("%v", err)
		}
	})
}

// renewable is a connection whose token the test changes.
type renewable struct {
	*Conn

	script     *server
	credential Credential
	err        error
}

// logins returns the values of the SASL_AUTH requests.
func (r *renewable) logins() (values []string) {
	for _, q := range r.script.requests {
		if q.Opcode == memd.OpSASLAuth {
			values = append(values, string(q.Value))
		}
	}
	return values
}

// withRenewable runs a test on the fake clock with a connection of one place in its queue.
func withRenewable(t *testing.T, first Credential, statuses map[string]memd.Status, test func(t *testing.T, r *renewable)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := &renewable{script: tokenTaker(statuses), credential: first}
		r.script.answer = func(p *peer, q memd.Packet) {
			switch {
			case string(q.Key) == "silent":
			case q.Opcode == memd.OpSASLAuth:
				r.script.requests = append(r.script.requests, q)
				p.send(memd.Packet{Magic: memd.MagicResponse, Opcode: q.Opcode, Opaque: q.Opaque, Status: statuses[string(q.Value)]})
			default:
				p.send(reply(q))
			}
		}
		cfg := r.script.overTLS(t)
		cfg.MaxQueue = 1
		cfg.Login = login(t, first).AskedBy(func(context.Context, string) (Credential, error) { return r.credential, r.err })
		var err error
		if r.Conn, err = Connect(t.Context(), cfg, nodeAddress, ""); err != nil {
			t.Fatal(err)
		}
		defer r.Close(nil)
		test(t, r)
	})
}

// Source: RFC 0048, "Reauthenticating a existing KV connection".
func TestLogInAgain(t *testing.T) {
	message := func(token string) string { return "n,,\x01auth=Bearer " + token + "\x01\x01" }
	taken := map[string]memd.Status{message("a"): memd.StatusSuccess, message("b"): memd.StatusSuccess, message("refused"): memd.StatusAuthError}
	a, b := Credential{Token: "a"}, Credential{Token: "b"}
	for _, c := range []struct {
		name        string
		first, then Credential
		err         error // of the function that is asked
		sent        string
		want        error
	}{
		{"a new token is sent", a, b, nil, message("a") + " " + message("b"), nil},
		{"the same token is sent too", a, a, nil, message("a") + " " + message("a"), nil},
		{"a refusal is an error", a, Credential{Token: "refused"}, nil, message("a") + " " + message("refused"), ErrBadCredentials},
		{"without a token nothing is sent", a, Credential{Username: "u", Password: "p"}, nil, message("a"), nil},
		{"without an answer nothing is sent", a, Credential{}, context.Canceled, message("a"), nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			withRenewable(t, c.first, taken, func(t *testing.T, r *renewable) {
				begin(r.Conn, get("1")).wantReply(t, "1")
				r.credential, r.err = c.then, c.err
				err := r.LogInAgain(t.Context(), time.Second)
				if !errors.Is(err, c.want) || err != nil && strings.Contains(err.Error(), c.then.Token+"\x01") {
					t.Errorf("%v", err)
				}
				if got := strings.Join(r.logins(), " "); got != c.sent {
					t.Errorf("sent %q, want %q", got, c.sent)
				}
			})
		})
	}
}

// While the queue is full, the login is tried every 10 ms, and given up after one minute. Its answer is waited for as long as is said.
func TestLogInAgainWaitsForAPlaceInTheQueue(t *testing.T) {
	taken := map[string]memd.Status{"n,,\x01auth=Bearer a\x01\x01": memd.StatusSuccess}
	silent := func(d time.Duration) *Request {
		return &Request{Opcode: memd.OpGet, Key: []byte("silent"), Deadline: time.Now().Add(d)}
	}
	for _, c := range []struct {
		name    string
		full    time.Duration
		want    error
		atLeast time.Duration
		atMost  time.Duration
	}{
		{"the queue is full for a second", time.Second, nil, time.Second, 1100 * time.Millisecond},
		{"the queue stays full", 2 * time.Minute, ErrQueueFull, time.Minute, time.Minute + 100*time.Millisecond},
	} {
		t.Run(c.name, func(t *testing.T) {
			withRenewable(t, Credential{Token: "a"}, taken, func(t *testing.T, r *renewable) {
				go func() {
					var reply Reply
					_ = r.RoundTrip(silent(c.full), &reply)
				}()
				synctest.Wait()
				began := time.Now()
				err := r.LogInAgain(t.Context(), time.Second)
				if took := time.Since(began); !errors.Is(err, c.want) || took < c.atLeast || took > c.atMost {
					t.Errorf("%v after %v", err, took)
				}
				r.Close(nil)
			})
		})
	}
}

// The end of the context ends it, also while it waits for a place.
func TestLogInAgainEndsWithItsContext(t *testing.T) {
	withRenewable(t, Credential{Token: "a"}, map[string]memd.Status{"n,,\x01auth=Bearer a\x01\x01": memd.StatusSuccess}, func(t *testing.T, r *renewable) {
		go func() {
			var reply Reply
			_ = r.RoundTrip(&Request{Opcode: memd.OpGet, Key: []byte("silent"), Deadline: time.Now().Add(time.Hour)}, &reply)
		}()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.LogInAgain(ctx, time.Second); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		r.Close(nil)
	})
}

package router_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/router"
)

// Who runs a router is told also of a login that fails for another reason than its password.
func TestALoginForAnotherServerIsTold(t *testing.T) {
	mechanism := func(command, name string) bson.D {
		return bson.D{{Key: command, Value: 1}, {Key: "mechanism", Value: name}, {Key: "payload", Value: []byte("n,,n=ann,r=nonce")}}
	}
	for _, c := range []struct {
		login string
		users bool
		db    string
		sent  bson.D
		says  string
	}{
		{"by another mechanism", true, "$external", mechanism("saslStart", "PLAIN"), `a login failed: the router has no mechanism "PLAIN"`},
		{"by another mechanism, the old way", true, "admin", mechanism("authenticate", "MONGODB-CR"), `a login failed: authenticate takes MONGODB-X509, not "MONGODB-CR"`},
		{"without TLS", true, "$external", authenticate(), "a login with a certificate failed: the connection is without TLS"},
		{"at a router without users", false, "admin", mechanism("saslStart", "SCRAM-SHA-256"), "a login failed: this router has no users"},
		{"with a certificate, at a router without users", false, "$external", authenticate(), "a login failed: this router has no users"},
		{"with a long text", true, "$external", mechanism("saslStart", strings.Repeat("x", 10_000)), `a login failed: the router has no mechanism "xxx`},
	} {
		told := new(refusals)
		inWorld(t, func(w *world) {
			if o := w.dial().outcomeIn(c.db, c.sent); o.OK == 1 {
				w.Fatalf("a login %s: %+v", c.login, o)
			}
		}, func(cfg *router.Config) {
			cfg.Refused = told.add
			if c.users {
				cfg.Users = usersOf(t, user("ann", "app", false))
			}
		})
		if text := told.text(); !strings.Contains(text, c.says) || len(text) > 400 {
			t.Errorf("a login %s: the log has %q, want %q in it", c.login, text, c.says)
		}
	}
}

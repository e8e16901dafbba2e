package mongo_test

import (
	"sync/atomic"
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
)

// The test plan of SCRAM: https://github.com/mongodb/specifications/blob/master/source/auth/auth.md#test-plan

// asUser runs f with a client that logs in with a credential at servers that have these users.
func asUser(t *testing.T, users []mongotest.User, c options.Credential, f func(w *world)) {
	t.Helper()
	inside(t, func() (*mongotest.Deployment, error) {
		return mongotest.RunReplicaSet(1, mongotest.InMemory(), mongotest.Users(users...))
	}, func(o *options.ClientOptions) { o.SetAuth(c) }, f)
}

var scramUsers = []mongotest.User{
	{Name: "sha1", Password: "sha1", Mechanisms: []string{"SCRAM-SHA-1"}},
	{Name: "sha256", Password: "sha256", Mechanisms: []string{"SCRAM-SHA-256"}},
	{Name: "both", Password: "both"},
}

func TestAuthProseSCRAM1And2TheMechanismsOfEachUser(t *testing.T) {
	for _, c := range []struct{ user, mechanism string }{
		{"sha1", ""}, {"sha1", "SCRAM-SHA-1"}, {"sha256", ""}, {"sha256", "SCRAM-SHA-256"}, {"both", ""}, {"both", "SCRAM-SHA-1"}, {"both", "SCRAM-SHA-256"},
	} {
		t.Run(c.user+" "+c.mechanism, func(t *testing.T) {
			asUser(t, scramUsers, options.Credential{Username: c.user, Password: c.user, AuthMechanism: c.mechanism}, func(w *world) {
				w.must(w.client.Database("db").RunCommand(w.ctx, doc("dbStats", 1)).Err())
			})
		})
	}
}

func TestAuthProseSCRAM2TheNewerMechanismIsNegotiated(t *testing.T) {
	asUser(t, scramUsers, options.Credential{Username: "both", Password: "both"}, func(w *world) {
		var newer, others atomic.Int64
		w.heal = w.set.Use("isMaster", mongotest.Decide(func(r *mongotest.Request) mongotest.Fault {
			if m, ok := r.Body.Lookup("speculativeAuthenticate", "mechanism").StringValueOK(); ok && m == "SCRAM-SHA-256" {
				newer.Add(1)
			}
			return mongotest.Fault{}
		}))
		starts := w.set.Use("saslStart", mongotest.Decide(func(*mongotest.Request) mongotest.Fault {
			others.Add(1)
			return mongotest.Fault{}
		}))
		defer starts()
		w.must(w.find())
		if newer.Load() != 1 || others.Load() != 0 {
			t.Errorf("%d logins by SCRAM-SHA-256 in hello, %d others", newer.Load(), others.Load())
		}
	})
}

func TestAuthProseSCRAM3AMechanismThatTheUserHasNot(t *testing.T) {
	for _, c := range []options.Credential{
		{Username: "sha1", Password: "sha1", AuthMechanism: "SCRAM-SHA-256"},
		{Username: "sha256", Password: "sha256", AuthMechanism: "SCRAM-SHA-1"},
		{Username: "nobody", Password: "nobody"},
		{Username: "both", Password: "wrong"},
	} {
		t.Run(c.Username+" "+c.AuthMechanism, func(t *testing.T) {
			asUser(t, scramUsers, c, func(w *world) {
				err := w.find()
				if refused, ok := err.(mongo.CommandError); !ok || refused.Code != 18 { //nolint:errorlint // applications switch on the type
					t.Errorf("%T %v", err, err)
				}
			})
		})
	}
}

func TestAuthProseSCRAM4PasswordsAreSASLprepped(t *testing.T) {
	users := []mongotest.User{
		{Name: "IX", Password: "IX", Mechanisms: []string{"SCRAM-SHA-256"}},
		{Name: "\u2168", Password: "\u2163", Mechanisms: []string{"SCRAM-SHA-256"}},
	}
	for _, c := range [][2]string{{"IX", "IX"}, {"IX", "I\u00adX"}, {"\u2168", "IV"}, {"\u2168", "I\u00adV"}} {
		asUser(t, users, options.Credential{Username: c[0], Password: c[1]}, func(w *world) { w.must(w.find()) })
	}
}

package compare

import (
	"crypto/x509/pkix"
	"strings"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

var (
	guarded = []mongotest.Option{mongotest.TLS(), mongotest.Users(
		mongotest.User{Name: "alice", Password: "s3cret"},
		mongotest.User{Name: "old", Password: "s3cret", Mechanisms: []string{"SCRAM-SHA-1"}},
		mongotest.User{Name: "bob", Password: "s3cret", Database: "$external", Mechanisms: []string{"PLAIN"}},
		mongotest.User{Name: "CN=carol", Database: "$external"},
	)}
	unguarded = func(*stage) {}
)

// as logs in over TLS, with a certificate for carol.
func as(c options.Credential) func(*stage, *options.ClientOptions) {
	return asNamed("carol", c)
}

func asNamed(name string, c options.Credential) func(*stage, *options.ClientOptions) {
	return func(s *stage, o *options.ClientOptions) {
		cfg, err := s.set.ClientTLS(pkix.Name{CommonName: name})
		if err != nil {
			s.t.Fatal(err)
		}
		o.SetTLSConfig(cfg).SetAuth(c)
	}
}

var loginRows = func() []row {
	var rows []row
	login := func(name, text string, configure func(*stage, *options.ClientOptions), differ ...string) {
		rows = append(rows, row{
			name: name, server: guarded, cold: true, faults: unguarded, configure: configure, do: insertOne(one), text: text,
			differ: differ, why: "bad input is an error before any network use",
		})
	}
	for _, m := range []string{"", "SCRAM-SHA-1", "SCRAM-SHA-256"} {
		right := options.Credential{AuthMechanism: m, Username: "alice", Password: "s3cret"}
		wrong, unknown := right, right
		wrong.Password, unknown.Username = "wrong", "nobody"
		login("login "+m, "", as(right))
		login("login with a wrong password "+m, "(AuthenticationFailed) Authentication failed.", as(wrong))
		login("login of an unknown user "+m, "auth error: ", as(unknown))
	}
	old := options.Credential{Username: "old", Password: "s3cret"}
	login("login of a user with SCRAM-SHA-1 only", "", as(old))
	old.AuthMechanism = "SCRAM-SHA-256"
	login("login with a mechanism that the user does not have", `unable to authenticate using mechanism "SCRAM-SHA-256"`, as(old))
	login("login with PLAIN", "", as(options.Credential{AuthMechanism: "PLAIN", Username: "bob", Password: "s3cret"}))
	login("login with a wrong password PLAIN", `unable to authenticate using mechanism "PLAIN": (AuthenticationFailed)`,
		as(options.Credential{AuthMechanism: "PLAIN", Username: "bob", Password: "wrong"}))
	login("login with MONGODB-X509", "", as(options.Credential{AuthMechanism: "MONGODB-X509"}))
	login("login of a stranger with MONGODB-X509", `auth error: `,
		asNamed("stranger", options.Credential{AuthMechanism: "MONGODB-X509"}))
	login("no login", "Command insert requires authentication", func(s *stage, o *options.ClientOptions) {
		as(options.Credential{})(s, o)
		o.Auth = nil
	})
	login("an unknown mechanism", "XYZ", as(options.Credential{AuthMechanism: "XYZ", Username: "alice", Password: "s3cret"}))
	login("no username", "", as(options.Credential{Password: "s3cret"}), "Connect", "result", "error", "took")
	return append(rows, row{
		name: "login with PLAIN and a database in the connection string", server: guarded, cold: true, faults: unguarded, do: insertOne(one),
		configure: func(s *stage, o *options.ClientOptions) {
			o.ApplyURI(strings.NewReplacer("mongodb://", "mongodb://bob:s3cret@", "/?", "/app?authMechanism=PLAIN&").Replace(s.set.URI()))
			as(*o.Auth)(s, o)
		},
		differ: []string{"error", "sent"}, why: "PLAIN logs in to the `authSource` and, without one, to the database of the connection string (Authentication specification)",
	})
}()

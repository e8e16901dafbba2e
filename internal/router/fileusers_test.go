package router_test

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/internal/router/scramserver"
	"github.com/holdfast-db/holdfast/internal/router/userfile"
)

// usersOf makes a file of users, whose passwords are their names.
func usersOf(t *testing.T, users ...*userfile.User) *userfile.File {
	t.Helper()
	var entries []json.RawMessage
	for _, u := range users {
		if u.DB != "$external" {
			v, err := scramserver.NewVerifier("SCRAM-SHA-256", u.Name, u.Name)
			if err != nil {
				t.Fatal(err)
			}
			u.Credentials = map[string]scramserver.Verifier{"SCRAM-SHA-256": v}
		}
		entry, err := u.Entry()
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry)
	}
	text, err := json.Marshal(map[string]any{"users": entries})
	if err != nil {
		t.Fatal(err)
	}
	file, err := userfile.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return file
}

// inFileWorld runs f with a router whose users are ann, bob, and ops, who has the mark.
func inFileWorld(t *testing.T, f func(w *world)) {
	t.Helper()
	file := usersOf(t, &userfile.User{Name: "ann", DB: "admin"}, &userfile.User{Name: "bob", DB: "admin"}, &userfile.User{Name: "ops", DB: "admin", Operator: true})
	inWorld(t, f, func(cfg *router.Config) { cfg.Users = file })
}

func TestUsersOfAFile(t *testing.T) {
	inFileWorld(t, func(w *world) {
		ann := w.connect(as("ann", "ann", "admin"))
		if _, err := ann.Database("app").Collection("c").InsertOne(w.Context(), bson.D{}); err != nil {
			w.Error(err)
		}
		if got := who(w.Context(), w.T, ann); got != "ann@admin" {
			w.Errorf("the router says that the client is %q", got)
		}
		for _, wrong := range []*options.ClientOptions{as("ann", "bob", "admin"), as("eve", "eve", "admin"), as("ann", "ann", "app"), options.Client()} {
			err := w.connect(wrong).Database("app").Collection("c").FindOne(w.Context(), bson.D{}).Err()
			if err == nil || errors.Is(err, mongo.ErrNoDocuments) {
				w.Errorf("%+v: %v", wrong.Auth, err)
			}
		}
	})
}

// Without the mark nobody sees or ends what belongs to others, who are one user at the members.
func TestTheMarkOfAnOperator(t *testing.T) {
	inFileWorld(t, func(w *world) {
		ann, bob, ops := w.connect(as("ann", "ann", "admin")), w.connect(as("bob", "bob", "admin")), w.connect(as("ops", "ops", "admin"))
		for i := range 3 {
			if _, err := ann.Database("app").Collection("c").InsertOne(w.Context(), d("_id", i)); err != nil {
				w.Fatal(err)
			}
		}
		open := func() int64 {
			cursor, err := ann.Database("app").Collection("c").Find(w.Context(), bson.D{}, options.Find().SetBatchSize(1))
			if err != nil {
				w.Fatal(err)
			}
			return cursor.ID()
		}
		refusedAs := func(c *mongo.Client, db string, command bson.D, code int32) {
			w.Helper()
			var failed mongo.CommandError
			err := c.Database(db).RunCommand(w.Context(), command).Err()
			if errors.As(err, &failed); failed.Code != code {
				w.Errorf("%v: %v, want the code %d", command, err, code)
			}
		}
		more := func(id int64) bson.D {
			return bson.D{{Key: "getMore", Value: id}, {Key: "collection", Value: "c"}, {Key: "batchSize", Value: 1}}
		}
		kill := func(id int64) bson.D {
			return bson.D{{Key: "killCursors", Value: "c"}, {Key: "cursors", Value: bson.A{id}}}
		}
		stage := func(name string) bson.D {
			return bson.D{{Key: "aggregate", Value: 1}, {Key: "pipeline", Value: bson.A{d(name, bson.D{})}}, {Key: "cursor", Value: bson.D{}}}
		}
		for _, command := range []bson.D{d("currentOp", 1), {{Key: "killOp", Value: 1}, {Key: "op", Value: 1}}, d("killAllSessions", bson.A{}), stage("$currentOp"), stage("$listLocalSessions")} {
			refusedAs(bob, "admin", command, 13)
		}
		refusedAs(ops, "admin", d("currentOp", 1), 0)
		refusedAs(ops, "admin", stage("$currentOp"), 0)
		id := open()
		refusedAs(bob, "app", more(id), 13)
		refusedAs(bob, "app", kill(id), 13)
		refusedAs(ann, "app", kill(id), 0)
		refusedAs(ops, "app", kill(open()), 0)
	})
}

func TestACertificateLogsIn(t *testing.T) {
	var own tls.Certificate
	var trusted *x509.CertPool
	for _, known := range []bool{true, false} {
		inWorld(t, func(w *world) {
			secure := options.Client().SetTLSConfig(&tls.Config{RootCAs: trusted, Certificates: []tls.Certificate{own}}).
				SetAuth(options.Credential{AuthMechanism: "MONGODB-X509"})
			_, err := w.collection(secure).InsertOne(w.Context(), bson.D{})
			if known && err != nil || !known && (err == nil || !strings.Contains(err.Error(), "AuthenticationFailed")) {
				w.Errorf("known %v: %v", known, err)
			}
		}, func(cfg *router.Config) {
			own, trusted = identity(t)
			leaf, err := x509.ParseCertificate(own.Certificate[0])
			if err != nil {
				t.Fatal(err)
			}
			name := leaf.Subject.String()
			if !known {
				name = "CN=somebody else"
			}
			cfg.Users = usersOf(t, &userfile.User{Name: name, DB: "$external"})
			cfg.TLS = &tls.Config{Certificates: []tls.Certificate{own}, ClientCAs: trusted, ClientAuth: tls.VerifyClientCertIfGiven}
		})
	}
}

func user(name, db string, operator bool) *userfile.User {
	return &userfile.User{Name: name, DB: db, Operator: operator}
}

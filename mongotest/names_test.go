package mongotest_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

// dialled returns a client of one member of a version.
func dialled(t *testing.T, version string) *mongo.Client {
	t.Helper()
	rs := mongotest.RunStandaloneT(t, mongotest.InMemory(), mongotest.Version(version))
	client, err := mongo.Connect(options.Client().ApplyURI(rs.URI()).SetDialer(rs.Dialer()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = client.Disconnect(t.Context()) })
	return client
}

func TestTheNameOfADatabaseIsChecked(t *testing.T) {
	client := dialled(t, "8.0")
	for _, test := range []struct{ name, db, want string }{
		{"63 bytes are allowed", strings.Repeat("a", 63), ""},
		{"64 are not", strings.Repeat("a", 64), "db name must be at most 63 characters, found: 64"},
		{"a space", "a b", "Invalid database name: 'a b'"},
		{"a slash", "a/b", "Invalid database name: 'a/b'"},
		{"a dot", "a.b", "Invalid database name: 'a.b'"},
		{"a quote", `a"b`, `Invalid database name: 'a"b'`},
		{"a backslash", `a\b`, `Invalid database name: 'a\b'`},
	} {
		err := client.Database(test.db).RunCommand(t.Context(), bson.D{{Key: "ping", Value: 1}}).Err()
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

func TestTheReplyToDropDatabaseNamesItBefore9(t *testing.T) {
	for version, want := range map[string]string{"7.0": "db", "8.0": "db", "9.0": ""} {
		client := dialled(t, version)
		db := client.Database("db")
		if _, err := db.Collection("c").InsertOne(t.Context(), bson.D{}); err != nil {
			t.Fatal(err)
		}
		var reply struct{ Dropped string }
		if err := db.RunCommand(t.Context(), bson.D{{Key: "dropDatabase", Value: 1}}).Decode(&reply); err != nil || reply.Dropped != want {
			t.Errorf("version %s: dropped %q, %v; want %q", version, reply.Dropped, err, want)
		}
	}
}

func TestListDatabasesHasTheSystemDatabases(t *testing.T) {
	names, err := dialled(t, "8.0").ListDatabaseNames(t.Context(), bson.D{})
	if err != nil || strings.Join(names, " ") != "admin config local" {
		t.Errorf("databases %v, %v", names, err)
	}
}

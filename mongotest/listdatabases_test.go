package mongotest_test

import (
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

// Source: the manual, listDatabases; every deployment has these databases. Which of them the recorded server has depends on its past.
func TestListDatabasesHasTheSystemsDatabases(t *testing.T) {
	rs := mongotest.RunReplicaSetT(t, 1, mongotest.InMemory())
	if err := rs.Insert("shop.orders", bson.D{{Key: "_id", Value: 1}}); err != nil {
		t.Fatal(err)
	}
	reply, err := rs.Command(0, "admin", bson.D{{Key: "listDatabases", Value: 1}, {Key: "nameOnly", Value: true}})
	if err != nil {
		t.Fatal(err)
	}
	var list struct {
		Databases []struct{ Name string }
	}
	if err := bson.Unmarshal(reply, &list); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, d := range list.Databases {
		names = append(names, d.Name)
	}
	if want := []string{"admin", "config", "local", "shop"}; !slices.Equal(names, want) {
		t.Errorf("%q, want %q", names, want)
	}
}

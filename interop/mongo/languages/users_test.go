package languages

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

// profileUsers has each member record the commands of the scenario, with their users.
func profileUsers(t *testing.T, set *mongotest.Deployment) {
	t.Helper()
	for i := range set.Members() {
		err := member(t, set, i).RunCommand(t.Context(), bson.D{{Key: "profile", Value: 2}}).Err()
		if err != nil {
			t.Fatal(err)
		}
	}
}

// checkUsers checks that, as the members say, each command of the scenario came from this user.
func checkUsers(t *testing.T, set *mongotest.Deployment, want string) {
	t.Helper()
	var all []string
	for i := range set.Members() {
		set.Restart(i) // if it was killed
		var some []string
		notTheTest := bson.D{{Key: "appName", Value: bson.D{{Key: "$ne", Value: testName}}}}
		err := member(t, set, i).Collection("system.profile").Distinct(t.Context(), "user", notTheTest).Decode(&some)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, some...)
	}
	slices.Sort(all)
	if all = slices.Compact(all); !slices.Equal(all, []string{want}) {
		t.Errorf("the members say that the commands came from %q, want %q", all, want)
	}
}

// checkConnectionStatus asks a member through the router who its client is.
func checkConnectionStatus(t *testing.T, o *options.ClientOptions) {
	t.Helper()
	c, err := mongo.Connect(o)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Disconnect(context.Background()) }()
	var status struct {
		AuthInfo struct{ AuthenticatedUsers []struct{ User, DB string } }
	}
	err = c.Database("interop").RunCommand(t.Context(), bson.D{{Key: "connectionStatus", Value: 1}}).Decode(&status)
	if got := fmt.Sprint(status.AuthInfo.AuthenticatedUsers); err != nil || got != "[{"+user+" admin}]" {
		t.Errorf("connectionStatus has %s, %v", got, err)
	}
}

const testName = "the test"

// member returns the database of the scenario at one member.
func member(t *testing.T, set *mongotest.Deployment, i int) *mongo.Database {
	t.Helper()
	o := options.Client().SetHosts([]string{set.Addr(i)}).SetDirect(true).SetAppName(testName).
		SetAuth(options.Credential{Username: user, Password: password})
	c, err := mongo.Connect(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Disconnect(context.Background()) })
	return c.Database("interop")
}

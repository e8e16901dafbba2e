package languages

import (
	"context"
	"fmt"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/mongotest"
)

var steps = []string{"crud", "cursor", "transaction", "change stream", "lost reply", "fail-over"}

// TestInstall installs what the clients need and builds their programs. The folders are kept, so TestScenario downloads nothing afterwards.
func TestInstall(t *testing.T) {
	for _, c := range clients() {
		t.Run(c.name, func(t *testing.T) { c.prepare(t) })
	}
}

// TestScenario plays the scenario with each client and looks, from the server's side, whether what it was about happened.
func TestScenario(t *testing.T) {
	var passed atomic.Int64
	t.Cleanup(func() { fmt.Printf("figure router-drivers %d\n", passed.Load()) })
	for _, c := range clients() {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.prepare(t)
			t.Run("all steps", c.allSteps)
			t.Run("a write that is applied twice is noticed", c.appliedTwice)
			t.Run("through a router", c.throughRouter(false, &passed))
			t.Run("through a router, load-balanced", c.throughRouter(true, &passed))
		})
	}
}

func (c *client) allSteps(t *testing.T) {
	set := newSet(t)
	c.follow(t, set, credentials(set), c.crashAt(), func(v verifier) { v.sameDriver(v.w.drivers(), c.driver) })
}

// follow plays the scenario, with a crash of the primary at a command, and looks whether what it was about happened. See checks what
// the driver said of itself.
func (c *client) follow(t *testing.T, set *mongotest.Deployment, uri, crashAt string, see func(verifier), environment ...string) {
	t.Helper()
	w := watch(set)
	killOnce(set, crashAt)
	term := set.Term()
	stdout, stderr, err := c.play(t, uri, environment...)
	if err != nil {
		t.Fatalf("%v\n%s%s", err, stdout, stderr)
	}
	if want := "ok " + strings.Join(steps, "\nok ") + "\n"; stdout != want {
		t.Errorf("it printed %q, want %q", stdout, want)
	}
	v := verifier{t, set, w}
	see(v)
	v.documents()
	v.commands()
	v.reading()
	v.lostReply()
	v.failOvers(term, crashAt)
}

// appliedTwice is the control: if the retry of the update whose reply is lost is applied too, the program fails at the step that looks.
func (c *client) appliedTwice(t *testing.T) {
	set := newSet(t)
	other, err := mongo.Connect(options.Client().ApplyURI(credentials(set)).SetRetryWrites(false))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = other.Disconnect(context.Background()) }()
	var attempts atomic.Int64
	defer set.Use("update", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
		if r.TxnNumber >= 0 && r.Body.Lookup("update").StringValue() == "lost" && attempts.Add(1) == 2 {
			again := bson.D{{Key: "update", Value: "lost"}, {Key: "updates", Value: r.Body.Lookup("updates")}}
			if err := other.Database(r.Database).RunCommand(context.Background(), again).Err(); err != nil {
				t.Error(err)
			}
		}
		return next(r)
	})()
	stdout, stderr, err := c.play(t, credentials(set))
	if err == nil || !strings.HasSuffix(stdout, "ok change stream\n") || !strings.HasPrefix(stderr, "lost reply: ") {
		t.Errorf("%v\n%s%s", err, stdout, stderr)
	}
}

const user, password = "clerk", "fox & hounds"

func newSet(t *testing.T, opts ...mongotest.Option) *mongotest.Deployment {
	t.Helper()
	return mongotest.RunReplicaSetT(t, 3, append([]mongotest.Option{
		mongotest.Users(mongotest.User{Name: user, Password: password, Mechanisms: []string{"SCRAM-SHA-256"}}),
		mongotest.ElectionTimeout(500 * time.Millisecond), mongotest.JournalLimit(10000),
	}, opts...)...)
}

func credentials(set *mongotest.Deployment) string { return withCredentials(set.URI()) }

// withCredentials returns a connection string with the user of the scenario.
func withCredentials(uri string) string {
	return strings.Replace(uri, "mongodb://", "mongodb://"+url.UserPassword(user, password).String()+"@", 1)
}

package router_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/mongotest"
)

const servicePassword = "service password"

// inPassThrough runs f with members that have users, and a router that passes their logins through.
func inPassThrough(t *testing.T, f func(w *world, told *refusals), change ...func(*router.Config)) {
	t.Helper()
	set := []mongotest.Option{mongotest.Users(
		mongotest.User{Name: "service", Password: servicePassword},
		mongotest.User{Name: "ann", Password: "ann's", Database: "app"},
		mongotest.User{Name: "bob", Password: "bob's"},
		mongotest.User{Name: "old", Password: "old's", Mechanisms: []string{"SCRAM-SHA-1"}},
		mongotest.User{Name: "new=,", Password: "new's", Mechanisms: []string{"SCRAM-SHA-256"}},
	)}
	told := new(refusals)
	inWorldOf(t, memnet.Config{}, set, func(w *world) { f(w, told) }, append([]func(*router.Config){func(cfg *router.Config) {
		cfg.Upstream.SetAuth(options.Credential{Username: "service", Password: servicePassword})
		cfg.PassThrough, cfg.Refused = true, told.add
	}}, change...)...)
}

func as(name, password, db string) *options.ClientOptions {
	return options.Client().SetAuth(options.Credential{Username: name, Password: password, AuthSource: db})
}

// who returns the user that a connection has at the members, "" if there is none.
func who(ctx context.Context, t *testing.T, c *mongo.Client) string {
	t.Helper()
	var status struct {
		AuthInfo struct {
			AuthenticatedUsers []struct{ User, DB string }
		} `bson:"authInfo"`
	}
	if err := c.Database("app").RunCommand(ctx, d("connectionStatus", 1)).Decode(&status); err != nil {
		t.Fatal(err)
	}
	if len(status.AuthInfo.AuthenticatedUsers) == 0 {
		return ""
	}
	u := status.AuthInfo.AuthenticatedUsers[0]
	return u.User + "@" + u.DB
}

func TestMembersSeeTheUserOfTheClient(t *testing.T) {
	inPassThrough(t, func(w *world, _ *refusals) {
		for _, u := range []struct{ name, password, db, mechanism string }{
			{name: "ann", password: "ann's", db: "app"},
			{name: "bob", password: "bob's", db: "admin"},
			{name: "bob", password: "bob's", db: "admin", mechanism: "SCRAM-SHA-1"},
			{name: "bob", password: "bob's", db: "admin", mechanism: "SCRAM-SHA-256"},
			{name: "old", password: "old's", db: "admin"},
			{name: "new=,", password: "new's", db: "admin"},
		} {
			o := as(u.name, u.password, u.db)
			o.Auth.AuthMechanism = u.mechanism
			c := w.connect(o)
			if got := who(w.Context(), w.T, c); got != u.name+"@"+u.db {
				w.Errorf("%+v is %q at the member", u, got)
			}
			if _, err := c.Database("app").Collection("c").InsertOne(w.Context(), d("by", u.name)); err != nil {
				w.Errorf("%+v: %v", u, err)
			}
		}
	})
}

func TestAWrongPasswordAndAnUnknownUserLookTheSame(t *testing.T) {
	inPassThrough(t, func(w *world, told *refusals) {
		var texts []string
		for _, name := range []string{"bob", "nobody"} {
			for _, mechanism := range []string{"", "SCRAM-SHA-1", "SCRAM-SHA-256"} {
				o := as(name, "wrong", "admin")
				o.Auth.AuthMechanism = mechanism
				err := w.connect(o).Ping(w.Context(), nil)
				if err == nil || !strings.Contains(err.Error(), "AuthenticationFailed") {
					w.Fatalf("%s: %v", name, err)
				}
				texts = append(texts, err.Error())
			}
			if !strings.Contains(told.text(), fmt.Sprintf("the login of %q of \"admin\" failed", name)) {
				w.Errorf("the log has %q", told.text())
			}
		}
		if !slices.Equal(texts[:3], texts[3:]) {
			w.Errorf("the errors differ: %q", texts)
		}
	})
}

func TestOnlyWhoHasLoggedInMayAsk(t *testing.T) {
	inPassThrough(t, func(w *world, _ *refusals) {
		c := w.dial()
		for _, allowed := range []bson.D{d("hello", 1), d("ping", 1), d("buildInfo", 1), d("isdbgrid", 1), d("connectionStatus", 1), d("logout", 1)} {
			if o := c.outcomeOf(allowed); o.OK != 1 {
				w.Errorf("%v: %+v", allowed, o)
			}
		}
		for _, refused := range []bson.D{d("find", "c"), d("insert", "c"), d("usersInfo", 1), d("serverStatus", 1), d("getMore", int64(7)), d("nonsense", 1), d("killCursors", "c"), d("endSessions", bson.A{})} {
			if o := c.outcomeOf(refused); o.Code != 13 || o.CodeName != "Unauthorized" {
				w.Errorf("%v: %+v", refused, o)
			}
		}
		if n := len(w.answered("find")) + len(w.answered("insert")) + len(w.answered("getMore")); n != 0 {
			w.Errorf("members were asked %d times", n)
		}
	})
}

func TestALargeMessageBeforeTheLoginEndsTheConnection(t *testing.T) {
	inPassThrough(t, func(w *world, _ *refusals) {
		c := w.dial()
		document, err := bson.Marshal(bson.D{{Key: "ping", Value: 1}, {Key: "x", Value: strings.Repeat("x", 16<<10)}, {Key: "$db", Value: "app"}})
		if err != nil {
			w.Fatal(err)
		}
		if _, err := c.try(document); err == nil {
			w.Error("the message was answered")
		}
	})
}

// A user who does not exist has as many iterations as those who do, and the same salt at each attempt.
func TestAnUnknownUserHasTheUsualIterations(t *testing.T) {
	inPassThrough(t, func(w *world, _ *refusals) {
		first := func(name string) string {
			var reply struct{ Payload []byte }
			command := bson.D{{Key: "saslStart", Value: 1}, {Key: "mechanism", Value: "SCRAM-SHA-256"}, {Key: "payload", Value: []byte("n,,n=" + name + ",r=nonce")}}
			if err := bson.Unmarshal(w.dial().run(command), &reply); err != nil {
				w.Fatal(err)
			}
			_, rest, _ := strings.Cut(string(reply.Payload), ",")
			return rest
		}
		known, unknown := first("service"), first("nobody")
		if !strings.HasSuffix(known, ",i=15000") || !strings.HasSuffix(unknown, ",i=15000") {
			w.Errorf("a user has %q, one who does not exist %q", known, unknown)
		}
		if again := first("nobody"); again != unknown || first("other") == unknown {
			w.Errorf("a user who does not exist has %q, then %q", unknown, again)
		}
	})
}

// A new password is valid after a second, and the old one no more: also for a client that stays.
func TestANewPasswordIsValid(t *testing.T) {
	inPassThrough(t, func(w *world, _ *refusals) {
		bob := w.connect(as("bob", "bob's", "admin"))
		if err := bob.Ping(w.Context(), nil); err != nil {
			w.Fatal(err)
		}
		change := bson.D{{Key: "updateUser", Value: "bob"}, {Key: "pwd", Value: "later"}}
		if err := w.connect(as("service", servicePassword, "admin")).Database("admin").RunCommand(w.Context(), change).Err(); err != nil {
			w.Fatal(err)
		}
		<-time.After(time.Second)
		if err := w.connect(as("bob", "bob's", "admin")).Ping(w.Context(), nil); err == nil {
			w.Error("the old password is still valid")
		}
		var failed mongo.CommandError
		if err := bob.Database("app").Collection("c").FindOne(w.Context(), bson.D{}).Err(); !errors.As(err, &failed) || failed.Code != 18 {
			w.Errorf("a client that has the old password gets %v", err)
		}
		later := w.connect(as("bob", "later", "admin"))
		if _, err := later.Database("app").Collection("c").InsertOne(w.Context(), bson.D{}); err != nil {
			w.Error(err)
		}
		if err := bob.Database("app").Collection("c").FindOne(w.Context(), bson.D{}).Err(); err != nil {
			w.Errorf("a client that logged in before, after another one did with the new password: %v", err)
		}
	})
}

// What a user may not do stays with the member to say, and cursors are those of their users.
func TestAMemberSaysWhatAUserMayDo(t *testing.T) {
	inPassThrough(t, func(w *world, _ *refusals) {
		admin := w.connect(as("service", servicePassword, "admin"))
		create := bson.D{{Key: "createUser", Value: "reader"}, {Key: "pwd", Value: "reader's"}, {Key: "roles", Value: bson.A{"read"}}}
		if err := admin.Database("app").RunCommand(w.Context(), create).Err(); err != nil {
			w.Fatal(err)
		}
		reader := w.connect(as("reader", "reader's", "app")).Database("app").Collection("c")
		if err := reader.FindOne(w.Context(), bson.D{}).Err(); !errors.Is(err, mongo.ErrNoDocuments) {
			w.Errorf("the error of a find is %v", err)
		}
		var refused mongo.CommandError
		if _, err := reader.InsertOne(w.Context(), bson.D{}); !errors.As(err, &refused) || refused.Code != 13 {
			w.Errorf("the error of an insert is %v", err)
		}
		if err := admin.Database("app").Collection("c").FindOne(w.Context(), bson.D{}).Err(); !errors.Is(err, mongo.ErrNoDocuments) {
			w.Errorf("another user sees %v", err)
		}
	})
}

// The user of the router is refused what the logins need.
func TestAServiceUserWithoutRights(t *testing.T) {
	inPassThrough(t, func(w *world, told *refusals) {
		w.set.Use("usersInfo", mongotest.Times(99, mongotest.Fault{Error: &mongotest.CommandError{Code: 13, Name: "Unauthorized", Message: "not authorized on app"}}))
		if err := w.connect(as("bob", "bob's", "admin")).Ping(w.Context(), nil); err == nil || !strings.Contains(err.Error(), "AuthenticationFailed") {
			w.Errorf("the error is %v", err)
		}
		asked := w.asked()
		if err := w.connect(as("bob", "bob's", "admin")).Ping(w.Context(), nil); err == nil || w.asked() != asked {
			w.Errorf("again at once: %v, %d more questions", err, w.asked()-asked)
		}
		if text := told.text(); !strings.Contains(text, `nobody knows whether "bob" of "admin" may log in`) || !strings.Contains(text, "not authorized on app") {
			w.Errorf("the log has %q", text)
		}
	})
}

// A failover with clients that log in: they stay logged in.
func TestLoginsOutliveAFailover(t *testing.T) {
	inPassThrough(t, func(w *world, _ *refusals) {
		c := w.connect(as("ann", "ann's", "app")).Database("app").Collection("c")
		for i := range 6 {
			if i == 3 {
				w.set.Kill(w.set.Primary())
			}
			if _, err := c.InsertOne(w.Context(), d("_id", i)); err != nil {
				w.Error(err)
			}
		}
		if n, err := c.CountDocuments(w.Context(), bson.D{}); n != 6 || err != nil {
			w.Errorf("%d documents, %v", n, err)
		}
	})
}

// Who logs in while there is no primary is answered by a secondary.
func TestALoginWithoutAPrimary(t *testing.T) {
	inPassThrough(t, func(w *world, _ *refusals) {
		w.set.Isolate(w.set.Primary())
		began := time.Now()
		if err := w.dial().login("ann", "ann's"); err != nil || time.Since(began) > 15*time.Second {
			w.Errorf("a login takes %v, %v", time.Since(began), err) // a driver waits half a minute
		}
		c := w.connect(as("ann", "ann's", "app"))
		if _, err := c.Database("app").Collection("c").InsertOne(w.Context(), bson.D{}); err != nil {
			w.Error(err)
		}
	}, func(cfg *router.Config) { cfg.MostWaiting = 10 })
}

// A primary that does not answer is asked first no more for a while: only the first login waits for it.
func TestAPrimaryThatDoesNotAnswerIsAvoided(t *testing.T) {
	inPassThrough(t, func(w *world, _ *refusals) {
		w.pass(time.Second)
		primary := w.set.Primary()
		heal := w.set.Use("usersInfo", mongotest.Decide(func(r *mongotest.Request) mongotest.Fault {
			if r.Member != primary {
				return mongotest.Fault{}
			}
			return mongotest.Fault{Delay: time.Hour}
		}))
		for _, want := range []time.Duration{10 * time.Second, 0} {
			began := time.Now()
			if w.asUser("ann", "ann's"); time.Since(began) != want {
				w.Errorf("a login takes %v, want %v", time.Since(began), want)
			}
			w.pass(2 * time.Second) // then it is asked again
		}
		heal()
		w.pass(20 * time.Second)
		var asked atomic.Int64
		w.set.Use("usersInfo", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
			asked.Store(int64(r.Member))
			return next(r)
		})
		if w.asUser("ann", "ann's"); int(asked.Load()) != primary {
			w.Errorf("then member %d is asked, the primary is %d", asked.Load(), primary)
		}
	})
}

// When no member answers, a login fails at the end of the window.
func TestALoginThatNoMemberAnswers(t *testing.T) {
	inPassThrough(t, func(w *world, _ *refusals) {
		w.pass(time.Second)
		w.set.Use("usersInfo", mongotest.Always(mongotest.Fault{Delay: time.Hour}))
		began := time.Now()
		if o := w.dial().outcomeOf(saslStart(sha256, []byte("n,,n=ann,r=nonce"))); o.Code != 6 || time.Since(began) != 15*time.Second {
			w.Errorf("after %v: %+v", time.Since(began), o)
		}
	}, func(cfg *router.Config) { cfg.Window = 15 * time.Second })
}

package router_test

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/mongotest"
)

// Users whose rights are for one database each share two connections to each member, which break, and members die, while clients write, read, leave in
// the middle, and use transactions. If a command ran once on the connection of another user, a member would refuse it.
func TestNoCommandRunsAsAnotherUser(t *testing.T) {
	const users, each, rounds = 5, 3, 8
	set := []mongotest.Option{mongotest.Users(mongotest.User{Name: "service", Password: servicePassword})}
	inWorldOf(t, memnet.Config{MaxLatency: time.Millisecond, Seed: 1}, set, func(w *world) {
		for i := range users {
			role := bson.D{{Key: "role", Value: "readWrite"}, {Key: "db", Value: userName(i)}}
			create := bson.D{{Key: "createUser", Value: userName(i)}, {Key: "pwd", Value: "p"}, {Key: "roles", Value: bson.A{role}}}
			if _, err := w.set.Command(w.set.Primary(), "app", create); err != nil {
				w.Fatal(err)
			}
		}
		w.set.Use("find", delays(1))
		stop := make(chan struct{})
		var all, chaos sync.WaitGroup
		chaos.Go(func() { unrest(w, stop) })
		for i := range users * each {
			random := rand.New(rand.NewPCG(1, uint64(i)))
			all.Go(func() {
				for range rounds {
					useOwnDatabase(w, random, userName(i%users))
				}
			})
		}
		all.Wait()
		close(stop)
		chaos.Wait()
		<-time.After(5 * time.Second)
		synctest.Wait()
		if n := w.router.Clients(); n != 0 {
			w.Errorf("%d clients are connected", n)
		}
	}, func(cfg *router.Config) {
		cfg.Upstream.SetAuth(options.Credential{Username: "service", Password: servicePassword}).SetMaxPoolSize(2)
		cfg.PassThrough = true
	})
}

// unrest breaks connections and kills primaries, until it is stopped.
func unrest(w *world, stop <-chan struct{}) {
	for i := 0; ; i++ {
		select {
		case <-stop:
			return
		case <-time.After(150 * time.Millisecond):
		}
		w.set.DropConnections(i % w.set.Members())
		if p := w.set.Primary(); i%8 == 7 && p >= 0 {
			w.set.Kill(p)
			<-time.After(time.Second)
			w.set.Restart(p)
		}
	}
}

// useOwnDatabase is one connection of a user.
func useOwnDatabase(w *world, random *rand.Rand, name string) {
	c := w.dial()
	defer c.conn.Close()
	if err := c.loginIn("app", name, "p"); err != nil {
		w.Errorf("%s cannot log in: %v", name, err)
		return
	}
	documents := bson.E{Key: "documents", Value: bson.A{bson.D{}, bson.D{}}}
	session := bson.E{Key: "lsid", Value: d("id", bson.Binary{Subtype: 4, Data: slices.Repeat([]byte{byte(random.IntN(256))}, 16)})}
	number := bson.E{Key: "txnNumber", Value: time.Now().UnixNano()}
	transaction := []bson.E{session, number, {Key: "autocommit", Value: false}}
	for range 4 {
		var commands []bson.D
		switch random.IntN(4) {
		case 0:
			commands = []bson.D{d("connectionStatus", 1), {{Key: "insert", Value: "c"}, documents}}
		case 1:
			commands = []bson.D{{{Key: "find", Value: "c"}, {Key: "batchSize", Value: 1}, preferring("secondaryPreferred")}}
		case 2:
			begin := append(bson.D{{Key: "insert", Value: "c"}, documents, {Key: "startTransaction", Value: true}}, transaction...)
			commands = []bson.D{begin, append(d("commitTransaction", 1), transaction...)}
		default:
			if random.IntN(2) == 0 { // it leaves in the middle
				_ = c.write(document(bson.D{{Key: "find", Value: "c"}, {Key: "$db", Value: name}}))
				return
			}
		}
		for _, command := range commands {
			useOwn(w, c, name, command)
		}
	}
}

// useOwn runs a command in the database of its user, and reads its cursor to the end or kills it.
func useOwn(w *world, c *wireClient, name string, command bson.D) {
	db := name
	if command[0].Key == "commitTransaction" {
		db = "admin"
	}
	reply := c.runIn(db, command)
	if code, ok := reply.Lookup("code").AsInt64OK(); ok && (code == 13 || code == 18) {
		w.Errorf("%s: %v: %v", name, command, reply)
	}
	if got, ok := reply.Lookup("authInfo", "authenticatedUsers", "0", "user").StringValueOK(); ok && got != name {
		w.Errorf("%s is %s", name, got)
	}
	if id, ok := reply.Lookup("cursor", "id").Int64OK(); ok && id != 0 {
		next := bson.D{{Key: "getMore", Value: id}, {Key: "collection", Value: "c"}}
		if id%2 == 0 {
			next = bson.D{{Key: "killCursors", Value: "c"}, {Key: "cursors", Value: bson.A{id}}}
		}
		useOwn(w, c, name, next)
	}
}

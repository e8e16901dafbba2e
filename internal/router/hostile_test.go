package router_test

import (
	"encoding/binary"
	"flag"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/mongotest"
)

var (
	hostileFor  = flag.Duration("hostile", 0, "how long hostile clients attack, in rounds with one seed each; 0: one round")
	hostileSeed = flag.Uint64("hostile-seed", 1, "the seed of the first round")
)

const (
	hostileUsers, hostilePool = 6, 4
	attackers, attacks        = 12, 12
)

// Random clients break the protocol, stop in the middle, and try to log in, beside honest ones that are served right, each as its own user, over few
// connections. Afterwards nothing of them is left; a goroutine that is would fail the bubble.
func TestHostileClients(t *testing.T) {
	began := time.Now()
	for seed := *hostileSeed; ; seed++ {
		hostileRound(t, seed)
		if t.Failed() || time.Since(began) >= *hostileFor {
			t.Logf("the seeds %d to %d", *hostileSeed, seed)
			return
		}
	}
}

func userName(i int) string { return fmt.Sprintf("u%d", i) }

func hostileRound(t *testing.T, seed uint64) {
	users := []mongotest.User{{Name: "service", Password: servicePassword}}
	for i := range hostileUsers {
		users = append(users, mongotest.User{Name: userName(i), Password: "p" + userName(i), Database: "app"})
	}
	inWorldOf(t, memnet.Config{MaxLatency: time.Millisecond, Seed: seed}, []mongotest.Option{mongotest.Users(users...)}, func(w *world) {
		w.set.Use("usersInfo", delays(seed))
		w.set.Use("find", delays(seed+1))
		var all sync.WaitGroup
		for i := range hostileUsers {
			all.Go(func() { honest(w, userName(i)) })
		}
		for i := range attackers {
			random := rand.New(rand.NewPCG(seed, uint64(i)))
			all.Go(func() {
				for range attacks {
					attack(w, random)
				}
			})
		}
		all.Wait()
		<-time.After(5 * time.Second) // a client that left while it logged in is gone after that
		synctest.Wait()
		if n := w.router.Clients(); n != 0 {
			w.Errorf("seed %d: %d clients are connected", seed, n)
		}
		if n, most := w.set.Counters().Current, int64(3*(hostilePool+2)); n > most { // a monitor has two connections
			w.Errorf("seed %d: %d connections to the members, want at most %d", seed, n, most)
		}
		if n := w.router.Waiting(); n != 0 {
			w.Errorf("seed %d: %d operations wait", seed, n)
		}
		if w.Failed() {
			w.Logf("seed %d", seed)
		}
	}, func(cfg *router.Config) {
		cfg.Upstream.SetAuth(options.Credential{Username: "service", Password: servicePassword}).SetMaxPoolSize(hostilePool)
		cfg.PassThrough = true
	})
}

// delays lets each command wait for a random time.
func delays(seed uint64) mongotest.Middleware {
	var mu sync.Mutex
	random := rand.New(rand.NewPCG(seed, 0))
	return func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
		mu.Lock()
		wait := time.Duration(random.IntN(20)) * time.Millisecond
		mu.Unlock()
		<-time.After(wait)
		return next(r)
	}
}

// honest is a user who writes and reads on several connections, and sees what is its own.
func honest(w *world, name string) {
	mine := d("by", name)
	for i := range 4 {
		c := w.dial()
		if err := c.login(name, "p"+name); err != nil {
			w.Errorf("%s cannot log in: %v", name, err)
			return
		}
		insert := bson.D{{Key: "insert", Value: "c"}, {Key: "documents", Value: bson.A{mine, mine}}}
		if o := c.outcomeOf(insert); o.OK != 1 {
			w.Errorf("%s cannot write: %+v", name, o)
		}
		status := c.run(d("connectionStatus", 1))
		if got, ok := status.Lookup("authInfo", "authenticatedUsers", "0", "user").StringValueOK(); got != name || !ok {
			w.Errorf("%s is %q at the member", name, got)
		}
		if n := c.count(mine); n != 2*(i+1) {
			w.Errorf("%s has %d documents, want %d", name, n, 2*(i+1))
		}
		_ = c.conn.Close()
	}
}

// count reads documents with a cursor, one after the other, and counts them. They must all be as the filter says.
func (c *wireClient) count(filter bson.D) int {
	n := 0
	reply := c.run(bson.D{{Key: "find", Value: "c"}, {Key: "filter", Value: filter}, {Key: "batchSize", Value: 1}})
	for batch := "firstBatch"; ; batch = "nextBatch" {
		documents, _ := reply.Lookup("cursor", batch).ArrayOK()
		values, _ := documents.Values()
		for _, v := range values {
			if v.Document().Lookup("by").StringValue() == filter[0].Value {
				n++
			}
		}
		id, ok := reply.Lookup("cursor", "id").Int64OK()
		if id == 0 || !ok {
			return n
		}
		reply = c.run(bson.D{{Key: "getMore", Value: id}, {Key: "collection", Value: "c"}})
	}
}

// attack is one connection of a hostile client, which never logs in.
func attack(w *world, random *rand.Rand) {
	c := w.dial()
	defer c.conn.Close()
	_ = c.conn.SetDeadline(time.Now().Add(time.Minute))
	name := userName(random.IntN(2 * hostileUsers)) // half of them do not exist
	for range 1 + random.IntN(4) {
		if _, err := c.conn.Write(hostileMessage(w, random, name)); err != nil {
			return
		}
		if random.IntN(4) == 0 {
			continue // the next one follows at once
		}
		_ = c.conn.SetReadDeadline(time.Now().Add(time.Duration(random.IntN(40)) * time.Millisecond))
		if b, err := wire.ReadMessage(c.conn, c.buf, 1<<20); err == nil {
			checkHostile(w, b)
		}
	}
	<-time.After(time.Duration(random.IntN(3000)) * time.Millisecond)
}

// checkHostile fails if a reply has what only those get who have logged in.
func checkHostile(w *world, reply []byte) {
	m, err := wire.ParseMsg(reply)
	if err != nil {
		return // to an old message
	}
	body := bson.Raw(m.Body)
	if body.Lookup("cursor").Type != 0 || body.Lookup("n").Type != 0 || body.Lookup("users").Type != 0 {
		w.Errorf("a hostile client got %v", body)
	}
	if done, ok := body.Lookup("done").BooleanOK(); ok && done {
		w.Errorf("a hostile client is logged in: %v", body)
	}
}

// hostileMessage returns some bytes: a message that no client may send before its login, one of a login, or either with mistakes.
func hostileMessage(w *world, random *rand.Rand, name string) []byte {
	first := []byte("n,,n=" + name + ",r=nonce")
	start := saslStart([]string{sha256, sha1}[random.IntN(2)], first)
	commands := []bson.D{
		start, start, speculative(sha256, "app", first),
		saslContinue(1, append([]byte("c=biws,r=nonce,p="), make([]byte, random.IntN(50))...)),
		{{Key: "hello", Value: 1}, {Key: "saslSupportedMechs", Value: "app." + name}},
		{{Key: "authenticate", Value: 1}, {Key: "mechanism", Value: "MONGODB-X509"}, {Key: "user", Value: name}},
		{{Key: "find", Value: "c"}},
		{{Key: "usersInfo", Value: name}, {Key: "showCredentials", Value: true}},
		{{Key: "buildInfo", Value: 1}, {Key: "lsid", Value: d("id", bson.NewObjectID())}},
		{{Key: "insert", Value: "c"}, {Key: "documents", Value: bson.A{d("by", name)}}},
		{{Key: "getMore", Value: random.Int64()}, {Key: "collection", Value: "c"}},
	}
	command := commands[random.IntN(len(commands))]
	message := messageOf(w, command, wire.MsgFlags(random.Uint32N(3)))
	if random.IntN(3) == 0 {
		collection := []string{"app.$cmd", "app.c", "$cmd", "admin.$cmd.sys.inprog"}[random.IntN(4)]
		message = wire.AppendQuery(nil, 7, random.Uint32()&0xff, collection, document(command))
	}
	return spoiled(random, message)
}

// spoiled returns a message as it is, or one of which something is wrong.
func spoiled(random *rand.Rand, message []byte) []byte {
	switch random.IntN(8) {
	case 0:
		return message[:random.IntN(len(message))]
	case 1:
		for range 1 + random.IntN(4) {
			message[16+random.IntN(len(message)-16)] = byte(random.Uint32())
		}
	case 2:
		binary.LittleEndian.PutUint32(message, random.Uint32())
	case 3: // a bomb: it would be 2 GB
		bomb := binary.LittleEndian.AppendUint32(message[:16:16], uint32(wire.OpMsg))
		bomb = append(binary.LittleEndian.AppendUint32(bomb, 1<<31-1), byte(random.IntN(4)))
		bomb = append(bomb, make([]byte, 100)...)
		return withHeader(bomb, int32(len(bomb)), wire.OpCompressed)
	case 4:
		binary.LittleEndian.PutUint32(message[12:], random.Uint32N(2020))
	case 5:
		for i := range message {
			message[i] = byte(random.Uint32())
		}
	}
	return message
}

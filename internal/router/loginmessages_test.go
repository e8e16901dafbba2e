package router_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/base/memnet"
	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/mongotest"
)

const sha256, sha1 = "SCRAM-SHA-256", "SCRAM-SHA-1"

// A message that does not belong to the login that has begun ends that login, and logs nobody in.
func TestALoginThatBreaksTheProtocol(t *testing.T) {
	const failed, none = 18, 17
	first := []byte("n,,n=ann,r=nonce")
	inPassThrough(t, func(w *world, _ *refusals) {
		used := w.dial().begin("ann", "ann's")
		used.prove()
		for name, c := range map[string]struct {
			command func(proof []byte) bson.D
			code    int32
		}{
			"another conversation":        {func(p []byte) bson.D { return saslContinue(2, p) }, failed},
			"no conversation":             {func(p []byte) bson.D { return bson.D{{Key: "saslContinue", Value: 1}, {Key: "payload", Value: p}} }, failed},
			"no payload":                  {func([]byte) bson.D { return bson.D{{Key: "saslContinue", Value: 1}, {Key: "conversationId", Value: 1}} }, failed},
			"a payload that is a text":    {func(p []byte) bson.D { return saslContinue(1, string(p)) }, failed},
			"the proof of another login":  {func([]byte) bson.D { return saslContinue(1, used.proof) }, failed},
			"an empty proof":              {func(p []byte) bson.D { return saslContinue(1, p[:strings.Index(string(p), ",p=")+3]) }, failed},
			"a short proof":               {func(p []byte) bson.D { return saslContinue(1, p[:len(p)-4]) }, failed},
			"another proof":               {func(p []byte) bson.D { return saslContinue(1, append([]byte(nil), p[:len(p)-44]...)) }, failed},
			"the first message again":     {func([]byte) bson.D { return saslContinue(1, first) }, failed},
			"a start without a mechanism": {func([]byte) bson.D { return saslStart("", first) }, 334},
			"a start with PLAIN":          {func([]byte) bson.D { return saslStart("PLAIN", []byte("\x00ann\x00ann's")) }, 334},
			"a start of nobody":           {func([]byte) bson.D { return saslStart(sha256, []byte("n,,n=,r=nonce")) }, failed},
			"a start with a text":         {func([]byte) bson.D { return saslStart(sha256, string(first)) }, failed},
			"a start for another user":    {func([]byte) bson.D { return saslStart(sha256, []byte("n,a=bob,n=ann,r=nonce")) }, failed},
			"a channel binding":           {func([]byte) bson.D { return saslStart(sha256, []byte("p=tls-exporter,,n=ann,r=nonce")) }, failed},
			"the nonce missing":           {func([]byte) bson.D { return saslStart(sha256, []byte("n,,n=ann")) }, failed},
			"a long name":                 {func([]byte) bson.D { return saslStart(sha256, []byte("n,,n="+strings.Repeat("x", 2000)+",r=nonce")) }, failed},
			"a name of other bytes":       {func([]byte) bson.D { return saslStart(sha256, []byte("n,,n=\xff\xfe,r=nonce")) }, failed},
			"a certificate": {func([]byte) bson.D {
				return bson.D{{Key: "authenticate", Value: 1}, {Key: "mechanism", Value: "MONGODB-CR"}}
			}, 334},
		} {
			b := w.dial().begin("ann", "ann's")
			if o := b.c.outcomeOf(c.command(b.proof)); o.Code != c.code {
				w.Errorf("%s: %+v, want the code %d", name, o, c.code)
			}
			if c.code == failed { // the login that had begun has ended
				if o := b.prove(); o.Code != none {
					w.Errorf("%s: the login goes on: %+v", name, o)
				}
			}
			if b.c.isLoggedIn() {
				w.Errorf("%s: the client is logged in", name)
			}
		}
	})
}

// A connection has one login at a time, the last, and it can begin one in a hello, too.
func TestLoginsOfOneConnection(t *testing.T) {
	inPassThrough(t, func(w *world, _ *refusals) {
		c := w.dial()
		if o := c.outcomeOf(saslContinue(1, []byte("c=biws,r=x,p=AAAA"))); o.Code != 17 {
			w.Errorf("a login that did not begin: %+v", o)
		}
		old := c.begin("ann", "ann's")
		last := c.begin("ann", "ann's")
		if o := old.prove(); o.Code != 18 || c.isLoggedIn() {
			w.Errorf("the login before the last: %+v", o)
		}
		if o := last.prove(); o.Code != 17 {
			w.Errorf("the last one after the proof of another: %+v", o)
		}
		last = c.begin("ann", "ann's")
		c.must(d("logout", 1))
		if o := last.prove(); o.Code != 17 || c.isLoggedIn() {
			w.Errorf("after a logout: %+v", o)
		}
		last = c.begin("ann", "ann's")
		last.prove()
		if o := c.outcomeOf(saslContinue(2, []byte{})); o.Code != 18 || c.isLoggedIn() {
			w.Errorf("the empty exchange of another conversation: %+v", o)
		}
		last = c.begin("ann", "ann's")
		if o := last.prove(); o.OK != 1 || c.isLoggedIn() {
			w.Errorf("before the empty exchange the client is logged in, or %+v", o)
		}
		if o := last.prove(); o.OK != 1 || !c.isLoggedIn() {
			w.Errorf("after the last exchange the client is not logged in: %+v", o)
		}
		if o := last.prove(); o.Code != 17 {
			w.Errorf("a proof after the login: %+v", o)
		}
		if err := c.login("ann", "ann's"); err != nil {
			w.Errorf("again as the same user: %v", err)
		}
		if o := c.outcomeOf(saslStart(sha256, []byte("n,,n=bob,r=nonce"))); o.Code != 17 || !c.isLoggedIn() {
			w.Errorf("as another user: %+v", o)
		}
		c.must(d("logout", 1))
		if c.isLoggedIn() {
			w.Error("the client is logged in after a logout")
		}
		slow := c.begin("ann", "ann's")
		<-time.After(11 * time.Second)
		if o := slow.prove(); o.Code != 18 || c.isLoggedIn() {
			w.Errorf("a proof after 11 s: %+v", o)
		}
	})
}

// speculative returns the hello that begins a login.
func speculative(mechanism, db string, first []byte) bson.D {
	return bson.D{{Key: "hello", Value: 1}, {Key: "speculativeAuthenticate", Value: saslStart(mechanism, first, bson.E{Key: "db", Value: db})}}
}

// What a hello asks about users that cannot be goes to no member, whose connection it might cost, and is not remembered.
func TestAHelloWithAStrangeUser(t *testing.T) {
	inPassThrough(t, func(w *world, _ *refusals) {
		c := w.dial()
		long := strings.Repeat("x", 2000)
		for _, user := range []string{"", ".", "app.", ".ann", "a b.ann", "a$.ann", "a\x00.ann", "app.\xff", "app.a\x00", "app." + long, long + ".ann", "$external.CN=ann"} {
			if reply := c.run(bson.D{{Key: "hello", Value: 1}, {Key: "saslSupportedMechs", Value: user}}); reply.Lookup("saslSupportedMechs").Type != 0 || reply.Lookup("ok").AsInt64() != 1 {
				w.Errorf("%.10q: %v", user, reply)
			}
		}
		for _, db := range []string{"", "a b", "$external", long} {
			if reply := c.run(speculative(sha256, db, []byte("n,,n=ann,r=nonce"))); reply.Lookup("speculativeAuthenticate").Type != 0 || reply.Lookup("ok").AsInt64() != 1 {
				w.Errorf("%.10q: %v", db, reply)
			}
		}
		if n := w.asked(); n != 0 {
			w.Errorf("members were asked %d times", n)
		}
	})
}

// shown is what somebody without a password finds out about a user: the forms of all replies, and what the router tells.
func shown(w *world, told *refusals, name string) []string {
	w.Helper()
	var all []string
	note := func(what string, reply bson.Raw) {
		first := strings.Split(string(payload(reply)), ",")
		form := ""
		if len(first) == 3 {
			form = fmt.Sprintf("%d %d %s", len(first[0]), len(first[1]), first[2])
		}
		var o outcome
		_ = bson.Unmarshal(reply, &o)
		all = append(all, fmt.Sprintf("%s: %+v %s", what, o, form))
	}
	c := w.dial()
	hello := c.run(bson.D{{Key: "hello", Value: 1}, {Key: "saslSupportedMechs", Value: "app." + name}})
	all = append(all, hello.Lookup("saslSupportedMechs").String())
	for _, mechanism := range []string{sha256, sha1} {
		first := []byte("n,,n=" + name + ",r=nonce")
		answer, _ := c.run(speculative(mechanism, "app", first)).Lookup("speculativeAuthenticate").DocumentOK()
		note("speculative "+mechanism, answer)
		reply := c.run(saslStart(mechanism, first))
		note("start "+mechanism, reply)
		nonce, _, _ := strings.Cut(string(payload(reply)), ",")
		note("proof "+mechanism, c.run(saslContinue(1, []byte("c=biws,"+nonce+",p="+strings.Repeat("A", 27)+"="))))
		note("again "+mechanism, c.run(saslContinue(1, []byte("c=biws"))))
	}
	lines := told.text()
	return append(all, strings.ReplaceAll(lines, name, "NAME"))
}

// Whatever mechanisms the users of a set have, one who does not exist looks as one whose password is wrong.
func TestNobodyFindsOutWhichUsersThereAre(t *testing.T) {
	for _, has := range [][]string{{sha256, sha1}, {sha256}, {sha1}} {
		t.Run(fmt.Sprint(has), func(t *testing.T) {
			told := new(refusals)
			users := mongotest.Users(
				mongotest.User{Name: "service", Password: servicePassword, Mechanisms: has},
				mongotest.User{Name: "ann", Password: "ann's", Database: "app", Mechanisms: has},
			)
			inWorldOf(t, memnet.Config{}, []mongotest.Option{users}, func(w *world) {
				there := shown(w, told, "ann")
				*told = refusals{}
				if nobody := shown(w, told, "eve"); !slices.Equal(there, nobody) {
					w.Errorf("a user who exists shows\n%s\none who does not\n%s", strings.Join(there, "\n"), strings.Join(nobody, "\n"))
				}
			}, func(cfg *router.Config) {
				cfg.Upstream.SetAuth(options.Credential{Username: "service", Password: servicePassword})
				cfg.PassThrough, cfg.Refused = true, told.add
			})
		})
	}
}

func TestNobodyFindsOutWhichUsersAreInAFile(t *testing.T) {
	told := new(refusals)
	file := usersOf(t, user("ann", "app", false))
	inWorld(t, func(w *world) {
		there := shown(w, told, "ann")
		*told = refusals{}
		if nobody := shown(w, told, "eve"); !slices.Equal(there, nobody) {
			w.Errorf("a user who exists shows\n%s\none who does not\n%s", strings.Join(there, "\n"), strings.Join(nobody, "\n"))
		}
	}, func(cfg *router.Config) { cfg.Users, cfg.Refused = file, told.add })
}

// saltOf returns what a router says of a user before it knows a password: salt and iterations.
func saltOf(w *world, address, name string) string {
	w.Helper()
	_, rest, _ := strings.Cut(string(payload(w.dialTo(address).run(saslStart(sha256, []byte("n,,n="+name+",r=nonce"))))), ",")
	return rest
}

// All routers of a set show the same salt of a user who does not exist, although their own user has got another password meanwhile: nothing of a
// password may be in what everybody can ask for.
func TestTheSaltOfNobodyIsTheSameEverywhere(t *testing.T) {
	inPassThrough(t, func(w *world, _ *refusals) {
		before := saltOf(w, address, "nobody")
		change := bson.D{{Key: "updateUser", Value: "service"}, {Key: "pwd", Value: "another"}}
		if _, err := w.set.Command(w.set.Primary(), "admin", change); err != nil {
			w.Fatal(err)
		}
		cfg := router.Config{Upstream: w.upstream().SetAuth(options.Credential{Username: "service", Password: "another"}), PassThrough: true}
		second := w.start("second:1", cfg)
		defer second.Close()
		if after := saltOf(w, "second:1", "nobody"); after != before || before == "" {
			w.Errorf("one router says %q, another %q", before, after)
		}
		if other := saltOf(w, address, "other"); other == before {
			w.Error("two users have the same salt")
		}
	})
}

// A login that nobody can decide says so: the client's password may be right. It waits as an operation does.
func TestALoginWhileNoMemberAnswers(t *testing.T) {
	inPassThrough(t, func(w *world, told *refusals) {
		c := w.dial()
		c.must(d("hello", 1))
		for i := range 3 {
			w.set.Kill(i)
		}
		<-time.After(time.Second) // the router knows it
		began := time.Now()
		o := c.outcomeOf(saslStart(sha256, []byte("n,,n=ann,r=nonce")))
		if took := time.Since(began); o.Code != 6 || took < 20*time.Second || took > 30*time.Second {
			w.Errorf("%+v after %v: %s", o, took, told.text())
		}
		if !strings.Contains(told.text(), `nobody knows whether "ann" of "app" may log in`) {
			w.Errorf("the log has %q", told.text())
		}
		reply := c.run(bson.D{{Key: "hello", Value: 1}, {Key: "saslSupportedMechs", Value: "app.ann"}})
		if got := reply.Lookup("saslSupportedMechs").String(); !strings.Contains(got, sha256) {
			w.Errorf("the mechanisms are %s", got)
		}
		for i := range 3 {
			w.set.Restart(i)
		}
		if err := c.login("ann", "ann's"); err != nil {
			w.Error(err)
		}
	})
}

// A client that leaves while the members are asked about its user is gone soon, and what nobody waits for any more is not asked.
func TestClientsLeaveWhileTheyLogIn(t *testing.T) {
	inPassThrough(t, func(w *world, _ *refusals) {
		const clients = 60
		w.asUser("ann", "ann's")
		before, asked := w.router.Clients(), w.asked()
		w.set.Use("usersInfo", mongotest.Times(clients, mongotest.Fault{Delay: 8 * time.Second}))
		for i := range clients {
			c := w.dial()
			if i%2 == 0 {
				c.send(saslStart(sha256, fmt.Appendf(nil, "n,,n=u%d,r=nonce", i)))
			} else {
				c.send(d("hello", 1), bson.E{Key: "saslSupportedMechs", Value: fmt.Sprintf("app.u%d", i)})
			}
			synctest.Wait()
			_ = c.conn.Close()
		}
		<-time.After(5 * time.Second)
		synctest.Wait()
		if n := w.router.Clients(); n != before {
			w.Errorf("%d clients are connected, want %d", n, before)
		}
		<-time.After(time.Minute)
		if n := w.asked() - asked; n != 16 {
			w.Errorf("members were asked %d times for clients that have left", n)
		}
		w.asUser("ann", "ann's")
	})
}

// A member that answers late does not end a login: its client could do nothing about it.
func TestALoginWithASlowMember(t *testing.T) {
	inPassThrough(t, func(w *world, _ *refusals) {
		w.set.Use("usersInfo", mongotest.FaultOnce(mongotest.Fault{Delay: 15 * time.Second}))
		w.asUser("ann", "ann's")
	})
}

// Many who log in as one user at the same time cost one question, however long a member takes.
func TestOneQuestionForAllWhoWait(t *testing.T) {
	inPassThrough(t, func(w *world, _ *refusals) {
		w.asUser("ann", "ann's")
		<-time.After(2 * time.Second)
		before := w.asked()
		done := make(chan error)
		const clients = 50
		for range clients {
			c := w.dial()
			go func() { done <- c.login("ann", "ann's") }()
		}
		for range clients {
			if err := <-done; err != nil {
				w.Error(err)
			}
		}
		if n := w.asked() - before; n != 1 {
			w.Errorf("members were asked %d times", n)
		}
	})
}

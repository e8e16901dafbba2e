package router_test

import (
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/internal/router"
	"github.com/holdfast-db/holdfast/mongotest"
)

// A flood of logins of users who do not exist is asked of the members a few at a time, and each name once a second. A user logs in meanwhile, and nothing
// of the flood stays.
func TestAFloodOfLogins(t *testing.T) {
	const clients, repeats = 500, 3
	var now, most atomic.Int64
	var out atomic.Int64
	inPassThrough(t, func(w *world, _ *refusals) {
		w.asUser("ann", "ann's").must(d("find", "c"))
		w.set.Use("usersInfo", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
			most.Store(max(most.Load(), now.Add(1)))
			defer now.Add(-1)
			<-time.After(10 * time.Millisecond)
			return next(r)
		})
		<-time.After(2 * time.Second)
		before, opened := w.asked(), w.set.Counters().Opened
		done := make(chan struct{})
		for i := range clients {
			c := w.dial()
			go func() {
				defer func() { done <- struct{}{} }()
				for range repeats {
					if o := c.outcomeOf(saslStart(sha256, fmt.Appendf(nil, "n,,n=nobody%d,r=nonce", i))); o.OK != 1 {
						w.Errorf("%+v", o)
					}
					if o := c.outcomeOf(saslContinue(1, []byte("c=biws,r=nonce,p=AAAA"))); o.Code != 18 {
						w.Errorf("%+v", o)
					}
				}
				_ = c.conn.Close()
			}()
		}
		began := time.Now()
		w.asUser("ann", "ann's").must(d("find", "c"))
		if took := time.Since(began); took > time.Second {
			w.Errorf("a user waited %v for its login", took)
		}
		for range clients {
			<-done
		}
		synctest.Wait()
		if n := w.asked() - before; n > clients+2 {
			w.Errorf("members were asked %d times for %d names", n, clients)
		}
		if most.Load() > 16 {
			w.Errorf("members were asked %d questions at the same time", most.Load())
		}
		if n := w.set.Counters().Opened - opened; n > 20 {
			w.Errorf("%d connections to the members were opened", n)
		}
		if n, in := w.router.Clients(), out.Load(); n != 2 || in != 0 {
			w.Errorf("%d clients are connected, %d connections are in use", n, in)
		}
	}, func(cfg *router.Config) {
		cfg.Upstream.SetPoolMonitor(&event.PoolMonitor{Event: func(e *event.PoolEvent) {
			switch e.Type {
			case event.ConnectionCheckedOut:
				out.Add(1)
			case event.ConnectionCheckedIn:
				out.Add(-1)
			}
		}})
	})
}

// What a member says of a user may be anything. The login fails as that of a user who does not exist, the log has the reason and no key, and other
// users log in.
func TestStrangeAnswersAboutAUser(t *testing.T) {
	const key = "c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0c2U="
	good := func(change ...bson.E) bson.D {
		fields := bson.D{{Key: "iterationCount", Value: 15000}, {Key: "salt", Value: key}, {Key: "storedKey", Value: key}, {Key: "serverKey", Value: key}}
		for _, c := range change {
			for i := range fields {
				if fields[i].Key == c.Key {
					fields[i] = c
				}
			}
		}
		return d("users", bson.A{d("credentials", d(sha256, fields))})
	}
	ok := bson.E{Key: "ok", Value: 1}
	inPassThrough(t, func(w *world, told *refusals) {
		w.asUser("ann", "ann's")
		for name, reply := range map[string]bson.D{
			"users is a number":        d("users", 5),
			"a user is a number":       d("users", bson.A{5}),
			"credentials are a number": d("users", bson.A{d("credentials", 5)}),
			"a mechanism is a number":  d("users", bson.A{d("credentials", d(sha256, 5))}),
			"few iterations":           good(bson.E{Key: "iterationCount", Value: 1}),
			"iterations below zero":    good(bson.E{Key: "iterationCount", Value: -1}),
			"iterations as a text":     good(bson.E{Key: "iterationCount", Value: "15000"}),
			"too many iterations":      good(bson.E{Key: "iterationCount", Value: int64(1) << 62}),
			"a salt as a number":       good(bson.E{Key: "salt", Value: 5}),
			"a long salt":              good(bson.E{Key: "salt", Value: strings.Repeat("c2Vj", 100)}),
			"a huge salt":              good(bson.E{Key: "salt", Value: strings.Repeat("c2Vj", 1<<20)}),
			"a key that is not base64": good(bson.E{Key: "storedKey", Value: key[1:]}),
			"a short key":              good(bson.E{Key: "serverKey", Value: "c2Vj"}),
		} {
			*told = refusals{}
			body := document(append(reply, ok))
			remove := w.set.Use("usersInfo", func(r *mongotest.Request, next mongotest.Handler) *mongotest.Reply {
				if r.Body.Lookup("usersInfo", "user").StringValue() != "bob" {
					return next(r)
				}
				return &mongotest.Reply{Body: body}
			})
			b := w.dial().begin("bob", "bob's")
			if o := b.prove(); o.Code != 18 {
				w.Errorf("%s: %+v", name, o)
			}
			lines := told.text()
			if !strings.Contains(lines, `nobody knows whether "bob" of "app" may log in: the reply to usersInfo`) || !strings.Contains(lines, `the login of "bob" of "app" failed`) {
				w.Errorf("%s: the log has %q", name, lines)
			}
			for _, secret := range []string{"c2Vj", "secret", string(b.proof), "bob's"} {
				if strings.Contains(lines, secret) {
					w.Errorf("%s: the log has a secret: %q", name, lines)
				}
			}
			remove()
			<-time.After(2 * time.Second)
		}
		w.asUser("ann", "ann's")
	})
}

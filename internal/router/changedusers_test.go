package router_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// admin runs a command at the primary, and waits until no answer of before it is used any more. The next connections to the members log in again.
func (w *world) admin(commands ...bson.D) {
	w.Helper()
	for _, command := range commands {
		if _, err := w.set.Command(w.set.Primary(), "app", command); err != nil {
			w.Fatal(err)
		}
	}
	for i := range w.set.Members() {
		w.set.DropConnections(i)
	}
	<-time.After(2 * time.Second)
}

// A login that began with the old password ends after one with the new password: it fails, and the members are not told the old one again, by
// which all clients of the user would lose their connections.
func TestAnOldProofDoesNotReplaceANewOne(t *testing.T) {
	inPassThrough(t, func(w *world, _ *refusals) {
		w.asUser("ann", "ann's").must(d("find", "c"))
		old := w.dial().begin("ann", "ann's")
		w.admin(bson.D{{Key: "updateUser", Value: "ann"}, {Key: "pwd", Value: "later"}})
		c := w.asUser("ann", "later")
		if o := old.prove(); o.Code != 18 {
			w.Errorf("the old proof: %+v", o)
		}
		c.must(d("find", "c"))
		w.admin()
		c.must(d("find", "c"))
	})
}

// Two logins with the same password that end in another order than they began are both right.
func TestProofsInAnotherOrder(t *testing.T) {
	inPassThrough(t, func(w *world, _ *refusals) {
		for _, mechanism := range []string{sha256, sha1} {
			first := w.dial().beginIn("app", mechanism, "ann", "ann's")
			<-time.After(2 * time.Second)
			second := w.asUser("ann", "ann's")
			if o := first.prove(); o.OK != 1 {
				w.Errorf("%s: %+v", mechanism, o)
			}
			first.prove()
			first.c.must(d("find", "c"))
			second.must(d("find", "c"))
		}
	})
}

// A user that was dropped and created again has nothing to do with the one before: clients of the old one do not become the new one.
func TestARecreatedUserIsAnotherOne(t *testing.T) {
	create := bson.D{{Key: "createUser", Value: "ann"}, {Key: "pwd", Value: "new"}, {Key: "roles", Value: bson.A{"readWrite"}}}
	inPassThrough(t, func(w *world, _ *refusals) {
		before := w.asUser("ann", "ann's")
		before.must(d("find", "c"))
		unfinished := w.dial().begin("ann", "ann's")
		w.admin(d("dropUser", "ann"), create)
		after := w.asUser("ann", "new")
		after.must(d("find", "c"))
		if o := before.outcomeOf(d("find", "c")); o.Code != 18 {
			w.Errorf("a client of the old user: %+v", o)
		}
		if o := unfinished.prove(); o.Code != 18 {
			w.Errorf("a login of the old user: %+v", o)
		}
		after.must(d("find", "c"))
	})
}

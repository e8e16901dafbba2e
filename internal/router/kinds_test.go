package router

import (
	"strconv"
	"testing"

	"github.com/holdfast-db/holdfast/internal/mongo/auth"
	"github.com/holdfast-db/holdfast/internal/router/scramserver"
)

func verifiersWith(sha256, sha1 int) map[string]scramserver.Verifier {
	all := make(map[string]scramserver.Verifier)
	if sha256 != 0 {
		all[auth.SCRAMSHA256] = scramserver.Verifier{Iterations: sha256}
	}
	if sha1 != 0 {
		all[auth.SCRAMSHA1] = scramserver.Verifier{Iterations: sha1}
	}
	return all
}

func TestAUserWhoDoesNotExistHasTheKindOfThoseWhoDo(t *testing.T) {
	var k kinds
	user := func(i int) id { return id{"admin", strconv.Itoa(i)} }
	if got := k.fake(nil, user(0)); got != (kind{15000, 10000}) {
		t.Errorf("without a user it is %v", got)
	}
	k.note(nil)           // one whom the router cannot log in
	for range mostKinds { // as many users have it
		k.note(verifiersWith(20000, 0))
	}
	if got := k.fake(nil, user(0)); got != (kind{20000, 0}) {
		t.Errorf("it is %v", got)
	}
	k.note(verifiersWith(15000, 10000))
	k.note(verifiersWith(20000, 0))
	before, count := make(map[id]kind), make(map[kind]int)
	secrets, databases := 0, 0 // how often another one makes another kind
	for i := range 200 {
		one := k.fake([]byte("s"), user(i))
		before[user(i)], count[one] = one, count[one]+1
		if k.fake([]byte("t"), user(i)) != one {
			secrets++
		}
		if k.fake([]byte("s"), id{"app", user(i).name}) != one {
			databases++
		}
	}
	if secrets < 50 || databases < 50 {
		t.Errorf("of 200 names another secret gives %d another kind, and another database %d", secrets, databases)
	}
	if len(count) != 2 || count[kind{20000, 0}] < 50 || count[kind{15000, 10000}] < 50 {
		t.Errorf("200 names have the kinds %v", count)
	}
	k.note(verifiersWith(0, 10000))
	for u, was := range before {
		if now := k.fake([]byte("s"), u); now != was && now != (kind{0, 10000}) {
			t.Errorf("a new kind changed that of %v from %v to %v", u, was, now)
		}
	}
	for i := range 2 * mostKinds {
		k.note(verifiersWith(5000+i, 0))
	}
	if len(k.seen) != mostKinds {
		t.Errorf("%d kinds are remembered", len(k.seen))
	}
}

func TestTheMechanismsOfAKind(t *testing.T) {
	k := kind{0, 10000}
	if got := k.names(); len(got) != 1 || got[0] != auth.SCRAMSHA1 {
		t.Errorf("they are %v", got)
	}
	if a, b := k.iterations(auth.SCRAMSHA256), k.iterations(auth.SCRAMSHA1); a != 0 || b != 10000 {
		t.Errorf("the iterations are %d and %d", a, b)
	}
}

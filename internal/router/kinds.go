package router

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"slices"
	"sync"

	"github.com/holdfast-db/holdfast/internal/router/scramserver"
)

// kind is what anybody can find out about a user: how many iterations it has for each of the mechanisms, in their order. 0 means that it does
// not have that mechanism.
type kind [2]int

func kindOf(verifiers map[string]scramserver.Verifier) (k kind) {
	for i, m := range mechanisms {
		k[i] = verifiers[m].Iterations
	}
	return k
}

// kinds are those of the users that there are. A user who does not exist must be of one of them. In many sets all users have the same one, which need
// not be the default of a server.
type kinds struct {
	mu   sync.Mutex
	seen []kind
}

// mostKinds is how many of them are remembered.
const mostKinds = 16

// serverKind is the kind of a user whom a server makes that nobody has configured.
func serverKind() (k kind) {
	for i, m := range mechanisms {
		k[i] = scramserver.Fake(nil, m, "", "").Iterations
	}
	return k
}

// note remembers the kind of a user.
func (k *kinds) note(verifiers map[string]scramserver.Verifier) {
	one := kindOf(verifiers)
	k.mu.Lock()
	defer k.mu.Unlock()
	if one != (kind{}) && len(k.seen) < mostKinds && !slices.Contains(k.seen, one) {
		k.seen = append(k.seen, one)
	}
}

// fake returns the kind of a user who does not exist. It stays the same until a user of another kind is seen, and with most names also then:
// a kind that changed would tell that there is no such user.
func (k *kinds) fake(secret []byte, user id) kind {
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.seen) == 0 {
		return serverKind()
	}
	rank := func(one kind) []byte {
		mac := hmac.New(sha256.New, secret)
		_, _ = fmt.Fprintf(mac, "%v %q %q", one, user.db, user.name)
		return mac.Sum(nil)
	}
	return slices.MaxFunc(k.seen, func(a, b kind) int { return bytes.Compare(rank(a), rank(b)) })
}

// iterations returns those of a mechanism, 0 if the kind does not have it.
func (k kind) iterations(mechanism string) int { return k[slices.Index(mechanisms, mechanism)] }

// names returns the mechanisms of the kind.
func (k kind) names() []string {
	var names []string
	for i, m := range mechanisms {
		if k[i] != 0 {
			names = append(names, m)
		}
	}
	return names
}

package router

import (
	"bytes"
	"cmp"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/internal/mongo/auth"
	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/retry"
)

// passThrough are the users of the members. A client's proof shows the key with which the router logs in to the members as that user.
type passThrough struct {
	router *Router
	asking chan struct{} // has a place for each question to the members

	mu    sync.Mutex
	known map[id]*question
	swept time.Time
	users map[id]*passedUser // those who have logged in

	kept   atomic.Pointer[[]byte] // the secret, once it is known
	avoids atomic.Int64           // until when a secondary is asked first, in ns since 1970: the primary has not answered
}

// question is what the members say of a user. It is asked once for all who want to know it at the same time.
type question struct {
	asked time.Time // zero before its turn
	done  chan struct{}
	waits int // clients that want to know it
	found *known
	err   error
}

// passedUser is a user who has logged in at least once.
type passedUser struct {
	account *account
	keys    *auth.ScramKeys // the last that were proved
	from    *known          // what was known then
}

const (
	// answerLife is how long what the members say of a user is used: a new password is valid that soon. It is the same for a user who does not
	// exist, or the time of an answer would show who does.
	answerLife = time.Second
	// answerLimit is how long one member is asked.
	answerLimit = 10 * time.Second
	// avoidFor is how long a primary that has not answered is asked last: by then it is known as one no more.
	avoidFor = 20 * time.Second
	// mostAsking is how many questions are with the members at the same time: a flood of logins must not reach them.
	mostAsking = 16
	// mostKnown bounds the memory of the answers: no more different users can log in within answerLife.
	mostKnown = 1 << 16
)

var (
	errTooManyUsers = errors.New("too many users log in at the same time")
	errNobodyWaits  = errors.New("the clients that wanted to know it have left")
)

func newPassThrough(r *Router) *passThrough {
	return &passThrough{router: r, asking: make(chan struct{}, mostAsking), known: make(map[id]*question), users: make(map[id]*passedUser)}
}

func (p *passThrough) about(ctx context.Context, user id) (*known, error) {
	a, mine := p.question(user)
	if a == nil {
		return nil, errTooManyUsers
	}
	defer p.leave(a)
	if mine {
		go p.ask(user, a) //nolint:contextcheck // not in the context of this client: others wait too
	}
	select {
	case <-a.done:
		return a.found, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// question returns the question of a user that was asked last, or a new one, which the caller has to ask. It returns nil if there are too many.
// The caller leaves it when it waits no longer.
func (p *passThrough) question(user id) (a *question, mine bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	old := func(a *question) bool { return !a.asked.IsZero() && now.Sub(a.asked) >= answerLife }
	if a := p.known[user]; a != nil && !old(a) {
		a.waits++
		return a, false
	}
	if now.Sub(p.swept) >= answerLife {
		p.swept = now
		maps.DeleteFunc(p.known, func(_ id, a *question) bool { return old(a) })
	}
	if len(p.known) >= mostKnown {
		return nil, false
	}
	a = &question{done: make(chan struct{}), waits: 1}
	p.known[user] = a
	return a, true
}

func (p *passThrough) leave(a *question) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a.waits--
}

// ask asks a member, if somebody still wants to know it when its turn comes.
func (p *passThrough) ask(user id, a *question) {
	defer close(a.done)
	select {
	case p.asking <- struct{}{}:
		defer func() { <-p.asking }()
	case <-p.router.ctx.Done():
		a.err = p.router.ctx.Err()
		return
	}
	a.found, a.err = p.askMembers(user, a)
	if a.found != nil {
		a.found.asked = a.asked
		p.router.kinds.note(a.found.verifiers)
	}
	if a.err != nil && !isRefusal(a.err) { // the next one asks again
		p.mu.Lock()
		defer p.mu.Unlock()
		p.forget(user, a)
	}
}

// askMembers asks the primary, and when that does not answer in time a secondary, and so on. An isolated primary is known as one for up to 20 s, and
// a driver does not wait much longer for a login.
func (p *passThrough) askMembers(user id, a *question) (found *known, err error) {
	first, second := readpref.PrimaryPreferred(), readpref.SecondaryPreferred()
	if time.Now().UnixNano() < p.avoids.Load() {
		first, second = second, first
	}
	for until := time.Now().Add(p.router.cfg.Window); p.isWanted(user, a); first, second = second, first {
		found, err = p.askOne(user, first, until)
		if !errors.Is(err, context.DeadlineExceeded) || p.router.ctx.Err() != nil || !time.Now().Before(until) {
			return found, err
		}
		p.avoids.Store(time.Now().Add(avoidFor).UnixNano())
	}
	return nil, errNobodyWaits
}

// askOne asks a member, for at most answerLimit.
func (p *passThrough) askOne(user id, preference *readpref.ReadPref, until time.Time) (*known, error) {
	limit := time.Now().Add(answerLimit)
	if limit.After(until) {
		limit = until
	}
	ctx, cancel := context.WithDeadline(p.router.ctx, limit)
	defer cancel()
	q := &usersInfo{user: user}
	err := p.router.runner.Run(ctx, &operation.Operation{
		Name: "usersInfo", Database: "admin", Command: q, Kind: operation.Read, Retryable: true, Idempotency: retry.ReadOnly,
		Selection: p.router.selection(preference), Session: operation.NoSession, RetryUntil: limit, OwnTimeLimit: true,
	})
	return q.found, err
}

// isWanted reports whether a client waits for a question, whose turn it is. If none does, nobody will find it.
func (p *passThrough) isWanted(user id, a *question) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a.waits == 0 {
		p.forget(user, a)
		return false
	}
	a.asked = time.Now()
	return true
}

// forget drops a question. It is called with the lock held.
func (p *passThrough) forget(user id, a *question) {
	if p.known[user] == a {
		delete(p.known, user)
	}
}

// secret comes from the random number that the members have given the router's user. Without one the secret is random.
func (p *passThrough) secret(ctx context.Context) ([]byte, error) {
	if kept := p.kept.Load(); kept != nil {
		return *kept, nil
	}
	own := p.router.cfg.Upstream.Auth
	found, err := p.about(ctx, id{cmp.Or(own.AuthSource, "admin"), own.Username})
	if err != nil && !isRefusal(err) {
		return nil, err
	}
	unique := rand.Text()
	if found != nil && found.unique != "" {
		unique = found.unique
	}
	sum := sha256.Sum256([]byte("the salts of a router\x00" + unique))
	secret := sum[:]
	p.kept.CompareAndSwap(nil, &secret) // others may have come here, too
	return *p.kept.Load(), nil
}

func (p *passThrough) proved(user id, mechanism string, from *known, clientKey []byte) *account {
	v := from.verifiers[mechanism]
	keys := &auth.ScramKeys{
		Mechanism: mechanism, Source: user.db, Username: user.name, Salt: v.Salt, Iterations: v.Iterations, ClientKey: clientKey, ServerKey: v.ServerKey,
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	u := p.users[user]
	known := u != nil && u.from.unique == from.unique
	same := known && bytes.Equal(u.keys.ClientKey, clientKey)
	switch {
	case u != nil && from.asked.Before(u.from.asked): // this login began before another one, which has ended
		if !known || !same && u.keys.Mechanism == mechanism {
			return nil // it had a password that is no longer valid
		}
		return u.account
	case !known:
		u = &passedUser{account: &account{id: user, user: cluster.NewUser(auth.NewWithKeys(keys))}}
		p.users[user] = u
	case !same:
		u.account.user.LogInWith(auth.NewWithKeys(keys))
	}
	u.keys, u.from = keys, from
	return u.account
}

// certified knows nobody: a certificate has no key that the router could use at the members.
func (*passThrough) certified(string) *account { return nil }

package router

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/internal/mongo/auth"
	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/router/scramserver"
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
}

// question is what the members say of a user. It is asked once for all who want to know it at the same time.
type question struct {
	asked     time.Time
	done      chan struct{}
	verifiers map[string]scramserver.Verifier
	err       error
}

// passedUser is a user who has logged in at least once.
type passedUser struct {
	account *account
	keys    *auth.ScramKeys // the last that were proved
}

const (
	// answerLife is how long what the members say of a user is used: a new password is valid that soon. It is the same for a user who does not
	// exist, or the time of an answer would show who does.
	answerLife = time.Second
	// mostAsking is how many questions are with the members at the same time: a flood of logins must not reach them.
	mostAsking = 16
	// mostKnown bounds the memory of the answers: no more different users can log in within answerLife.
	mostKnown = 1 << 16
)

var errTooManyUsers = errors.New("too many users log in at the same time")

func newPassThrough(r *Router) *passThrough {
	return &passThrough{router: r, asking: make(chan struct{}, mostAsking), known: make(map[id]*question), users: make(map[id]*passedUser)}
}

func (p *passThrough) verifiers(ctx context.Context, user id) (map[string]scramserver.Verifier, error) {
	a, mine := p.question(user)
	if a == nil {
		return nil, errTooManyUsers
	}
	if mine {
		go p.ask(user, a) // not in the context of this client: others wait too
	}
	select {
	case <-a.done:
		return a.verifiers, a.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// question returns the question of a user that was asked last, or a new one, which the caller has to ask. It returns nil if there are too many.
func (p *passThrough) question(user id) (a *question, mine bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now()
	if a := p.known[user]; a != nil && now.Sub(a.asked) < answerLife {
		return a, false
	}
	if now.Sub(p.swept) >= answerLife {
		p.swept = now
		maps.DeleteFunc(p.known, func(_ id, a *question) bool { return now.Sub(a.asked) >= answerLife })
	}
	if len(p.known) >= mostKnown {
		return nil, false
	}
	a = &question{asked: now, done: make(chan struct{})}
	p.known[user] = a
	return a, true
}

// ask asks a member.
func (p *passThrough) ask(user id, a *question) {
	defer close(a.done)
	select {
	case p.asking <- struct{}{}:
		defer func() { <-p.asking }()
	case <-p.router.ctx.Done():
		a.err = p.router.ctx.Err()
		return
	}
	q := &usersInfo{user: user}
	a.err = p.router.runner.Run(p.router.ctx, &operation.Operation{
		Name: "usersInfo", Database: "admin", Command: q, Kind: operation.Read, Retryable: true, Idempotency: retry.ReadOnly,
		Selection: p.router.selection(readpref.PrimaryPreferred()), Session: operation.NoSession, RetryUntil: time.Now().Add(p.router.cfg.Window),
	})
	a.verifiers = q.verifiers
	if a.err != nil { // the next one asks again
		p.mu.Lock()
		defer p.mu.Unlock()
		if p.known[user] == a {
			delete(p.known, user)
		}
	}
}

func (p *passThrough) proved(user id, mechanism string, v *scramserver.Verifier, clientKey []byte) *account {
	keys := &auth.ScramKeys{
		Mechanism: mechanism, Source: user.db, Username: user.name, Salt: v.Salt, Iterations: v.Iterations, ClientKey: clientKey, ServerKey: v.ServerKey,
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	u := p.users[user]
	switch {
	case u == nil:
		u = &passedUser{keys: keys, account: &account{id: user, user: cluster.NewUser(auth.NewWithKeys(keys))}}
		p.users[user] = u
	case u.keys.Mechanism != mechanism || !bytes.Equal(u.keys.ClientKey, clientKey):
		u.keys = keys
		u.account.user.LogInWith(auth.NewWithKeys(keys))
	}
	return u.account
}

// certified knows nobody: a certificate has no key that the router could use at the members.
func (*passThrough) certified(string) *account { return nil }

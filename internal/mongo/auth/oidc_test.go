package auth

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// refusal is a reply with an error code.
type refusal int32

func (r refusal) Error() string    { return fmt.Sprintf("refused with %d", int32(r)) }
func (r refusal) ErrorCode() int32 { return int32(r) }

// oidcServer accepts a token that it knows, and answers others with a code.
func oidcServer(code int32, known ...string) RoundTrip {
	return func(_ context.Context, database string, command []byte) ([]byte, error) {
		_, payload := commandDocument(command).Lookup("payload").Binary()
		token, ok := bson.Raw(payload).Lookup("jwt").StringValueOK()
		switch {
		case database != "$external":
			return nil, errors.New("another database")
		case !ok:
			return reply{payload: string(document(bson.D{{Key: "issuer", Value: "https://issuer"}}))}.document(), nil
		case slices.Contains(known, token):
			return reply{done: true}.document(), nil
		default:
			return nil, refusal(code)
		}
	}
}

// counting returns a source of the tokens t1, t2 and so on.
func counting(calls *atomic.Int64) TokenSource {
	return func(context.Context, TokenRequest) (Token, error) {
		return Token{Access: fmt.Sprintf("t%d", calls.Add(1))}, nil
	}
}

func oidcOf(t *testing.T, c Credential) *Authenticator {
	t.Helper()
	c.Mechanism = OIDC
	a, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func finish(t *testing.T, l *Login, send RoundTrip) error {
	t.Helper()
	return l.Finish(t.Context(), nil, nil, send)
}

// Source: Driver Authentication, "Credential Caching": one call at a time, and 100 ms between two.
func TestTheSourceIsCalledForOneLoginAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls, running, most atomic.Int64
		a := oidcOf(t, Credential{Tokens: func(context.Context, TokenRequest) (Token, error) {
			most.Store(max(most.Load(), running.Add(1)))
			defer running.Add(-1)
			<-time.After(time.Second)
			if calls.Add(1) == 1 {
				return Token{}, errors.New("the first call fails")
			}
			return Token{Access: "t"}, nil
		}})
		var failed atomic.Int64
		var wg sync.WaitGroup
		began := time.Now()
		for range 10 {
			wg.Go(func() {
				if finish(t, a.Begin("h"), oidcServer(18, "t")) != nil {
					failed.Add(1)
				}
			})
		}
		wg.Wait()
		if calls.Load() != 2 || most.Load() != 1 || failed.Load() != 1 {
			t.Errorf("%d calls, %d at a time, %d logins failed", calls.Load(), most.Load(), failed.Load())
		}
		if took := time.Since(began); took != 2*time.Second+betweenCalls {
			t.Errorf("it took %v", took)
		}
	})
}

// The time between two calls counts from the end of the first; a caller that comes later waits for the rest only.
func TestTheNextCallOfTheSourceWaitsForTheRestOfTheTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := oidcOf(t, Credential{Tokens: func(context.Context, TokenRequest) (Token, error) { return Token{}, errors.New("no token") }})
		for _, c := range []struct{ since, wait time.Duration }{
			{betweenCalls, 0}, {40 * time.Millisecond, betweenCalls - 40*time.Millisecond}, {betweenCalls + time.Second, 0},
		} {
			<-time.After(c.since)
			began := time.Now()
			if finish(t, a.Begin("h"), oidcServer(18, "t")) == nil {
				t.Error("no error")
			}
			if took := time.Since(began); took != c.wait {
				t.Errorf("%v after the last call: a wait of %v, want %v", c.since, took, c.wait)
			}
		}
	})
}

func TestAWaitForTheSourceEndsWithTheContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		a := oidcOf(t, Credential{Tokens: func(context.Context, TokenRequest) (Token, error) {
			<-release
			return Token{Access: "t"}, nil
		}})
		first := make(chan error, 1)
		go func() { first <- a.Begin("h").Finish(context.Background(), nil, nil, oidcServer(18, "t")) }()
		synctest.Wait()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := a.Begin("h").Finish(ctx, nil, nil, oidcServer(18, "t")); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
		close(release)
		if err := <-first; err != nil {
			t.Error(err)
		}
	})
}

func TestASourceThatPanicsIsCalledAgain(t *testing.T) {
	panics := true
	a := oidcOf(t, Credential{Tokens: func(context.Context, TokenRequest) (Token, error) {
		if panics {
			panic("mine")
		}
		return Token{Access: "t"}, nil
	}})
	func() {
		defer func() { _ = recover() }()
		_ = finish(t, a.Begin("h"), oidcServer(18, "t"))
	}()
	panics = false
	if err := finish(t, a.Begin("h"), oidcServer(18, "t")); err != nil {
		t.Error(err)
	}
}

// Source: Driver Authentication, "Credential Caching", "Reauthentication" and "Speculative Authentication".
func TestWhichTokenIsUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		a := oidcOf(t, Credential{Tokens: counting(&calls)})
		check := func(what string, err error, fails bool, want int64) {
			t.Helper()
			if (err != nil) != fails || calls.Load() != want {
				t.Errorf("%s: %v after %d calls, want an error: %t, %d calls", what, err, calls.Load(), fails, want)
			}
		}
		one, other := a.Begin("h"), a.Begin("h")
		if doc, err := one.Speculative(t.Context()); doc != nil || err != nil {
			t.Errorf("hello has %v, %v, and there is no token", bson.Raw(doc), err)
		}
		check("the first", finish(t, one, oidcServer(18, "t1")), false, 1)
		check("the second", finish(t, other, oidcServer(18, "t1")), false, 1)
		check("a refused token is replaced", finish(t, a.Begin("h"), oidcServer(18, "t2")), false, 2)
		check("an expired login whose token was replaced uses the new one", one.Again(t.Context(), oidcServer(18, "t2")), false, 2)
		check("and then another", one.Again(t.Context(), oidcServer(18, "t3")), false, 3)
		check("another error keeps the token", finish(t, a.Begin("h"), oidcServer(20)), true, 3)
		check("it is still there", finish(t, a.Begin("h"), oidcServer(18, "t3")), false, 3)
		check("a new token that is refused too", finish(t, a.Begin("h"), oidcServer(18)), true, 4)
		check("is not kept", finish(t, a.Begin("h"), oidcServer(18, "t5")), false, 5)

		speculative := a.Begin("h")
		doc, err := speculative.Speculative(t.Context())
		if _, payload := bson.Raw(doc).Lookup("payload").Binary(); err != nil || bson.Raw(payload).Lookup("jwt").StringValue() != "t5" {
			t.Errorf("hello has %v, %v", bson.Raw(doc), err)
		}
		check("hello logs in", speculative.Finish(t.Context(), nil, reply{done: true}.document(), oidcServer(18)), false, 5)
		check("its token can expire", speculative.Again(t.Context(), oidcServer(18, "t6")), false, 6)
		again := a.Begin("h")
		if _, err := again.Speculative(t.Context()); err != nil {
			t.Fatal(err)
		}
		check("a hello that does not log in keeps the token", finish(t, again, oidcServer(18, "t6")), false, 6)
	})
}

// However fast others fill the cache with tokens of no use, a login ends.
func TestALoginHasAnEndWhileOthersGetBadTokens(t *testing.T) {
	a := oidcOf(t, Credential{Tokens: func(context.Context, TokenRequest) (Token, error) { return Token{}, errNoToken }})
	cache, n := a.first.(*oidc).tokens, 0
	fill := func() {
		n++
		cache.mu.Lock()
		defer cache.mu.Unlock()
		cache.access = fmt.Sprintf("bad%d", n)
	}
	fill()
	err := finish(t, a.Begin("h"), func(context.Context, string, []byte) ([]byte, error) {
		defer fill()
		return nil, refusal(18)
	})
	if !errors.Is(err, refusal(18)) || n > maxConversations+1 {
		t.Errorf("%v after %d conversations", err, n)
	}
}

func TestAPersonNeedsAProviderAtEveryCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var requests []TokenRequest
		refresh := "r"
		a := oidcOf(t, Credential{
			Username: "ada", People: true, AllowedHosts: []string{"h"},
			Tokens: func(_ context.Context, r TokenRequest) (Token, error) {
				requests = append(requests, r)
				return Token{Access: fmt.Sprintf("t%d", len(requests)), Refresh: &refresh}, nil
			},
		})
		// The token is forgotten between the question whether the provider is known and the call.
		l := a.Begin("h")
		exchange := l.mechanism.Begin("h").(*oidcConversation).own
		if _, err := exchange.token(t.Context(), nil); !errors.Is(err, errNoProvider) {
			t.Errorf("error %v", err)
		}
		if err := finish(t, l, oidcServer(18, "t1")); err != nil {
			t.Fatal(err)
		}
		if err := l.Again(t.Context(), oidcServer(18, "t3")); err != nil { // t2 is refused
			t.Fatal(err)
		}
		for i, r := range requests {
			if r.Provider == nil || r.Provider.Issuer != "https://issuer" || (r.Refresh != nil) != (i == 1) {
				t.Errorf("call %d got %+v", i, r)
			}
		}
		if len(requests) != 3 {
			t.Errorf("%d calls", len(requests))
		}
	})
}

func TestOnlyAllowedHostsSeeAnythingOfAPerson(t *testing.T) {
	for _, c := range []struct {
		allowed, host string
		want          bool
	}{
		{"*.mongodb.net", "a.b.mongodb.net", true},
		{"*.mongodb.net", "A.MongoDB.net", true},
		{"*.mongodb.net", "mongodb.net", false},
		{"*.mongodb.net", "a.mongodb.net.evil.com", false},
		{"*.mongodb.net", "amongodb.net", false},
		{"a.b", "axb", false},
		{"::1", "::1", true},
		{"[::1]", "::1", true},
		{" localhost ", "localhost", true},
		{"*", "/tmp/mongodb.sock", true},
		{"a[b", "a[b", true},
		{"", "", true},
		{"", "a", false},
	} {
		a := oidcOf(t, Credential{People: true, AllowedHosts: []string{"never.example", c.allowed}, Tokens: counting(new(atomic.Int64))})
		sent := false
		err := finish(t, a.Begin(c.host), func(ctx context.Context, db string, command []byte) ([]byte, error) {
			sent = true
			return oidcServer(18, "t1")(ctx, db, command)
		})
		if (err == nil) != c.want || sent != c.want {
			t.Errorf("%q for %q: %v, a message was sent: %t", c.allowed, c.host, err, sent)
		}
		// A token that is kept is not sent either.
		a.first.(*oidc).tokens.access = "t1"
		if doc, err := a.Begin(c.host).Speculative(t.Context()); (err == nil) != c.want || (doc != nil) != c.want {
			t.Errorf("%q for %q: hello has %v, %v", c.allowed, c.host, bson.Raw(doc), err)
		}
	}
}

func TestAServerMustEndTheConversationAfterTheToken(t *testing.T) {
	a := oidcOf(t, Credential{Tokens: counting(new(atomic.Int64))})
	for name, answer := range map[string]reply{"no end": {}, "a provider": {payload: string(document(bson.D{}))}} {
		if err := finish(t, a.Begin("h"), func(context.Context, string, []byte) ([]byte, error) { return answer.document(), nil }); !errors.Is(err, errNoEnd) {
			t.Errorf("%s: %v", name, err)
		}
	}
	person := oidcOf(t, Credential{People: true, AllowedHosts: []string{"h"}, Tokens: counting(new(atomic.Int64))})
	for name, c := range map[string]struct {
		answer reply
		want   error
	}{
		"success before the token": {reply{done: true, payload: string(document(bson.D{}))}, errTooEarly},
		"no document":              {reply{payload: "x"}, nil},
	} {
		err := finish(t, person.Begin("h"), func(context.Context, string, []byte) ([]byte, error) { return c.answer.document(), nil })
		if err == nil || c.want != nil && !errors.Is(err, c.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// No verb prints a token.
func TestTokensAreNotPrinted(t *testing.T) {
	a := oidcOf(t, Credential{Tokens: func(context.Context, TokenRequest) (Token, error) { return Token{Access: "s3cr3t"}, nil }})
	if err := finish(t, a.Begin("h"), oidcServer(18, "s3cr3t")); err != nil {
		t.Fatal(err)
	}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(verb, a); strings.Contains(text, "s3cr3t") || !strings.Contains(text, OIDC) {
			t.Errorf("%s prints %s", verb, text)
		}
	}
}

// The most conversations of one login: with a token that is kept, with a refresh token, and from the beginning.
func TestAPersonIsAskedAfterEachTokenWasRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		refresh := "r"
		a := oidcOf(t, Credential{People: true, AllowedHosts: []string{"h"}, Tokens: func(context.Context, TokenRequest) (Token, error) {
			return Token{Access: fmt.Sprintf("t%d", calls.Add(1)), Refresh: &refresh}, nil
		}})
		if err := finish(t, a.Begin("h"), oidcServer(18, "t1")); err != nil {
			t.Fatal(err)
		}
		if err := finish(t, a.Begin("h"), oidcServer(18, "t3")); err != nil || calls.Load() != 3 {
			t.Errorf("%v after %d calls", err, calls.Load())
		}
	})
}

// A token that is kept is sent at once: the server is not asked for the provider.
func TestAKeptTokenOfAPersonNeedsNoQuestion(t *testing.T) {
	a := oidcOf(t, Credential{People: true, AllowedHosts: []string{"h"}, Tokens: counting(new(atomic.Int64))})
	if err := finish(t, a.Begin("h"), oidcServer(18, "t1")); err != nil {
		t.Fatal(err)
	}
	sent := 0
	err := finish(t, a.Begin("h"), func(ctx context.Context, db string, command []byte) ([]byte, error) {
		sent++
		return oidcServer(18, "t1")(ctx, db, command)
	})
	if err != nil || sent != 1 {
		t.Errorf("%v after %d messages", err, sent)
	}
}

// A refresh that the end of the context has stopped is not followed by another question to the server.
func TestARefreshThatIsStoppedEndsTheLogin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		refresh := "r"
		a := oidcOf(t, Credential{People: true, AllowedHosts: []string{"h"}, Tokens: func(ctx context.Context, r TokenRequest) (Token, error) {
			if r.Refresh != nil {
				<-ctx.Done()
				return Token{}, ctx.Err()
			}
			return Token{Access: "t1", Refresh: &refresh}, nil
		}})
		l := a.Begin("h")
		if err := finish(t, l, oidcServer(18, "t1")); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		err := l.Again(ctx, func(context.Context, string, []byte) ([]byte, error) {
			t.Error("a message was sent")
			return nil, refusal(18)
		})
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("error %v", err)
		}
	})
}

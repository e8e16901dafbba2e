package kv

import (
	"context"
	"errors"
	"strings"
	"testing"
)

func TestACredentialThatIsAskedFor(t *testing.T) {
	mine := errors.New("mine")
	name, secret := "user", "first"
	var failure error
	first := login(t, Credential{Username: name, Password: secret, Mechanisms: []string{ScramSHA256}})
	l := first.AskedBy(func(_ context.Context, address string) (Credential, error) {
		if address != "a:1" {
			panic(mine)
		}
		return Credential{Username: name, Password: secret, Mechanisms: []string{ScramSHA256}}, failure
	})
	if got, err := l.forConnection(t.Context(), "a:1", false); got != first || err != nil {
		t.Errorf("the same credential needs no other keys: %v %v", got, err)
	}
	secret = "second"
	second, err := l.forConnection(t.Context(), "a:1", false)
	if err != nil || second == first || second.credential.Password != "second" || second.mechanisms(false)[0] != ScramSHA256 {
		t.Errorf("another credential has the same mechanisms: %+v %v", second, err)
	}
	if again, err := l.forConnection(t.Context(), "a:1", false); again != second || err != nil {
		t.Errorf("its keys are kept: %v %v", again, err)
	}
	failure = mine
	if _, err := l.forConnection(t.Context(), "a:1", false); !errors.Is(err, mine) || !errors.Is(err, ErrBadCredentials) {
		t.Errorf("an error: %v", err)
	}
	failure, name = nil, ""
	if _, err := l.forConnection(t.Context(), "a:1", false); !errors.Is(err, ErrBadCredentials) || !strings.Contains(err.Error(), "Username") {
		t.Errorf("no name: %v", err)
	}
	if _, err := l.forConnection(t.Context(), "other", false); !errors.Is(err, ErrBadCredentials) || !errors.Is(err, mine) || !strings.Contains(err.Error(), "panicked in ") {
		t.Errorf("a panic: %v", err)
	}
}

// A token must not be sent without TLS, also if the application's first answer was a password.
func TestATokenThatIsAskedForNeedsTLS(t *testing.T) {
	l := login(t, Credential{Username: "u", Password: "p"}).AskedBy(func(context.Context, string) (Credential, error) {
		return Credential{Token: "secret"}, nil
	})
	if _, err := l.forConnection(t.Context(), "a:1", false); !errors.Is(err, ErrBadCredentials) || !strings.Contains(err.Error(), "Token needs TLS") {
		t.Errorf("without TLS: %v", err)
	}
	if _, err := l.forConnection(t.Context(), "a:1", true); err != nil {
		t.Errorf("with TLS: %v", err)
	}
}

func TestALoginKeepsItsOwnListOfMechanisms(t *testing.T) {
	list := []string{ScramSHA256}
	l := login(t, Credential{Username: "u", Password: "p", Mechanisms: list})
	list[0] = ScramSHA1
	if got := l.mechanisms(true); len(got) != 1 || got[0] != ScramSHA256 {
		t.Errorf("the caller changed the mechanisms to %v", got)
	}
}

package scramclient

import (
	"crypto/md5"
	"encoding/hex"
	"strings"
	"testing"

	"github.com/xdg-go/scram"
)

const (
	username = "user"
	password = "pencil"
)

func mechanism(t testing.TB, hash scram.HashGeneratorFcn, secret string) *Mechanism {
	t.Helper()
	m, err := New(func() (*scram.Client, error) { return hash.NewClientUnprepped(username, secret, "") })
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// digest is the secret of SCRAM-SHA-1 in MongoDB.
func digest() string {
	sum := md5.Sum([]byte(username + ":mongo:" + password))
	return hex.EncodeToString(sum[:])
}

// The conversations of RFC 7677 and of MongoDB's Driver Authentication specification.
func TestThePublishedConversations(t *testing.T) {
	for _, c := range []struct {
		name, secret                  string
		hash                          scram.HashGeneratorFcn
		nonce, first, final, verifier string
	}{
		{
			"SHA-1", digest(), scram.SHA1, "fyko+d2lbbFgONRv9qkxdawL",
			"r=fyko+d2lbbFgONRv9qkxdawLHo+Vgk7qvUOKUwuWLIWg4l/9SraGMHEE,s=rQ9ZY3MntBeuP3E1TDVC4w==,i=10000",
			"c=biws,r=fyko+d2lbbFgONRv9qkxdawLHo+Vgk7qvUOKUwuWLIWg4l/9SraGMHEE,p=MC2T8BvbmWRckDw8oWl5IVghwCY=",
			"v=UMWeI25JD1yNYZRMpZ4VHvhZ9e0=",
		},
		{
			"SHA-256", password, scram.SHA256, "rOprNGfwEbeRWgbNEkqO",
			"r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096",
			"c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=",
			"v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := mechanism(t, c.hash, c.secret)
			m.keyring.WithNonceGenerator(func() string { return c.nonce })
			talk := m.Begin()
			if first, err := talk.Start(); err != nil || string(first) != "n,,n=user,r="+c.nonce {
				t.Fatalf("the first message is %q: %v", first, err)
			}
			if final, err := talk.Next([]byte(c.first)); err != nil || string(final) != c.final {
				t.Fatalf("the final message is %q: %v", final, err)
			}
			if _, err := talk.Next([]byte(c.verifier)); err != nil || !talk.Complete() {
				t.Errorf("the server's proof is refused: %v", err)
			}
		})
	}
}

// honest is the server's side.
func honest(t testing.TB) *scram.ServerConversation {
	t.Helper()
	client, err := scram.SHA256.NewClientUnprepped(username, password, "")
	if err != nil {
		t.Fatal(err)
	}
	known, err := client.GetStoredCredentialsWithError(scram.KeyFactors{Salt: "salt", Iters: LeastIterations})
	if err != nil {
		t.Fatal(err)
	}
	server, err := scram.SHA256.NewServer(func(string) (scram.StoredCredentials, error) { return known, nil })
	if err != nil {
		t.Fatal(err)
	}
	return server.NewConversation()
}

// login makes a conversation with an honest server, whose last message is changed.
func login(t testing.TB, m *Mechanism, change func(verifier string) string) error {
	t.Helper()
	server, talk := honest(t), m.Begin()
	message, err := talk.Start()
	for range 2 {
		if err != nil {
			return err
		}
		answer, failed := server.Step(string(message))
		if failed != nil {
			t.Fatal(failed)
		}
		if server.Done() {
			answer = change(answer)
		}
		message, err = talk.Next([]byte(answer))
	}
	if err == nil && !talk.Complete() {
		t.Fatal("the login is not complete")
	}
	return err
}

func same(verifier string) string { return verifier }

// The many iterations are paid once for a credential, not once for a connection.
func TestTheDerivedKeysAreKept(t *testing.T) {
	m := mechanism(t, scram.SHA256, password)
	kept := m.keyring
	for range 3 * mostUnproved {
		if err := login(t, m, same); err != nil {
			t.Fatal(err)
		}
	}
	if m.keyring != kept || m.unproved != 0 {
		t.Errorf("the keys were dropped, %d conversations are unproved", m.unproved)
	}
}

func TestAServerThatProvesNothingDoesNotFillTheMemory(t *testing.T) {
	m := mechanism(t, scram.SHA256, password)
	first := m.keyring
	for n := range 17 {
		if m.keyring != first {
			t.Fatalf("the keys were dropped after %d conversations, want 16", n)
		}
		if err := login(t, m, func(string) string { return "" }); err == nil {
			t.Fatal("an impostor is accepted")
		}
	}
	if m.keyring == first || m.unproved != 1 {
		t.Errorf("the keys are kept after 17 conversations without a proof; %d are counted", m.unproved)
	}
}

func TestWhatAServerMayNotAskFor(t *testing.T) {
	for _, c := range []struct{ name, old, with, want string }{
		{"fewer than 4096 iterations", "i=4096", "i=4095", "too few iterations"},
		{"more than a million iterations, which take seconds", "i=4096", "i=1000001", "more than"},
		{"iterations that are no number", "i=4096", "i=99999999999999999999", "more than"},
		{"a nonce that is not ours", "r=", "r=x", "nonce"},
	} {
		t.Run(c.name, func(t *testing.T) {
			server, talk := honest(t), mechanism(t, scram.SHA256, password).Begin()
			message, err := talk.Start()
			if err != nil {
				t.Fatal(err)
			}
			answer, err := server.Step(string(message))
			if err != nil {
				t.Fatal(err)
			}
			if _, err = talk.Next([]byte(strings.Replace(answer, c.old, c.with, 1))); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("error %v, want %q", err, c.want)
			}
		})
	}
}

// FuzzServerFirst gives arbitrary first messages of a server, after the client's own nonce.
func FuzzServerFirst(f *testing.F) {
	f.Add("more,s=c2FsdA==,i=4096", "v=AAAA")
	f.Add(",s=,i=4096", "e=other-error")
	f.Add("more,s=c2FsdA==,i=-1,i=4096", "")
	m := mechanism(f, scram.SHA1, digest())
	f.Fuzz(func(t *testing.T, rest, final string) {
		if checkIterations(rest) != nil {
			return
		}
		m.keyring.WithNonceGenerator(func() string { return "nonce" })
		talk := m.Begin()
		if _, err := talk.Start(); err != nil {
			t.Fatal(err)
		}
		if _, err := talk.Next([]byte("r=nonce" + rest)); err != nil {
			return
		}
		if _, err := talk.Next([]byte(final)); err == nil {
			t.Fatalf("accepts %q, %q", rest, final)
		}
	})
}

package scramserver

import (
	"bytes"
	"crypto/hmac"
	"crypto/pbkdf2"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/xdg-go/scram"

	"github.com/holdfast-db/holdfast/internal/base/scramclient"
	"github.com/holdfast-db/holdfast/internal/mongo/auth"
)

const (
	user     = "a=b,c"
	password = "pencil"
)

// keysOf derives a verifier and the client's key by the formulas of RFC 5802, section 3.
func keysOf(t testing.TB, name, secret string, salt []byte, iterations int) (v Verifier, clientKey []byte) {
	t.Helper()
	m, err := mechanismOf(name)
	if err != nil {
		t.Fatal(err)
	}
	salted, err := pbkdf2.Key(m.hash, secret, salt, iterations, m.size)
	if err != nil {
		t.Fatal(err)
	}
	sign := func(text string) []byte {
		mac := hmac.New(m.hash, salted)
		mac.Write([]byte(text))
		return mac.Sum(nil)
	}
	clientKey = sign("Client Key")
	hash := m.hash()
	hash.Write(clientKey)
	return Verifier{Salt: salt, Iterations: iterations, StoredKey: hash.Sum(nil), ServerKey: sign("Server Key")}, clientKey
}

func decoded(t *testing.T, text string) []byte {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Source: RFC 5802, section 5; RFC 7677, section 3.
func TestThePublishedConversations(t *testing.T) {
	for _, c := range []struct{ name, salt, clientNonce, serverNonce, proof, signature string }{
		{auth.SCRAMSHA1, "QSXCR+Q6sek8bf92", "fyko+d2lbbFgONRv9qkxdawL", "3rfcNHYJY1ZVvWVs7j", "v0X8v3Bz2T0CJGbJQyF0X+HI4Ts=", "rmF9pqV8S7suAoZWja4dJRkFsKQ="},
		{
			auth.SCRAMSHA256, "W22ZaJ0SNY7soEsUEjb6gQ==", "rOprNGfwEbeRWgbNEkqO", "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0",
			"dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=", "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, wantKey := keysOf(t, c.name, password, decoded(t, c.salt), 4096)
			m, _ := mechanismOf(c.name)
			server, err := m.hash.NewServer(func(string) (scram.StoredCredentials, error) {
				return scram.StoredCredentials{KeyFactors: scram.KeyFactors{Salt: string(v.Salt), Iters: v.Iterations}, StoredKey: v.StoredKey, ServerKey: v.ServerKey}, nil
			})
			if err != nil {
				t.Fatal(err)
			}
			server.WithNonceGenerator(func() string { return c.serverNonce })
			talk, first, err := begin(server, m, "n,,n=user,r="+c.clientNonce, v.StoredKey)
			if err != nil || string(first) != "r="+c.clientNonce+c.serverNonce+",s="+c.salt+",i=4096" {
				t.Fatalf("the first message is %q: %v", first, err)
			}
			final, key, err := talk.Finish([]byte("c=biws,r=" + c.clientNonce + c.serverNonce + ",p=" + c.proof))
			if err != nil || string(final) != "v="+c.signature {
				t.Fatalf("the final message is %q: %v", final, err)
			}
			if !bytes.Equal(key, wantKey) {
				t.Error("the client's key is not that of the password")
			}
		})
	}
}

// client returns a conversation of the client's side.
func client(t testing.TB, name, password string) *scramclient.Conversation {
	t.Helper()
	m, err := mechanismOf(name)
	if err != nil {
		t.Fatal(err)
	}
	secret, ok := auth.ScramSecret(name, user, password)
	if !ok {
		t.Fatal("the password is forbidden")
	}
	c, err := scramclient.New(func() (*scram.Client, error) { return m.hash.NewClientUnprepped(user, secret, "") })
	if err != nil {
		t.Fatal(err)
	}
	return c.Begin()
}

// login lets a client log in. Its final message is changed on its way.
func login(t testing.TB, name, password string, v Verifier, change func([]byte) []byte) (key []byte, err error) {
	t.Helper()
	c := client(t, name, password)
	first, err := c.Start()
	if err != nil {
		t.Fatal(err)
	}
	if got, err := UserOf(first); err != nil || got != user {
		t.Fatalf("the user is %q: %v", got, err)
	}
	talk, answer, err := Begin(name, first, v)
	if err != nil {
		t.Fatal(err)
	}
	final, err := c.Next(answer)
	if err != nil {
		t.Fatal(err)
	}
	end, key, err := talk.Finish(change(final))
	if err != nil {
		if end != nil || key != nil {
			t.Error("there is an answer beside the error")
		}
		return nil, err
	}
	if _, err := c.Next(end); err != nil || !c.Complete() {
		t.Errorf("the client does not believe the server: %v", err)
	}
	if _, _, err := talk.Finish(final); !errors.Is(err, errFinal) {
		t.Errorf("a conversation is finished twice: %v", err)
	}
	return key, nil
}

func unchanged(message []byte) []byte { return message }

func TestALoginRecoversTheClientsKey(t *testing.T) {
	for _, name := range []string{auth.SCRAMSHA1, auth.SCRAMSHA256} {
		v, err := NewVerifier(name, user, password)
		if err != nil || v.Check(name) != nil {
			t.Fatalf("%s: %v, %v", name, err, v.Check(name))
		}
		secret, ok := auth.ScramSecret(name, user, password)
		if !ok {
			t.Fatal("the password is forbidden")
		}
		same, want := keysOf(t, name, secret, v.Salt, v.Iterations)
		if !bytes.Equal(same.StoredKey, v.StoredKey) || !bytes.Equal(same.ServerKey, v.ServerKey) {
			t.Errorf("%s: the verifier is not that of the password", name)
		}
		if key, err := login(t, name, password, v, unchanged); err != nil || !bytes.Equal(key, want) {
			t.Errorf("%s: the login fails or has another key: %v", name, err)
		}
		if _, err := login(t, name, "pencils", v, unchanged); !errors.Is(err, errFinal) {
			t.Errorf("%s: a wrong password: %v", name, err)
		}
		if _, err := login(t, name, password, Fake([]byte("s"), name, "admin", user), unchanged); !errors.Is(err, errFinal) {
			t.Errorf("%s: a fake verifier: %v", name, err)
		}
	}
}

func TestAChangedFinalMessageIsRefused(t *testing.T) {
	v, err := NewVerifier(auth.SCRAMSHA256, user, password)
	if err != nil {
		t.Fatal(err)
	}
	replace := func(old, with string) func([]byte) []byte {
		return func(b []byte) []byte { return []byte(strings.Replace(string(b), old, with, 1)) }
	}
	for name, change := range map[string]func([]byte) []byte{
		"another nonce":           replace(",r=", ",r=x"),
		"another header":          replace("c=biws", "c=eSws"),
		"an extension":            replace(",p=", ",x=y,p="),
		"no proof":                func(b []byte) []byte { return b[:bytes.LastIndex(b, []byte(",p="))] },
		"a short proof":           func(b []byte) []byte { return append(b[:bytes.LastIndex(b, []byte(",p="))], ",p=AAAA"...) },
		"a proof of other bytes":  func(b []byte) []byte { return append(b[:len(b)-44], bytes.Repeat([]byte("A"), 44)...) },
		"nothing":                 func([]byte) []byte { return nil },
		"more fields than it may": replace(",p=", strings.Repeat(",x=y", mostFields)+",p="),
		"more bytes than it may":  replace(",p=", ",x="+strings.Repeat("y", mostBytes)+",p="),
	} {
		if _, err := login(t, auth.SCRAMSHA256, password, v, change); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestTheClientsFirstMessage(t *testing.T) {
	v := Fake(nil, auth.SCRAMSHA256, "admin", "u")
	for message, want := range map[string]string{
		"n,,n=u,r=x": "u", "y,,n=u,r=x": "u", "n,,n=u,r=x,e=f": "u", "n,a=u,n=u,r=x": "u", "n,,n==2C=3D2C,r=x": ",=2C", "n,,n=ü,r=x": "ü",
	} {
		if got, err := UserOf([]byte(message)); err != nil || got != want {
			t.Errorf("%q: the user is %q: %v, want %q", message, got, err, want)
		}
		if _, _, err := Begin(auth.SCRAMSHA256, []byte(message), v); err != nil {
			t.Errorf("%q is refused: %v", message, err)
		}
	}
	for message, want := range map[string]error{
		"":                            errFirst,
		"n,,n=u":                      errFirst,
		"p=tls-unique,,n=u,r=x":       errFirst,
		"p=tls-server-end-point,,n=u": errFirst,
		"x,,n=u,r=x":                  errFirst,
		"n,,m=1,n=u,r=x":              errFirst,
		"n,,n=a=b,r=x":                errFirst,
		"n,u,n=u,r=x":                 errFirst,
		"n,a=root,n=u,r=x":            errIdentity,
		"n,,n=,r=x":                   errName,
		"n,,n=a\x00b,r=x":             errName,
		"n,,n=\xff,r=x":               errName,
		"n,,n=u,r=" + strings.Repeat("x", mostBytes):         errTooLong,
		"n,,n=u,r=x" + strings.Repeat(",", mostFields):       errTooLong,
		"n,,n=" + strings.Repeat("=2C", mostBytes/3) + ",r=": errTooLong,
	} {
		if _, err := UserOf([]byte(message)); !errors.Is(err, want) {
			t.Errorf("%.40q: error %v, want %v", message, err, want)
		}
		if c, answer, err := Begin(auth.SCRAMSHA256, []byte(message), v); !errors.Is(err, want) || c != nil || answer != nil {
			t.Errorf("%.40q: Begin's error is %v, want %v", message, err, want)
		}
	}
}

func TestBeginChecksTheVerifier(t *testing.T) {
	for _, c := range []struct {
		name string
		v    Verifier
		want string
	}{
		{"PLAIN", Verifier{}, "the mechanism"},
		{auth.SCRAMSHA256, Verifier{}, "iterationCount"},
		{auth.SCRAMSHA256, Fake(nil, auth.SCRAMSHA1, "admin", "u"), "storedKey"},
	} {
		if _, _, err := Begin(c.name, []byte("n,,n=u,r=x"), c.v); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

// A client that nobody knows yet makes the server allocate nothing by a long message.
func TestALongMessageIsRefusedWithoutACopy(t *testing.T) {
	for _, text := range []string{",", "=2C", "n,,n=u,r=x"} {
		message := bytes.Repeat([]byte(text), 1<<20/len(text))
		allocated := testing.AllocsPerRun(1, func() {
			if _, err := UserOf(message); !errors.Is(err, errTooLong) {
				t.Errorf("%q: %v", text, err)
			}
		})
		if allocated != 0 {
			t.Errorf("%q: %v allocations", text, allocated)
		}
	}
}

// FuzzClient sends arbitrary messages of a client that does not know the password.
func FuzzClient(f *testing.F) {
	f.Add([]byte("n,,n=u,r=x"), []byte(",p="+strings.Repeat("A", 43)+"="), true)
	f.Add([]byte("y,a=u,n=u,r=,e=f"), []byte(",x=y,p=AAAA"), true)
	f.Add([]byte("p=tls-unique,,n=u,r=x"), []byte("c=biws,r=x,p=="), false)
	f.Add([]byte("n,,n==2C=3D,r=x"), []byte(",p=\r\n"), true)
	v := Fake([]byte("secret"), auth.SCRAMSHA256, "admin", "u")
	f.Fuzz(func(t *testing.T, first, final []byte, well bool) {
		name, err := UserOf(first)
		c, answer, began := Begin(auth.SCRAMSHA256, first, v)
		if (err == nil) != (began == nil) {
			t.Fatalf("UserOf: %v, Begin: %v", err, began)
		}
		if err != nil {
			return
		}
		if name == "" || len(name) > len(first) || len(answer) > len(first)+200 {
			t.Fatalf("the name is %q, the answer %q", name, answer)
		}
		if well { // what a client must repeat, so that the fuzzer reaches the proof
			header := first[:bytes.Index(first, []byte(",n="))+1]
			nonce, _, _ := bytes.Cut(answer, []byte(","))
			final = fmt.Appendf(nil, "c=%s,%s%s", base64.StdEncoding.EncodeToString(header), nonce, final)
		}
		if _, key, err := c.Finish(final); err == nil || key != nil {
			t.Fatalf("accepts %q, %q", first, final)
		}
	})
}

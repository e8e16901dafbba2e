package auth

import (
	"crypto/hmac"
	"crypto/md5"
	"crypto/pbkdf2"
	"crypto/sha1"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/internal/base/scramclient"
)

// keysOf derives the keys of the scripted server's user.
func keysOf(t *testing.T, mechanism string) *ScramKeys {
	t.Helper()
	newHash, size, secret := sha256.New, sha256.Size, password
	if mechanism == SCRAMSHA1 {
		sum := md5.Sum([]byte(username + ":mongo:" + password))
		newHash, size, secret = sha1.New, sha1.Size, hex.EncodeToString(sum[:])
	}
	salted, err := pbkdf2.Key(newHash, secret, []byte("salt"), scramclient.LeastIterations, size)
	if err != nil {
		t.Fatal(err)
	}
	return &ScramKeys{
		Mechanism: mechanism, Source: "admin", Username: username, Salt: []byte("salt"), Iterations: scramclient.LeastIterations,
		ClientKey: macOf(newHash, salted, "Client Key"), ServerKey: macOf(newHash, salted, "Server Key"),
	}
}

func macOf(newHash func() hash.Hash, key []byte, text string) []byte {
	h := hmac.New(newHash, key)
	h.Write([]byte(text))
	return h.Sum(nil)
}

func TestALoginWithKeys(t *testing.T) {
	for _, mechanism := range []string{SCRAMSHA1, SCRAMSHA256} {
		for _, keepEmpty := range []bool{false, true} {
			s := &server{mechanism: mechanism, keepEmpty: keepEmpty}
			if err := NewWithKeys(keysOf(t, mechanism)).Begin("host").Finish(t.Context(), nil, nil, s.send); err != nil {
				t.Errorf("%s: %v", mechanism, err)
			}
			if s.database != "admin" || !slices.Contains(s.names(), "saslContinue") {
				t.Errorf("%s: %q got %v", mechanism, s.database, s.names())
			}
		}
	}
}

func TestALoginWithKeysWithHello(t *testing.T) {
	s := &server{mechanism: SCRAMSHA256}
	l := NewWithKeys(keysOf(t, SCRAMSHA256)).Begin("host")
	speculative, err := l.Speculative(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	answer, err := s.answer(speculative)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Finish(t.Context(), nil, answer, s.send); err != nil {
		t.Error(err)
	}
}

func TestALoginWithKeysFails(t *testing.T) {
	for name, c := range map[string]struct {
		keys   func(*ScramKeys)
		change func(n int, honest reply) reply
		want   error // nil: that of the server
	}{
		"another client key":      {keys: func(k *ScramKeys) { k.ClientKey = slices.Repeat([]byte{1}, len(k.ClientKey)) }},
		"a short client key":      {keys: func(k *ScramKeys) { k.ClientKey = k.ClientKey[1:] }, want: errOtherPassword},
		"another salt":            {keys: func(k *ScramKeys) { k.Salt = []byte("other") }, want: errOtherPassword},
		"other iterations":        {keys: func(k *ScramKeys) { k.Iterations++ }, want: errOtherPassword},
		"another server key":      {keys: func(k *ScramKeys) { k.ServerKey = slices.Repeat([]byte{1}, len(k.ServerKey)) }, want: errServerProof},
		"our nonce alone":         {change: first(func(p string) string { n, rest, _ := strings.Cut(p, ","); return n[:34] + "," + rest }), want: errServerFirst},
		"another nonce":           {change: first(func(p string) string { return "r=x" + p[2:] }), want: errServerFirst},
		"no salt":                 {change: first(func(p string) string { return strings.Replace(p, ",s=", ",x=", 1) }), want: errServerFirst},
		"no iterations":           {change: first(func(p string) string { p, _, _ = strings.Cut(p, ",i="); return p }), want: errServerFirst},
		"iterations of no number": {change: first(func(p string) string { return p + "x" }), want: errServerFirst},
		"an early end":            {change: func(_ int, r reply) reply { r.done = true; return r }, want: errTooEarly},
		"no proof": {change: func(n int, r reply) reply {
			if n == 1 {
				r.payload = "v="
			}
			return r
		}, want: errServerProof},
	} {
		t.Run(name, func(t *testing.T) {
			s := &server{mechanism: SCRAMSHA256, change: c.change}
			keys := keysOf(t, SCRAMSHA256)
			if c.keys != nil {
				c.keys(keys)
			}
			err := NewWithKeys(keys).Begin("host").Finish(t.Context(), nil, nil, s.send)
			if want := c.want; want == nil {
				want = errRefused
				if !errors.Is(err, want) {
					t.Errorf("the error is %v", err)
				}
			} else if !errors.Is(err, want) {
				t.Errorf("the error is %v, want %v", err, want)
			}
		})
	}
}

// first changes the server's first message.
func first(change func(string) string) func(int, reply) reply {
	return func(n int, r reply) reply {
		if n == 0 {
			r.payload = change(r.payload)
		}
		return r
	}
}

func TestScramKeysAreNotPrinted(t *testing.T) {
	keys := keysOf(t, SCRAMSHA256)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%x", "%d"} {
		for _, text := range []string{fmt.Sprintf(verb, keys), fmt.Sprintf(verb, NewWithKeys(keys))} {
			if strings.Contains(text, username) || strings.Contains(text, fmt.Sprintf("%x", keys.ClientKey)) || strings.Contains(text, string(keys.ClientKey)) {
				t.Errorf("%s prints %q", verb, text)
			}
		}
	}
}

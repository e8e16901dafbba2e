package auth

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// ScramKeys prove to a server that somebody has the password of a user, without the password: whoever has checked a proof knows them. A router
// has them of those who have logged in to it. Source: RFC 5802, section 3.
type ScramKeys struct {
	Mechanism string // SCRAMSHA1 or SCRAMSHA256
	Source    string // the database that knows the user
	Username  string
	// Salt and Iterations are those from which the keys were derived. A server that has others has another password.
	Salt                 []byte
	Iterations           int
	ClientKey, ServerKey []byte
}

// String returns the mechanism and the source.
func (k *ScramKeys) String() string {
	return fmt.Sprintf("SCRAM keys (mechanism %q, source %q)", k.Mechanism, k.Source)
}

// GoString returns the same as String.
func (k *ScramKeys) GoString() string { return k.String() }

// Format prints the same as String for every verb.
func (k *ScramKeys) Format(f fmt.State, _ rune) { _, _ = fmt.Fprint(f, k.String()) }

// NewWithKeys returns an Authenticator that needs no password.
func NewWithKeys(k *ScramKeys) *Authenticator {
	return &Authenticator{source: k.Source, first: withKeys{k}}
}

// withKeys is the mechanism of SCRAM without the password.
type withKeys struct{ keys *ScramKeys }

func (m withKeys) Name() string                       { return m.keys.Mechanism }
func (m withKeys) Speculate(host string) Conversation { return m.Begin(host) }

func (m withKeys) Begin(string) Conversation {
	return &saslConversation{exchange: &keysExchange{keys: m.keys}, mechanism: m.Name(), skipEmpty: true}
}

// keysExchange is one conversation.
type keysExchange struct {
	keys     *ScramKeys
	nonce    string
	message  string // the AuthMessage; empty before the server's first message
	verified bool
}

const headerGS2, channelBinding = "n,,", "biws" // no channel binding: "biws" is base64 of "n,,"

func (e *keysExchange) start(context.Context) ([]byte, error) {
	var nonce [24]byte
	_, _ = rand.Read(nonce[:]) // it does not fail
	e.nonce = base64.StdEncoding.EncodeToString(nonce[:])
	return []byte(headerGS2 + e.bare()), nil
}

// bare returns the first message without its header.
func (e *keysExchange) bare() string {
	return "n=" + strings.NewReplacer("=", "=3D", ",", "=2C").Replace(e.keys.Username) + ",r=" + e.nonce
}

func (e *keysExchange) next(_ context.Context, payload []byte) ([]byte, error) {
	if e.message == "" {
		return e.prove(string(payload))
	}
	return nil, e.verify(string(payload))
}

func (e *keysExchange) complete() bool { return e.verified }

var (
	errOtherPassword = errors.New("the password of the user has changed since the login: the server has another salt")
	errServerFirst   = errors.New("the server's first message of SCRAM is malformed")
	errServerProof   = errors.New("the server has not proved that it knows the user's credentials")
)

// prove answers the server's first message.
func (e *keysExchange) prove(first string) ([]byte, error) {
	nonce, salt, iterations, err := parseServerFirst(first)
	switch {
	case err != nil:
		return nil, err
	case !strings.HasPrefix(nonce, e.nonce) || len(nonce) == len(e.nonce):
		return nil, errServerFirst
	case !bytes.Equal(salt, e.keys.Salt) || iterations != e.keys.Iterations:
		return nil, errOtherPassword
	}
	final := "c=" + channelBinding + ",r=" + nonce
	e.message = e.bare() + "," + first + "," + final
	signature := e.mac(e.hashed(e.keys.ClientKey))
	if len(signature) != len(e.keys.ClientKey) {
		return nil, errOtherPassword
	}
	for i, b := range e.keys.ClientKey {
		signature[i] ^= b
	}
	return []byte(final + ",p=" + base64.StdEncoding.EncodeToString(signature)), nil
}

// parseServerFirst reads "r=nonce,s=salt,i=iterations". Extensions may follow.
func parseServerFirst(first string) (nonce string, salt []byte, iterations int, err error) {
	fields := strings.SplitN(first, ",", 4)
	if len(fields) < 3 {
		return "", nil, 0, errServerFirst
	}
	nonce, okNonce := strings.CutPrefix(fields[0], "r=")
	encoded, okSalt := strings.CutPrefix(fields[1], "s=")
	count, okCount := strings.CutPrefix(fields[2], "i=")
	salt, badSalt := base64.StdEncoding.DecodeString(encoded)
	iterations, badCount := strconv.Atoi(count)
	if !okNonce || !okSalt || !okCount || badSalt != nil || badCount != nil {
		return "", nil, 0, errServerFirst
	}
	return nonce, salt, iterations, nil
}

// verify checks the server's last message.
func (e *keysExchange) verify(last string) error {
	encoded, ok := strings.CutPrefix(last, "v=")
	encoded, _, _ = strings.Cut(encoded, ",")
	proof, err := base64.StdEncoding.DecodeString(encoded)
	if !ok || err != nil || !hmac.Equal(proof, e.mac(e.keys.ServerKey)) {
		return errServerProof
	}
	e.verified = true
	return nil
}

func (e *keysExchange) hashed(b []byte) []byte {
	h := scramHash(e.keys.Mechanism)()
	h.Write(b)
	return h.Sum(nil)
}

// mac returns the signature of the AuthMessage.
func (e *keysExchange) mac(key []byte) []byte {
	h := hmac.New(scramHash(e.keys.Mechanism), key)
	h.Write([]byte(e.message))
	return h.Sum(nil)
}

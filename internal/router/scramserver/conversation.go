package scramserver

import (
	"bytes"
	"crypto/hmac"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/xdg-go/scram"
)

// A client's message may not have more, so that one costs little before its client is known. Those of drivers have a name, a nonce and
// a proof in four fields.
const (
	mostBytes  = 4 << 10
	mostFields = 16
)

var (
	errTooLong  = fmt.Errorf("the client's message is too long; it must have at most %d bytes and %d fields", mostBytes, mostFields)
	errFirst    = errors.New("the client's first message is not one of SCRAM without channel binding (RFC 5802, section 7)")
	errName     = errors.New("the name in the client's first message must be UTF-8, not empty, and without a zero byte")
	errIdentity = errors.New("the client's first message has an authorization identity; it must be the user's name, or absent")
	errFinal    = errors.New("the client's final message or its proof is wrong")
)

func checkSize(message []byte) error {
	if len(message) > mostBytes || bytes.Count(message, []byte(",")) >= mostFields {
		return errTooLong
	}
	return nil
}

func checkName(name string) error {
	if name == "" || !utf8.ValidString(name) || strings.ContainsRune(name, 0) {
		return errName
	}
	return nil
}

// UserOf returns the name in a client's first message.
func UserOf(clientFirst []byte) (string, error) {
	if err := checkSize(clientFirst); err != nil {
		return "", err
	}
	server, err := scram.SHA256.NewServer(func(string) (scram.StoredCredentials, error) { return scram.StoredCredentials{}, nil })
	if err != nil {
		return "", err
	}
	c := server.NewConversation()
	if _, err := c.Step(string(clientFirst)); err != nil {
		return "", errFirst // the library's error has what the client sent
	}
	if id := c.AuthzID(); id != "" && id != c.Username() {
		return "", errIdentity
	}
	return c.Username(), checkName(c.Username())
}

// Conversation is one login, as seen by the server, whose first message has been answered. It is not safe for concurrent use. It is
// never printed with its keys.
type Conversation struct {
	scram     *scram.ServerConversation
	mechanism mechanism
	storedKey []byte
	begun     string // client-first-message-bare, server-first-message and a comma: the beginning of the AuthMessage
}

// Format prints the user for every verb.
func (c Conversation) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "conversation of %q", c.scram.Username())
}

// Begin answers a client's first message. The channel binding must be "n" or "y".
func Begin(name string, clientFirst []byte, v Verifier) (c *Conversation, serverFirst []byte, err error) {
	if err := v.Check(name); err != nil {
		return nil, nil, err
	}
	if _, err := UserOf(clientFirst); err != nil {
		return nil, nil, err
	}
	m, err := mechanismOf(name)
	if err != nil {
		return nil, nil, err
	}
	kept := scram.StoredCredentials{
		KeyFactors: scram.KeyFactors{Salt: string(v.Salt), Iters: v.Iterations}, StoredKey: v.StoredKey, ServerKey: v.ServerKey,
	}
	server, err := m.hash.NewServer(func(string) (scram.StoredCredentials, error) { return kept, nil })
	if err != nil {
		return nil, nil, err
	}
	return begin(server, m, string(clientFirst), v.StoredKey)
}

func begin(server *scram.Server, m mechanism, clientFirst string, storedKey []byte) (*Conversation, []byte, error) {
	c := &Conversation{scram: server.NewConversation(), mechanism: m, storedKey: storedKey}
	answer, err := c.scram.Step(clientFirst)
	if err != nil {
		return nil, nil, errFirst
	}
	bare := strings.SplitN(clientFirst, ",", 3)[2] // after the header of GS2, which has two fields
	c.begun = bare + "," + answer + ","
	return c, []byte(answer), nil
}

// Finish checks a client's final message, once. It returns the answer, and the client's key (RFC 5802, section 3).
func (c *Conversation) Finish(clientFinal []byte) (serverFinal, clientKey []byte, err error) {
	if err := checkSize(clientFinal); err != nil {
		return nil, nil, err
	}
	answer, err := c.scram.Step(string(clientFinal)) // it compares in constant time
	if err != nil || !c.scram.Valid() {
		return nil, nil, errFinal
	}
	clientKey, err = c.clientKey(string(clientFinal))
	return []byte(answer), clientKey, err
}

// clientKey returns the client's key, from a final message that the library has checked.
func (c *Conversation) clientKey(final string) ([]byte, error) {
	end := strings.LastIndex(final, ",p=")
	if end < 0 {
		return nil, errFinal
	}
	key, err := base64.StdEncoding.DecodeString(final[end+len(",p="):])
	if err != nil || len(key) != c.mechanism.size {
		return nil, errFinal
	}
	mac := hmac.New(c.mechanism.hash, c.storedKey)
	_, _ = mac.Write([]byte(c.begun + final[:end]))
	subtle.XORBytes(key, key, mac.Sum(nil))
	return key, nil
}

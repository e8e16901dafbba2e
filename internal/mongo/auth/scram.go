package auth

import (
	"context"
	"crypto/md5"
	"encoding/hex"
	"errors"

	"github.com/xdg-go/scram"
	"github.com/xdg-go/stringprep"

	"github.com/holdfast-db/holdfast/internal/base/scramclient"
)

// scramMechanism is SCRAM-SHA-1 or SCRAM-SHA-256.
type scramMechanism struct {
	*scramclient.Mechanism
	name string
}

func newSCRAM(name string, c Credential) (*scramMechanism, error) {
	secret, ok := ScramSecret(name, c.Username, c.Password)
	if !ok {
		return nil, errors.New("the credential's Password has characters that SASLprep (RFC 4013) forbids; " + SCRAMSHA256 + " needs it")
	}
	m, err := scramclient.New(func() (*scram.Client, error) { return scramHash(name).NewClientUnprepped(c.Username, secret, "") })
	return &scramMechanism{Mechanism: m, name: name}, err
}

// ScramSecret returns what a mechanism of SCRAM takes for the password. It is not ok if SASLprep forbids the password, which SCRAM-SHA-256 needs.
// Source: Driver Authentication, "SCRAM-SHA-1" and "SCRAM-SHA-256".
func ScramSecret(mechanism, username, password string) (secret string, ok bool) {
	if mechanism == SCRAMSHA1 {
		sum := md5.Sum([]byte(username + ":mongo:" + password)) //nolint:gosec // SCRAM-SHA-1 in MongoDB begins with it
		return hex.EncodeToString(sum[:]), true
	}
	prepared, err := stringprep.SASLprep.Prepare(password)
	return prepared, err == nil // the library's error shows a part of the password
}

func scramHash(mechanism string) scram.HashGeneratorFcn {
	if mechanism == SCRAMSHA1 {
		return scram.SHA1
	}
	return scram.SHA256
}

func (m *scramMechanism) Name() string                       { return m.name }
func (m *scramMechanism) Speculate(host string) Conversation { return m.Begin(host) }

func (m *scramMechanism) Begin(string) Conversation {
	return &saslConversation{exchange: scramExchange{m.Mechanism.Begin()}, mechanism: m.name, skipEmpty: true}
}

// scramExchange is one conversation.
type scramExchange struct{ conversation *scramclient.Conversation }

func (e scramExchange) start(context.Context) ([]byte, error) { return e.conversation.Start() }

func (e scramExchange) next(_ context.Context, payload []byte) ([]byte, error) {
	return e.conversation.Next(payload)
}

func (e scramExchange) complete() bool { return e.conversation.Complete() }

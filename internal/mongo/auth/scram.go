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
	var newKeyring func() (*scram.Client, error)
	if name == SCRAMSHA1 {
		sum := md5.Sum([]byte(c.Username + ":mongo:" + c.Password)) //nolint:gosec // SCRAM-SHA-1 in MongoDB begins with it
		digest := hex.EncodeToString(sum[:])
		newKeyring = func() (*scram.Client, error) { return scram.SHA1.NewClientUnprepped(c.Username, digest, "") }
	} else {
		prepared, err := stringprep.SASLprep.Prepare(c.Password)
		if err != nil { // the library's error shows a part of the password
			return nil, errors.New("the credential's Password has characters that SASLprep (RFC 4013) forbids; " + SCRAMSHA256 + " needs it")
		}
		newKeyring = func() (*scram.Client, error) { return scram.SHA256.NewClientUnprepped(c.Username, prepared, "") }
	}
	m, err := scramclient.New(newKeyring)
	return &scramMechanism{Mechanism: m, name: name}, err
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

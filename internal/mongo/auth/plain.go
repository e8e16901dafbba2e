package auth

import (
	"context"
	"errors"
)

// plain is PLAIN (RFC 4616). It sends the password as it is, so it needs TLS to keep it secret.
type plain struct{ credential Credential }

func (p *plain) Name() string                  { return Plain }
func (p *plain) Speculate(string) Conversation { return nil }

func (p *plain) Begin(string) Conversation {
	return &saslConversation{exchange: plainExchange{p.credential}, mechanism: Plain, last: true}
}

type plainExchange struct{ credential Credential }

func (p plainExchange) start(context.Context) ([]byte, error) {
	return []byte("\x00" + p.credential.Username + "\x00" + p.credential.Password), nil
}

func (plainExchange) next(context.Context, []byte) ([]byte, error) {
	return nil, errors.New("PLAIN has one message only")
}

func (plainExchange) complete() bool { return true }

package auth

import (
	"context"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// x509 is MONGODB-X509: the certificate of the TLS connection names the user. The name is not sent, because the server
// reads it from the certificate.
type x509 struct{}

func (x509) Name() string                  { return X509 }
func (x509) Speculate(string) Conversation { return x509Conversation{} }
func (x509) Begin(string) Conversation     { return x509Conversation{} }

type x509Conversation struct{}

func (x509Conversation) Start(context.Context) ([]byte, error) {
	return wire.AppendString(wire.AppendInt32(nil, "authenticate", 1), "mechanism", X509), nil
}

// Next accepts every reply. The proof of the server's identity is its own certificate.
func (x509Conversation) Next(_ context.Context, reply []byte) ([]byte, error) {
	_, err := wire.DocumentLength(reply)
	return nil, err
}

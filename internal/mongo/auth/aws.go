package auth

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// Keys are the access keys of AWS. They are safe for concurrent use.
type Keys interface {
	// Sign signs the request that tells the server who the user is.
	Sign(context.Context, IdentityRequest) (SignedRequest, error)
	// Forget says that a login has failed: keys that are kept may be of no use.
	Forget()
}

// IdentityRequest is what the signature of a request depends on, apart from the key.
type IdentityRequest struct {
	Host, Region string // of the Security Token Service
	ServerNonce  string // in base64
}

// SignedRequest is what the server needs to send the request.
type SignedRequest struct {
	Authorization string // the header
	Date          string // the header X-Amz-Date
	SessionToken  string // of a temporary key, else empty
}

// aws is MONGODB-AWS: the client signs a request to the Security Token Service, and the server sends that request to learn who the
// user is. The secret key itself is not sent. Source: Driver Authentication, "MONGODB-AWS".
type aws struct{ keys Keys }

func (a *aws) Name() string                  { return AWS }
func (a *aws) Speculate(string) Conversation { return nil }

func (a *aws) Begin(string) Conversation {
	return &awsConversation{saslConversation{exchange: &awsExchange{keys: a.keys}, mechanism: AWS}, a.keys}
}

type awsConversation struct {
	saslConversation
	keys Keys
}

// refused forgets the keys after any failure. A login with other keys is the business of the next connection.
func (c *awsConversation) refused(int32) bool {
	c.keys.Forget()
	return false
}

// expired forgets the keys.
func (c *awsConversation) expired() { c.keys.Forget() }

const (
	clientNonceLength = 32
	serverNonceLength = 64
	maxHostLength     = 255 // RFC 1035
	noChannelBinding  = 'n'
)

type awsExchange struct {
	keys  Keys
	nonce [clientNonceLength]byte
	sent  bool // the signature
}

func (e *awsExchange) complete() bool { return e.sent }

func (e *awsExchange) start(context.Context) ([]byte, error) {
	_, _ = rand.Read(e.nonce[:])
	at, doc := wire.BeginDocument(nil)
	doc = wire.AppendBinary(doc, "r", 0, e.nonce[:])
	return wire.EndDocument(wire.AppendInt32(doc, "p", noChannelBinding), at), nil
}

// next checks the server's nonce and host, and signs the request for that host.
func (e *awsExchange) next(ctx context.Context, payload []byte) ([]byte, error) {
	var first struct {
		Nonce bson.Binary `bson:"s"`
		Host  string      `bson:"h"`
	}
	if err := bson.Unmarshal(payload, &first); err != nil {
		return nil, fmt.Errorf("%w: the server's first message: %w", wire.ErrMalformed, err)
	}
	nonce := first.Nonce.Data
	if len(nonce) != serverNonceLength || !bytes.Equal(nonce[:clientNonceLength], e.nonce[:]) {
		return nil, errServerNonce
	}
	region, err := regionOf(first.Host)
	if err != nil {
		return nil, err
	}
	signed, err := e.keys.Sign(ctx, IdentityRequest{Host: first.Host, Region: region, ServerNonce: base64.StdEncoding.EncodeToString(nonce)})
	if err != nil {
		return nil, err
	}
	e.sent = true
	at, doc := wire.BeginDocument(nil)
	doc = wire.AppendString(doc, "a", signed.Authorization)
	doc = wire.AppendString(doc, "d", signed.Date)
	if signed.SessionToken != "" {
		doc = wire.AppendString(doc, "t", signed.SessionToken)
	}
	return wire.EndDocument(doc, at), nil
}

var (
	errServerNonce = errors.New("the server's nonce must have 64 bytes, of which the first 32 are the client's")
	errHost        = errors.New("the server's host of the Security Token Service must be a name of 1 to 255 bytes without an empty label")
)

// regionOf returns the region in the name of a host. Source: Driver Authentication, "Region Calculation".
func regionOf(host string) (string, error) {
	labels := strings.Split(host, ".")
	for _, label := range labels {
		if label == "" {
			return "", errHost
		}
	}
	switch {
	case len(host) > maxHostLength:
		return "", errHost
	case host == "sts.amazonaws.com" || host == "aws.amazonaws.com" || len(labels) == 1:
		return "us-east-1", nil
	}
	return labels[1], nil
}

package prove

import (
	"context"
	"net"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Client is what the experiment needs of a driver. A client is used by one writer at a time.
type Client interface {
	// Update sends an updateOne of the experiment's collection. An error is the driver's own, unchanged. The result does
	// not matter: an update that matches nothing is a success.
	Update(ctx context.Context, u Update) error
	// Read returns every document of the experiment's collection, from the primary at read concern "majority", or "local"
	// where the target is a standalone.
	Read(ctx context.Context) ([]bson.Raw, error)
	// Run runs a command on the primary and returns its reply.
	Run(ctx context.Context, database string, command bson.D) (bson.Raw, error)
	// Judge says what an application can know of an error of Update.
	Judge(err error) Trouble
	// Close ends the client and its connections.
	Close(ctx context.Context) error
}

// Dial makes a client. It need not wait for a server.
type Dial func(Target) (Client, error)

// Dialer opens connections; the drivers' own dialer options take it as it is.
type Dialer interface {
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
}

// Target says what a client is to be connected to, and how.
type Target struct {
	URI         string
	Dialer      Dialer // nil: the driver's own
	Database    string
	Collection  string
	RetryWrites bool
	W           string // the write concern: "majority" or "1"
	Standalone  bool   // the server is no replica set
	Timing      Timing
}

// Update is one update of one document.
type Update struct {
	Filter, Change bson.D
	Upsert         bool
}

// Kind is what an application sees of an error: what its own retry loop can go by.
type Kind uint8

// The kinds.
const (
	// Refused: the server answered with an error that says nothing about its state, or the client refused to send.
	Refused Kind = iota
	// Network: the connection failed or was cleared away, or the member answered that it is not, or no longer, the primary,
	// or is shutting down or recovering.
	Network
	// Overload: the error has the labels SystemOverloadedError and RetryableError.
	Overload
	// NoServer: server selection gave up. It has waited already, so a loop that retries network errors does not count it as
	// one; a client may as well call it Refused.
	NoServer
	// Interrupted: the context ended.
	Interrupted
)

// Claim is what a client's answer says about the operation's effect.
type Claim uint8

// The claims.
const (
	Unknown    Claim = iota // it may have been applied or not
	NotApplied              // nothing was sent, or the server refused it
	Applied                 // acknowledged
)

// Trouble is what an application can know of an error.
type Trouble struct {
	Kind  Kind
	Claim Claim
}

package prove

import (
	"context"
	"net"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/mongo/once"
)

// Client is the interface to a driver. Only one writer at a time uses a client.
type Client interface {
	// Update runs an updateOne on the experiment's collection. It returns the driver's own error, unchanged. An
	// update that matches no document is a success.
	Update(ctx context.Context, u Update) error
	// Once returns the experiment's collection with exactly-once updates. Their commands, except finds, pass through the function.
	Once(through func(once.Commands) once.Commands) (*once.Collection, error)
	// Read returns all documents of the experiment's collection. It reads from the primary with read concern
	// "majority", or "local" if the target is a standalone.
	Read(ctx context.Context) ([]bson.Raw, error)
	// Run runs a command on the primary and returns its reply.
	Run(ctx context.Context, database string, command bson.D) (bson.Raw, error)
	// Judge returns the information that an application has about an error of Update.
	Judge(err error) Trouble
	// Close closes the client and its connections.
	Close(ctx context.Context) error
}

// Dial creates a client. It need not wait for a server.
type Dial func(Target) (Client, error)

// Dialer opens connections. The dialer options of the drivers accept it.
type Dialer interface {
	DialContext(ctx context.Context, network, address string) (net.Conn, error)
}

// Target has the options for a client's connection.
type Target struct {
	URI         string
	Dialer      Dialer // nil: the driver's own
	Database    string
	Collection  string
	RetryWrites bool
	W           string // the write concern: "majority" or "1"
	Standalone  bool   // the server is not a member of a replica set
	Timing      Timing
	Monitor     *event.CommandMonitor // if not nil, it gets the client's command events
}

// Update is one update of one document.
type Update struct {
	Filter, Change bson.D
	Upsert         bool
}

// ErrorKind is the kind of an error, as far as an application can see it. A retry loop of the application decides by it.
type ErrorKind uint8

// The kinds.
const (
	// Refused means that the server returned an error that is not a state change error, or that the client did not
	// send the operation.
	Refused ErrorKind = iota
	// Network means a network error, a cleared pool, or a state change error (not primary, shutting down,
	// recovering).
	Network
	// Overload means that the error has the labels SystemOverloadedError and RetryableError.
	Overload
	// NoServer means that server selection timed out. It has waited already, so a loop that retries network errors
	// does not retry it. A client may return Refused instead.
	NoServer
	// Interrupted means that the context ended.
	Interrupted
)

// Claim is the effect of an operation according to the client.
type Claim uint8

// The claims.
const (
	Unknown    Claim = iota // it may have been applied or not
	NotApplied              // nothing was sent, or the server returned an error
	Applied                 // acknowledged
)

// Trouble is the information that an application has about an error.
type Trouble struct {
	Kind  ErrorKind
	Claim Claim
}

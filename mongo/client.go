package mongo

import (
	"context"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// Client is a handle for a MongoDB deployment: a pool and a monitor for each of its servers. It is safe for concurrent
// use; a program needs one for each deployment.
type Client struct {
	runner    *operation.Runner
	scope     scope
	timeout   time.Duration // of operations whose context has no deadline; 0 means none
	threshold time.Duration
	heartbeat time.Duration
	closed    atomic.Bool
}

// scope is what a client, a database or a collection passes on to its operations.
type scope struct {
	codec          codec
	readConcern    operation.ReadConcern
	writeConcern   *writeconcern.WriteConcern
	readPreference *readpref.ReadPref
	// reads selects by readPreference; it is made once, so that an operation makes none.
	reads *topology.Selection
}

const defaultHeartbeat = 10 * time.Second

func newClient(runner *operation.Runner, o *options.ClientOptions) *Client {
	c := &Client{
		runner:    runner,
		timeout:   valueOr(o.Timeout, 0),
		threshold: valueOr(o.LocalThreshold, defaultLocalThreshold),
		heartbeat: valueOr(o.HeartbeatInterval, defaultHeartbeat),
	}
	s := scope{
		codec: codec{registry: o.Registry, options: o.BSONOptions}, writeConcern: o.WriteConcern,
	}
	if o.ReadConcern != nil {
		s.readConcern.Level = o.ReadConcern.Level
	}
	c.scope = s.prefer(c, o.ReadPreference)
	return c
}

// prefer returns the scope with another read preference.
func (s scope) prefer(c *Client, rp *readpref.ReadPref) scope {
	if rp == nil {
		rp = readpref.Primary()
	}
	s.readPreference, s.reads = rp, c.selection(rp)
	return s
}

func (c *Client) selection(rp *readpref.ReadPref) *topology.Selection {
	return &topology.Selection{ReadPref: rp, LocalThreshold: c.threshold, HeartbeatInterval: c.heartbeat}
}

// writable selects the primary, a mongos, or a standalone.
var writable = &topology.Selection{Write: true, LocalThreshold: defaultLocalThreshold}

// run runs one operation within the client's timeout.
func (c *Client) run(ctx context.Context, op *operation.Operation) error {
	if c.closed.Load() {
		return ErrClientDisconnected
	}
	ctx = orBackground(ctx)
	if c.timeout > 0 {
		if _, ok := ctx.Deadline(); !ok {
			var cancel context.CancelFunc
			ctx, cancel = context.WithTimeout(ctx, c.timeout)
			defer cancel()
		}
	}
	return c.runner.Run(ctx, op)
}

// orBackground stands for a missing context, which the official driver lets pass.
func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

// Ping asks a server that suits rp, the client's read preference if rp is nil, whether it is there.
func (c *Client) Ping(ctx context.Context, rp *readpref.ReadPref) error {
	db := c.Database("admin")
	runOptions := options.RunCmd()
	if rp != nil {
		runOptions.SetReadPreference(rp)
	} else {
		runOptions.SetReadPreference(c.scope.readPreference)
	}
	return db.RunCommand(ctx, pingCommand, runOptions).Err()
}

// Disconnect ends the client: new operations are refused with ErrClientDisconnected, those in flight may finish until
// ctx ends and are then broken off, and the servers are told that the sessions are over.
func (c *Client) Disconnect(ctx context.Context) error {
	if c.closed.Swap(true) {
		return ErrClientDisconnected
	}
	c.runner.Close(orBackground(ctx))
	return nil
}

// Database returns a handle for a database. Options that are not given are the client's.
func (c *Client) Database(name string, opts ...options.Lister[options.DatabaseOptions]) *Database {
	o, err := collect(databaseFields, opts)
	if err != nil {
		return &Database{client: c, name: name, err: err}
	}
	return &Database{client: c, name: name, scope: c.scope.narrow(c, scopeOptions(o))}
}

package mongo

import (
	"context"
	"errors"
	"net"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mongo/unwrap"
	"github.com/holdfast-db/holdfast/retry"
)

// Client is a handle for a MongoDB deployment, with a connection pool and a monitor for each server. A program needs
// one Client for each deployment. It is safe for concurrent use.
type Client struct {
	runner    *operation.Runner
	scope     scope
	writes    *topology.Selection // selects the primary, a mongos, or a standalone
	timeout   time.Duration       // limit of operations whose context has no deadline; 0 means none
	threshold time.Duration
	heartbeat time.Duration
	declares  bool // an API version, with every command
	closed    atomic.Bool

	maxResumeTime time.Duration // of change streams; 0 means no limit
}

// scope has the options that a client, a database or a collection gives to its operations.
type scope struct {
	codec          codec
	readConcern    operation.ReadConcern
	writeConcern   operation.WriteConcern
	writeRefused   error // the error of writes with this write concern
	readPreference *readpref.ReadPref
	// reads selects a server by readPreference. It is made once, so that operations do not allocate it.
	reads *topology.Selection
}

func init() {
	unwrap.Runner = func(client any) *operation.Runner { return client.(*Client).runner }
	unwrap.Connect = func(config any, o *options.ClientOptions, socket func(net.Conn) net.Conn) (any, error) {
		cfg := config.(Config)
		cfg.socket = socket
		return cfg.connect(o)
	}
}

const defaultHeartbeat = 10 * time.Second

func newClient(runner *operation.Runner, o *options.ClientOptions, wTimeout time.Duration) *Client {
	c := &Client{
		runner:    runner,
		timeout:   valueOr(o.Timeout, 0),
		threshold: valueOr(o.LocalThreshold, defaultLocalThreshold),
		heartbeat: valueOr(o.HeartbeatInterval, defaultHeartbeat),
		declares:  o.ServerAPIOptions != nil,
	}
	c.writes = &topology.Selection{Write: true, LocalThreshold: c.threshold}
	s := scope{codec: codec{registry: o.Registry, options: o.BSONOptions}}.confirm(o.WriteConcern)
	s.writeConcern.Timeout = wTimeout
	if o.ReadConcern != nil {
		s.readConcern.Level = o.ReadConcern.Level
	}
	c.scope = s.prefer(c, o.ReadPreference)
	return c
}

// confirm returns the scope with another write concern, which has no wtimeout.
func (s scope) confirm(wc *writeconcern.WriteConcern) scope {
	s.writeConcern, s.writeRefused = operation.WriteConcern{WriteConcern: wc}, checkWriteConcern(wc)
	return s
}

// prefer returns the scope with another read preference. Nil means primary.
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

// run runs one operation, in the session of ctx if op has none. If ctx has no deadline, the client's timeout applies. If ctx has ended,
// nothing is sent, and the error is that of ctx; but the end of a transaction changes its session.
func (c *Client) run(ctx context.Context, op *operation.Operation) error {
	if c.closed.Load() {
		return ErrClientDisconnected
	}
	if op.Session == nil {
		var err error
		if op.Session, err = c.sessionOf(ctx); err != nil {
			return err
		}
	}
	if c.runner.Traces() && op.Traced == nil {
		return c.traced(ctx, op)
	}
	return c.runIn(ctx, op)
}

// runIn is run with the operation's session.
func (c *Client) runIn(ctx context.Context, op *operation.Operation) error {
	ctx, cancel := c.withTimeout(ctx)
	defer cancel()
	if err := ctx.Err(); err != nil && !op.EndsTransaction() {
		return err // bare, as the official driver's: programs compare it by ==
	}
	op.Request = requestOf(ctx, c)
	err := withHistory(c.runner.Run(ctx, op))
	if err != nil && c.closed.Load() && closedWhileSelecting(err) {
		return ErrClientDisconnected
	}
	return err
}

// withTimeout returns ctx with the client's timeout, if there is one and ctx has no deadline.
func (c *Client) withTimeout(ctx context.Context) (context.Context, context.CancelFunc) {
	ctx = orBackground(ctx)
	if c.timeout > 0 {
		if _, ok := ctx.Deadline(); !ok {
			return context.WithTimeout(ctx, c.timeout)
		}
	}
	return ctx, noCancel
}

func noCancel() {}

// closedWhileSelecting reports whether Disconnect ended the selection of a server for the first attempt. After other
// attempts the error is theirs.
func closedWhileSelecting(err error) bool {
	var history *retry.Error
	return errors.Is(err, cluster.ErrPoolClosed) && (!errors.As(err, &history) || history.Total == 0)
}

// orBackground replaces a nil context, which the official driver accepts too.
func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

// Ping sends the command ping to a server that matches rp. A nil rp means the client's read preference. The error is
// nil if the server answers.
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

// Disconnect closes the client. New operations return ErrClientDisconnected. Disconnect waits for the operations in
// flight; if ctx ends first, it interrupts them. Without a deadline in ctx it waits for at most 2 seconds, and only for operations
// that have a server: those that wait for one end at once. An operation of which nothing was sent returns
// ErrClientDisconnected. The error of one that was interrupted matches it by errors.Is, and has a history that says whether the
// operation may have been applied. Then Disconnect ends the server sessions, which takes at most a second, and closes all
// connections. A second call returns ErrClientDisconnected.
//
// A listener of events may call Disconnect, also one that an operation or a connection waits for. Disconnect waits at most
// a second for the calls of listeners that began before it, and for later ones until ctx ends. When ctx has ended, it returns
// within 50 milliseconds, whatever listeners do; what a listener blocks then ends when the listener has returned.
func (c *Client) Disconnect(ctx context.Context) error {
	if c.closed.Swap(true) {
		return ErrClientDisconnected
	}
	c.runner.Close(orBackground(ctx))
	return nil
}

// Database returns a handle for a database. Options that are not given come from the client. An empty name, or an option
// that is not supported, is an error of the handle's operations.
func (c *Client) Database(name string, opts ...options.Lister[options.DatabaseOptions]) *Database {
	o, err := collect(databaseFields, opts)
	if err == nil && name == "" {
		err = errEmptyDatabaseName
	}
	if err != nil {
		return &Database{client: c, name: name, err: err}
	}
	return &Database{client: c, name: name, scope: c.scope.narrow(c, scopeOptions(o))}
}

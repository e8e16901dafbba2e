package operation

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/internal/mutant"
	"github.com/holdfast-db/holdfast/retry"
)

// Kind says by which rule an operation is retried.
type Kind uint8

// The kinds of operation.
const (
	Read    Kind = iota // by retryReads
	Write               // by retryWrites
	Generic             // runCommand: sent as it is
)

// Command is what differs from one operation to another.
type Command interface {
	// AppendTo writes the command's own elements, its name first, behind dst. It is called once for each attempt.
	AppendTo(dst []byte, attempt Attempt) ([]byte, error)
	// Accept reads the result from a reply that is ok, copying the parts that it keeps, and returns the error of a write
	// that the reply reports. It may be called once for each attempt; only the last call counts.
	Accept(reply *Reply) error
}

// Attempt is the attempt for which a command is written.
type Attempt struct {
	Number int // from 0
	// Server is the server as it was at the connection's handshake.
	Server *topology.Server
}

// Sequencer is a Command whose documents travel in document sequences, behind its body.
type Sequencer interface {
	Command
	// AppendSequences writes the sequences, each begun and ended, behind dst.
	AppendSequences(dst []byte) []byte
}

// Operation describes one database command. It is used by one goroutine.
type Operation struct {
	Name     string // of the command
	Database string
	Command  Command
	Kind     Kind

	// Retryable: the operation is on its rule's list (for a write: acknowledged, and no statement is multi).
	Retryable bool
	// Effect is what doing the operation twice would mean to the application.
	Effect retry.Effect
	// Selection says which servers suit.
	Selection *topology.Selection
	// ReadPreference travels with the command; nil means primary.
	ReadPreference *readpref.ReadPref
	// ReadConcern is sent with the times of the session. Nil means that the command has none.
	ReadConcern  *ReadConcern
	WriteConcern *writeconcern.WriteConcern
	// OwnTimeLimit: the command writes maxTimeMS itself, or must have none, whatever the deadline is.
	OwnTimeLimit bool
	// Session is the session to run in. Nil means an implicit one that ends with the operation.
	Session *Session
	// Pin ties the operation to a server. Nil means the session's pin, if that has one.
	Pin *Pin
}

func (o *Operation) unacknowledged() bool { return o.Kind == Write && !o.WriteConcern.Acknowledged() }

// Config is what a Runner needs to know.
type Config struct {
	Cluster            *cluster.Cluster
	Monitor            *event.CommandMonitor
	RetryReads         bool
	RetryWrites        bool
	MaxAdaptiveRetries int
	Retarget           bool // enableOverloadRetargeting
	Mutant             mutant.Client
}

// Runner runs the operations of one client. It is safe for concurrent use.
type Runner struct {
	cfg      Config
	engine   *retry.Engine
	sessions SessionPool
	clock    clock
}

// NewRunner returns a runner on a cluster.
func NewRunner(cfg Config) (*Runner, error) {
	engine, err := retry.New(retry.Options{Strategy: retry.Once(), DeadlineMode: retry.DeadlineGiveUp})
	if err != nil {
		return nil, err
	}
	return &Runner{cfg: cfg, engine: engine}, nil
}

// Cluster returns the cluster on which operations run.
func (r *Runner) Cluster() *cluster.Cluster { return r.cfg.Cluster }

var requestIDs atomic.Int32

// runs recycles what an operation needs while it is under way. Nothing of it outlives Run.
var runs = sync.Pool{New: func() any { return new(run) }}

var emptyRun run

// Run runs one operation, with retries, and returns the error that the application is to see.
func (r *Runner) Run(ctx context.Context, op *Operation) error {
	if op.Session != nil && op.Session.ended {
		return ErrSessionEnded
	}
	run := runs.Get().(*run)
	run.begin(r, op)
	err := r.engine.Do(ctx, retry.Operation{Strategy: run, Effect: op.Effect, Data: op}, run.attempt)
	run.implicit.End()
	*run = emptyRun
	runs.Put(run)
	if err == nil {
		return nil
	}
	return final(err, op.Kind)
}

// begin gives the operation its session and its pin.
func (r *run) begin(runner *Runner, op *Operation) {
	r.Runner, r.op, r.pin = runner, op, op.Pin
	switch op.Session {
	case NoSession:
		return
	case nil:
		r.implicit.pool = &runner.sessions
		r.session = &r.implicit
	default:
		r.session = op.Session
	}
	if r.pin == nil {
		r.pin = r.session.Pin
	}
}

// endSessionsTimeout is how long the client waits at most, when it is closed, for a server to end the client's sessions.
const endSessionsTimeout = time.Second

// Close ends the runner: operations in flight may finish until ctx ends and are then broken off; the servers are told
// that the sessions are over; the cluster is closed.
func (r *Runner) Close(ctx context.Context) {
	r.cfg.Cluster.Drain(ctx)
	ctx, cancel := context.WithTimeout(ctx, endSessionsTimeout)
	defer cancel()
	r.endSessions(ctx)
	r.cfg.Cluster.Close()
}

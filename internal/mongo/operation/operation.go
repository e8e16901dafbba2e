package operation

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
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
	AppendTo(dst []byte, server *topology.Server) ([]byte, error)
	// Accept takes the result out of a reply that is ok, copying what it keeps, and returns the error of a write that
	// the reply tells. It may be called once for each attempt; only the last call counts.
	Accept(reply *Reply) error
}

// Sequencer is a Command whose documents travel in a document sequence.
type Sequencer interface {
	Command
	// AppendSequence writes the section's documents; identifier names them.
	AppendSequence(dst []byte) []byte
	Identifier() string
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
	ReadConcern    *readconcern.ReadConcern
	WriteConcern   *writeconcern.WriteConcern
	// Server, if set, is the only one that will do: a cursor lives on it.
	Server *cluster.Server
	// Session is the session to use. Nil means an implicit one for this operation, which ends with it unless
	// KeepSession is set; then it is left here for the caller to end.
	Session     *Session
	KeepSession bool
	// Sessionless: the command is about sessions and has none of its own.
	Sessionless bool
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
	run := runs.Get().(*run)
	run.Runner, run.op, run.session = r, op, op.Session
	err := r.engine.Do(ctx, retry.Operation{Strategy: run, Effect: op.Effect, Data: op}, run.attempt)
	run.endSession()
	*run = emptyRun
	runs.Put(run)
	if err == nil {
		return nil
	}
	return final(err, op.Kind)
}

// farewell is how long the client waits at most, at its end, for a server to hear that its sessions are over.
const farewell = time.Second

// Close ends the runner: operations in flight may finish until ctx ends and are then broken off; the servers are told
// that the sessions are over; the cluster is closed.
func (r *Runner) Close(ctx context.Context) {
	r.cfg.Cluster.Drain(ctx)
	ctx, cancel := context.WithTimeout(ctx, farewell)
	defer cancel()
	r.endSessions(ctx)
	r.cfg.Cluster.Close()
}

// Reply is a command's reply, its top-level elements found in one pass. Everything aliases the connection's buffer.
type Reply struct {
	Body   bson.Raw
	Server *cluster.Server

	OK                bool
	Code              int32
	CodeName, Message []byte
	Labels            []byte // an array
	N, NModified      int64
	Cursor            []byte // a document
	Upserted          []byte // an array
	WriteErrors       []byte // an array
	WriteConcernError []byte // a document
	Value             bson.RawValue

	clusterTime, topologyVersion []byte
	baseBackoffMS                int64
}

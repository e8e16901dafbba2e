package operation

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/internal/base/mutant"
	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/logging"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/retry"
)

// Kind determines the retry rule of an operation.
type Kind uint8

// The kinds of operation.
const (
	Read    Kind = iota // retried if retryReads is set
	Write               // retried if retryWrites is set
	Generic             // runCommand: retried for overload only
)

// Command writes the fields of one kind of operation and reads its result.
type Command interface {
	// AppendTo appends the command's own elements to dst, its name first. It is called once for each attempt.
	AppendTo(dst []byte, attempt Attempt) ([]byte, error)
	// Accept reads the result from a reply with "ok: 1" and copies the parts that it keeps. It returns the error of a
	// write if the reply has one. It may be called once for each attempt; the result of the last call counts.
	Accept(reply *Reply) error
}

// Attempt describes the attempt for which a command is written.
type Attempt struct {
	Number       int  // from 0
	Acknowledged bool // the server answers; in a transaction it always does
	// Server is the server description from the connection's handshake.
	Server *topology.Server
}

// Sequencer is a Command with document sequences.
type Sequencer interface {
	Command
	// AppendSequences appends the complete sequences to dst.
	AppendSequences(dst []byte) []byte
}

// Operation describes one database command. It is used by one goroutine.
type Operation struct {
	Name     string // the command's name
	Database string
	Command  Command
	Kind     Kind

	// Retryable means that the specification lists the operation as retryable. (A write must be acknowledged, without
	// a statement that changes several documents.)
	Retryable bool
	// Effect is the effect of the operation on the application's data if it is done twice.
	Effect retry.Effect
	// Selection has the criteria for server selection.
	Selection *topology.Selection
	// ReadPreference is sent with the command. Nil means primary.
	ReadPreference *readpref.ReadPref
	// ReadConcern is sent with the session's operation time or snapshot time. Nil means that the command has no read
	// concern.
	ReadConcern  *ReadConcern
	WriteConcern WriteConcern
	// OwnReadConcern means that the command writes a read concern itself, which must not meet that of a transaction or a snapshot.
	OwnReadConcern bool
	// OwnTimeLimit means that maxTimeMS does not follow from the deadline: the command writes it, or must not have
	// it.
	OwnTimeLimit bool
	// AwaitTime is the maxTimeMS of the getMore of a cursor that awaits data, or less if the deadline is nearer. 0 means
	// that the server chooses how long it waits.
	AwaitTime time.Duration
	// Session is the client session of the operation. Nil means an implicit one that ends with the operation.
	Session *Session
	// Pin pins the operation to a server. An operation of a transaction also has the pin of the transaction.
	Pin *Pin
	// Request is the request that the operation belongs to, or nil.
	Request *Request

	// LogID is the operationId of the log: the commands of one bulk write have the same. 0 means that the log gives the operation one.
	LogID int64

	ends ending
}

func (o *Operation) unacknowledged() bool { return o.Kind == Write && !o.WriteConcern.Acknowledged() }

// Config is the configuration of a Runner.
type Config struct {
	Cluster            *cluster.Cluster
	Monitor            *event.CommandMonitor
	Log                *logging.Logger // nil: nothing is logged
	RetryReads         bool
	RetryWrites        bool
	MaxAdaptiveRetries int
	Retarget           bool // enableOverloadRetargeting
	Limits             Limits
	ServerAPI          *cluster.ServerAPI
	Mutant             mutant.Client
}

// Runner runs the operations of one client. It is safe for concurrent use.
type Runner struct {
	cfg      Config
	engine   *retry.Engine
	sessions SessionPool
	clock    clock
}

// NewRunner returns a runner for the cluster in cfg.
func NewRunner(cfg Config) (*Runner, error) {
	engine, err := cfg.Limits.newEngine()
	if err != nil {
		return nil, err
	}
	return &Runner{cfg: cfg, engine: engine}, nil
}

// Cluster returns the runner's cluster.
func (r *Runner) Cluster() *cluster.Cluster { return r.cfg.Cluster }

// Log returns the client's log, nil if there is none.
func (r *Runner) Log() *logging.Logger { return r.cfg.Log }

var requestIDs atomic.Int32

// runs recycles the state of operations. Nothing of it is used after Run.
var runs = sync.Pool{New: func() any { return new(run) }}

var emptyRun run

// Run runs one operation, with retries, and returns the error for the application.
func (r *Runner) Run(ctx context.Context, op *Operation) error {
	if err := checkSession(op); err != nil {
		return err
	}
	run := runs.Get().(*run)
	run.begin(r, op)
	err := run.do(ctx)
	switch {
	case err != nil:
		err = run.final(err)
		if run.transactional && Labelled(err, LabelTransientTransaction) {
			op.Session.Unpin() // the transaction is lost, or its mongos cannot be reached
		}
	case op.ends == commits:
		op.Session.transaction.majority = true
	}
	*run = emptyRun
	runs.Put(run)
	return err
}

// do makes the attempts. The implicit session ends with them, also if the application's code panics.
func (r *run) do(ctx context.Context) error {
	defer r.endSession()
	return r.engine.Do(ctx, retry.Operation{Strategy: r, Name: r.op.Name, Effect: r.op.Effect}, r.attempt)
}

func (r *run) endSession() {
	if r.sending { // the application's net.Conn panicked
		r.session.networkFailed()
	}
	r.implicit.End()
	if r.op.ends == aborts {
		r.op.Session.Unpin()
	}
}

// begin sets the operation's session.
func (r *run) begin(runner *Runner, op *Operation) {
	r.Runner, r.op = runner, op
	switch op.Session {
	case NoSession:
	case nil:
		r.implicit.pool = &runner.sessions
		r.session = &r.implicit
	default:
		r.session = op.Session
		r.transactional = r.session.participates(op)
		if !r.transactional && op.ends == endsNothing {
			r.session.Unpin()
		}
	}
}

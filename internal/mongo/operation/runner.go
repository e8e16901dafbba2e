package operation

import (
	"context"
	"sync"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/event"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/logging"
	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/telemetry"
)

// Config is the configuration of a Runner.
type Config struct {
	Cluster            *cluster.Cluster
	Monitor            *event.CommandMonitor
	Tracer             *telemetry.Tracer // nil: none
	Log                *logging.Logger   // nil: nothing is logged
	RetryReads         bool
	RetryWrites        bool
	MaxAdaptiveRetries int
	Retarget           bool // enableOverloadRetargeting
	Limits             Limits
	ServerAPI          *cluster.ServerAPI
}

// Runner runs the operations of one client. It is safe for concurrent use.
type Runner struct {
	cfg      Config
	engine   *retry.Engine
	attempts *telemetry.Tracer // who is told of attempts, nil for nobody
	sessions SessionPool
	clock    clock
	recycles bool   // nobody who gets the context of an operation keeps it
	closed   func() // tells the tracer of the client's end
}

// NewRunner returns a runner for the cluster in cfg.
func NewRunner(cfg Config) (*Runner, error) {
	told := telemetry.Join(cfg.Tracer, monitored(cfg.Monitor), logged(cfg.Log))
	r := &Runner{cfg: cfg, recycles: told != nil && told.Passive && cfg.Limits.Observer == nil && cfg.Limits.Strategy == nil}
	if told != nil && (told.AttemptBegan != nil || told.AttemptEnded != nil) {
		r.attempts = told
	}
	var observer retry.Observer
	if cfg.Tracer != nil && cfg.Tracer.Decided != nil {
		observer = decisions{r}
	}
	var err error
	if r.engine, err = cfg.Limits.newEngine(observer); err != nil {
		return nil, err
	}
	r.closed = r.opened()
	return r, nil
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

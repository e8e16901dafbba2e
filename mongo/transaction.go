package mongo

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
)

var transactionFields = supported("ReadConcern", "ReadPreference", "WriteConcern")

// StartTransaction starts a transaction. It uses no network: the server hears of the transaction with its first operation.
// Options that are not given come from the session, then from the client. The operations of the transaction are those whose
// context has the session. They must not run at the same time.
func (s *Session) StartTransaction(opts ...options.Lister[options.TransactionOptions]) error {
	o, err := collect(transactionFields, opts)
	if err != nil {
		return err
	}
	t := s.defaults.with(o)
	if err := checkWriteConcern(t.WriteConcern.WriteConcern); err != nil {
		return err
	}
	return s.session.StartTransaction(t)
}

// transactionDefaults are the options of transactions that are given no others.
type transactionDefaults operation.TransactionOptions

// with returns the options of a transaction.
func (d transactionDefaults) with(o options.TransactionOptions) operation.TransactionOptions {
	if o.ReadConcern != nil {
		d.ReadConcern.Level = o.ReadConcern.Level
	}
	if o.ReadPreference != nil {
		d.ReadPreference = o.ReadPreference
	}
	if o.WriteConcern != nil {
		d.WriteConcern = operation.WriteConcern{WriteConcern: o.WriteConcern}
	}
	return operation.TransactionOptions(d)
}

// TransactionRunning reports whether a transaction was started and neither committed nor aborted.
func (s *Session) TransactionRunning() bool {
	return s.session != nil && s.session.TransactionRunning()
}

// CommitTransaction commits the transaction. It is retried like a retryable write, also with retryWrites=false; the retries
// have write concern majority. If the error has the label UnknownTransactionCommitResult, it is unknown whether the
// transaction was committed, and CommitTransaction can be called again. If ctx has ended, and no commit was sent before, the
// error is exactly that of ctx. After any error the transaction counts as committed: it cannot be aborted.
func (s *Session) CommitTransaction(ctx context.Context) (err error) {
	op, err := s.session.Commit()
	if err != nil {
		return err
	}
	defer func() { s.client.runner.TransactionEnded(s.session, true, err) }()
	if op == nil {
		return nil
	}
	op.Selection = s.client.writes
	ended := orBackground(ctx).Err()
	err = operation.ErrPanicked // until run returns
	err = s.client.run(ctx, op)
	if err == nil || ended == nil || err == ErrClientDisconnected || s.session.PerhapsCommitted() { //nolint:errorlint // it is that very value
		return err
	}
	return ended // nothing was sent, now and before
}

// AbortTransaction aborts the transaction. It is retried like a retryable write, also with retryWrites=false. An error of the
// server or the network is not returned: the server aborts the transaction itself after some time. It returns an error if
// no transaction is running.
func (s *Session) AbortTransaction(ctx context.Context) error {
	op, err := s.session.Abort()
	if err != nil {
		return err
	}
	defer s.client.runner.TransactionEnded(s.session, false, nil)
	if op == nil {
		return nil
	}
	op.Selection = s.client.writes
	_ = s.client.run(ctx, op)
	return nil
}

// abortLimit is how long after the end of its context a transaction is aborted.
const abortLimit = time.Second

// abort aborts the transaction, also if ctx has ended or ends meanwhile. After the end of ctx it has the time of limit, but at most
// abortLimit.
func (s *Session) abort(ctx context.Context, limit time.Duration) {
	ctx = orBackground(ctx)
	longer, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	if ctx.Err() != nil {
		longer, cancel = context.WithTimeout(longer, min(limit, abortLimit))
		defer cancel()
		_ = s.AbortTransaction(longer)
		return
	}
	defer context.AfterFunc(ctx, func() { time.AfterFunc(abortLimit, cancel) })()
	_ = s.AbortTransaction(longer)
}

// acknowledged reports whether a write with that context and write concern is acknowledged. In a transaction every one is.
func acknowledged(ctx context.Context, wc operation.WriteConcern) bool {
	if wc.Acknowledged() {
		return true
	}
	s := SessionFromContext(ctx)
	return s != nil && s.TransactionRunning()
}

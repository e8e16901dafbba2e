package mongo

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
)

// The limits of the Convenient API for Transactions specification.
const (
	transactionLimit          = 120 * time.Second // after it, nothing is retried
	transactionBackoffInitial = 5 * time.Millisecond
	transactionBackoffMax     = 500 * time.Millisecond
)

// WithTransaction starts a transaction, calls fn and commits. It returns the result of fn. Operations are in the transaction
// if they have the context that fn gets.
//
// After an error with the label TransientTransactionError it aborts and does everything again, after a random delay that
// grows to half a second. So fn may be called several times: what it does outside the transaction should be idempotent. After
// an error of the commit with the label UnknownTransactionCommitResult it commits again. It does so for 120 seconds or, if the
// client has a timeout, for that time; then its error is a timeout with the last error in it and with its labels. Any
// other error is returned at once, after the transaction is aborted.
//
// fn must return the errors of its operations. An error may have aborted the transaction on the server, so after one that
// fn hides the commit fails, and everything is done again until the time is up. If fn commits or aborts the transaction
// itself, WithTransaction returns. If fn panics, the transaction is aborted. The transaction is aborted also if ctx has
// ended; this takes at most a second.
func (s *Session) WithTransaction(
	ctx context.Context, fn func(ctx context.Context) (any, error), opts ...options.Lister[options.TransactionOptions],
) (any, error) {
	if fn == nil {
		return nil, errors.New("mongo: WithTransaction: the function is nil")
	}
	limit := transactionLimit
	if s.client.timeout > 0 {
		limit = s.client.timeout
	}
	ctx, cancel := s.client.withTimeout(ctx)
	defer cancel()
	retries := transactionRetries{end: time.Now().Add(limit), timeout: abortLimit, jitter: s.jitter}
	if deadline, ok := ctx.Deadline(); ok {
		retries.timeout = time.Until(deadline)
	}
	for {
		result, err := s.transact(ctx, &retries, fn, opts)
		if err == nil || !operation.Labelled(err, operation.LabelTransientTransaction) {
			return result, err
		}
		if err := retries.wait(ctx, err); err != nil {
			return nil, err
		}
	}
}

// transact runs fn once, in a transaction.
func (s *Session) transact(
	ctx context.Context, retries *transactionRetries, fn func(context.Context) (any, error),
	opts []options.Lister[options.TransactionOptions],
) (any, error) {
	if err := s.StartTransaction(opts...); err != nil {
		return nil, err
	}
	result, err := s.call(ctx, retries, fn)
	switch {
	case err != nil:
		return result, err
	case !s.TransactionRunning(): // fn has ended it
		return result, nil
	case ctx.Err() != nil:
		s.abort(ctx, retries.timeout)
		return nil, context.Cause(ctx)
	}
	if err := s.commit(ctx, retries); err != nil {
		return result, err
	}
	return result, nil
}

// call calls fn, and aborts the transaction if fn fails, or if it or a tracer panics.
func (s *Session) call(
	ctx context.Context, retries *transactionRetries, fn func(context.Context) (any, error),
) (result any, err error) {
	returned := false
	defer func() {
		if (!returned || err != nil) && s.TransactionRunning() {
			s.abort(ctx, retries.timeout)
		}
	}()
	s.client.runner.TraceTransaction(ctx, s.session)
	result, err = fn(NewSessionContext(ctx, s))
	returned = true
	return result, err
}

// commit commits the transaction, again while it is unknown whether it was committed: the first time at once, then with
// backoff, so that a server that keeps refusing does not get thousands of commands.
func (s *Session) commit(ctx context.Context, retries *transactionRetries) error {
	again := transactionRetries{end: retries.end, jitter: retries.jitter, immediate: true}
	for {
		err := s.CommitTransaction(ctx)
		var refused CommandError
		if err == nil || !operation.Labelled(err, operation.LabelUnknownCommit) || errors.As(err, &refused) && refused.IsMaxTimeMSExpiredError() {
			return err
		}
		if err := again.wait(ctx, err); err != nil {
			return err
		}
	}
}

// transactionRetries paces the retries of WithTransaction and ends them.
type transactionRetries struct {
	end       time.Time
	timeout   time.Duration // of the whole call: an abort after its end has the same again
	jitter    func() float64
	immediate bool // the first retry does not wait
	count     int
}

// wait waits before a retry, whose cause is the error last. It returns the error of WithTransaction if there is no time
// left.
func (r *transactionRetries) wait(ctx context.Context, last error) error {
	if ctx.Err() != nil {
		return endedWith(ctx, last)
	}
	r.count++
	delay := time.Duration(0)
	if !r.immediate || r.count > 1 {
		delay = transactionBackoff(r.count, r.jitter())
	}
	if time.Until(r.end) <= delay {
		return timedOut(last)
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return endedWith(ctx, last)
	}
}

// transactionBackoff returns the delay before retry n of a transaction, from 1.
func transactionBackoff(n int, jitter float64) time.Duration {
	most := min(float64(transactionBackoffInitial)*math.Pow(1.5, float64(n)), float64(transactionBackoffMax))
	return time.Duration(jitter * most)
}

// endedWith returns the error of WithTransaction after the end of ctx. last is the error of the last attempt, which may be
// that end.
func endedWith(ctx context.Context, last error) error {
	cause := context.Cause(ctx)
	if errors.Is(last, cause) || errors.Is(last, ctx.Err()) {
		return last
	}
	return fmt.Errorf("mongo: WithTransaction: %w; before: %w", cause, last)
}

// timedOut returns the error of WithTransaction when its time is up.
func timedOut(last error) error {
	if IsTimeout(last) {
		return last
	}
	return transactionTimeout{last}
}

// transactionTimeout is a timeout with the labels of the last error.
type transactionTimeout struct{ last error }

var _ LabeledError = transactionTimeout{}

func (e transactionTimeout) Error() string { return "operation timed out: " + e.last.Error() }

func (e transactionTimeout) Unwrap() []error { return []error{context.DeadlineExceeded, e.last} }

func (e transactionTimeout) HasErrorLabel(label string) bool {
	return operation.Labelled(e.last, label)
}

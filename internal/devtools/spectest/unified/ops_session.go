package unified

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

var sessionOperations map[string]function[*mongoSession]

func init() { // a transaction's callback leads back to this table
	sessionOperations = map[string]function[*mongoSession]{
		"abortTransaction":  abortTransaction,
		"commitTransaction": commitTransaction,
		"endSession":        endSession,
		"getSnapshotTime":   getSnapshotTime,
		"startTransaction":  startTransaction,
		"withTransaction":   withTransaction,
	}
}

func startTransaction(_ context.Context, s *mongoSession, a *arguments) (any, error) {
	a.run.transactions = true
	opts := options.Transaction()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	return nil, s.StartTransaction(opts)
}

func commitTransaction(ctx context.Context, s *mongoSession, a *arguments) (any, error) {
	if err := a.rest(nil); err != nil {
		return nil, err
	}
	return nil, s.CommitTransaction(ctx)
}

func abortTransaction(ctx context.Context, s *mongoSession, a *arguments) (any, error) {
	if err := a.rest(nil); err != nil {
		return nil, err
	}
	return nil, s.AbortTransaction(ctx)
}

func endSession(ctx context.Context, s *mongoSession, a *arguments) (any, error) {
	if err := a.rest(nil); err != nil {
		return nil, err
	}
	s.EndSession(ctx)
	return nil, nil
}

func getSnapshotTime(_ context.Context, s *mongoSession, a *arguments) (any, error) {
	if err := a.rest(nil); err != nil {
		return nil, err
	}
	at := s.SnapshotTime()
	if at.IsZero() {
		return nil, errors.New("the session has no snapshot time")
	}
	return at, nil
}

// withTransaction performs the callback's operations inside. The client sees their errors, whether the file expects them or
// not; what the file says of them is checked all the same.
func withTransaction(ctx context.Context, s *mongoSession, a *arguments) (any, error) {
	a.run.transactions = true
	callback, opts := a.documents("callback"), options.Transaction()
	if err := a.rest(opts); err != nil {
		return nil, err
	}
	var failed error
	_, err := s.WithTransaction(ctx, func(ctx context.Context) (any, error) {
		for _, doc := range callback {
			clientErr, failure := a.run.perform(ctx, doc)
			if failure != nil {
				failed = &refusal{failure}
				return nil, failed
			}
			if clientErr != nil {
				return nil, clientErr
			}
		}
		return nil, nil
	}, opts)
	if failed != nil {
		return nil, failed
	}
	return nil, err
}

// sessionState is what the client keeps to itself about a session.
type sessionState struct {
	transaction string // "none", "starting", "in_progress", "committed" or "aborted"
	pinned      string // the address of a mongos; empty if it is not pinned
	dirty       bool
}

package driver

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	official "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	ours "github.com/holdfast-db/holdfast/mongo"
)

// Session is a driver's own session.
type Session interface {
	ID() bson.Raw
	EndSession(ctx context.Context)
	StartTransaction(opts ...options.Lister[options.TransactionOptions]) error
	CommitTransaction(ctx context.Context) error
	AbortTransaction(ctx context.Context) error
	WithTransaction(
		ctx context.Context, fn func(context.Context) (any, error), opts ...options.Lister[options.TransactionOptions],
	) (any, error)
	TransactionRunning() bool
	ClusterTime() bson.Raw
	AdvanceClusterTime(bson.Raw) error
	OperationTime() *bson.Timestamp
	AdvanceOperationTime(*bson.Timestamp) error
	SnapshotTime() bson.Timestamp
}

// SessionClient is a driver's client that starts sessions.
type SessionClient interface {
	// StartSession also returns a context with the session.
	StartSession(ctx context.Context, opts ...options.Lister[options.SessionOptions]) (Session, context.Context, error)
	NumberSessionsInProgress() int
}

func (c officialClient) StartSession(
	ctx context.Context, opts ...options.Lister[options.SessionOptions],
) (Session, context.Context, error) {
	s, err := c.Client.StartSession(opts...)
	if err != nil {
		return nil, ctx, err
	}
	return s, official.NewSessionContext(ctx, s), nil
}

func (c ourClient) StartSession(
	ctx context.Context, opts ...options.Lister[options.SessionOptions],
) (Session, context.Context, error) {
	s, err := c.Client.StartSession(opts...)
	if err != nil {
		return nil, ctx, err
	}
	return s, ours.NewSessionContext(ctx, s), nil
}

package mongo

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
)

// Session is a client session (Driver Sessions, Causal Consistency and Snapshot Reads specifications). Operations run in
// it if their context has it: see NewSessionContext. Use it with the client that started it, and end it with EndSession. It
// is not safe for concurrent use.
type Session struct {
	client   *Client
	session  *operation.Session
	defaults transactionDefaults
	jitter   func() float64 // of the backoff of WithTransaction, at least 0 and less than 1
}

var sessionFields = supported("CausalConsistency", "DefaultTransactionOptions", "Snapshot", "SnapshotTime")

// StartSession starts a session. It uses no network. A session is causally consistent, unless an option says otherwise: each
// read sees the session's earlier operations. With Snapshot all its reads read one snapshot of the data (MongoDB 5.0 or
// later).
func (c *Client) StartSession(opts ...options.Lister[options.SessionOptions]) (*Session, error) {
	o, err := collect(sessionFields, opts)
	if err != nil {
		return nil, err
	}
	snapshot := valueOr(o.Snapshot, false)
	causal := valueOr(o.CausalConsistency, !snapshot)
	switch {
	case causal && snapshot:
		return nil, errors.New("causal consistency and snapshot cannot both be set for a session")
	case o.SnapshotTime != nil && !snapshot:
		return nil, errors.New("snapshotTime cannot be set when snapshot is false")
	}
	defaults := transactionDefaults{
		ReadConcern: c.scope.readConcern, ReadPreference: c.scope.readPreference, WriteConcern: c.scope.writeConcern,
	}
	if o.DefaultTransactionOptions != nil {
		t, err := collect(transactionFields, []options.Lister[options.TransactionOptions]{o.DefaultTransactionOptions})
		if err != nil {
			return nil, err
		}
		defaults = transactionDefaults(defaults.with(t))
	}
	session := c.runner.StartSession(operation.SessionOptions{
		Causal: causal, Snapshot: snapshot, SnapshotTime: numberOf(valueOr(o.SnapshotTime, bson.Timestamp{})),
	})
	return &Session{client: c, session: session, defaults: defaults, jitter: rand.Float64}, nil
}

// NumberSessionsInProgress returns the number of sessions that have not ended: those that the application started, and
// those of operations and cursors.
func (c *Client) NumberSessionsInProgress() int { return c.runner.SessionsInUse() }

// EndSession aborts a transaction that is running, and ends the session. If ctx has ended, it tries to abort for at most a
// second. It may be called more than once.
func (s *Session) EndSession(ctx context.Context) {
	defer s.session.End() // also if the application's code panics
	if s.TransactionRunning() {
		s.abort(ctx, abortLimit)
	}
}

// Client returns the client that started the session.
func (s *Session) Client() *Client { return s.client }

// ID returns the document that identifies the session on the server: {"id": <a binary value>}.
func (s *Session) ID() bson.Raw { return s.session.ID() }

// OperationTime returns the greatest operation time that the session knows, nil if it knows none.
func (s *Session) OperationTime() *bson.Timestamp {
	t := s.session.OperationTime()
	if t == 0 {
		return nil
	}
	ts := timestampOf(t)
	return &ts
}

// AdvanceOperationTime makes the session's reads see the operations of another session up to its operation time ts. An
// earlier time than the session's own changes nothing. It returns an error if the session has ended.
func (s *Session) AdvanceOperationTime(ts *bson.Timestamp) error {
	return s.session.AdvanceOperationTime(numberOf(valueOr(ts, bson.Timestamp{})))
}

const clusterTimeKey = "$clusterTime"

// ClusterTime returns the document {"$clusterTime": ...} with the greatest cluster time that the session knows, nil if it
// knows none.
func (s *Session) ClusterTime() bson.Raw {
	inner := s.session.ClusterTime()
	if inner == nil {
		return nil
	}
	at, b := wire.BeginDocument(nil)
	return wire.EndDocument(wire.AppendDocument(b, clusterTimeKey, inner), at)
}

// AdvanceClusterTime tells the session the cluster time of another one: the document that its ClusterTime returned. An
// earlier time than the session's own, and nil, change nothing. It returns an error if the session has ended, or if the
// document has no cluster time.
func (s *Session) AdvanceClusterTime(d bson.Raw) error {
	clusterTime, _ := element(d, clusterTimeKey)
	if err := s.session.AdvanceClusterTime(clusterTime.Document()); err != nil && (len(d) > 0 || errors.Is(err, operation.ErrSessionEnded)) {
		return fmt.Errorf("mongo: AdvanceClusterTime: %w", err)
	}
	return nil
}

// SnapshotTime returns the time of the snapshot that the session reads, the zero time if it is not known yet.
func (s *Session) SnapshotTime() bson.Timestamp {
	return timestampOf(s.session.SnapshotTime())
}

func timestampOf(t operation.Timestamp) bson.Timestamp {
	return bson.Timestamp{T: uint32(t >> 32), I: uint32(t)}
}

func numberOf(t bson.Timestamp) operation.Timestamp {
	return operation.Timestamp(t.T)<<32 | operation.Timestamp(t.I)
}

package compare

import (
	"context"
	"errors"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	official "go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readconcern"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
	"go.mongodb.org/mongo-driver/v2/mongo/writeconcern"

	"github.com/holdfast-db/holdfast/interop/internal/driver"
	"github.com/holdfast-db/holdfast/mongotest"
)

// inSession starts a session, calls do with its context, and ends it. The result has the texts of the errors, because
// programs read them.
func inSession(o *options.SessionOptionsBuilder, do func(context.Context, *stage, driver.Session) error) call {
	return func(ctx context.Context, s *stage) (any, error) {
		session, inside, err := s.client.(driver.SessionClient).StartSession(ctx, o)
		if err != nil {
			return err.Error(), err
		}
		err = do(inside, s, session)
		running := session.TransactionRunning()
		session.EndSession(ctx)
		session.EndSession(ctx)
		text := ""
		var typed official.CommandError
		if err != nil && !errors.As(err, &typed) {
			text = err.Error()
		}
		return fmt.Sprintf("running: %t, in progress: %d, %s", running,
			s.client.(driver.SessionClient).NumberSessionsInProgress(), text), err
	}
}

// inTransaction is inSession with a transaction, which do ends.
func inTransaction(o *options.TransactionOptionsBuilder, do func(context.Context, *stage, driver.Session) error) call {
	return inSession(options.Session(), func(ctx context.Context, s *stage, session driver.Session) error {
		if err := session.StartTransaction(o); err != nil {
			return err
		}
		return do(ctx, s, session)
	})
}

// steps calls functions until one returns an error.
func steps(all ...func(context.Context, *stage, driver.Session) error) func(context.Context, *stage, driver.Session) error {
	return func(ctx context.Context, s *stage, session driver.Session) error {
		for _, step := range all {
			if err := step(ctx, s, session); err != nil {
				return err
			}
		}
		return nil
	}
}

func start(_ context.Context, _ *stage, session driver.Session) error {
	return session.StartTransaction()
}

func commit(ctx context.Context, _ *stage, session driver.Session) error {
	return session.CommitTransaction(ctx)
}

func abort(ctx context.Context, _ *stage, session driver.Session) error {
	return session.AbortTransaction(ctx)
}

func end(ctx context.Context, _ *stage, session driver.Session) error {
	session.EndSession(ctx)
	return nil
}

// run makes a step of a call.
func run(do call) func(context.Context, *stage, driver.Session) error {
	return func(ctx context.Context, s *stage, _ driver.Session) error {
		_, err := do(ctx, s)
		return err
	}
}

var (
	insert    = run(insertOne(one))
	duplicate = run(insertOne(bson.D{{Key: "_id", Value: "known"}}))
	read      = run(findOne(byID))
)

// with runs a callback with WithTransaction.
func with(callback func(context.Context, *stage, driver.Session) error) func(context.Context, *stage, driver.Session) error {
	return func(ctx context.Context, s *stage, session driver.Session) error {
		_, err := session.WithTransaction(ctx, func(ctx context.Context) (any, error) {
			return nil, callback(ctx, s, session)
		})
		return err
	}
}

func faulty(name string, faults ...mongotest.Fault) func(*stage) {
	return func(s *stage) {
		n := 0
		s.set.Use(name, mongotest.Decide(func(*mongotest.Request) mongotest.Fault {
			if n++; n > len(faults) {
				return mongotest.Fault{}
			}
			return faults[n-1]
		}))
	}
}

func scripted(code int32, labels ...string) mongotest.Fault {
	return mongotest.Fault{Error: &mongotest.CommandError{Code: code, Message: "scripted", Labels: labels}}
}

var lost = mongotest.Fault{LoseReply: true}

// lostConnection is why the times after a lost connection may differ: the official driver sometimes waits for its next heartbeat.
const lostConnection = "One that loses connections is checked at once, and then at most six times a second"

var sessionRows = []row{
	{name: "a session with both kinds of reads", do: inSession(
		options.Session().SetCausalConsistency(true).SetSnapshot(true), steps())},
	{name: "a session with a time without a snapshot", do: inSession(options.Session().SetSnapshotTime(bson.Timestamp{T: 1}), steps())},
	{name: "operations in a session", do: inSession(options.Session(), steps(insert, read, run(all), run(closeEarly)))},
	{name: "operations in a session without causal consistency", do: inSession(
		options.Session().SetCausalConsistency(false), steps(insert, read, run(all)))},
	{name: "operations in a snapshot session", do: inSession(options.Session().SetSnapshot(true), steps(read, read, insert))},
	{name: "a cursor in a snapshot session", do: inSession(options.Session().SetSnapshot(true), run(find(options.Find())))},
	{name: "an operation in a session that has ended", do: inSession(options.Session(), steps(end, insert))},
	{name: "a transaction in a session that has ended", do: inSession(options.Session(), steps(end, start, insert)), differ: []string{"result"}, why: "the transaction cannot be used, so StartTransaction returns the error"},
	{name: "a transaction in a snapshot session", do: inSession(options.Session().SetSnapshot(true), start)},
	{name: "two transactions at once", do: inSession(options.Session(), steps(start, start))},
	{name: "a commit without a transaction", do: inSession(options.Session(), commit)},
	{name: "an abort without a transaction", do: inSession(options.Session(), abort)},
	{name: "an abort after a commit", do: inSession(options.Session(), steps(start, insert, commit, abort))},
	{name: "a commit after an abort", do: inSession(options.Session(), steps(start, insert, abort, commit))},
	{name: "two aborts", do: inSession(options.Session(), steps(start, abort, abort))},
	{name: "two commits", do: inSession(options.Session(), steps(start, insert, commit, commit))},
	{name: "two commits of nothing", do: inSession(options.Session(), steps(start, commit, commit))},
	{name: "a commit after another operation", do: inSession(options.Session(), steps(start, insert, commit, read, commit))},
	{name: "a session that ends in a transaction", do: inSession(options.Session(), steps(start, insert))},
	{name: "a transaction with w: 0", do: inTransaction(options.Transaction().SetWriteConcern(writeconcern.Unacknowledged()), insert)},
	{name: "a transaction with options", do: inTransaction(
		options.Transaction().SetReadConcern(readconcern.Snapshot()).SetWriteConcern(writeconcern.Majority()), steps(insert, read, commit))},
	{name: "a read with secondary in a transaction", do: inTransaction(
		options.Transaction().SetReadPreference(readpref.Secondary()), steps(insert, read)), differ: []string{"result", "error", "took"}, why: "the official driver waits for a secondary for 30 s; the specification asks for the error"},
	{name: "a write with secondary in a transaction", do: inTransaction(
		options.Transaction().SetReadPreference(readpref.Secondary()), steps(insert, commit))},
	{name: "a collection with w: 0 in a transaction", do: on(options.Collection().SetWriteConcern(writeconcern.Unacknowledged()),
		inTransaction(options.Transaction(), steps(insert, commit)))},
	{name: "a cursor in a transaction", do: inTransaction(options.Transaction(), steps(insert, run(find(options.Find().SetBatchSize(1))), commit))},
	{name: "a duplicate key in a transaction", do: inTransaction(options.Transaction(), steps(insert, duplicate))},
	{name: "a command that a transaction cannot have", do: inTransaction(options.Transaction(), run(runCommand(command("ping", 1))))},
	{
		name: "a lost reply in a transaction", faults: faulty("insert", mongotest.Fault{}, lost),
		do:        inTransaction(options.Transaction(), steps(insert, insert)),
		mayDiffer: []string{"took"}, why: lostConnection, took: "0s",
	},
	{
		name: "a refusal in a transaction", faults: faulty("insert", mongotest.Fault{}, scripted(91, "RetryableWriteError")),
		do:        inTransaction(options.Transaction(), steps(insert, insert)),
		mayDiffer: []string{"took"}, why: "a server that says \"not primary\" is not checked more often than every 500 ms (SDAM specification)",
	},
	{
		name: "a commit whose reply is lost", faults: faulty("commitTransaction", lost),
		do:        inTransaction(options.Transaction(), steps(insert, commit)),
		mayDiffer: []string{"took"}, why: lostConnection, took: "0s",
	},
	{
		name: "a commit whose replies are lost", faults: faulty("commitTransaction", lost, lost),
		do:        inTransaction(options.Transaction(), steps(insert, commit)),
		mayDiffer: []string{"took"}, why: lostConnection, took: "0s",
	},
	{
		name: "a commit that reaches its time limit", faults: faulty("commitTransaction", scripted(50)),
		do:     inTransaction(options.Transaction(), steps(insert, commit)),
		differ: []string{"result", "sent"}, why: "the transaction may have been committed, so it is not aborted (Transactions specification)",
	},
	{
		name: "a commit that is refused", faults: faulty("commitTransaction", scripted(2)),
		do: inTransaction(options.Transaction(), steps(insert, commit)),
	},
	{
		name: "an abort whose replies are lost", faults: faulty("abortTransaction", lost, lost),
		do:        inTransaction(options.Transaction(), steps(insert, abort)),
		mayDiffer: []string{"took"}, why: lostConnection, took: "0s",
	},
	{name: "WithTransaction", do: inSession(options.Session(), with(steps(insert, read)))},
	{name: "WithTransaction whose callback fails", do: inSession(options.Session(), with(steps(insert, duplicate)))},
	{name: "WithTransaction whose callback commits", do: inSession(options.Session(), with(steps(insert, commit)))},
	{name: "WithTransaction whose callback aborts", do: inSession(options.Session(), with(steps(insert, abort)))},
	{name: "WithTransaction in a transaction", do: inSession(options.Session(), steps(start, with(insert)))},
	{
		name: "WithTransaction whose commit is not known at first", faults: faulty("commitTransaction", lost, lost),
		do:        inSession(options.Session(), with(insert)),
		mayDiffer: []string{"took"}, why: lostConnection, took: "250ms",
	},
	{
		name: "WithTransaction whose time is up", faults: faulty("commitTransaction", mongotest.Fault{
			Delay: 150 * time.Second, Error: &mongotest.CommandError{Code: 251, Message: "scripted", Labels: []string{"TransientTransactionError"}},
		}),
		do:     inSession(options.Session(), with(insert)),
		differ: []string{"error"}, why: "the timeout also matches context.DeadlineExceeded",
	},
	{
		name: "AdvanceClusterTime without a time",
		do: inSession(options.Session(), func(_ context.Context, _ *stage, session driver.Session) error {
			return session.AdvanceClusterTime(bson.Raw{5, 0, 0, 0, 0})
		}),
		differ: []string{"result", "error"}, why: "the official driver ignores the document",
	},
	{
		name: "AdvanceClusterTime with nothing",
		do: inSession(options.Session(), func(_ context.Context, _ *stage, session driver.Session) error {
			return session.AdvanceClusterTime(nil)
		}),
	},
	{
		name: "times of another session",
		do: inSession(options.Session(), func(ctx context.Context, s *stage, session driver.Session) error {
			if err := insert(ctx, s, session); err != nil {
				return err
			}
			other, inside, err := s.client.(driver.SessionClient).StartSession(context.Background())
			if err != nil {
				return err
			}
			defer other.EndSession(ctx)
			err = errors.Join(other.AdvanceClusterTime(session.ClusterTime()), other.AdvanceOperationTime(session.OperationTime()))
			return errors.Join(err, read(inside, s, other))
		}),
	},
}

package router

import (
	"context"
	"errors"
	"time"

	official "go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/internal/mongo/auth"
	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/retry"
)

// fail answers the client after a failed operation. The error is that of the client's connection.
func (f *forwarded) fail(err error) error {
	if f.client.ctx.Err() != nil {
		return f.client.ctx.Err() // the client has gone
	}
	if f.command.silent() {
		return nil
	}
	history := historyOf(err)
	retried := history != nil && history.Total > 1
	if errors.Is(chosen(err), errInReply) {
		return f.failWrite(retried)
	}
	if e, ok := answered(err); ok && !f.undecided(e.Code, history) {
		return f.client.answer(f.command, f.translated(e.Raw, err, retried))
	}
	return f.client.refuse(f.command, f.withoutReply(err, history, retried))
}

// answered returns the error that a member has replied to the attempt that counts.
func answered(err error) (official.CommandError, bool) {
	e, ok := chosen(err).(official.CommandError) //nolint:errorlint // it is not wrapped here
	return e, ok && e.Raw != nil
}

// replied reports whether the attempt that counts has a reply, with whatever error.
func replied(err error) bool {
	_, refused := answered(err)
	return refused || errors.Is(chosen(err), errInReply)
}

// undecided reports whether a member's reply to the last attempt of a write leaves open what an attempt before it did: the member refused to
// look, perhaps because it has too much to do. A client would take the reply for the outcome.
func (f *forwarded) undecided(code int32, history *retry.Error) bool {
	if f.op.Kind != operation.Write || history == nil || history.Total == 1 || !history.MayHaveApplied() {
		return false
	}
	settles := f.ends() && code == codeNoSuchTransaction
	return !settles && code != codeMaxTimeMSExpired // of which each client knows that it settles nothing
}

// chosen returns the error of the attempt that counts, without the history of all attempts.
func chosen(err error) error {
	switch e := err.(type) { //nolint:errorlint // the runner returns these themselves
	case operation.NoServer:
		return e.Err
	case *operation.WithHistory:
		return e.Err
	}
	return err
}

// historyOf returns the history of an operation's attempts. It is nil if the operation ended without one.
func historyOf(err error) *retry.Error {
	var history *retry.Error
	errors.As(err, &history)
	return history
}

// withoutReply returns what the client is told when no member has answered.
func (f *forwarded) withoutReply(err error, history *retry.Error, retried bool) *refusal {
	e := &refusal{code: codeHostUnreachable, name: "HostUnreachable", text: err.Error()}
	var selection *cluster.SelectionError
	var queue *cluster.CheckOutError
	switch {
	case f.op.Kind == operation.Write && history != nil && history.MayHaveApplied() && !f.expired(err):
		// Whatever it waited for then: no error that says that nothing was done.
	case history != nil && history.StopReason() == retry.StopNotBuilt: // it is too large with what the router appends
		e.code, e.name = codeBadValue, "BadValue"
	case f.op.User != nil && refusesLogin(chosen(err)): // the password has changed since the client has logged in
		e.code, e.name = codeAuthenticationFailed, "AuthenticationFailed"
	case errors.Is(err, errTooMany), errors.Is(err, errNoMemory) && f.command.Name != "getMore": // whose documents would be lost if it were repeated
		return f.overloaded(err)
	case errors.As(err, &queue) && !f.expired(err): // it has waited out the window for a connection
		e.code, e.name = codeFailedToSatisfy, "FailedToSatisfyReadPreference"
	case f.expired(err):
		e.code, e.name = codeMaxTimeMSExpired, "MaxTimeMSExpired"
	case errors.Is(err, cluster.ErrSelectionTimeout), operation.NoMember(err) && !retried: // after a failed attempt its error counts
		e.code, e.name = codeFailedToSatisfy, "FailedToSatisfyReadPreference"
	case errors.As(err, &selection):
		if selection.Err != nil && !errors.Is(err, cluster.ErrPoolClosed) {
			e.code, e.name = codeFailedToSatisfy, "FailedToSatisfyReadPreference"
		}
	}
	e.labels = f.labels(e.code, retried)
	return e
}

// overloaded is [overloaded] for a command, of which the client may have sent the end of a transaction before.
func (f *forwarded) overloaded(cause error) *refusal {
	e := overloaded(cause)
	if f.ends() {
		e.labels = []string{labelSystemOverloaded, labelRetryable, labelRetryableWrite}
	}
	return e
}

// expired reports whether maxTimeMS of the command has passed, and the operation has ended for it. Other times may end, too: that for a connection, for
// example, whose error each operation gets that finds the pool cleared by it.
func (f *forwarded) expired(err error) bool {
	if f.limit() == 0 || time.Since(f.began) < f.limit() {
		return false
	}
	return errors.Is(err, errMaxTime) || errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, cluster.ErrSelectionTimeout)
}

// refusesLogin reports whether a member has refused the login of the connection for an operation. In the error of a pool that was cleared it would be that
// of another one.
func refusesLogin(err error) bool {
	var login *auth.Error
	var cleared *cluster.PoolClearedError
	var failed *cluster.HandshakeError
	return errors.As(err, &login) && !errors.As(err, &cleared) && (!errors.As(err, &failed) || !failed.Network)
}

// labels returns the labels that a mongos gives to an error which it has itself, or that it puts in place of a change of state.
func (f *forwarded) labels(code int32, retried bool) []string {
	q := f.command
	switch {
	case q.transaction && !f.ends():
		return []string{labelTransient}
	case f.ends(): // also if this command was not sent: the client may have sent it before, and must not take it for one that was not done
		return []string{labelRetryableWrite}
	case code != codeHostUnreachable:
		return nil
	case q.numbered && !retried:
		return []string{labelRetryableWrite}
	case f.watches():
		return []string{labelResumable}
	}
	return nil
}

// ends reports whether the command ends a transaction. Its errors keep RetryableWriteError, although the router has retried: a driver whose
// commit fails without it takes the transaction for one that was not committed.
func (f *forwarded) ends() bool { return routes[f.command.Name] == ends }

// watches reports whether the command is one of a change stream.
func (f *forwarded) watches() bool {
	if f.command.Name == "getMore" {
		return f.client.router.cursors.watches(f.command.cursor)
	}
	return opensChangeStream(f.command)
}

// opensChangeStream reports whether the first stage of an aggregation is $changeStream.
func opensChangeStream(q *command) bool {
	if q.Name != "aggregate" {
		return false
	}
	pipeline := field(q.Body, "pipeline")
	stages := wire.Elements(pipeline.Array())
	if !stages.Next() {
		return false
	}
	first := wire.Elements(stages.Document())
	return first.Next() && string(first.Key) == "$changeStream"
}

// failWrite sends a reply with writeErrors or a writeConcernError, in which changes of state have another code.
func (f *forwarded) failWrite(retried bool) error {
	reply := f.replyBody()
	var parsed operation.Reply
	if parsed.Parse(reply) != nil || !hasStateChange(&parsed) && !retried {
		return f.sendReply()
	}
	f.noteCursor()
	return f.client.answer(f.command, settled(reply, retried && !f.ends()))
}

// replyBody returns the document of the reply that Accept took.
func (f *forwarded) replyBody() []byte {
	if f.body != nil {
		return f.body
	}
	if f.command.Header.OpCode == wire.OpQuery {
		document, _ := wire.ParseReply(*f.reply)
		return document
	}
	m, _ := wire.ParseMsg(*f.reply)
	return m.Body
}

package operation

import (
	"context"
	"errors"
	"slices"

	official "go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/drivererror"
	"github.com/holdfast-db/holdfast/retry"
)

// clientError returns an error without a reply as a CommandError with labels, and without a code and a name, like the official
// driver. Its message is the text of err. An error without a retry reason is returned unchanged.
func (r *run) clientError(err error, reason retry.Reason, labels ...string) error {
	if reason == retry.ReasonUnknown {
		return err
	}
	if r.labelsWrites() {
		labels = append(labels, labelRetryableWrite)
	}
	return withoutReply(err, labels...)
}

// withoutReply returns an error without a reply as a CommandError.
func withoutReply(err error, labels ...string) error {
	return drivererror.Wrap(&official.CommandError{Message: err.Error(), Labels: labels}, networkCause{err})
}

// networkCause is the cause inside a CommandError without a reply. Its text also says how far the command came.
type networkCause struct{ cause error }

func (c networkCause) Error() string { return c.cause.Error() + ": " + c.stage() }

func (c networkCause) stage() string {
	broken, ok := c.cause.(*cluster.IOError) //nolint:errorlint // the cause itself; a PoolClearedError wraps one of another command
	if ok && broken.Stage != retry.StageBeforeSending {
		return "the server may have executed the command"
	}
	return "the command was not sent"
}

func (c networkCause) Unwrap() error { return c.cause }

// Is reports whether the end of the client is the cause, for which applications have the official driver's error.
func (c networkCause) Is(target error) bool {
	return target == official.ErrClientDisconnected && errors.Is(c.cause, cluster.ErrDisconnected)
}

const codeMaxTimeExpired = 50

// commandError returns an error reply as a CommandError. The error of maxTimeMS matches context.DeadlineExceeded.
func (r *run) commandError(reply *Reply, addLabel bool, wrapped error) error {
	e := official.CommandError{
		Code: reply.Code, Name: string(reply.CodeName), Message: string(reply.Message), Labels: reply.LabelTexts(),
		Raw: slices.Clone(reply.Body), Wrapped: wrapped,
	}
	if e.Code == codeMaxTimeExpired && wrapped == nil {
		e.Wrapped = context.DeadlineExceeded
	}
	if addLabel {
		e.Labels = append(e.Labels, labelRetryableWrite)
	}
	if e.Message == "" {
		e.Message = "command failed"
	}
	if r.txnNumber != 0 && reply.noTransactionNumbers() {
		e.Message = unsupportedByDeployment
	}
	return e
}

// rememberError remembers the error of the attempt that the application gets: of the most recent one that was sent and, except for
// reads, does not have the label NoWritesPerformed. It is called after each failed attempt, because the history of a long
// operation does not keep them all. If no attempt is chosen, the application gets the first attempt's error.
func (r *run) rememberError(f *retry.Failure) {
	if f.Stage != retry.StageBeforeSending && (r.op.Kind == Read || !Labelled(f.Err, labelNoWritesPerformed)) {
		r.chosen = f.Err
	}
}

// Labelled reports whether an error, or one that was joined into it, has a label.
func Labelled(err error, label string) bool {
	return AnyBranch(err, func(err error) bool {
		var e official.LabeledError
		return errors.As(err, &e) && e.HasErrorLabel(label)
	})
}

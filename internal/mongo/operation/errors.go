package operation

import (
	"errors"
	"slices"

	official "go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/retry"
)

// clientError is an error that the client met on its way to a server, as applications know it: a CommandError with
// labels and without a code. One that no rule retries stays what it is.
func (r *run) clientError(err error, reason retry.Reason, labels ...string) error {
	if reason == retry.ReasonUnknown {
		return err
	}
	if r.labelsWrites() {
		labels = append(labels, labelRetryableWrite)
	}
	return official.CommandError{Name: labelNetworkError, Labels: labels, Wrapped: err}
}

// commandError is a server's refusal, as applications know it.
func (r *run) commandError(reply *Reply, addLabel bool, wrapped error) error {
	e := official.CommandError{
		Code: reply.Code, Name: string(reply.CodeName), Message: string(reply.Message), Labels: reply.LabelTexts(),
		Raw: slices.Clone(reply.Body), Wrapped: wrapped,
	}
	if addLabel {
		e.Labels = append(e.Labels, labelRetryableWrite)
	}
	if e.Message == "" {
		e.Message = "command failed"
	}
	if reply.noTransactionNumbers() {
		e.Message = unsupportedByDeployment
	}
	return e
}

// addLabel adds a label to one of the error types that carry labels.
func addLabel(err error, label string) error {
	switch e := err.(type) { //nolint:errorlint // these are made here and in mongo, never wrapped yet
	case official.WriteException:
		e.Labels = append(e.Labels, label)
		return e
	case official.BulkWriteException:
		e.Labels = append(e.Labels, label)
		return e
	default:
		return err
	}
}

// final turns the engine's error into the one that the application sees: the attempt's that tells most, with the
// history of all.
func final(err error, kind Kind) error {
	var history *retry.Error
	if !errors.As(err, &history) {
		return err
	}
	chosen := choose(history.Attempts, kind).Err
	only := history.Attempts[0]
	if len(history.Attempts) == 1 && (addsNothing(only.Why) || only.Refuse == retry.WhyNoServer) {
		return chosen // the second: no server could be selected, and no attempt was made
	}
	return withHistory(chosen, history)
}

// choose returns the most recent attempt whose error shows that an attempt was made: one that was sent and, for a
// write, is not labelled NoWritesPerformed. If none shows it, the first.
func choose(attempts []retry.Record, kind Kind) retry.Record {
	for _, a := range slices.Backward(attempts) {
		if a.Stage != retry.StageDispatch && (kind == Read || !labelled(a.Err, labelNoWritesPerformed)) {
			return a
		}
	}
	return attempts[0]
}

func labelled(err error, label string) bool {
	var e official.LabeledError
	return errors.As(err, &e) && e.HasErrorLabel(label)
}

// addsNothing reports whether a refusal after a single attempt is what everybody expects.
func addsNothing(why retry.Why) bool {
	switch why {
	case retry.WhyNotRetryable, retry.WhyNoServer, retry.WhyNotBuilt, retry.WhyDisabled, retry.WhyUndecided, retry.WhyRetried:
		return true
	case retry.WhyNotIdempotent, retry.WhyStrategyDeclined, retry.WhyAttemptsUsed, retry.WhyDeadlineWouldPass,
		retry.WhyBudgetEmpty, retry.WhyBreakerOpen, retry.WhyUnsupportedServer, retry.WhyInTransaction, retry.WhyCancelled:
		return false
	}
	return false
}

// WithHistory is an error of one of the types that cannot hold the history itself, after more than one attempt.
type WithHistory struct {
	Err     error
	History *retry.Error
}

// Error returns the error with all attempts.
func (e *WithHistory) Error() string { return e.Err.Error() + " (" + e.History.History() + ")" }

// Unwrap returns the error and its history.
func (e *WithHistory) Unwrap() []error { return []error{e.Err, e.History} }

func withHistory(err error, history *retry.Error) error {
	e, ok := err.(official.CommandError) //nolint:errorlint // it is returned by value and not wrapped yet
	if !ok {
		return &WithHistory{Err: err, History: history}
	}
	e.Wrapped = wrappedHistory{history}
	return e
}

// wrappedHistory is a history within a CommandError, which prints its own text in front of it.
type wrappedHistory struct{ error *retry.Error }

func (w wrappedHistory) Error() string { return w.error.History() }
func (w wrappedHistory) Unwrap() error { return w.error }

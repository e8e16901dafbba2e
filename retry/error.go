package retry

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"
)

// Record is one failed attempt and the decision about it.
type Record struct {
	Failure
	Delay      time.Duration // the delay that was decided after it
	StopReason StopReason    // why there was, or was not, another attempt
	// StrategyErr is the error of the strategy that was asked about the failure, or nil.
	StrategyErr error
}

// Error is the error of an operation that failed. errors.Is and errors.As find in it the error of the last attempt; the
// error of the strategy, if that ended the operation; and, where the end of the context ended the operation,
// context.DeadlineExceeded or context.Canceled with the context's cause. It is immutable.
//
// Its memory and its text are bounded, however many attempts there were.
type Error struct {
	// Attempts are the failed attempts in order. If there were more than 8, they are the first 4 and the last 4. It is empty if the
	// operation ended before its first attempt, for example because no server could be selected: see [Failure.NoAttempt].
	Attempts []Record
	// Total is the number of attempts, with those that are not in Attempts.
	Total int
	// Omitted counts the attempts that are not in Attempts, by reason and endpoint. It has at most 9 elements.
	Omitted []Omitted

	idempotency Idempotency
	none        Record  // why there was no attempt
	applied     bool    // an attempt may have been applied
	made        error   // of the latest attempt that no breaker stopped
	causes      []error // of the errors that Unwrap returns, those after the last attempt's
}

// end completes the error of an operation that has ended.
func (e *Error) end(ctx context.Context, idempotency Idempotency) {
	e.idempotency = idempotency
	last := e.Last()
	if last.Reason == ReasonCircuitBreakerOpen && e.made != nil {
		e.causes = append(e.causes, e.made)
	}
	if last.StrategyErr != nil {
		e.causes = append(e.causes, last.StrategyErr)
	}
	switch last.StopReason {
	case StopDeadlineWouldPass:
		e.endedBy(ctx, context.DeadlineExceeded)
	case StopCancelled:
		e.endedBy(ctx, context.Canceled)
	case StopNone, NotStopped, StopNotRetryable, StopNotIdempotent, StopStrategyDeclined, StopAttemptsUsed, StopBudgetEmpty, StopBreakerOpen,
		StopNoServer, StopUnsupportedServer, StopInTransaction, StopDisabled, StopNotBuilt, StopRetryAfterTooLong, StopNotReplayable:
	}
}

// endedBy adds the context's error and, if the context has ended, its cause.
func (e *Error) endedBy(ctx context.Context, end error) {
	e.causes = append(e.causes, end)
	if cause := context.Cause(ctx); cause != nil && !errors.Is(end, cause) {
		e.causes = append(e.causes, cause)
	}
}

// Last returns the record of the last attempt. If there was none, it returns why: the error and the stop reason of the operation's end,
// without an endpoint.
func (e *Error) Last() Record {
	if len(e.Attempts) == 0 {
		return e.none
	}
	return e.Attempts[len(e.Attempts)-1]
}

// StopReason returns why there was no further attempt.
func (e *Error) StopReason() StopReason { return e.Last().StopReason }

// MayHaveApplied reports whether any attempt may have changed something on a server: it was in flight, or its answer was
// [Failure.Unsettled]. All attempts count, also those that are not in Attempts, and whatever the operation's idempotency is.
func (e *Error) MayHaveApplied() bool { return e.applied }

// OutcomeKnown reports whether the error is unambiguous: the operation was certainly not applied, or doing it again does no
// harm. It depends on the attempts that were really made (Couchbase's RFC 0058, timeouts #13 and #14).
func (e *Error) OutcomeKnown() bool { return e.idempotency != NotIdempotent || !e.applied }

// Timeout reports whether the last attempt, or the operation, ended because time had run out. It is the method of that name
// of net.Error.
func (e *Error) Timeout() bool {
	for _, err := range e.Unwrap() {
		var t interface{ Timeout() bool }
		if errors.As(err, &t) && t.Timeout() {
			return true
		}
	}
	return false
}

// Error returns the last attempt's error, or why there was no attempt, followed by [Error.History].
func (e *Error) Error() string {
	if e.Last().Err == nil {
		return e.History()
	}
	return fmt.Sprintf("%v (%s)", e.Last().Err, e.History())
}

// The largest number of bytes of each part of [Error.History].
const (
	errorTextLimit    = 1000
	endpointTextLimit = 200
)

// History returns the attempts on one line: endpoint, stage, reason and error of each one that the error keeps, the counts of
// the others, and why there was no further one. Each error is cut after 1,000 bytes, and each endpoint after 200. Of an
// operation within an attempt only the last error is given, with the number of its attempts. Without an attempt it is
// "no attempt: " and the stop reason.
func (e *Error) History() string {
	if len(e.Attempts) == 0 {
		return "no attempt: " + e.StopReason().String()
	}
	var b strings.Builder
	plural := "s"
	if e.Total == 1 {
		plural = ""
	}
	fmt.Fprintf(&b, "%d attempt%s:", e.Total, plural)
	for i := range e.Attempts {
		a, number := &e.Attempts[i], i+1
		if len(e.Omitted) > 0 && i >= keptFirst {
			number = e.Total - len(e.Attempts) + i + 1
		}
		if i == keptFirst {
			e.writeOmitted(&b)
		}
		fmt.Fprintf(&b, " [%d%s, %s, %s: %s]", number, at(a.Endpoint), a.Stage, a.Reason, brief(a.Err))
	}
	last := e.Last()
	fmt.Fprintf(&b, " no more: %s", last.StopReason)
	if last.StrategyErr != nil {
		fmt.Fprintf(&b, ": %s", cut(last.StrategyErr.Error(), errorTextLimit))
	}
	return b.String()
}

// writeOmitted writes the counts of the attempts that are not kept, if there are any.
func (e *Error) writeOmitted(b *strings.Builder) {
	if len(e.Omitted) == 0 {
		return
	}
	fmt.Fprintf(b, " ... %d more attempts:", e.Total-len(e.Attempts))
	separator := " "
	for _, o := range e.Omitted {
		if o.Reason == ReasonUnknown {
			fmt.Fprintf(b, "%s%d x others", separator, o.Count)
		} else {
			fmt.Fprintf(b, "%s%d x %s%s", separator, o.Count, o.Reason, at(o.Endpoint))
		}
		separator = ", "
	}
	b.WriteString(" ...")
}

// brief returns the text of an attempt's error. Of an operation within the attempt it gives the last error and the number of
// attempts: with their whole history, the work for the text would be multiplied by each level of such operations.
func brief(err error) string {
	inner, ok := err.(*Error) //nolint:errorlint // an error around it has a text of its own
	if !ok {
		return cut(fmt.Sprint(err), errorTextLimit)
	}
	return cut(fmt.Sprintf("%s (%d attempts, no more: %s)", brief(inner.Last().Err), inner.Total, inner.StopReason()), errorTextLimit)
}

func at(endpoint string) string {
	if endpoint == "" {
		return ""
	}
	return " at " + cut(endpoint, endpointTextLimit)
}

// cut returns the first bytes of a text, at most limit, and says how many it left out. It does not cut within a character.
func cut(text string, limit int) string {
	if len(text) <= limit {
		return text
	}
	end := limit
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return fmt.Sprintf("%s... (%d more bytes)", text[:end], len(text)-end)
}

// Unwrap returns the last attempt's error, or the one because of which there was no attempt; if a breaker stopped that attempt, also
// the error of the last attempt that was made; the error of the strategy, if there is one; and if the end of the context ended the
// operation, its error and its cause.
func (e *Error) Unwrap() []error {
	if e.Last().Err == nil {
		return e.causes
	}
	return append([]error{e.Last().Err}, e.causes...)
}

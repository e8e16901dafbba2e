package services

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/couchbasereason"
)

// The end of the operation's context comes before what the attempt shows. An answer of the service stands.
func TestTheKindOfAnOperationThatHasEnded(t *testing.T) {
	answer := &Answer{Kind: KindParsingFailure, err: context.DeadlineExceeded}
	for _, c := range []struct {
		name  string
		ended error
		err   error
		known bool
		want  ErrorKind
	}{
		{"its time was up", context.DeadlineExceeded, errors.New("x"), true, KindUnambiguousTimeout},
		{"its time was up, and it may have changed something", context.DeadlineExceeded, errors.New("x"), false, KindAmbiguousTimeout},
		{"its time was up while an answer was read", context.DeadlineExceeded, answer, true, KindUnambiguousTimeout},
		{"an answer", nil, answer, true, KindParsingFailure},
		{"cancelled", context.Canceled, context.Canceled, true, KindRequestCancelled},
		{"cancelled after an attempt that reached a limit of its own", context.Canceled, context.DeadlineExceeded, true, KindRequestCancelled},
		{"closed after such an attempt", ErrClosed, context.DeadlineExceeded, true, KindClosed},
		{"such an attempt alone", nil, context.DeadlineExceeded, true, KindRequestCancelled},
		{"closed", context.Canceled, ErrClosed, true, KindClosed},
		{"a lost connection", nil, errors.New("x"), true, KindRequestCancelled},
	} {
		f := &retry.Failure{Err: c.err, Reason: couchbasereason.SocketClosedInFlight}
		if got := endKind(c.ended, f, c.known); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// A deadline that has passed is a timeout, also if its timer is late and the context has not ended. With time left it is the limit of the
// attempt, for example that of a connection.
func TestALateTimer(t *testing.T) {
	answered := &Answer{Kind: KindParsingFailure, err: context.DeadlineExceeded}
	for _, c := range []struct {
		name string
		late bool
		err  error
		want ErrorKind
	}{
		{"no time left", true, context.DeadlineExceeded, KindUnambiguousTimeout},
		{"the network's timeout at the deadline", true, os.ErrDeadlineExceeded, KindUnambiguousTimeout},
		{"a limit of the attempt", false, context.DeadlineExceeded, KindRequestCancelled},
		{"an answer at the deadline", true, answered, KindParsingFailure},
		{"a lost connection at the deadline", true, errors.New("x"), KindRequestCancelled},
	} {
		engine, err := retry.New(retry.Options{Strategy: retry.Limited(1, retry.UntilDeadline())})
		if err != nil {
			t.Fatal(err)
		}
		err = engine.Do(context.Background(), retry.Operation{Idempotency: retry.ReadOnly}, func(context.Context, int) retry.Failure {
			return retry.Failure{Err: c.err, Reason: couchbasereason.SocketNotAvailable, Stage: retry.StageBeforeSending}
		})
		var e *Error
		if !errors.As(failed(new(Request), c.late, err), &e) || e.Kind != c.want || (e.Cause != KindOther) != (c.want == KindUnambiguousTimeout) {
			t.Errorf("%s: %v, cause %v; want %v", c.name, e.Kind, e.Cause, c.want)
		}
	}
}

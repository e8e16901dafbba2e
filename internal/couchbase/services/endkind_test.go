package services

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/couchbasereason"
)

// A deadline that has passed is a timeout, also if its timer is late and the context has not ended. An answer of the service stands.
func TestTheKindOfAnOperationThatHasEnded(t *testing.T) {
	answer := &Answer{Kind: KindParsingFailure, err: context.DeadlineExceeded}
	for _, c := range []struct {
		name  string
		ended error
		err   error
		known bool
		want  Kind
	}{
		{"its time was up", context.DeadlineExceeded, errors.New("x"), true, KindUnambiguousTimeout},
		{"its time was up, and it may have changed something", context.DeadlineExceeded, errors.New("x"), false, KindAmbiguousTimeout},
		{"its time was up while an answer was read", context.DeadlineExceeded, answer, true, KindUnambiguousTimeout},
		{"its timer was late", nil, fmt.Errorf("before sending: %w", context.DeadlineExceeded), true, KindUnambiguousTimeout},
		{"an answer", nil, answer, true, KindParsingFailure},
		{"cancelled", context.Canceled, context.Canceled, true, KindRequestCancelled},
		{"closed", context.Canceled, ErrClosed, true, KindClosed},
		{"a lost connection", nil, errors.New("x"), true, KindRequestCancelled},
	} {
		f := &retry.Failure{Err: c.err, Reason: couchbasereason.SocketClosedInFlight}
		if got := endKind(c.ended, f, c.known); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

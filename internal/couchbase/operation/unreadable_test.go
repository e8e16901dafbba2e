package operation_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/internal/couchbase/operation"
	"github.com/holdfast-db/holdfast/retry"
)

// A reply that cannot be understood has the reason UNKNOWN: it is not retried, and nobody knows whether the operation was applied.
func TestAReplyThatCannotBeInflated(t *testing.T) {
	for _, idempotent := range []bool{true, false} {
		t.Run(fmt.Sprintf("idempotent %v", idempotent), func(t *testing.T) {
			inWorld(t, func(_ string, n int, _ memd.Packet) (answer, bool) {
				if n == 0 {
					return answer{DataType: memd.DataSnappy, Value: []byte("\xff\xff\xff\xff\xff\xff")}, true
				}
				return answer{}, true
			}, func(w *world) {
				q := w.increment(keyOf0)
				if idempotent {
					q = w.get(keyOf0)
				}
				_, err := w.do(q)
				if !errors.Is(err, operation.ErrDecodingFailure) || errors.Is(err, operation.ErrInvalidArgument) || errors.Is(err, operation.ErrTimeout) {
					t.Fatalf("%v", err)
				}
				if err.Ambiguous == idempotent || err.DispatchedTo != "a:11210" || len(w.Log()) != 1 {
					t.Errorf("ambiguous %v, dispatched to %q, requests %v", err.Ambiguous, err.DispatchedTo, w.requests())
				}
				equal(t, "decisions", w.log.all(), []string{fmt.Sprintf("0 %v %v 0s", retry.ReasonUnknown, retry.StopNotRetryable)})
				if _, err := w.do(w.get(keyOf0)); err != nil {
					t.Errorf("the next operation, on a new connection: %v", err)
				}
			})
		})
	}
}

package mongo_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	official "go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/internal/mongo/operation"
	"github.com/holdfast-db/holdfast/mongo"
	"github.com/holdfast-db/holdfast/mongotest"
	"github.com/holdfast-db/holdfast/retry"
)

// joins are the ways in which an application adds something to an error.
var joins = map[string]func(error) error{
	"the error alone":             func(e error) error { return e },
	"wrapped":                     func(e error) error { return fmt.Errorf("step 2: %w", e) },
	"first":                       func(e error) error { return errors.Join(e, errors.New("cleanup failed")) },
	"second":                      func(e error) error { return errors.Join(errors.New("cleanup failed"), e) },
	"behind another server error": func(e error) error { return errors.Join(mongo.CommandError{Code: 26}, e) },
	"deep behind others": func(e error) error {
		return fmt.Errorf("%w: %w", errors.Join(mongo.WriteException{}, errors.New("x")), fmt.Errorf("y: %w", errors.Join(mongo.CommandError{Code: 26}, e)))
	},
}

// Labels, codes and kinds are found wherever an application has joined the error that has them.
func TestWhatIsLookedForInAJoinedError(t *testing.T) {
	for name, join := range joins {
		t.Run(name, func(t *testing.T) {
			duplicate := mongo.WriteException{WriteErrors: mongo.WriteErrors{{Code: 11000}}}
			if err := join(duplicate); !mongo.IsDuplicateKeyError(err) || !slices.Contains(mongo.ErrorCodes(err), 11000) {
				t.Errorf("the duplicate key, and the codes %v", mongo.ErrorCodes(err))
			}
			if err := join(mongo.CommandError{Labels: []string{"NetworkError"}}); !mongo.IsNetworkError(err) {
				t.Error("the network error")
			}
			if err := join(mongo.CommandError{Code: 50}); !mongo.IsTimeout(err) || !mongo.IsTimeout(join(context.DeadlineExceeded)) {
				t.Error("the timeout")
			}
			other := join(mongo.CommandError{Code: 7})
			if mongo.IsDuplicateKeyError(other) || mongo.IsNetworkError(other) || mongo.IsTimeout(other) {
				t.Error("another error")
			}
			transactsAgain(t, join)
		})
	}
	if codes := mongo.ErrorCodes(nil); codes != nil || mongo.IsTimeout(nil) {
		t.Errorf("nil has %v", codes)
	}
}

// transactsAgain fails if a callback of WithTransaction is not called again after its error with the label TransientTransactionError.
func transactsAgain(t *testing.T, join func(error) error) {
	t.Helper()
	in(t, nil, func(w *world) {
		w.seed()
		w.heal = w.set.Use("insert", mongotest.FaultOnce(refuse(251, "TransientTransactionError")))
		s, err := w.client.StartSession()
		w.must(err)
		defer s.EndSession(w.ctx)
		calls := 0
		_, err = s.WithTransaction(w.ctx, func(ctx context.Context) (any, error) {
			calls++
			if err := insertOne(ctx, w.coll); err != nil {
				return nil, join(err)
			}
			return nil, nil
		})
		if err != nil || calls != 2 {
			t.Errorf("%d calls: %v", calls, err)
		}
	})
}

// What an attempt before had is not what the operation has: its history is not searched.
func TestTheLabelsOfEarlierAttemptsAreNotFound(t *testing.T) {
	in(t, nil, func(w *world) {
		w.seed()
		w.script("insert", loseReply, refuse(11000))
		inserted := insertOne(w.ctx, w.coll)
		var history *retry.Error
		if !errors.As(inserted, &history) {
			t.Fatal(inserted)
		}
		err := errors.Join(errors.New("x"), inserted)
		if operation.Labelled(&operation.WithHistory{Err: errors.New("x"), History: history}, "NetworkError") {
			t.Error("the label of an attempt was found beside an error of another kind")
		}
		if mongo.IsNetworkError(err) || !slices.Equal(mongo.ErrorCodes(err), []int{11000}) {
			t.Errorf("%v: codes %v", err, mongo.ErrorCodes(err))
		}
	})
}

// Without a join the codes are those of the official driver, one for each write error.
func TestErrorCodesWithoutAJoin(t *testing.T) {
	twice := mongo.WriteError{Code: 11000}
	for _, err := range []error{
		nil, errors.New("x"),
		mongo.BulkWriteException{},
		mongo.CommandError{Code: 7},
		fmt.Errorf("y: %w", mongo.CommandError{Code: 7}),
		mongo.BulkWriteException{WriteErrors: []mongo.BulkWriteError{{WriteError: twice}, {WriteError: twice}}},
	} {
		if got, want := mongo.ErrorCodes(err), official.ErrorCodes(err); !slices.Equal(got, want) || (got == nil) != (want == nil) {
			t.Errorf("%v: %#v, want %#v", err, got, want)
		}
	}
}

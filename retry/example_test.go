package retry_test

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/holdfast-db/holdfast/retry"
)

// Writing a value is idempotent: the second time changes nothing. The store loses its first answer, so the value is written
// again. A key that is too long is refused every time, so it is not.
func Example() {
	for _, key := range []string{"colour", "a key that is much too long"} {
		s := &store{losesAnswers: 1}
		err := retry.Run(context.Background(), retry.Idempotent, classify, func(ctx context.Context) error {
			return s.put(ctx, key, "blue")
		})
		fmt.Println(s.calls, "calls:", err)
	}
	// Output:
	// 2 calls: <nil>
	// 1 calls: the key is too long (1 attempt: [1, in flight, UNKNOWN: the key is too long] no more: not retryable)
}

func classify(err error) retry.Class {
	switch {
	case errors.Is(err, errBusy): // the store answered that it did nothing
		return retry.ClassTemporary
	case errors.Is(err, io.ErrUnexpectedEOF): // the connection was lost before the answer
		return retry.ClassNoAnswer
	default: // not known: not retried
		return retry.ClassUnknown
	}
}

var (
	errBusy    = errors.New("the store is busy")
	errTooLong = errors.New("the key is too long")
)

// store stands for a key-value store behind a network that loses its first answers.
type store struct {
	losesAnswers, calls int
}

func (s *store) put(_ context.Context, key, _ string) error {
	s.calls++
	switch {
	case len(key) > 10:
		return errTooLong
	case s.calls <= s.losesAnswers:
		return io.ErrUnexpectedEOF
	default:
		return nil
	}
}

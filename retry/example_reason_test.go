package retry_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/holdfast-db/holdfast/retry"
)

var (
	errLocked = errors.New("the file is locked")
	errNoDisk = errors.New("the disk did not answer")
)

// The flags say what an answer for a reason means: a locked file was not changed. A disk without an answer may have written.
var (
	reasonLocked   = retry.NewReason("FILE_LOCKED", retry.FlagAllowsNonIdempotent)
	reasonDiskLost = retry.NewReason("DISK_LOST")
)

// Appending to a file twice does harm. So it is done again only after the answer that nothing was written.
func ExampleFlag() {
	engine, err := retry.New(retry.Options{Strategy: retry.RetryOnce()})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, failure := range []retry.Failure{
		{Err: errLocked, Stage: retry.StageAnswered, Reason: reasonLocked},
		{Err: errNoDisk, Stage: retry.StageAnswered, Reason: reasonDiskLost},
	} {
		err := engine.Do(context.Background(), retry.Operation{Idempotency: retry.NotIdempotent}, func(_ context.Context, n int) retry.Failure {
			if n > 0 {
				return retry.Failure{}
			}
			return failure
		})
		fmt.Println(failure.Reason, failure.Reason.AllowsNonIdempotentRetry(), err)
	}
	// Output:
	// FILE_LOCKED true <nil>
	// DISK_LOST false the disk did not answer (1 attempt: [1, answered, DISK_LOST: the disk did not answer] no more: not idempotent)
}

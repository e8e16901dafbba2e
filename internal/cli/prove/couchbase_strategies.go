package prove

import (
	"context"

	"github.com/holdfast-db/holdfast/internal/base/pause"
)

// The names of the strategies that only Couchbase has.
const (
	BestEffort        = "best-effort"
	CASLoop           = "cas-loop"
	BestEffortDurable = "best-effort-majority"
)

var couchbaseStrategies = []Strategy{
	{Name: NoRetry, Title: "no retry", failFast: true, do: write},
	{Name: FiveBlind, Title: "five blind retries", failFast: true, do: writeBlindly},
	{Name: BestEffort, Title: "best effort", do: write},
	{Name: CASLoop, Title: "CAS loop", do: writeByCAS},
	{Name: BestEffortDurable, Title: "best effort with majority", durable: true, do: write},
}

// write calls the client once.
func write(ctx context.Context, d *doing) error { return d.write(ctx, anyVersion) }

// writeBlindly retries after every error, at most five times, as much production code does.
func writeBlindly(ctx context.Context, d *doing) error {
	err := d.write(ctx, anyVersion)
	for retries := 0; err != nil && retries < 5 && ctx.Err() == nil; retries++ {
		_ = pause.For(ctx, d.pause)
		err = d.write(ctx, anyVersion)
	}
	return err
}

// casRounds is the largest number of rounds of writeByCAS.
const casRounds = 20

// writeByCAS reads whether the document has the operation. If not, it writes the operation to the version that was read. After an error
// it begins again: if that write was applied, or will still be, the read or the CAS shows it.
func writeByCAS(ctx context.Context, d *doing) error {
	var err error
	for round := 0; round < casRounds && ctx.Err() == nil; round++ {
		if round > 0 {
			_ = pause.For(ctx, d.pause)
		}
		var there bool
		var v version
		if there, v, err = d.look(ctx); err != nil {
			continue
		}
		if there {
			return nil
		}
		if err = d.write(ctx, v); err == nil {
			return nil
		}
	}
	return err
}

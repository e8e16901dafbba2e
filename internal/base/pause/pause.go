// Package pause waits for a time that a context may end.
package pause

import (
	"context"
	"time"
)

// For waits for d. It returns the cause of ctx's end if that comes first, or has come before.
func For(ctx context.Context, d time.Duration) error {
	if d <= 0 || ctx.Err() != nil {
		return context.Cause(ctx)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

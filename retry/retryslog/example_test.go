package retryslog_test

import (
	"context"
	"errors"
	"log/slog"
	"os"

	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/retryslog"
)

func Example() {
	logger := slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
		if a.Key == slog.TimeKey || a.Key == "elapsed" {
			return slog.Attr{} // they differ from run to run
		}
		return a
	}}))
	engine, err := retry.New(retry.Options{Strategy: retry.RetryOnce(), Observer: retryslog.New(logger)})
	if err != nil {
		logger.Error(err.Error())
		return
	}
	_ = engine.Do(context.Background(), retry.Operation{Name: "orders.insert"}, func(context.Context, int) retry.Failure {
		return retry.Failure{Err: errors.New("reset"), Reason: retry.ReasonNetworkError, Endpoint: "a:1"}
	})
	// Output:
	// level=INFO msg="not retried" operation=orders.insert attempt=1 reason=NETWORK_ERROR stage="in flight" stopReason="not idempotent" delay=0s endpoint=a:1 error="reset (1 attempt: [1 at a:1, in flight, NETWORK_ERROR: reset] no more: not idempotent)"
}

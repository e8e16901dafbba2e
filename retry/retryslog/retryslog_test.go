package retryslog_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/retryslog"
)

// "Retries at debug, refusals once at info with their stop reason; cancelled and success: no record or debug."
func TestWhatIsLogged(t *testing.T) {
	notSent := retry.Failure{Err: errLost, Stage: retry.StageBeforeSending, Reason: retry.ReasonConnectionFailed, Endpoint: "b:2"}
	unnamed := notSent
	unnamed.Endpoint = ""
	for _, c := range []struct {
		name     string
		op       retry.Operation
		failures []retry.Failure
		cancel   time.Duration
		want     []string
	}{
		{"a success", retry.Operation{Name: "put"}, nil, 0, nil},
		{"a success after a retry", retry.Operation{Name: "put", Endpoint: "a:1"}, []retry.Failure{unnamed}, 0, []string{
			"level=DEBUG msg=retrying operation=put attempt=1 reason=CONNECTION_FAILED stage=\"before sending\" stopReason=retried delay=1s elapsed=1s endpoint=a:1 error=lost",
		}},
		{"a refusal", retry.Operation{}, []retry.Failure{{Err: errLost}}, 0, []string{
			`level=INFO msg="not retried" attempt=1 reason=UNKNOWN stage="in flight" stopReason="not retryable" delay=0s elapsed=1s ` +
				`error="lost (1 attempt: [1, in flight, UNKNOWN: lost] no more: not retryable)"`,
		}},
		{"retries that are used up", retry.Operation{Name: "put"}, []retry.Failure{notSent, notSent}, 0, []string{
			`level=DEBUG msg=retrying operation=put attempt=1 reason=CONNECTION_FAILED stage="before sending" stopReason=retried delay=1s elapsed=1s endpoint=b:2 error=lost`,
			`level=INFO msg="not retried" operation=put attempt=2 reason=CONNECTION_FAILED stage="before sending" stopReason="attempts used up" delay=0s elapsed=3s endpoint=b:2 ` +
				`error="lost (2 attempts: [1 at b:2, before sending, CONNECTION_FAILED: lost] [2 at b:2, before sending, CONNECTION_FAILED: lost] no more: attempts used up)"`,
		}},
		{"a cancellation", retry.Operation{Name: "put"}, []retry.Failure{notSent}, 1500 * time.Millisecond, []string{
			`level=DEBUG msg=retrying operation=put attempt=1 reason=CONNECTION_FAILED stage="before sending" stopReason=retried delay=1s elapsed=1s endpoint=b:2 error=lost`,
			`level=DEBUG msg="not retried" operation=put attempt=1 reason=CONNECTION_FAILED stage="before sending" stopReason=cancelled delay=1s elapsed=1.5s endpoint=b:2 ` +
				`error="lost (1 attempt: [1 at b:2, before sending, CONNECTION_FAILED: lost] no more: cancelled)"`,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				logger := slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug, ReplaceAttr: withoutTime}))
				e := engine(t, retryslog.New(logger))
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				if c.cancel > 0 {
					time.AfterFunc(c.cancel, cancel)
				}
				_ = e.Do(ctx, c.op, func(_ context.Context, n int) (f retry.Failure) {
					<-time.After(time.Second)
					if n < len(c.failures) {
						f = c.failures[n]
					}
					return f
				})
				if got, want := log.String(), strings.Join(append(c.want, ""), "\n"); got != want {
					t.Errorf("logged\n%swant\n%s", got, want)
				}
			})
		})
	}
}

var errLost = errors.New("lost")

// engine returns an engine that makes one retry, after a second.
func engine(t *testing.T, o retry.Observer) *retry.Engine {
	t.Helper()
	aSecond := retry.BestEffort(retry.BackoffOptions{Min: time.Second, Max: time.Second})
	e, err := retry.New(retry.Options{Strategy: retry.Limited(2, aSecond), Observer: o})
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func withoutTime(_ []string, a slog.Attr) slog.Attr {
	if a.Key == slog.TimeKey {
		return slog.Attr{}
	}
	return a
}

func TestNothingIsAllocatedForALevelThatIsOff(t *testing.T) {
	logger := slog.New(slog.NewTextHandler(new(bytes.Buffer), &slog.HandlerOptions{Level: slog.LevelWarn}))
	observer := retryslog.New(logger)
	event := retry.Event{Kind: retry.EventDecided, Record: retry.Record{Failure: retry.Failure{Err: errLost}, StopReason: retry.NotStopped}}
	if n := testing.AllocsPerRun(100, func() { observer.Observe(context.Background(), event) }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}

func TestWithoutALoggerTheDefaultOneIsUsed(t *testing.T) {
	var log bytes.Buffer
	before := slog.Default()
	defer slog.SetDefault(before)
	observer := retryslog.New(nil) // made before the default is set
	slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
	_ = engine(t, observer).Do(t.Context(), retry.Operation{}, func(context.Context, int) retry.Failure {
		return retry.Failure{Err: errLost}
	})
	if strings.Count(log.String(), "\n") != 1 || !strings.Contains(log.String(), "level=INFO") {
		t.Errorf("logged %q", log.String())
	}
}

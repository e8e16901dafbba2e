package operation

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	official "go.mongodb.org/mongo-driver/v2/mongo"

	"github.com/holdfast-db/holdfast/internal/mongo/cluster"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
	"github.com/holdfast-db/holdfast/retry"
	"github.com/holdfast-db/holdfast/retry/mongoreason"
)

var errCause = errors.New("the cause")

// on returns an operation under way, as far as its errors depend on it.
func on(kind Kind, cfg Config) *run {
	return &run{Runner: &Runner{cfg: cfg}, op: &Operation{Name: "x", Kind: kind}}
}

// Retryable Writes, "RetryableWriteError Labels": the client adds it to network errors of writes, if it retries writes.
func TestWhichErrorsOfTheClientAreLabelled(t *testing.T) {
	both := Config{RetryReads: true, RetryWrites: true}
	for _, c := range []struct {
		name    string
		kind    Kind
		cfg     Config
		refusal retry.StopReason
		want    []string
	}{
		{"a write", Write, both, retry.StopNone, []string{"NetworkError", "RetryableWriteError"}},
		{"a write that is not on the list", Write, both, retry.StopNotRetryable, []string{"NetworkError", "RetryableWriteError"}},
		{"a write to a server that has no retryable writes", Write, both, retry.StopUnsupportedServer, []string{"NetworkError"}},
		{"a write with retryWrites=false", Write, Config{RetryReads: true}, retry.StopDisabled, []string{"NetworkError"}},
		{"a read", Read, both, retry.StopNone, []string{"NetworkError"}},
		{"runCommand", Generic, both, retry.StopNotRetryable, []string{"NetworkError"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := on(c.kind, c.cfg)
			r.noRetry = c.refusal
			err, ok := r.clientError(errCause, retry.ReasonNetworkError, labelNetworkError).(official.CommandError) //nolint:errorlint // it is the type itself
			if !ok || !slices.Equal(err.Labels, c.want) || !errors.Is(err, errCause) || err.Name != "" || err.Code != 0 ||
				err.Message != errCause.Error() {
				t.Errorf("%+v", err)
			}
		})
	}
	if err := on(Write, both).clientError(errCause, retry.ReasonUnknown, labelNetworkError); err != errCause { //nolint:errorlint // it is the error itself
		t.Errorf("an error that no rule retries became %v", err)
	}
}

// The text of a network error has its cause once, and says whether the command was sent.
func TestTheTextOfANetworkError(t *testing.T) {
	inFlight := &cluster.IOError{Address: "a:1", Stage: retry.StageInFlight, Err: io.EOF}
	for _, c := range []struct {
		name string
		err  error
		want string
	}{
		{"a broken connection", inFlight, "connection to a:1 failed (in flight): EOF: the server may have executed the command"},
		{
			"a failed write", &cluster.IOError{Address: "a:1", Stage: retry.StageBeforeSending, Err: io.EOF},
			"connection to a:1 failed (before sending): EOF: the command was not sent",
		},
		{
			"a failed handshake", &cluster.HandshakeError{Address: "a:1", Err: inFlight},
			"connecting to a:1 failed: connection to a:1 failed (in flight): EOF: the command was not sent",
		},
		{
			"a pool that was cleared by another command", &cluster.PoolClearedError{Address: "a:1", Cause: inFlight},
			"connection pool for a:1 was cleared because another operation failed with: " +
				"connection to a:1 failed (in flight): EOF: the command was not sent",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := on(Read, Config{}).clientError(c.err, retry.ReasonNetworkError, labelNetworkError)
			if err.Error() != c.want || !errors.Is(err, io.EOF) {
				t.Errorf("%q, want %q", err, c.want)
			}
		})
	}
}

// The error of maxTimeMS is a timeout, as if the deadline had passed here.
func TestTheErrorOfMaxTimeMatchesDeadlineExceeded(t *testing.T) {
	for code, want := range map[int]bool{50: true, 51: false} {
		reply := parsed(t, bson.D{{Key: "ok", Value: 0}, {Key: "code", Value: code}, {Key: "errmsg", Value: "m"}})
		err := on(Read, Config{}).commandError(reply, false, nil)
		if errors.Is(err, context.DeadlineExceeded) != want || official.IsTimeout(err) != want {
			t.Errorf("code %d: %v", code, err)
		}
	}
}

func TestARefusalIsACommandErrorWithAllThatTheServerSaid(t *testing.T) {
	for _, c := range []struct {
		name    string
		reply   bson.D
		add     bool
		labels  []string
		message string
	}{
		{
			"with a label of the server",
			bson.D{
				{Key: "ok", Value: 0},
				{Key: "code", Value: 7},
				{Key: "codeName", Value: "N"},
				{Key: "errmsg", Value: "m"},
				{Key: "errorLabels", Value: bson.A{"l"}},
			},
			false,
			[]string{"l"},
			"m",
		},
		{
			"with the client's too",
			bson.D{
				{Key: "ok", Value: 0},
				{Key: "code", Value: 7},
				{Key: "codeName", Value: "N"},
				{Key: "errmsg", Value: "m"},
				{Key: "errorLabels", Value: bson.A{"l"}},
			},
			true,
			[]string{"l", "RetryableWriteError"},
			"m",
		},
		{
			"without a message",
			bson.D{{Key: "ok", Value: 0}, {Key: "code", Value: 7}, {Key: "codeName", Value: "N"}},
			false, nil, "command failed",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			reply := parsed(t, c.reply)
			body := slices.Clone(reply.Body)
			err := on(Write, Config{}).commandError(reply, c.add, errCause).(official.CommandError) //nolint:errorlint // it is the type itself
			clear(reply.Body)
			if err.Code != 7 || err.Name != "N" || err.Message != c.message || !slices.Equal(err.Labels, c.labels) ||
				!errors.Is(err, errCause) || string(err.Raw) != string(body) {
				t.Errorf("%+v", err)
			}
		})
	}
}

// failing returns the error of the attempts of a run that fail as given. The engine allows that many attempts.
func failing(t *testing.T, r *run, failures ...retry.Failure) error {
	t.Helper()
	engine, err := retry.New(retry.Options{Strategy: retry.Limited(len(failures), retry.UntilDeadline())})
	if err != nil {
		t.Fatal(err)
	}
	return engine.Do(context.Background(), retry.Operation{}, func(_ context.Context, n int) retry.Failure {
		r.rememberError(&failures[n])
		return failures[n]
	})
}

// Every error has a history. Its text tells of it unless it is that of one attempt whose refusal adds nothing.
func TestWhichErrorsTellTheirHistory(t *testing.T) {
	plain := official.CommandError{Code: 1, Message: "m"}
	again := retry.Failure{Err: plain, Stage: retry.StageAnswered, Reason: mongoreason.NotWritablePrimary}
	for _, c := range []struct {
		name     string
		failures []retry.Failure
		want     bool
	}{
		{"one attempt that no rule retries", []retry.Failure{{Err: plain, Stage: retry.StageAnswered}}, false},
		{"one that was not built", []retry.Failure{{Err: plain, Stage: retry.StageBeforeSending, Stop: retry.StopNotBuilt}}, false},
		{"one that retries are disabled for", []retry.Failure{{Err: plain, Stop: retry.StopDisabled}}, false},
		{"none", []retry.Failure{{Err: plain, Stage: retry.StageBeforeSending, Stop: retry.StopNoServer, NoAttempt: true}}, false},
		{"one that may have been applied", []retry.Failure{{Err: plain, Reason: retry.ReasonNetworkError}}, true},
		{"one on a server that does not support retries", []retry.Failure{{Err: plain, Stop: retry.StopUnsupportedServer}}, true},
		{"one in a transaction", []retry.Failure{{Err: plain, Stop: retry.StopInTransaction}}, true},
		{"one whose attempts are used up", []retry.Failure{{Err: plain, Stop: retry.StopAttemptsUsed}}, true},
		{"one whose breaker is open", []retry.Failure{{Err: plain, Stop: retry.StopBreakerOpen}}, true},
		{"one whose budget is empty", []retry.Failure{{Err: plain, Stop: retry.StopBudgetEmpty}}, true},
		{"one that the strategy declines", []retry.Failure{{Err: plain, Stop: retry.StopStrategyDeclined}}, true},
		{"one that the end of the client interrupted", []retry.Failure{{Err: cluster.ErrDisconnected, Stop: retry.StopNoServer}}, true},
		{"two", []retry.Failure{again, {Err: plain, Stage: retry.StageAnswered}}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := on(Write, Config{})
			got := r.final(failing(t, r, c.failures...))
			var history *retry.Error
			if !errors.As(got, &history) {
				t.Fatalf("%v has no history", got)
			}
			if Tells(history) != c.want || strings.Contains(got.Error(), history.History()) != c.want {
				t.Errorf("%v", got)
			}
		})
	}
	r := on(Write, Config{})
	if err := r.final(errCause); err != errCause { //nolint:errorlint // it is the error itself
		t.Errorf("an error without attempts became %v", err)
	}
	if err := r.final(failing(t, r, retry.Failure{Err: official.ErrClientDisconnected, Stop: retry.StopNoServer})); err != official.ErrClientDisconnected { //nolint:errorlint // programs compare it by ==
		t.Errorf("the end of the client became %v", err)
	}
}

// A CommandError keeps its type, its text and its cause, and also has the history.
func TestACommandErrorHasAHistory(t *testing.T) {
	plain := official.CommandError{Code: 7, Name: "N", Message: "m", Labels: []string{"l"}}
	for _, c := range []struct {
		name  string
		cause error
		stage retry.Stage
		stop  retry.StopReason
		text  string
	}{
		{"an error reply", nil, retry.StageAnswered, retry.StopNone, "(N) m"},
		{"a reply without a name", nil, retry.StageAnswered, retry.StopNone, "m"},
		{"one with a cause", errCause, retry.StageInFlight, retry.StopNotRetryable, "(N) m: " + errCause.Error()},
		{"one that tells", errCause, retry.StageAnswered, retry.StopInTransaction, "(N) m: 1 attempt: [1 at a:1, answered, UNKNOWN: (N) m: " + errCause.Error() + "] no more: in transaction"},
	} {
		t.Run(c.name, func(t *testing.T) {
			one := plain
			one.Wrapped = c.cause
			if c.text == "m" {
				one.Name = ""
			}
			r := on(Write, Config{})
			got, ok := r.final(failing(t, r, retry.Failure{Err: one, Stage: c.stage, Stop: c.stop, Endpoint: "a:1"})).(official.CommandError) //nolint:errorlint // its type is tested
			if !ok || got.Error() != c.text || got.Code != 7 || !got.HasErrorLabel("l") || c.cause != nil && !errors.Is(got, c.cause) {
				t.Fatalf("%T: %v", got, got)
			}
			var history *retry.Error
			if !errors.As(got, &history) || history.Total != 1 {
				t.Errorf("%v has no history", got)
			}
		})
	}
}

// The conditions are checked at the first server: the operation, the options, the server, in this order.
func TestWhyAnOperationMayNotBeRetriedByItsRule(t *testing.T) {
	both := Config{RetryReads: true, RetryWrites: true}
	for _, c := range []struct {
		name      string
		kind      Kind
		retryable bool
		cfg       Config
		supported bool
		want      retry.StopReason
	}{
		{"a read", Read, true, both, true, retry.StopNone},
		{"a write", Write, true, both, true, retry.StopNone},
		{"not on the list", Write, false, Config{}, false, retry.StopNotRetryable},
		{"retryReads=false", Read, true, Config{RetryWrites: true}, false, retry.StopDisabled},
		{"retryWrites=false", Write, true, Config{RetryReads: true}, false, retry.StopDisabled},
		{"retryWrites=false says nothing of reads", Read, true, Config{RetryReads: true}, true, retry.StopNone},
		{"retryReads=false says nothing of writes", Write, true, Config{RetryWrites: true}, true, retry.StopNone},
		{"a server that does not support it", Write, true, both, false, retry.StopUnsupportedServer},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := on(c.kind, c.cfg)
			r.op.Retryable = c.retryable
			if got := r.noRetryReason(c.supported); got != c.want {
				t.Errorf("%v, want %v", got, c.want)
			}
		})
	}
}

// Retryable Reads and Retryable Writes, "Supported Server Versions"; Load Balancer specification.
func TestWhichServersSupportRetries(t *testing.T) {
	minutes := int64(30)
	for _, c := range []struct {
		name        string
		server      topology.Server
		read, write bool
	}{
		{"a member from 3.6 on", topology.Server{Type: topology.RSPrimary, MaxWireVersion: 6, SessionTimeoutMinutes: &minutes}, true, true},
		{"a mongos", topology.Server{Type: topology.Mongos, MaxWireVersion: 21, SessionTimeoutMinutes: &minutes}, true, true},
		{"an older one", topology.Server{Type: topology.RSPrimary, MaxWireVersion: 5, SessionTimeoutMinutes: &minutes}, false, false},
		{"one without sessions", topology.Server{Type: topology.RSPrimary, MaxWireVersion: 6}, true, false},
		{"a standalone", topology.Server{Type: topology.Standalone, MaxWireVersion: 21, SessionTimeoutMinutes: &minutes}, true, false},
		{"a server that is Unknown, to which the operation is pinned", *topology.NewUnknown("a:1", errors.New("down"), nil), true, true},
		{"a load balancer, of which nothing is known", *topology.NewLoadBalancer("a:1"), true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := on(Read, Config{}).supported(&c.server); got != c.read {
				t.Errorf("read: %v", got)
			}
			if got := on(Write, Config{}).supported(&c.server); got != c.write {
				t.Errorf("write: %v", got)
			}
		})
	}
}

// Client Backpressure: reads need retryReads, writes retryWrites, runCommand both.
func TestWhichOptionsLetAnOverloadBeRetried(t *testing.T) {
	for _, reads := range []bool{true, false} {
		for _, writes := range []bool{true, false} {
			cfg := Config{RetryReads: reads, RetryWrites: writes}
			for kind, want := range map[Kind]bool{Read: reads, Write: writes, Generic: reads && writes, Generic + 1: false} {
				if got := on(kind, cfg).overloadRetries(); got != want {
					t.Errorf("kind %d with %+v: %v", kind, cfg, got)
				}
			}
		}
	}
}

func TestTheIdempotencyOfAnAttempt(t *testing.T) {
	for _, c := range []struct {
		name   string
		kind   Kind
		number int64
		want   retry.Idempotency
	}{
		{"a read changes nothing", Read, 0, retry.ReadOnly},
		{"a write with a transaction number may be sent twice", Write, 1, retry.Idempotent},
		{"a write without one may not", Write, 0, retry.NotIdempotent},
		{"runCommand may not", Generic, 0, retry.NotIdempotent},
	} {
		r := on(c.kind, Config{})
		r.txnNumber = c.number
		if got := r.idempotency(); got != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// The error was chosen among those of the attempts. A label of another attempt is none of its own.
func TestNobodyLooksForALabelInTheHistory(t *testing.T) {
	r := on(Write, Config{})
	sent := retry.Failure{Err: official.CommandError{Code: 91, Labels: []string{"first"}}, Stage: retry.StageAnswered, Reason: mongoreason.NodeRecovering}
	last := retry.Failure{Err: official.CommandError{Code: 7, Labels: []string{labelNoWritesPerformed}}, Stage: retry.StageAnswered}
	err := r.final(failing(t, r, sent, last))
	var history *retry.Error
	if !errors.As(err, &history) || history.Total != 2 || !Labelled(err, "first") || Labelled(err, labelNoWritesPerformed) {
		t.Errorf("%v", err)
	}
}

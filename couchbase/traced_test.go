package couchbase_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/telemetry"
)

// connectTraced is connect with a tracer.
func connectTraced(t *testing.T, server *couchbasetest.Cluster, tracer *telemetry.Tracer, o couchbase.ClusterOptions) *couchbase.Cluster {
	t.Helper()
	o.Authenticator = couchbase.PasswordAuthenticator{Username: server.Username(), Password: server.Password()}
	o.SecurityConfig.AllowedSaslMechanisms = []couchbase.SaslMechanism{couchbase.PlainSaslMechanism}
	client, err := couchbase.Open(server.ConnectionString(), couchbase.Config{Dial: server.Dialer().DialContext, Tracer: tracer}, o)
	if err != nil {
		t.Fatal(err)
	}
	return client
}

// toldLines is a tracer that keeps a line for each call, and all that it was told.
type toldLines struct {
	t     *testing.T
	mu    sync.Mutex
	lines []string
	pools []telemetry.PoolEvent
	all   []any
}

type toldKey struct{}

func (l *toldLines) add(what any, format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
	l.all = append(l.all, what)
}

// take returns the lines since the last call.
func (l *toldLines) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	defer func() { l.lines = nil }()
	return l.lines
}

// in checks that a context has what the function before has put there.
func (l *toldLines) in(ctx context.Context, want any) {
	if got := ctx.Value(toldKey{}); got != want {
		l.t.Errorf("the context has %v, want %v", got, want)
	}
}

func under[T any](ctx context.Context, what T) context.Context {
	return context.WithValue(ctx, toldKey{}, what)
}

// outcomeOf names an error by its sentinels.
func outcomeOf(err error) string {
	if err == nil {
		return "ok"
	}
	var all []string
	for _, known := range []struct {
		err  error
		name string
	}{
		{couchbase.ErrDocumentNotFound, "not found"},
		{couchbase.ErrTemporaryFailure, "temporary"},
		{couchbase.ErrUnambiguousTimeout, "unambiguous timeout"},
		{couchbase.ErrRequestCanceled, "cancelled"},
		{context.Canceled, "context"},
		{couchbase.ErrEncodingFailure, "encoding"},
		{couchbase.ErrParsingFailure, "parsing"},
		{couchbase.ErrShutdown, "shutdown"},
		{couchbase.ErrDurabilityImpossible, "impossible"},
	} {
		if errors.Is(err, known.err) {
			all = append(all, known.name)
		}
	}
	if all == nil {
		return "other: " + err.Error()
	}
	return strings.Join(all, ", ")
}

func (l *toldLines) tracer() *telemetry.Tracer {
	return &telemetry.Tracer{
		OperationBegan: func(ctx context.Context, o *telemetry.Operation) context.Context {
			keyspace := strings.Trim(o.Namespace+"."+o.Scope+"."+o.Collection, ".")
			l.add(*o, "began %s", strings.Join(strings.Fields(strings.Join([]string{o.Service, o.Name, keyspace, o.Durability, o.Statement}, " ")), " "))
			if o.System != telemetry.Couchbase || o.Began.IsZero() || o.Rows != -1 {
				l.t.Errorf("%+v", o)
			}
			return under(ctx, o)
		},
		OperationEnded: func(ctx context.Context, o *telemetry.Operation, err error) {
			l.in(ctx, o)
			l.add(err, "ended %s: %s", o.Name, outcomeOf(err))
		},
		EncodingBegan: func(ctx context.Context, o *telemetry.Operation) context.Context {
			l.in(ctx, o)
			l.add(nil, "encoding")
			return under(ctx, "encoding")
		},
		EncodingEnded: func(ctx context.Context, _ *telemetry.Operation, err error) {
			l.in(ctx, "encoding")
			l.add(err, "encoded: %s", outcomeOf(err))
		},
		AttemptBegan: func(ctx context.Context, a *telemetry.Attempt) context.Context {
			l.in(ctx, a.Operation)
			c := a.Connection
			if c.Address == "" || c.Local == "" || c.Remote == "" || (c.Name == "") == (a.Operation.Service == "kv") || a.Began.IsZero() || a.Name != a.Operation.Name ||
				a.Namespace != a.Operation.Namespace || a.Collection != a.Operation.Collection {
				l.t.Errorf("%+v", a)
			}
			l.add(*a, "attempt %d", a.Number)
			return under(ctx, a)
		},
		AttemptEnded: func(ctx context.Context, a *telemetry.Attempt, r *telemetry.Result) {
			l.in(ctx, a)
			if r.Rows != -1 || r.Identifier == "" {
				l.t.Errorf("%+v", r)
			}
			l.add(*r, "attempt %d ended after %v: code %d, %s", a.Number, r.Took.Round(time.Millisecond), r.Code, outcomeOf(r.Err))
		},
		Decided: func(ctx context.Context, d *telemetry.Decision) {
			l.in(ctx, d.Operation)
			l.add(*d, "%s", strings.TrimSpace(fmt.Sprintf("decided %d: %s, %s, %s", d.Attempt, d.Stage, d.Reason, d.StopReason)))
		},
		Pool: func(_ context.Context, e *telemetry.PoolEvent) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.pools = append(l.pools, *e)
		},
	}
}

func TestATracerIsTold(t *testing.T) {
	withServer(t, func(t *testing.T, server *couchbasetest.Cluster) {
		told := &toldLines{t: t}
		client := connectTraced(t, server, told.tracer(), couchbase.ClusterOptions{})
		defer client.Close(nil)
		c := client.Bucket("default").DefaultCollection()
		must[*couchbase.MutationResult](t)(c.Upsert("a", 1, nil))
		if err := client.Bucket("default").WaitUntilReady(time.Minute, nil); err != nil {
			t.Fatal(err)
		}
		answering(server, couchbasetest.Query, couchbasetest.HTTPAnswer{Rows: []any{1}})
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		told.take()
		server.Use(memd.OpGet, couchbasetest.FaultOnce(couchbasetest.Fault{Status: memd.StatusTemporaryFailure}))
		for _, step := range []struct {
			name string
			do   func() error
			want string
		}{
			{"a Get that is tried again", func() error { return second(c.Get("a", nil)) }, `
				began kv get default._default._default
				attempt 0
				attempt 0 ended after 0s: code 134, temporary
				decided 0: answered, KV_TEMPORARY_FAILURE,
				attempt 1
				attempt 1 ended after 0s: code 0, ok
				ended get: ok`},
			{"a document that is not there", func() error { return second(c.Get("none", nil)) }, `
				began kv get default._default._default
				attempt 0
				attempt 0 ended after 0s: code 1, not found
				decided 0: answered, UNKNOWN, not retryable
				ended get: not found`},
			{"Exists of a document that is not there", func() error { return second(c.Exists("none", nil)) }, `
				began kv exists default._default._default
				attempt 0
				attempt 0 ended after 0s: code 1, not found
				decided 0: answered, UNKNOWN, not retryable
				ended exists: ok`},
			{"a durable write", func() error {
				return second(c.Upsert("a", 1, &couchbase.UpsertOptions{DurabilityLevel: couchbase.DurabilityLevelMajority}))
			}, `
				began kv upsert default._default._default majority
				encoding
				encoded: ok
				attempt 0
				attempt 0 ended after 0s: code 0, ok
				ended upsert: ok`},
			{"a write that the client observes", func() error {
				return second(c.Upsert("a", 1, &couchbase.UpsertOptions{PersistTo: 1}))
			}, `
				began kv upsert default._default._default
				encoding
				encoded: ok
				attempt 0
				attempt 0 ended after 0s: code 0, ok
				ended upsert: ok`},
			{"a write that is refused before it is sent", func() error {
				return second(c.Upsert("a", 1, &couchbase.UpsertOptions{PersistTo: 4}))
			}, `
				began kv upsert default._default._default
				encoding
				encoded: ok
				ended upsert: impossible`},
			{"a value that cannot be encoded", func() error { return second(c.Upsert("a", func() {}, nil)) }, `
				began kv upsert default._default._default
				encoding
				encoded: encoding
				ended upsert: encoding`},
			{"a context that has ended", func() error { return second(c.Get("a", &couchbase.GetOptions{Context: gone})) }, `
				began kv get default._default._default
				attempt 0
				attempt 0 ended after 0s: code 0, cancelled
				decided 0: before sending, UNKNOWN, cancelled
				ended get: cancelled, context`},
			{"a query", func() error { return second(client.Query("SELECT secret", &couchbase.QueryOptions{Adhoc: true})) }, `
				began query query
				attempt 0
				attempt 0 ended after 0s: code 0, ok
				ended query: ok`},
			{"a query with parameters", func() error {
				return second(client.Bucket("default").DefaultScope().Query("SELECT $1", &couchbase.QueryOptions{Adhoc: true, PositionalParameters: []any{1}}))
			}, `
				began query query default._default SELECT $1
				attempt 0
				attempt 0 ended after 0s: code 0, ok
				ended query: ok`},
			{"management", func() error { return second(client.Buckets().GetAllBuckets(nil)) }, `
				began management manager_buckets_get_all_buckets
				attempt 0
				attempt 0 ended after 0s: code 0, ok
				ended manager_buckets_get_all_buckets: ok`},
		} {
			_ = step.do()
			check(t, step.name, strings.Join(told.take(), "\n"), nil, strings.ReplaceAll(strings.TrimSpace(step.want), "\t", ""))
		}
	}, couchbasetest.Nodes(2))
}

func TestATracerIsToldOfFailures(t *testing.T) {
	withServer(t, func(t *testing.T, server *couchbasetest.Cluster) {
		told := &toldLines{t: t}
		client := connectTraced(t, server, told.tracer(), couchbase.ClusterOptions{})
		c := client.Bucket("default").DefaultCollection()
		must[*couchbase.MutationResult](t)(c.Upsert("a", 1, nil))
		told.take()
		server.Use(memd.OpGet, couchbasetest.FaultOnce(couchbasetest.Fault{Delay: time.Second}))
		_, err := c.Get("a", &couchbase.GetOptions{Timeout: 100 * time.Millisecond})
		check(t, "the error", outcomeOf(err), nil, "unambiguous timeout")
		check(t, "a Get that times out", strings.Join(told.take(), "\n"), nil, strings.Join([]string{
			"began kv get default._default._default", "attempt 0", "attempt 0 ended after 100ms: code 0, cancelled",
			"decided 0: in flight, UNKNOWN, deadline would pass", "ended get: unambiguous timeout",
		}, "\n"))
		answering(server, couchbasetest.Query, couchbasetest.HTTPAnswer{Status: 400, Errors: []couchbasetest.HTTPProblem{{Code: 3000, Message: "near secret"}}})
		_, err = client.Query("secret", &couchbase.QueryOptions{Adhoc: true})
		check(t, "the error", outcomeOf(err), nil, "parsing")
		check(t, "a query that is refused", strings.Join(told.take(), "\n"), nil, strings.Join([]string{
			"began query query", "attempt 0", "attempt 0 ended after 0s: code 400, parsing", "decided 0: answered, UNKNOWN, not retryable", "ended query: parsing",
		}, "\n"))
		if err := client.Close(nil); err != nil {
			t.Error(err)
		}
		_, err = c.Get("a", nil)
		check(t, "the error", outcomeOf(err), nil, "shutdown")
		if lines := told.take(); lines != nil {
			t.Errorf("told of an operation of a closed cluster: %q", lines)
		}
	}, couchbasetest.Nodes(1))
}

// The application's own span, or whatever its context has, is above the operation; what is told of within another operation is below that.
func TestOperationsAreToldWithTheContextOfTheOptions(t *testing.T) {
	withServer(t, func(t *testing.T, server *couchbasetest.Cluster) {
		type mine struct{}
		var above []string
		tracer := &telemetry.Tracer{OperationBegan: func(ctx context.Context, o *telemetry.Operation) context.Context {
			name, _ := ctx.Value(mine{}).(string)
			above = append(above, name)
			if o.Service != "query" {
				return nil
			}
			return context.WithValue(ctx, mine{}, name+" "+o.Name)
		}}
		client := connectTraced(t, server, tracer, couchbase.ClusterOptions{})
		defer client.Close(nil)
		ctx := context.WithValue(t.Context(), mine{}, "app")
		_, _ = client.Bucket("default").DefaultCollection().Get("a", &couchbase.GetOptions{Context: ctx})
		_, _ = client.Bucket("default").DefaultCollection().Get("a", nil)
		_, _ = client.QueryIndexes().GetAllIndexes("default", &couchbase.GetAllQueryIndexesOptions{Context: ctx})
		if want := []string{"app", "", "app", "app manager_query_get_all_indexes"}; !slices.Equal(above, want) {
			t.Errorf("%q, want %q", above, want)
		}
	})
}

package couchbase_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/telemetry"
)

// lastTold is a tracer that keeps the latest of each.
type lastTold struct {
	operation telemetry.Operation
	attempt   telemetry.Attempt
	result    telemetry.Result
	err       error
}

func (l *lastTold) tracer() *telemetry.Tracer {
	return &telemetry.Tracer{
		OperationEnded: func(_ context.Context, o *telemetry.Operation, err error) { l.operation, l.err = *o, err },
		AttemptEnded:   func(_ context.Context, a *telemetry.Attempt, r *telemetry.Result) { l.attempt, l.result = *a, *r },
	}
}

// By the type of an error the failures of a service are told apart, without its text (RFC 0067: its name; what has none is "_OTHER").
func TestATracerIsToldTheTypesOfErrors(t *testing.T) {
	withServer(t, func(t *testing.T, server *couchbasetest.Cluster) {
		var told lastTold
		client := connectTraced(t, server, told.tracer(), couchbase.ClusterOptions{})
		defer client.Close(nil)
		c := client.Bucket("default").DefaultCollection()
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		for _, step := range []struct {
			name string
			do   func() error
			want string
		}{
			{"none", func() error { return second(c.Upsert("a", 1, nil)) }, ""},
			{"a document that is not there", func() error { return second(c.Get("none", nil)) }, "DocumentNotFound"},
			{"Exists of it", func() error { return second(c.Exists("none", nil)) }, ""},
			{"a value that cannot be encoded", func() error { return second(c.Upsert("a", func() {}, nil)) }, "_OTHER"},
			{"a context that has ended", func() error { return second(c.Get("a", &couchbase.GetOptions{Context: gone})) }, "RequestCanceled"},
			{"a query that is wrong", func() error {
				answering(server, couchbasetest.Query, couchbasetest.HTTPAnswer{Status: 400, Errors: []couchbasetest.HTTPProblem{{Code: 3000}}})
				return second(client.Query("s", &couchbase.QueryOptions{Adhoc: true}))
			}, "ParsingFailure"},
		} {
			told = lastTold{}
			_ = step.do()
			check(t, step.name, told.operation.ErrorType, nil, step.want)
		}
	})
}

func TestATracerIsToldWhereAnOperationIs(t *testing.T) {
	withServer(t, func(t *testing.T, server *couchbasetest.Cluster) {
		var told lastTold
		client := connectTraced(t, server, told.tracer(), couchbase.ClusterOptions{})
		defer client.Close(nil)
		bucket := client.Bucket("default")
		if err := bucket.WaitUntilReady(time.Minute, nil); err != nil {
			t.Fatal(err)
		}
		_, _ = bucket.Scope("s").Collection("c").Get("a", &couchbase.GetOptions{Timeout: time.Second})
		check(t, "the keyspace", fmt.Sprint(told.operation.Namespace, " ", told.operation.Scope, " ", told.operation.Collection), nil, "default s c")

		must[*couchbase.MutationResult](t)(bucket.DefaultCollection().Upsert("a", 1, nil))
		if a := told.attempt; a.Connection.Address != server.Address(0, "kv") || a.Connection.Remote != a.Connection.Address || a.Connection.Local == a.Connection.Remote {
			t.Errorf("%+v", a.Connection)
		}
		server.Use(memd.OpGet, couchbasetest.FaultOnce(couchbasetest.Fault{Delay: time.Second}))
		must[*couchbase.GetResult](t)(bucket.DefaultCollection().Get("a", &couchbase.GetOptions{Timeout: time.Minute}))
		if told.result.Took != time.Second {
			t.Errorf("%+v", told.result)
		}
		answering(server, couchbasetest.Query, couchbasetest.HTTPAnswer{Rows: []any{1}})
		must[*couchbase.QueryResult](t)(client.Query("s", &couchbase.QueryOptions{Adhoc: true, ClientContextID: "mine"}))
		check(t, "the id of a query", told.result.Identifier, nil, "mine")
	})
}

// The code is that of a server's refusal: a status that came with a success, or with an error in the answer's body, is none.
func TestATracerIsToldTheCodeOfARefusal(t *testing.T) {
	withServer(t, func(t *testing.T, server *couchbasetest.Cluster) {
		var told lastTold
		client := connectTraced(t, server, told.tracer(), couchbase.ClusterOptions{})
		defer client.Close(nil)
		c := client.Bucket("default").DefaultCollection()
		must[*couchbase.MutationResult](t)(c.Upsert("a", map[string]any{"there": 1}, nil))
		_ = must[*couchbase.LookupInResult](t)(c.LookupIn("a", []couchbase.LookupInSpec{couchbase.GetSpec("there", nil), couchbase.GetSpec("none", nil)}, nil))
		if told.result.Code != 0 || told.result.Err != nil {
			t.Errorf("%+v", told.result)
		}
		answering(server, couchbasetest.Query, couchbasetest.HTTPAnswer{Status: 200, Errors: []couchbasetest.HTTPProblem{{Code: 3000}}})
		_, _ = client.Query("s", &couchbase.QueryOptions{Adhoc: true})
		if told.result.Code != 0 || told.result.Err == nil {
			t.Errorf("%+v", told.result)
		}
		check(t, "the text of the error", told.err.Error(), nil, "parsing failure: parsing failure, code 3000, HTTP status 200")
	})
}

func TestATracerIsToldHowOftenAQueryWasTried(t *testing.T) {
	withServer(t, func(t *testing.T, server *couchbasetest.Cluster) {
		var told lastTold
		client := connectTraced(t, server, told.tracer(), couchbase.ClusterOptions{})
		defer client.Close(nil)
		if err := client.Bucket("default").WaitUntilReady(time.Minute, nil); err != nil {
			t.Fatal(err)
		}
		answering(server, couchbasetest.Query, couchbasetest.HTTPAnswer{Rows: []any{1}})
		server.HTTP().Script(on(couchbasetest.Query), 2, couchbasetest.HTTPScript{Answer: couchbasetest.HTTPAnswer{
			Status: 500, Errors: []couchbasetest.HTTPProblem{{Code: 5000, Message: "later", Retry: true}},
		}})
		must[*couchbase.QueryResult](t)(client.Query("s", &couchbase.QueryOptions{Adhoc: true, Readonly: true}))
		if told.attempt.Number != 2 {
			t.Errorf("the last attempt is number %d", told.attempt.Number)
		}
	})
}

// A tracer of gocb has the same spans if there is a tracer of package telemetry beside it, and each of them ends.
func TestTheTracerOfGocbWorksBesideATracer(t *testing.T) {
	withServer(t, func(t *testing.T, server *couchbasetest.Cluster) {
		var told lastTold
		gocbs := &spans{}
		client := connectTraced(t, server, told.tracer(), couchbase.ClusterOptions{Tracer: gocbs})
		defer client.Close(nil)
		must[*couchbase.MutationResult](t)(client.Bucket("default").DefaultCollection().Upsert("a", 1, nil))
		answering(server, couchbasetest.Query, couchbasetest.HTTPAnswer{Rows: []any{1}})
		rows := must[*couchbase.QueryResult](t)(client.Query("s", &couchbase.QueryOptions{Adhoc: true}))
		for rows.Next() {
		}
		check(t, "the tracer", told.operation.Name, nil, "query")
		gocbs.mu.Lock()
		defer gocbs.mu.Unlock()
		var names []string
		for _, s := range gocbs.all {
			names = append(names, s.name)
			if !s.ended {
				t.Errorf("%s did not end", s.name)
			}
		}
		want := []string{"upsert", "request_encoding", "dispatch_to_server", "query", "dispatch_to_server"}
		if !slices.Equal(names, want) {
			t.Errorf("%q, want %q", names, want)
		}
	})
}

func TestATracerIsToldThatAQueryWasCancelled(t *testing.T) {
	withServer(t, func(t *testing.T, server *couchbasetest.Cluster) {
		var told lastTold
		client := connectTraced(t, server, told.tracer(), couchbase.ClusterOptions{})
		defer client.Close(nil)
		gone, cancel := context.WithCancel(t.Context())
		cancel()
		_, _ = client.Query("s", &couchbase.QueryOptions{Adhoc: true, Context: gone})
		check(t, "the error", outcomeOf(told.err), nil, "cancelled, context")
	})
}

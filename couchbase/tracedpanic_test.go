package couchbase_test

import (
	"context"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/telemetry"
)

// panicsOnce returns a tracer one of whose functions panics at the first call after it is armed, and then works. Pool is called on goroutines
// of the client.
func panicsOnce(function int, armed *atomic.Bool) (*telemetry.Tracer, string) {
	t := reflect.ValueOf(new(telemetry.Tracer)).Elem()
	f := t.Field(function)
	f.Set(reflect.MakeFunc(f.Type(), func(args []reflect.Value) []reflect.Value {
		if armed.CompareAndSwap(true, false) {
			panic("mine")
		}
		if f.Type().NumOut() == 1 {
			return args[:1]
		}
		return nil
	}))
	return t.Addr().Interface().(*telemetry.Tracer), t.Type().Field(function).Name
}

// recovered returns the panic of a function.
func recovered(f func()) (v any) {
	defer func() { v = recover() }()
	f()
	return nil
}

// A panic of a tracer reaches the caller of the operation. It leaves nothing behind: the operations after it succeed, no connection is in use, and
// after Close no goroutine is left, in which case the bubble would fail.
func TestAPanicOfATracerLeavesNothingBehind(t *testing.T) {
	never := []string{"SelectionBegan", "SelectionWaits", "SelectionEnded", "TransactionBegan", "TransactionEnded", "Pool"}
	operations := map[string]func(client *couchbase.Cluster) error{
		"kv": func(client *couchbase.Cluster) error {
			c := client.Bucket("default").DefaultCollection()
			if err := second(c.Upsert("a", 1, nil)); err != nil {
				return err
			}
			return second(c.Get("a", nil))
		},
		"query": func(client *couchbase.Cluster) error {
			return second(client.Query("s", &couchbase.QueryOptions{Adhoc: true, Readonly: true}))
		},
		"management": func(client *couchbase.Cluster) error { return second(client.Buckets().GetAllBuckets(nil)) },
	}
	for name, operate := range operations {
		for _, i := range tracerFunctions() {
			var armed atomic.Bool
			tracer, function := panicsOnce(i, &armed)
			ofClient, ofEncoding := strings.HasPrefix(function, "Client"), strings.HasPrefix(function, "Encoding")
			t.Run(name+" "+function, func(t *testing.T) {
				withServer(t, func(t *testing.T, server *couchbasetest.Cluster) {
					answering(server, couchbasetest.Query, couchbasetest.HTTPAnswer{Rows: []any{strings.Repeat("x", 100_000), strings.Repeat("x", 100_000)}})
					if function == "ClientOpened" {
						armed.Store(true)
						if v := recovered(func() { connectTraced(t, server, tracer, couchbase.ClusterOptions{}) }); v != "mine" {
							t.Errorf("Open panicked with %v", v)
						}
						return
					}
					client := connectTraced(t, server, tracer, couchbase.ClusterOptions{})
					ready(t, client)
					if function == "Decided" {
						server.Use(memd.OpGet, couchbasetest.FaultOnce(couchbasetest.Fault{Status: memd.StatusTemporaryFailure}))
						server.HTTP().Inject(couchbasetest.HTTPWhen{}, 0, 1, couchbasetest.HTTPFault{Cut: couchbasetest.CutHTTPRequest})
					}
					told := !ofClient && !strings.Contains(strings.Join(never, " "), function) && (!ofEncoding || name == "kv")
					armed.Store(true)
					if v := recovered(func() { _ = operate(client) }); (v == "mine") != told {
						t.Errorf("recovered %v", v)
					}
					if armed.Store(false); !ofClient {
						if err := operate(client); err != nil {
							t.Errorf("the next operation: %v", err)
						}
					}
					armed.Store(function == "ClientClosed")
					if v := recovered(func() { client.Close(nil) }); (v == "mine") != (function == "ClientClosed") {
						t.Errorf("Close panicked with %v", v)
					}
					for _, p := range client.PoolStats() {
						if p.InUse+p.Idle+p.Pending+p.Waiting != 0 {
							t.Errorf("after Close: %+v", p)
						}
					}
				})
			})
		}
	}
}

// After a panic the tracer is told of the end, with an error that says so.
func TestATracerIsToldOfAPanic(t *testing.T) {
	withServer(t, func(t *testing.T, server *couchbasetest.Cluster) {
		var ends []string
		tracer := &telemetry.Tracer{
			AttemptBegan: func(context.Context, *telemetry.Attempt) context.Context { panic("mine") },
			OperationEnded: func(_ context.Context, o *telemetry.Operation, err error) {
				ends = append(ends, o.Name+": "+err.Error())
			},
		}
		client := connectTraced(t, server, tracer, couchbase.ClusterOptions{})
		defer client.Close(nil)
		c := client.Bucket("default").DefaultCollection()
		for _, operate := range []func(){
			func() { _, _ = c.Get("a", nil) },
			func() { _, _ = c.Upsert("a", 1, &couchbase.UpsertOptions{Transcoder: &panicking{}}) },
			func() { _, _ = client.Query("s", nil) },
		} {
			if recovered(operate) == nil {
				t.Error("there was no panic")
			}
		}
		const why = ": couchbase: a function of the application panicked"
		check(t, "the ends", strings.Join(ends, "\n"), nil, "get"+why+"\nupsert"+why+"\nquery"+why)
	})
}

// A panic of Pool, which is called on goroutines of the client, is an error of the connection: another one is made.
func TestAPanicOfPoolIsAnErrorOfTheConnection(t *testing.T) {
	for kind := telemetry.ConnectionCreated; kind <= telemetry.ConnectionClosed; kind++ {
		withServer(t, func(t *testing.T, server *couchbasetest.Cluster) {
			var mu sync.Mutex
			panicked := map[string]bool{}
			client := connectTraced(t, server, &telemetry.Tracer{Pool: func(_ context.Context, e *telemetry.PoolEvent) {
				mu.Lock()
				defer mu.Unlock()
				if e.Kind == kind && !panicked[e.Service] {
					panicked[e.Service] = true
					panic("mine")
				}
			}}, couchbase.ClusterOptions{})
			answering(server, couchbasetest.Query, couchbasetest.HTTPAnswer{Rows: []any{1}})
			must[*couchbase.MutationResult](t)(client.Bucket("default").DefaultCollection().Upsert("a", 1, nil))
			must[*couchbase.QueryResult](t)(client.Query("s", &couchbase.QueryOptions{Adhoc: true}))
			client.Close(nil)
			mu.Lock()
			defer mu.Unlock()
			for _, p := range client.PoolStats() {
				if !panicked[p.Service] || p.InUse+p.Idle+p.Pending != 0 || p.Made+p.Failed != map[bool]uint64{true: 1, false: 2}[kind == telemetry.ConnectionClosed] {
					t.Errorf("kind %d: %+v", kind, p)
				}
			}
		})
	}
}

// The functions of an operation may close the cluster, as any function of the application may.
func TestATracerMayCloseTheCluster(t *testing.T) {
	for _, i := range tracerFunctions() {
		withServer(t, func(t *testing.T, server *couchbasetest.Cluster) {
			answering(server, couchbasetest.Query, couchbasetest.HTTPAnswer{Rows: []any{strings.Repeat("x", 100_000), strings.Repeat("x", 100_000)}})
			var client *couchbase.Cluster
			var armed bool
			tracer := reflect.ValueOf(new(telemetry.Tracer)).Elem()
			f, name := tracer.Field(i), tracer.Type().Field(i).Name
			if name == "Pool" || strings.HasPrefix(name, "Client") {
				return
			}
			f.Set(reflect.MakeFunc(f.Type(), func(args []reflect.Value) []reflect.Value {
				if armed {
					client.Close(nil)
				}
				if f.Type().NumOut() == 1 {
					return args[:1]
				}
				return nil
			}))
			for _, operate := range []func() error{
				func() error { return second(client.Bucket("default").DefaultCollection().Upsert("a", 1, nil)) },
				func() error { return second(client.Query("s", &couchbase.QueryOptions{Adhoc: true})) },
			} {
				armed = false
				client = connectTraced(t, server, tracer.Addr().Interface().(*telemetry.Tracer), couchbase.ClusterOptions{})
				ready(t, client)
				armed = true
				_ = operate()
				client.Close(nil)
			}
		})
	}
}

// tracerFunctions returns the indexes of the fields of a tracer that are functions.
func tracerFunctions() []int {
	var all []int
	of := reflect.TypeFor[telemetry.Tracer]()
	for i := range of.NumField() {
		if of.Field(i).Type.Kind() == reflect.Func {
			all = append(all, i)
		}
	}
	return all
}

package metrics_test

import (
	"fmt"
	"io"
	"testing"
	"testing/synctest"
	"time"

	"github.com/holdfast-db/holdfast/telemetry"
	"github.com/holdfast-db/holdfast/telemetry/metrics"
)

func find() *telemetry.Operation {
	return &telemetry.Operation{System: telemetry.MongoDB, Name: "find", Namespace: "shop", Collection: "orders", Began: time.Now(), Rows: -1}
}

func TestOperationsAreMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _, tracer := newMemory()
		o := find()
		get := &telemetry.Operation{System: telemetry.Couchbase, Name: "get", Namespace: "b", Scope: "s", Collection: "c", Service: "kv", Began: o.Began, Rows: -1}
		list := &telemetry.Operation{System: telemetry.MongoDB, Name: "listDatabases", Namespace: "admin", Began: o.Began, Rows: -1}
		<-time.After(1500 * time.Millisecond)
		tracer.OperationEnded(t.Context(), o, nil)
		tracer.OperationEnded(t.Context(), o, nil)
		failed := *o
		failed.ErrorType = "11600"
		tracer.OperationEnded(t.Context(), &failed, io.EOF)
		tracer.OperationEnded(t.Context(), get, nil)
		tracer.OperationEnded(t.Context(), list, nil)
		m.want(t, `
		|db.client.operation.duration db.system.name=mongodb db.namespace=shop db.collection.name=orders db.operation.name=find [1.5 1.5]
		|db.client.operation.duration db.system.name=mongodb db.namespace=shop db.collection.name=orders db.operation.name=find error.type=11600 [1.5]
		|db.client.operation.duration db.system.name=couchbase db.namespace=b db.operation.name=get couchbase.service=kv couchbase.scope.name=s couchbase.collection.name=c [1.5]
		|db.client.operation.duration db.system.name=mongodb db.namespace=admin db.operation.name=listDatabases [1.5]
		|`)
	})
}

func TestTheRowsOfOperationsThatSucceedAreMeasured(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _, tracer := newMemory()
		for _, rows := range []int{-1, 0, 101} {
			o := find()
			o.Rows = rows
			tracer.OperationEnded(t.Context(), o, nil)
			o.ErrorType = "11600"
			tracer.OperationEnded(t.Context(), o, io.EOF)
		}
		m.want(t, `
		|db.client.operation.duration db.system.name=mongodb db.namespace=shop db.collection.name=orders db.operation.name=find [0 0 0]
		|db.client.operation.duration db.system.name=mongodb db.namespace=shop db.collection.name=orders db.operation.name=find error.type=11600 [0 0 0]
		|db.client.response.returned_rows db.system.name=mongodb db.namespace=shop db.collection.name=orders db.operation.name=find [0 101]
		|`)
	})
}

func TestThePoolsEventsAreMeasured(t *testing.T) {
	m, _, tracer := newMemory()
	for kind := telemetry.PoolCreated; kind <= telemetry.CheckedIn; kind++ {
		tracer.Pool(t.Context(), &telemetry.PoolEvent{Kind: kind, Address: "a:1", Took: time.Duration(kind) * time.Second})
	}
	for _, reason := range []string{"timeout", "connectionError", "poolClosed"} {
		tracer.Pool(t.Context(), &telemetry.PoolEvent{Kind: telemetry.CheckoutFailed, Address: "b:2", Reason: reason, Took: time.Second})
	}
	m.want(t, fmt.Sprintf(`
	|db.client.connection.create_time db.client.connection.pool.name=a:1 [%d]
	|db.client.connection.wait_time db.client.connection.pool.name=a:1 [%d]
	|db.client.connection.use_time db.client.connection.pool.name=a:1 [%d]
	|db.client.connection.timeouts db.client.connection.pool.name=a:1 [0]
	|db.client.connection.timeouts db.client.connection.pool.name=b:2 [1]
	|`, telemetry.ConnectionReady, telemetry.CheckedOut, telemetry.CheckedIn))
}

// If the context ends during the delay of another attempt, there are two decisions: that one, and the end.
func TestDecisionsAreCounted(t *testing.T) {
	m, _, tracer := newMemory()
	for range 2 {
		tracer.Decided(t.Context(), &telemetry.Decision{Operation: find(), Address: "db:27017", Reason: "NETWORK_ERROR", Stage: "in flight"})
	}
	tracer.Decided(t.Context(), &telemetry.Decision{Operation: find(), Address: "db:27017", Reason: "NETWORK_ERROR", Stage: "in flight", StopReason: "cancelled"})
	tracer.Decided(t.Context(), &telemetry.Decision{Address: "/tmp/mongodb.sock", Reason: "NETWORK_ERROR", Stage: "answered"})
	tracer.Decided(t.Context(), &telemetry.Decision{Operation: find(), Reason: "NO_SERVER", Stage: "before sending"})
	m.want(t, `
	|holdfast.retry.attempts reason=NETWORK_ERROR stage=in flight db.operation.name=find server.address=db server.port=27017 [1 1]
	|holdfast.retry.attempts reason=NETWORK_ERROR stage=answered server.address=/tmp/mongodb.sock [1]
	|holdfast.retry.attempts reason=NO_SERVER stage=before sending db.operation.name=find [1]
	|holdfast.retry.stopped stop_reason=cancelled [1]
	|`)
}

func TestTheNamesOfServers(t *testing.T) {
	for address, want := range map[string][2]string{
		"db.example.com:27017": {"db.example.com", "27017"},
		"[::1]:27018":          {"::1", "27018"},
		"/tmp/mongodb.sock":    {"/tmp/mongodb.sock", ""},
		"/tmp/a:b/mongo.sock":  {"/tmp/a:b/mongo.sock", ""},
		"":                     {"", ""},
	} {
		if host, port := metrics.Server(address); [2]string{host, port} != want {
			t.Errorf("%s: %s, %s", address, host, port)
		}
	}
}

// Far more series than the places of those that are found without a hash.
func TestEachSeriesGetsItsOwnValues(t *testing.T) {
	m, _, tracer := newMemory()
	const times, collections = 3, 100
	for range times {
		for i := range collections {
			ended(tracer, fmt.Sprint("c", i))
		}
	}
	if len(m.values) != collections {
		t.Errorf("there are %d series", len(m.values))
	}
	for name, values := range m.values {
		if len(values) != times {
			t.Errorf("%s has %d values", name, len(values))
		}
	}
}

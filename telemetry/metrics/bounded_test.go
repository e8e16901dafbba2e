package metrics_test

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/holdfast-db/holdfast/telemetry"
	"github.com/holdfast-db/holdfast/telemetry/metrics"
)

// bounded are the fields of what clients tell whose values are bounded by the servers, the program or its collections. All others may be ids or
// secrets, and those that are added later too.
var bounded = []string{
	"System", "Name", "Namespace", "Scope", "Collection", "Service", "Address", "Stage", "Reason", "StopReason", "State", "Kind", "ErrorType",
}

type secretError string

func (e secretError) Error() string { return string(e) }

// fill gives each field of a struct, and of the structs in it, a value that no other has, but the bounded ones one that is always the same.
func fill(v reflect.Value, n int) {
	for i := range v.NumField() {
		f, name := v.Field(i), v.Type().Field(i).Name
		if slices.Contains(bounded, name) {
			if f.Kind() == reflect.String {
				f.SetString("bounded")
			}
			continue
		}
		switch {
		case f.Type() == reflect.TypeFor[error]():
			f.Set(reflect.ValueOf(secretError(fmt.Sprintf("secret-%d", n))))
		case f.Kind() == reflect.String:
			f.SetString(fmt.Sprintf("secret-%d", n))
		case f.CanInt() && f.Type() != reflect.TypeFor[time.Duration]():
			f.SetInt(int64(n))
		case f.Type() == reflect.TypeFor[[]byte]():
			f.SetBytes(fmt.Appendf(nil, "secret-%d", n))
		case f.Kind() == reflect.Struct && f.Type() != reflect.TypeFor[time.Time]():
			fill(f, n)
		}
	}
}

func filled[T any](n int) *T {
	v := new(T)
	fill(reflect.ValueOf(v).Elem(), n)
	return v
}

// tellOfMuch tells a tracer of one of each, with ids of a number.
func tellOfMuch(ctx context.Context, tracer *telemetry.Tracer, n int) {
	o, d := filled[telemetry.Operation](n), filled[telemetry.Decision](n)
	d.Operation = o
	tracer.OperationEnded(ctx, o, secretError(fmt.Sprintf("secret-%d", n)))
	succeeded := *o
	succeeded.ErrorType = ""
	tracer.OperationEnded(ctx, &succeeded, nil) // with rows
	d.StopReason = ""
	tracer.Decided(ctx, d)
	tracer.Decided(ctx, filled[telemetry.Decision](n))
	for kind := telemetry.PoolCreated; kind <= telemetry.CheckedIn; kind++ {
		e := filled[telemetry.PoolEvent](n)
		e.Kind, e.Reason = kind, "timeout"
		tracer.Pool(ctx, e)
	}
	tracer.ClientOpened(client(*filled[telemetry.Pool](n), float64(n), *filled[telemetry.Breaker](n)))
}

// No id and no secret comes into a metric, so the number of series is the same after one operation and after many.
func TestNothingUnboundedComesIntoAnAttribute(t *testing.T) {
	m, source, tracer := newMemory()
	for n := range 200 {
		tellOfMuch(t.Context(), tracer, n+1)
	}
	all := read(source)
	for name := range m.values {
		all = append(all, name)
	}
	// 2 operations, 1 of rows, 2 decisions, 3 times and the timeouts of a pool; 2 counts of connections, pending, 3 limits, tokens, a breaker.
	if len(all) != 9+8 {
		t.Errorf("there are %d series:\n%s", len(all), strings.Join(all, "\n"))
	}
	for _, series := range all {
		if strings.Contains(series, "secret-") {
			t.Errorf("a secret: %s", series)
		}
	}
	permitted := []string{
		"couchbase.collection.name", "couchbase.scope.name", "couchbase.service",
		"db.client.connection.pool.name", "db.client.connection.state", "db.collection.name", "db.namespace", "db.operation.name", "db.system.name",
		"error.type", "reason", "server.address", "server.port", "stage", "stop_reason",
	}
	if got := names(); !slices.Equal(got, permitted) {
		t.Errorf("the attributes are %q", got)
	}
}

func ended(tracer *telemetry.Tracer, collection string) {
	tracer.OperationEnded(context.Background(), &telemetry.Operation{System: telemetry.MongoDB, Name: "find", Namespace: "d", Collection: collection, Rows: -1}, nil)
}

// A program that makes ever more collections does not take ever more memory.
func TestTheNumberOfSeriesHasALimit(t *testing.T) {
	made, over := 0, 0
	count := func(n *int) func(metrics.Definition, []string) metrics.Record {
		return func(metrics.Definition, []string) metrics.Record { *n++; return func(context.Context, float64) {} }
	}
	tracer := metrics.New(metrics.Backend{Series: count(&made), Overflow: count(&over)}).Tracer()
	for range 2 {
		for i := range metrics.MaxSeries + 10 {
			ended(tracer, fmt.Sprint(i))
		}
	}
	if made != metrics.MaxSeries || over != 20 {
		t.Errorf("%d series were made, and %d times there was no place", made, over)
	}
	made = 0
	tracer = metrics.New(metrics.Backend{Series: count(&made)}).Tracer() // it has a limit of its own
	for range 2 {
		for i := range metrics.MaxSeries + 10 {
			ended(tracer, fmt.Sprint(i))
		}
	}
	if made != metrics.MaxSeries+20 {
		t.Errorf("%d series were made", made)
	}
}

// The name of a collection comes from the application, that of a server from servers.
func TestAllValuesAreUTF8(t *testing.T) {
	m, source, tracer := newMemory()
	tracer.ClientOpened(client(telemetry.Pool{Address: "a\xff:1"}, -1, telemetry.Breaker{Address: "a\xff:1"}))
	for _, series := range read(source) {
		if !utf8.ValidString(series) {
			t.Errorf("the series is %q", series)
		}
	}
	ended(tracer, "a\xff\xfeb")
	for name := range m.values {
		if !strings.Contains(name, "db.collection.name=a\uFFFDb") {
			t.Errorf("the series is %q", name)
		}
	}
}

// One series is made once, however many goroutines are the first.
func TestSeriesAreMadeAtTheSameTime(t *testing.T) {
	m, source, tracer := newMemory()
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for i := range 100 {
				ended(tracer, fmt.Sprint(i%10))
				c := client(telemetry.Pool{Address: "a:1"}, 1)
				tracer.ClientOpened(c)
				read(source)
				tracer.ClientClosed(c)
			}
		})
	}
	all.Wait()
	if len(m.values) != 10 {
		t.Errorf("there are %d series", len(m.values))
	}
	for name, values := range m.values {
		if len(values) != 80 {
			t.Errorf("%s has %d values", name, len(values))
		}
	}
}

package holdfastotel_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.opentelemetry.io/otel/codes"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
	"github.com/holdfast-db/holdfast/plugin/holdfastotel"
)

// varies are the attributes whose values are other ones in each run; of these the tests have the kind.
var varies = []string{
	"db.couchbase.cluster_name", "couchbase.cluster.name", "db.couchbase.cluster_uuid", "couchbase.cluster.uuid", "db.couchbase.operation_id", "couchbase.operation_id", "db.couchbase.local_id", "couchbase.local_id", "db.couchbase.server_duration",
	"couchbase.server_duration", "net.host.name", "net.host.port", "net.peer.name", "net.peer.port", "network.peer.address", "network.peer.port",
	"server.address", "server.port",
}

// couchbaseSpans runs operations on a traced cluster, and returns a line for each span, the spans in the order of their beginning, and those below
// others indented.
func couchbaseSpans(t *testing.T, o holdfastotel.Options, f func(*couchbase.Collection)) []string {
	t.Helper()
	recorder := tracetest.NewSpanRecorder()
	synctest.Test(t, func(t *testing.T) {
		servers, err := couchbasetest.Run(couchbasetest.InMemory())
		if err != nil {
			t.Fatal(err)
		}
		defer servers.Close()
		o.Enabled, o.MeterProvider = true, metricnoop.NewMeterProvider()
		o.TracerProvider = sdktrace.NewTracerProvider(sdktrace.WithSpanProcessor(recorder))
		tracer, err := holdfastotel.New(o)
		if err != nil {
			t.Fatal(err)
		}
		cluster, err := couchbase.Open(servers.ConnectionString(), couchbase.Config{Dial: servers.Dialer().DialContext, Tracer: tracer},
			couchbase.ClusterOptions{Username: servers.Username(), Password: servers.Password()})
		if err != nil {
			t.Fatal(err)
		}
		defer cluster.Close(nil)
		bucket := cluster.Bucket("default")
		if err := bucket.WaitUntilReady(time.Minute, nil); err != nil {
			t.Fatal(err)
		}
		servers.Use(memd.OpGet, couchbasetest.FaultOnce(couchbasetest.Fault{Status: memd.StatusTemporaryFailure}))
		f(bucket.DefaultCollection())
	})
	var lines []string
	for _, s := range recorder.Started() {
		lines = append(lines, lineOf(t, s))
	}
	return lines
}

func lineOf(t *testing.T, s sdktrace.ReadWriteSpan) string {
	t.Helper()
	line := s.Name()
	if s.Parent().IsValid() {
		line = "  " + line
	}
	if s.Status().Code == codes.Error {
		line += " failed"
	}
	var list []string
	for _, a := range s.Attributes() {
		key, value := string(a.Key), a.Value.String()
		if slices.Contains(varies, key) {
			value = strings.ToLower(a.Value.Type().String())
		}
		list = append(list, key+"="+value)
	}
	if s.EndTime().IsZero() || s.SpanKind().String() != "client" {
		t.Errorf("%s: %v, ended at %v", line, s.SpanKind(), s.EndTime())
	}
	slices.Sort(list)
	return line + " " + strings.Join(list, " ")
}

// merged returns a line that has the attributes of both lines, which begin alike.
func merged(a, b string) string {
	const mark = " db.couchbase."
	name, list, _ := strings.Cut(a, mark)
	all := append(strings.Fields(mark+list), strings.Fields(strings.TrimPrefix(b, name))...)
	slices.Sort(all)
	return name + " " + strings.Join(all, " ")
}

var (
	oldGet = []string{
		"get failed db.couchbase.cluster_name=string db.couchbase.cluster_uuid=string db.couchbase.collection=_default db.couchbase.scope=_default db.couchbase.service=kv db.name=default db.operation=get db.system=couchbase",
		"  dispatch_to_server failed db.couchbase.cluster_name=string db.couchbase.cluster_uuid=string db.couchbase.local_id=string db.couchbase.operation_id=string db.couchbase.retries=0 db.system=couchbase " +
			"net.host.name=string net.host.port=string net.peer.name=string net.peer.port=string net.transport=IP.TCP",
		"  dispatch_to_server failed db.couchbase.cluster_name=string db.couchbase.cluster_uuid=string db.couchbase.local_id=string db.couchbase.operation_id=string db.couchbase.retries=1 db.system=couchbase " +
			"net.host.name=string net.host.port=string net.peer.name=string net.peer.port=string net.transport=IP.TCP",
	}
	stableGet = []string{
		"get failed couchbase.cluster.name=string couchbase.cluster.uuid=string couchbase.collection.name=_default couchbase.scope.name=_default couchbase.service=kv db.namespace=default db.operation.name=get " +
			"db.system.name=couchbase error.type=DocumentNotFound",
		"  dispatch_to_server failed couchbase.cluster.name=string couchbase.cluster.uuid=string couchbase.local_id=string couchbase.operation_id=string couchbase.retries=0 db.response.status_code=134 " +
			"db.system.name=couchbase error.type=134 network.peer.address=string network.peer.port=int64 network.transport=tcp server.address=string server.port=int64",
		"  dispatch_to_server failed couchbase.cluster.name=string couchbase.cluster.uuid=string couchbase.local_id=string couchbase.operation_id=string couchbase.retries=1 db.response.status_code=1 " +
			"db.system.name=couchbase error.type=1 network.peer.address=string network.peer.port=int64 network.transport=tcp server.address=string server.port=int64",
	}
)

// RFC 0067: the names of version 0, those of version 1, and both. The option wins over the environment, and "database/dup" over "database".
func TestTheNamesOfCouchbasesSpans(t *testing.T) {
	both := make([]string, len(oldGet))
	for i := range oldGet {
		both[i] = merged(oldGet[i], stableGet[i])
	}
	for _, c := range []struct {
		variable, option string
		want             []string
	}{
		{"", "", oldGet},
		{"http", "", oldGet},
		{"http, database", "", stableGet},
		{"", "database", stableGet},
		{"database,database/dup", "", both},
		{"database", "database/dup", both},
		{"database", "http", oldGet},
	} {
		t.Setenv("OTEL_SEMCONV_STABILITY_OPT_IN", c.variable)
		got := couchbaseSpans(t, holdfastotel.Options{StabilityOptIn: c.option}, func(c *couchbase.Collection) {
			if _, err := c.Get("none", nil); !errors.Is(err, couchbase.ErrDocumentNotFound) {
				t.Error(err)
			}
		})
		if !slices.Equal(got, c.want) {
			t.Errorf("%q, %q: the spans are\n%s\nwant\n%s", c.variable, c.option, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

// An encoding is a span of its own, and a level of durability has another name in each set.
func TestTheSpansOfACouchbaseWrite(t *testing.T) {
	got := couchbaseSpans(t, holdfastotel.Options{StabilityOptIn: "database/dup"}, func(c *couchbase.Collection) {
		durable := &couchbase.UpsertOptions{DurabilityLevel: couchbase.DurabilityLevelMajorityAndPersistOnMaster}
		if _, err := c.Upsert("a", 1, durable); !errors.Is(err, couchbase.ErrDurabilityImpossible) {
			t.Error(err) // there is one node
		}
		if _, err := c.Upsert("a", make(chan int), nil); err == nil {
			t.Error("a channel was encoded")
		}
	})
	var names []string
	for _, line := range got {
		name, _, _ := strings.Cut(line, " db.")
		name, _, _ = strings.Cut(name, " couchbase.")
		names = append(names, name)
	}
	if want := []string{"upsert failed", "  request_encoding", "  dispatch_to_server failed", "upsert failed", "  request_encoding failed"}; !slices.Equal(names, want) {
		t.Errorf("the spans are %q, want %q", names, want)
	}
	for _, durability := range []string{" couchbase.durability=majority_and_persist_active ", " db.couchbase.durability=majorityAndPersistActive "} {
		if !strings.Contains(got[0], durability) {
			t.Errorf("the write is %s, without%s", got[0], durability)
		}
	}
	if want := "  request_encoding couchbase.cluster.name=string couchbase.cluster.uuid=string db.couchbase.cluster_name=string " +
		"db.couchbase.cluster_uuid=string db.system.name=couchbase db.system=couchbase"; got[1] != want {
		t.Errorf("the encoding is %q, want %q", got[1], want)
	}
}

package couchbase_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/couchbase"
	"github.com/holdfast-db/holdfast/couchbasetest"
	"github.com/holdfast-db/holdfast/internal/couchbase/memd"
)

// namedMeter keeps the name of each measurement with its tags.
type namedMeter struct {
	couchbase.NoopMeter

	seen []string
}

func (m *namedMeter) ValueRecorder(name string, tags map[string]string) (couchbase.ValueRecorder, error) {
	text := name
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		switch {
		case strings.Contains(key, "cluster"):
			text += " " + key
		case tags[key] != "":
			text += " " + key + "=" + tags[key]
		}
	}
	m.seen = append(m.seen, text)
	return m.NoopMeter.ValueRecorder(name, tags)
}

// The names of the attributes of spans, with the values that have another form by the stable names (RFC 0067).
const (
	oldOperation = "db.couchbase.cluster_name db.couchbase.cluster_uuid db.couchbase.collection db.couchbase.durability=persistToMajority db.couchbase.scope db.couchbase.service db.name db.operation " +
		"db.system"
	stableOperation = "couchbase.cluster.name couchbase.cluster.uuid couchbase.collection.name couchbase.durability=persist_majority couchbase.scope.name couchbase.service " +
		"db.namespace db.operation.name db.system.name"
	oldDispatch = "db.couchbase.cluster_name db.couchbase.cluster_uuid db.couchbase.local_id db.couchbase.operation_id db.couchbase.retries db.couchbase.server_duration db.system net.host.name " +
		"net.host.port net.peer.name net.peer.port=string net.transport=IP.TCP"
	stableDispatch = "couchbase.cluster.name couchbase.cluster.uuid couchbase.local_id couchbase.operation_id couchbase.retries couchbase.server_duration db.system.name network.peer.address " +
		"network.peer.port=int network.transport=tcp server.address server.port=int"
	encoding       = "db.couchbase.cluster_name db.couchbase.cluster_uuid db.system"
	stableEncoding = "couchbase.cluster.name couchbase.cluster.uuid db.system.name"
	oldQuery       = "db.couchbase.cluster_name db.couchbase.cluster_uuid db.couchbase.service db.statement db.system"
	stableQuery    = "couchbase.cluster.name couchbase.cluster.uuid couchbase.service db.operation.name db.query.text db.system.name"
)

// shown returns the names of attributes, with the values whose form is of interest.
func shown(attributes map[string]any) string {
	var names []string
	for name, value := range attributes {
		switch {
		case strings.Contains(name, "durability"), strings.Contains(name, "transport"):
			name += "=" + value.(string)
		case strings.HasSuffix(name, ".port") && !strings.Contains(name, "host"):
			if _, isInt := value.(int); isInt {
				name += "=int"
			} else {
				name += "=string"
			}
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func both(a, b string) string {
	names := append(strings.Fields(a), strings.Fields(b)...)
	slices.Sort(names)
	return strings.Join(names, " ")
}

func TestTheNamesOfSpansAndMeasurements(t *testing.T) {
	const (
		database = couchbase.ObservabilitySemanticConventionDatabase
		dup      = couchbase.ObservabilitySemanticConventionDatabaseDup
	)
	const (
		oldGet = "db.couchbase.operations db.couchbase.cluster_name db.couchbase.cluster_uuid db.couchbase.collection=_default db.couchbase.scope=_default db.couchbase.service=kv db.name=default " +
			"db.operation=get outcome="
		stableGet = "db.client.operation.duration __unit=s couchbase.cluster.name couchbase.cluster.uuid couchbase.collection.name=_default couchbase.scope.name=_default couchbase.service=kv " +
			"db.namespace=default db.operation.name=get db.system.name=couchbase"
	)
	old := []string{oldGet + "Success", oldGet + "DocumentNotFound"}
	stable := []string{stableGet, stableGet + " error.type=DocumentNotFound"}
	for _, c := range []struct {
		name                string
		optIn               []couchbase.ObservabilitySemanticConvention
		encoding, operation string
		dispatch, query     string
		unparametrized      string
		measured            []string
	}{
		{"without an option", nil, encoding, oldOperation, oldDispatch, oldQuery, oldQuery, old},
		{
			"the stable names",
			[]couchbase.ObservabilitySemanticConvention{database},
			stableEncoding, stableOperation, stableDispatch, stableQuery,
			strings.Replace(stableQuery, " db.query.text", "", 1), stable,
		},
		{
			"both",
			[]couchbase.ObservabilitySemanticConvention{dup},
			both(encoding, stableEncoding), both(oldOperation, stableOperation),
			both(oldDispatch, stableDispatch), both(oldQuery, stableQuery), both(oldQuery, strings.Replace(stableQuery, " db.query.text", "", 1)),
			[]string{stable[0], old[0], stable[1], old[1]},
		},
		{
			"both win over the stable ones",
			[]couchbase.ObservabilitySemanticConvention{dup, database},
			both(encoding, stableEncoding),
			both(oldOperation, stableOperation), both(oldDispatch, stableDispatch), both(oldQuery, stableQuery), both(oldQuery, strings.Replace(stableQuery, " db.query.text", "", 1)),
			[]string{stable[0], old[0], stable[1], old[1]},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			withServer(t, func(t *testing.T, server *couchbasetest.Cluster) {
				tracer, measured := &spans{}, &namedMeter{}
				client := connect(t, server, couchbase.ClusterOptions{
					Tracer: tracer, Meter: measured, ObservabilityConfig: couchbase.ObservabilityConfig{SemanticConventionOptIn: c.optIn},
				})
				defer client.Close(nil)
				collection := client.Bucket("default").DefaultCollection()
				if err := client.Bucket("default").WaitUntilReady(time.Minute, nil); err != nil { // the map has the names of the cluster
					t.Fatal(err)
				}
				tracer.all = nil
				server.Use(memd.OpSet, couchbasetest.Always(couchbasetest.Fault{Delay: 10 * time.Millisecond})) // so that the server has a duration
				must[*couchbase.MutationResult](t)(collection.Upsert("a", 1, &couchbase.UpsertOptions{DurabilityLevel: couchbase.DurabilityLevelPersistToMajority}))
				measured.seen = nil
				must[*couchbase.GetResult](t)(collection.Get("a", nil))
				if _, err := collection.Get("none", nil); !errors.Is(err, couchbase.ErrDocumentNotFound) {
					t.Error(err)
				}
				if !slices.Equal(measured.seen, c.measured) {
					t.Errorf("measured\n%s\nwant\n%s", strings.Join(measured.seen, "\n"), strings.Join(c.measured, "\n"))
				}
				_, _ = client.Query("SELECT 1", &couchbase.QueryOptions{Adhoc: true, PositionalParameters: []any{1}})
				_, _ = client.Query("SELECT 2", &couchbase.QueryOptions{Adhoc: true})
				tracer.mu.Lock()
				defer tracer.mu.Unlock()
				var queries []map[string]any
				for _, s := range tracer.all {
					if s.name == "query" {
						queries = append(queries, s.attributes)
					}
				}
				for i, want := range []string{c.operation, c.encoding, c.dispatch} {
					if got := shown(tracer.all[i].attributes); got != want {
						t.Errorf("the attributes of %s\n%s\nwant\n%s", tracer.all[i].name, got, want)
					}
				}
				if got := shown(queries[0]); got != c.query {
					t.Errorf("the attributes of a query\n%s\nwant\n%s", got, c.query)
				}
				if got := shown(queries[1]); got != c.unparametrized {
					t.Errorf("the attributes of a query without parameters\n%s\nwant\n%s", got, c.unparametrized)
				}
			}, couchbasetest.Nodes(2))
		})
	}
}

// telling is a tracer and a meter of an application that tells the ones of this package what it is told.
type telling struct {
	couchbase.RequestTracer
	couchbase.Meter
}

// The reports of this package's tracer and meter are the same by all names, and count nothing twice.
func TestReportsAreTheSameByAllNames(t *testing.T) {
	for _, optIn := range []couchbase.ObservabilitySemanticConvention{
		couchbase.ObservabilitySemanticConventionDatabase, couchbase.ObservabilitySemanticConventionDatabaseDup,
	} {
		logged := watch(t)
		withServer(t, func(t *testing.T, server *couchbasetest.Cluster) {
			threshold, meter := couchbase.NewThresholdLoggingTracer(nil), couchbase.NewLoggingMeter(nil)
			through := telling{threshold, meter}
			client := connect(t, server, couchbase.ClusterOptions{
				Tracer: through, Meter: through,
				ObservabilityConfig: couchbase.ObservabilityConfig{SemanticConventionOptIn: []couchbase.ObservabilitySemanticConvention{optIn}},
			})
			c := client.Bucket("default").DefaultCollection()
			must[*couchbase.MutationResult](t)(c.Upsert("a", 1, nil))
			server.Use(memd.OpGet, couchbasetest.Always(couchbasetest.Fault{Delay: time.Second}))
			must[*couchbase.GetResult](t)(c.Get("a", nil))
			<-time.After(time.Hour) // of the fake clock
			client.Close(nil)
		})
		var slow loggedRequests
		logged.after(t, "Threshold Log", &slow)
		get := slow["kv"].Requests[0]
		if slow["kv"].Count != 1 || get["operation_name"] != "get" || get["last_local_id"] == nil || get["operation_id"] == nil ||
			strings.Count(get["last_remote_socket"].(string), ":") != 1 {
			t.Errorf("%v", slow)
		}
		var durations struct {
			Operations map[string]map[string]struct {
				Count int `json:"total_count"`
			} `json:"operations"`
		}
		logged.after(t, "Metrics", &durations)
		if kv := durations.Operations["kv"]; kv["get"].Count != 1 || kv["upsert"].Count != 1 {
			t.Errorf("%v", durations)
		}
	}
}

// Servers that do not name their cluster get no labels.
func TestSpansOfAClusterWithoutAName(t *testing.T) {
	withServer(t, func(t *testing.T, server *couchbasetest.Cluster) {
		tracer, measured := &spans{}, &namedMeter{}
		client := connect(t, server, couchbase.ClusterOptions{Tracer: tracer, Meter: measured})
		defer client.Close(nil)
		if err := client.Bucket("default").WaitUntilReady(time.Minute, nil); err != nil {
			t.Fatal(err)
		}
		must[*couchbase.MutationResult](t)(client.Bucket("default").DefaultCollection().Upsert("a", 1, nil))
		tracer.mu.Lock()
		defer tracer.mu.Unlock()
		for _, s := range tracer.all {
			if text := shown(s.attributes); strings.Contains(text, "cluster") {
				t.Errorf("%s: %s", s.name, text)
			}
		}
		if text := strings.Join(measured.seen, " "); text == "" || strings.Contains(text, "cluster") {
			t.Errorf("measured %s", text)
		}
	}, couchbasetest.Version("7.6.0"))
}

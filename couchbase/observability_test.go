package couchbase_test

import (
	"context"
	"encoding/json"
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
)

// logLines is a logger that keeps its lines.
type logLines struct {
	mu    sync.Mutex
	lines []string
}

func (l *logLines) Log(level couchbase.LogLevel, _ int, format string, v ...any) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf("%d ", level)+fmt.Sprintf(format, v...))
	return nil
}

// after returns the JSON after a title in the only line that has it.
func (l *logLines) after(t *testing.T, title string, into any) {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []string
	for _, line := range l.lines {
		if _, text, ok := strings.Cut(line, title+": "); ok {
			found = append(found, text)
		}
	}
	if len(found) != 1 {
		t.Fatalf("%d lines begin with %q: %q", len(found), title, l.lines)
	}
	if err := json.Unmarshal([]byte(found[0]), into); err != nil {
		t.Fatal(err)
	}
}

// watch sets a logger for the time of a test.
func watch(t *testing.T) *logLines {
	l := &logLines{}
	couchbase.SetLogger(l)
	t.Cleanup(func() { couchbase.SetLogger(nil) })
	return l
}

type loggedRequests map[string]struct {
	Count    int              `json:"total_count"`
	Requests []map[string]any `json:"top_requests"`
}

func TestSlowOperationsAreReported(t *testing.T) {
	logged := watch(t)
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		c := client.Bucket("default").DefaultCollection()
		must[*couchbase.MutationResult](t)(c.Upsert("a", 1, nil))
		<-time.After(time.Minute) // of the fake clock
		if slices.ContainsFunc(logged.lines, func(line string) bool { return strings.Contains(line, "Threshold") }) {
			t.Fatalf("there was nothing to report: %q", logged.lines)
		}
		server.Use(memd.OpGet, couchbasetest.Times(12, couchbasetest.Fault{Delay: 600 * time.Millisecond}))
		for range 12 {
			must[*couchbase.GetResult](t)(c.Get("a", nil))
		}
		<-time.After(time.Minute) // of the fake clock
		var report loggedRequests
		logged.after(t, "Threshold Log", &report)
		kv := report["kv"]
		if kv.Count != 12 || len(kv.Requests) != 10 {
			t.Fatalf("%+v", report)
		}
		slowest := kv.Requests[0]
		if slowest["operation_name"] != "get" || slowest["total_duration_us"].(float64) < 600_000 || slowest["timeout_ms"] != 2500.0 ||
			slowest["last_remote_socket"] == nil || slowest["last_local_id"] == nil || slowest["operation_id"] == nil {
			t.Errorf("%v", slowest)
		}
	})
}

func TestOrphansAreReported(t *testing.T) {
	logged := watch(t)
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		c := client.Bucket("default").DefaultCollection()
		must[*couchbase.MutationResult](t)(c.Upsert("a", 1, nil))
		server.Use(memd.OpGet, couchbasetest.FaultOnce(couchbasetest.Fault{Delay: 300 * time.Millisecond}))
		if _, err := c.Get("a", &couchbase.GetOptions{Timeout: 100 * time.Millisecond}); !errors.Is(err, couchbase.ErrUnambiguousTimeout) {
			t.Fatal(err)
		}
		<-time.After(time.Minute) // of the fake clock
		var report loggedRequests
		logged.after(t, "Orphaned Responses", &report)
		if kv := report["kv"]; kv.Count != 1 || kv.Requests[0]["last_remote_socket"] == nil {
			t.Errorf("%+v", report)
		}
	})
}

func TestDurationsAreReported(t *testing.T) {
	logged := watch(t)
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		c := client.Bucket("default").DefaultCollection()
		server.Use(couchbasetest.AnyOpcode, couchbasetest.Always(couchbasetest.Fault{Delay: 10 * time.Millisecond}))
		must[*couchbase.MutationResult](t)(c.Upsert("a", 1, nil))
		for range 100 {
			must[*couchbase.GetResult](t)(c.Get("a", nil))
		}
		<-time.After(time.Hour) // of the fake clock
		var report struct {
			Operations map[string]map[string]struct {
				Count       int                `json:"total_count"`
				Percentiles map[string]float64 `json:"percentiles_us"`
			} `json:"operations"`
		}
		logged.after(t, "Metrics", &report)
		get := report.Operations["kv"]["get"]
		if get.Count != 100 || report.Operations["kv"]["upsert"].Count != 1 || get.Percentiles["50.0"] < 10_000 || get.Percentiles["99.9"] > 13_000 {
			t.Errorf("%+v", report)
		}
	})
}

func TestRetriesAndRefusalsAreLogged(t *testing.T) {
	logged := watch(t)
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, client *couchbase.Cluster) {
		c := client.Bucket("default").DefaultCollection()
		must[*couchbase.MutationResult](t)(c.Upsert("a", 1, nil))
		server.Use(memd.OpGet, couchbasetest.FaultOnce(couchbasetest.Fault{Status: memd.StatusTemporaryFailure}))
		must[*couchbase.GetResult](t)(c.Get("a", nil))
		if _, err := c.Insert("a", 1, nil); !errors.Is(err, couchbase.ErrDocumentExists) {
			t.Fatal(err)
		}
		server.Use(memd.OpIncrement, couchbasetest.FaultOnce(couchbasetest.Fault{LoseReply: true}))
		if _, err := c.Binary().Increment("n", nil); !errors.Is(err, couchbase.ErrRequestCanceled) {
			t.Fatal(err)
		}
		logged.mu.Lock()
		defer logged.mu.Unlock()
		for _, wanted := range []string{"3 get: attempt 0 on ", "KV_TEMPORARY_FAILURE", "3 insert: attempt 0 on ", "2 increment: attempt 0 on "} {
			if !slices.ContainsFunc(logged.lines, func(line string) bool { return strings.Contains(line, wanted) }) {
				t.Errorf("no line has %q: %q", wanted, logged.lines)
			}
		}
	})
}

// spans is a tracer that keeps its spans, as "name(attributes) of parent".
type spans struct {
	mu  sync.Mutex
	all []*recordedSpan
}

type recordedSpan struct {
	name, parent string
	attributes   map[string]any
	ended        bool
	tracer       *spans
}

func (s *spans) RequestSpan(parent couchbase.RequestSpanContext, name string) couchbase.RequestSpan {
	s.mu.Lock()
	defer s.mu.Unlock()
	span := &recordedSpan{name: name, attributes: make(map[string]any), tracer: s}
	span.parent, _ = parent.(string)
	s.all = append(s.all, span)
	return span
}

func (s *recordedSpan) End() {
	s.tracer.mu.Lock()
	defer s.tracer.mu.Unlock()
	s.ended = true
}
func (s *recordedSpan) Context() couchbase.RequestSpanContext { return s.name }
func (s *recordedSpan) AddEvent(string, time.Time)            {}
func (s *recordedSpan) SetAttribute(key string, value any) {
	s.tracer.mu.Lock()
	defer s.tracer.mu.Unlock()
	s.attributes[key] = value
}

// meter keeps the tags of each value.
type meter struct {
	couchbase.NoopMeter
	mu   sync.Mutex
	tags []map[string]string
}

func (m *meter) ValueRecorder(name string, tags map[string]string) (couchbase.ValueRecorder, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tags = append(m.tags, tags)
	return m.NoopMeter.ValueRecorder(name, tags)
}

func TestOperationsHaveSpansAndMeasurements(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, _ *couchbase.Cluster) {
		tracer, measured := &spans{}, &meter{}
		client := connect(t, server, couchbase.ClusterOptions{Tracer: tracer, Meter: measured})
		defer client.Close(nil)
		c := client.Bucket("default").DefaultCollection()
		parent := tracer.RequestSpan(nil, "mine")
		must[*couchbase.MutationResult](t)(c.Upsert("a", 1, &couchbase.UpsertOptions{ParentSpan: parent, DurabilityLevel: couchbase.DurabilityLevelMajority}))
		server.Use(memd.OpGet, couchbasetest.FaultOnce(couchbasetest.Fault{Status: memd.StatusTemporaryFailure}))
		must[*couchbase.GetResult](t)(c.Get("a", nil))
		if _, err := c.Get("none", &couchbase.GetOptions{Context: context.Background()}); !errors.Is(err, couchbase.ErrDocumentNotFound) {
			t.Error(err)
		}
		parent.End()
		tracer.mu.Lock()
		defer tracer.mu.Unlock()
		var names []string
		for _, s := range tracer.all {
			names = append(names, s.name+" of "+s.parent)
			if !s.ended {
				t.Errorf("%s did not end", s.name)
			}
		}
		wanted := []string{
			"mine of ", "upsert of mine", "request_encoding of upsert", "dispatch_to_server of upsert", "get of ", "dispatch_to_server of get",
			"dispatch_to_server of get", "get of ", "dispatch_to_server of get",
		}
		// Before the bucket is open, no attempt has a connection, so it has no span either.
		if !slices.Equal(names, wanted) {
			t.Errorf("%q", names)
		}
		upsert, dispatch := tracer.all[1].attributes, tracer.all[6].attributes
		if upsert["db.couchbase.durability"] != "majority" || upsert["db.name"] != "default" || upsert["db.couchbase.service"] != "kv" ||
			dispatch["db.couchbase.retries"] != 1 || dispatch["net.peer.port"] == nil || dispatch["db.couchbase.local_id"] == nil {
			t.Errorf("%v\n%v", upsert, dispatch)
		}
		if len(measured.tags) != 3 || measured.tags[0]["outcome"] != "Success" || measured.tags[2]["outcome"] != "DocumentNotFound" ||
			measured.tags[1]["db.operation"] != "get" {
			t.Errorf("%v", measured.tags)
		}
	}, couchbasetest.Nodes(2))
}

// panicking is a transcoder that panics.
type panicking struct{ couchbase.JSONTranscoder }

func (panicking) Encode(any) ([]byte, uint32, error) { panic("a panic of the application") }

// Each span ends, also that of an operation that is refused before it is sent, and that of one whose transcoder panics.
func TestSpansOfOperationsThatAreNotSentEnd(t *testing.T) {
	withCluster(t, func(t *testing.T, server *couchbasetest.Cluster, _ *couchbase.Cluster) {
		tracer := &spans{}
		client := connect(t, server, couchbase.ClusterOptions{Tracer: tracer})
		defer client.Close(nil)
		c := client.Bucket("default").DefaultCollection()
		must[*couchbase.MutationResult](t)(c.Upsert("a", 1, nil))
		for name, run := range map[string]func() error{
			"too many copies":          func() error { return second(c.Upsert("a", 1, &couchbase.UpsertOptions{PersistTo: 3})) },
			"a large value":            func() error { return second(c.Binary().Append("a", make([]byte, 20<<20+1), nil)) },
			"a value without encoding": func() error { return second(c.Upsert("a", func() {}, nil)) },
			"a transcoder that panics": func() (err error) {
				defer func() {
					if v := recover(); v != nil {
						err = fmt.Errorf("panic: %v", v)
					}
				}()
				return second(c.Upsert("a", 1, &couchbase.UpsertOptions{Transcoder: &panicking{}}))
			},
		} {
			if err := run(); err == nil {
				t.Errorf("%s: there is no error", name)
			}
			tracer.mu.Lock()
			for _, s := range tracer.all {
				if !s.ended {
					t.Errorf("%s: the span %s does not end", name, s.name)
				}
			}
			tracer.all = nil
			tracer.mu.Unlock()
		}
	}, couchbasetest.Nodes(2))
}

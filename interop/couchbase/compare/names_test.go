package compare

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	gocb "github.com/couchbase/gocb/v2"

	"github.com/holdfast-db/holdfast/couchbasetest"
)

// told is a tracer and a meter that keep what they are told.
type told struct {
	mu    sync.Mutex
	spans []*toldSpan
	tags  []string
}

type toldSpan struct {
	of         *told
	name       string
	attributes map[string]any
	ended      bool
}

func (s *told) RequestSpan(_ gocb.RequestSpanContext, name string) gocb.RequestSpan {
	s.mu.Lock()
	defer s.mu.Unlock()
	span := &toldSpan{of: s, name: name, attributes: make(map[string]any)}
	s.spans = append(s.spans, span)
	return span
}

func (s *toldSpan) End() {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.ended = true
}

func (s *toldSpan) Context() gocb.RequestSpanContext { return s }
func (s *toldSpan) AddEvent(string, time.Time)       {}
func (s *toldSpan) SetAttribute(key string, value any) {
	s.of.mu.Lock()
	defer s.of.mu.Unlock()
	s.attributes[key] = value
}

func (s *told) Counter(string, map[string]string) (gocb.Counter, error) { return nil, nil }

func (s *told) ValueRecorder(name string, tags map[string]string) (gocb.ValueRecorder, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := name
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		if tags[key] != "" {
			text += " " + key + "=" + tags[key]
		}
	}
	s.tags = append(s.tags, text)
	return (&gocb.NoopMeter{}).ValueRecorder(name, tags)
}

// text is the attributes of a span: their names, and the values that the names of the conventions go with.
func (s *toldSpan) text() string {
	var all []string
	for key, value := range s.attributes {
		switch {
		case strings.Contains(key, "server_duration"): // the server may be too fast for it
			continue
		case strings.HasSuffix(key, "couchbase.retries"): // gocb has it on its own spans
			continue
		case strings.HasSuffix(key, ".port"), strings.Contains(key, "_id"), strings.Contains(key, "address"), strings.Contains(key, "net."):
			key += fmt.Sprintf(" (%T)", value)
		default:
			key += fmt.Sprintf("=%v", value)
		}
		all = append(all, key)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// TestPrintNames prints the names of spans and measurements by each convention.
func TestPrintNames(t *testing.T) {
	server := couchbasetest.RunT(t)
	for name, optIn := range map[string][]gocb.ObservabilitySemanticConvention{
		"old names": nil, "stable names": {gocb.ObservabilitySemanticConventionDatabase}, "both names": {gocb.ObservabilitySemanticConventionDatabaseDup},
		"names of which both win": {gocb.ObservabilitySemanticConventionDatabase, gocb.ObservabilitySemanticConventionDatabaseDup},
	} {
		printNames(t, server, name, optIn)
	}
}

func printNames(t *testing.T, server *couchbasetest.Cluster, name string, optIn []gocb.ObservabilitySemanticConvention) {
	all := &told{}
	cluster, err := gocb.Connect(server.ConnectionString(), gocb.ClusterOptions{
		Username: server.Username(), Password: server.Password(), Tracer: all, Meter: all, ObservabilityConfig: gocb.ObservabilityConfig{SemanticConventionOptIn: optIn},
	})
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close(nil)
	bucket := cluster.Bucket("default")
	if err := bucket.WaitUntilReady(10*time.Second, nil); err != nil {
		t.Fatal(err)
	}
	c := bucket.DefaultCollection()
	all.mu.Lock()
	all.spans, all.tags = nil, nil
	all.mu.Unlock()
	_, _ = c.Upsert("a", 1, nil)
	_, _ = c.Get("none", nil)
	_, _ = cluster.Query("SELECT 1", &gocb.QueryOptions{Adhoc: true, PositionalParameters: []any{1}})
	_, _ = cluster.Query("SELECT 2", &gocb.QueryOptions{Adhoc: true})
	all.mu.Lock()
	defer all.mu.Unlock()
	texts := make(map[string][]string)
	for _, s := range all.spans {
		// CMD_ is gocb's own, between an operation and its attempts. What has not ended is a request of its background, which may still get attributes.
		if s.ended && !strings.HasPrefix(s.name, "CMD_") {
			texts[s.name] = append(texts[s.name], s.text())
		}
	}
	texts["measurements"] = all.tags
	for _, key := range slices.Sorted(maps.Keys(texts)) {
		slices.Sort(texts[key])
		line(name+" of "+key, "%s", strings.Join(slices.Compact(texts[key]), "; "))
	}
}

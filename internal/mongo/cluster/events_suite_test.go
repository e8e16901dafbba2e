package cluster

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// eventsSpec is one file of the SDAM monitoring suite.
type eventsSpec struct {
	URI    string `bson:"uri"`
	Phases []struct {
		Responses [][2]bson.RawValue `bson:"responses"` // address, reply
		Outcome   struct {
			Events []bson.Raw `bson:"events"`
		} `bson:"outcome"`
	} `bson:"phases"`
}

// silent is a network on which no dial ends, so that the test alone makes the checks.
type silent struct{}

func (silent) DialContext(ctx context.Context, _, _ string) (net.Conn, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

func TestPublishedEvents(t *testing.T) {
	runSuite(t, "server-discovery-and-monitoring/tests/monitoring", 8, nil, func(t *testing.T, spec eventsSpec) {
		synctest.Test(t, func(t *testing.T) {
			var log eventLog
			c := spec.start(t, log.listener())
			for _, phase := range spec.Phases {
				for _, response := range phase.Responses {
					spec.respond(t, c, response)
				}
				synctest.Wait() // a monitor may be the one that delivers the events
				log.verify(t, phase.Outcome.Events)
				log = nil
			}
		})
	})
}

func (spec *eventsSpec) start(t *testing.T, listener *event.ServerMonitor) *Cluster {
	t.Helper()
	o := options.Client().ApplyURI(spec.URI)
	if err := o.Validate(); err != nil {
		t.Fatal(err)
	}
	cfg := Config{Dialer: silent{}, ServerMonitor: listener}
	cfg.Topology.Direct, cfg.Topology.LoadBalanced = o.Direct, o.LoadBalanced != nil && *o.LoadBalanced
	if o.ReplicaSet != nil {
		cfg.Topology.SetName = *o.ReplicaSet
	}
	for _, host := range o.Hosts {
		if !strings.Contains(host, ":") {
			host += ":27017"
		}
		cfg.Topology.Seeds = append(cfg.Topology.Seeds, host)
	}
	c, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// respond applies the result of a check. An empty reply means a network error.
func (spec *eventsSpec) respond(t *testing.T, c *Cluster, response [2]bson.RawValue) {
	t.Helper()
	address, reply := response[0].StringValue(), response[1].Document()
	s := c.servers[address]
	if s == nil {
		return // it has left the topology
	}
	if elements, err := reply.Elements(); err == nil && len(elements) == 0 {
		c.checkFailed(s, errors.New("connection refused"))
		return
	}
	d, err := described(address, reply)
	if err != nil {
		c.checkFailed(s, err)
		return
	}
	c.checkSucceeded(s, d)
}

// eventLog has the events in the form of the suite.
type eventLog []map[string]any

func (log *eventLog) add(name string, fields map[string]any) {
	fields["topologyId"] = "42"
	*log = append(*log, map[string]any{name: fields})
}

func (log *eventLog) listener() *event.ServerMonitor {
	return &event.ServerMonitor{
		TopologyOpening: func(*event.TopologyOpeningEvent) { log.add("topology_opening_event", map[string]any{}) },
		ServerOpening: func(e *event.ServerOpeningEvent) {
			log.add("server_opening_event", map[string]any{"address": string(e.Address)})
		},
		ServerClosed: func(e *event.ServerClosedEvent) {
			log.add("server_closed_event", map[string]any{"address": string(e.Address)})
		},
		ServerDescriptionChanged: func(e *event.ServerDescriptionChangedEvent) {
			log.add("server_description_changed_event", map[string]any{
				"address":             string(e.Address),
				"previousDescription": serverDocument(e.PreviousDescription), "newDescription": serverDocument(e.NewDescription),
			})
		},
		TopologyDescriptionChanged: func(e *event.TopologyDescriptionChangedEvent) {
			log.add("topology_description_changed_event", map[string]any{
				"previousDescription": topologyDocument(e.PreviousDescription), "newDescription": topologyDocument(e.NewDescription),
			})
		},
	}
}

func topologyDocument(d event.TopologyDescription) map[string]any {
	servers := []any{}
	for _, s := range d.Servers {
		servers = append(servers, serverDocument(s))
	}
	doc := map[string]any{"topologyType": d.Kind, "servers": servers}
	setUnlessEmpty(doc, "setName", d.SetName)
	return doc
}

func serverDocument(s event.ServerDescription) map[string]any {
	doc := map[string]any{
		"address": string(s.Addr), "type": s.Kind, "hosts": list(s.Hosts), "passives": list(s.Passives), "arbiters": list(s.Arbiters),
	}
	setUnlessEmpty(doc, "setName", s.SetName)
	setUnlessEmpty(doc, "primary", string(s.Primary))
	return doc
}

func setUnlessEmpty(doc map[string]any, key, value string) {
	if value != "" {
		doc[key] = value
	}
}

func list(values []string) []any {
	l := []any{}
	for _, v := range values {
		l = append(l, v)
	}
	return l
}

func (log eventLog) verify(t *testing.T, want []bson.Raw) {
	t.Helper()
	if len(log) != len(want) {
		t.Fatalf("%d events, want %d: %v", len(log), len(want), log)
	}
	for i, raw := range want {
		// SDAM: for a client that checks all servers at the same time, PossiblePrimary is the same as Unknown.
		text := strings.ReplaceAll(raw.String(), topology.PossiblePrimary.String(), topology.Unknown.String())
		var expected map[string]any
		if err := json.Unmarshal([]byte(text), &expected); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(log[i], expected) {
			t.Errorf("event %d is\n%v, want\n%v", i, log[i], expected)
		}
	}
}

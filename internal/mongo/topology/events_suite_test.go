package topology

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// TestPublishedEvents checks that the events of the SDAM monitoring suite follow from Changes and Equal alone.
func TestPublishedEvents(t *testing.T) {
	runSuite(t, "server-discovery-and-monitoring/tests/monitoring", 8, func(t *testing.T, spec sdamSpec) {
		sim := newSimulation(t, spec.URI)
		var log eventLog
		log.opening(sim.d)
		initial := sim.d
		sim.start()
		log.change(initial, sim.d)
		for _, phase := range spec.Phases {
			for _, response := range phase.Responses {
				old := sim.d
				sim.respond(response)
				log.change(old, sim.d)
			}
			log.verify(t, phase.Outcome.Events)
			log = nil
		}
	})
}

type eventLog []map[string]any

func (log *eventLog) add(name string, fields map[string]any) {
	fields["topologyId"] = "42"
	*log = append(*log, map[string]any{name: fields})
}

func (log *eventLog) opening(d *Description) {
	log.add("topology_opening_event", map[string]any{})
	log.topologyChanged(&Description{}, d)
	for _, s := range d.Servers {
		log.add("server_opening_event", map[string]any{"address": s.Address})
	}
}

func (log *eventLog) change(old, next *Description) {
	if old.Equal(next) {
		return
	}
	for _, c := range Changes(old, next, nil) {
		switch {
		case c.Old == nil:
			log.add("server_opening_event", map[string]any{"address": c.New.Address})
		case c.New == nil:
			log.add("server_closed_event", map[string]any{"address": c.Old.Address})
		case !c.Old.Equal(c.New):
			log.add("server_description_changed_event", map[string]any{
				"address":             c.Old.Address,
				"previousDescription": serverDocument(c.Old),
				"newDescription":      serverDocument(c.New),
			})
		}
	}
	log.topologyChanged(old, next)
}

func (log *eventLog) topologyChanged(old, next *Description) {
	log.add("topology_description_changed_event", map[string]any{
		"previousDescription": topologyDocument(old),
		"newDescription":      topologyDocument(next),
	})
}

func topologyDocument(d *Description) map[string]any {
	servers := []any{}
	for _, s := range d.Servers {
		servers = append(servers, serverDocument(s))
	}
	doc := map[string]any{"topologyType": d.Kind.String(), "servers": servers}
	setUnlessEmpty(doc, "setName", d.SetName)
	return doc
}

func serverDocument(s *Server) map[string]any {
	doc := map[string]any{
		"address":  s.Address,
		"type":     s.Kind.String(),
		"hosts":    list(s.Hosts),
		"passives": list(s.Passives),
		"arbiters": list(s.Arbiters),
	}
	setUnlessEmpty(doc, "setName", s.SetName)
	setUnlessEmpty(doc, "primary", s.Primary)
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
		text := strings.ReplaceAll(raw.String(), PossiblePrimary.String(), Unknown.String())
		var expected map[string]any
		if err := json.Unmarshal([]byte(text), &expected); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(log[i], expected) {
			t.Errorf("event %d is\n%v, want\n%v", i, log[i], expected)
		}
	}
}

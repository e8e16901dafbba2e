package cluster

import (
	"math"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/readpref"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// windowSpec is one file of the suite in_window, which tests the choice among servers in the latency window.
type windowSpec struct {
	Topology struct {
		Type    string `bson:"type"`
		Servers []struct {
			Address string `bson:"address"`
			RTT     int64  `bson:"avg_rtt_ms"`
			Type    string `bson:"type"`
		} `bson:"servers"`
	} `bson:"topology_description"`
	State []struct {
		Address    string `bson:"address"`
		Operations int64  `bson:"operation_count"`
	} `bson:"mocked_topology_state"`
	Iterations int `bson:"iterations"`
	Outcome    struct {
		Tolerance   float64            `bson:"tolerance"`
		Frequencies map[string]float64 `bson:"expected_frequencies"`
	} `bson:"outcome"`
}

func TestPublishedChoiceInTheLatencyWindow(t *testing.T) {
	runSuite(t, "server-selection/tests/in_window", 8, nil, func(t *testing.T, spec windowSpec) {
		s := spec.snapshot(t)
		counts := make(map[string]int)
		for range spec.Iterations {
			target, err := s.Select(&topology.Selection{ReadPref: readpref.Nearest(), LocalThreshold: 15 * time.Millisecond})
			if err != nil || target.Server == nil {
				t.Fatalf("nothing was selected: %v", err)
			}
			if target.Server.address != target.Description.Address {
				t.Fatalf("%s was selected with the description of %s", target.Server.address, target.Description.Address)
			}
			counts[target.Server.address]++
		}
		for address, want := range spec.Outcome.Frequencies {
			got := float64(counts[address]) / float64(spec.Iterations)
			if want == 0 || want == 1 {
				if got != want {
					t.Errorf("%s was selected in %v of the cases, want %v", address, got, want)
				}
			} else if math.Abs(got-want) > spec.Outcome.Tolerance {
				t.Errorf("%s was selected in %v of the cases, want %v +- %v", address, got, want, spec.Outcome.Tolerance)
			}
		}
	})
}

func (spec *windowSpec) snapshot(t *testing.T) *Snapshot {
	t.Helper()
	kinds := map[string]topology.Type{"Sharded": topology.Sharded, "ReplicaSetWithPrimary": topology.ReplicaSetWithPrimary}
	roles := map[string]topology.ServerType{
		"Mongos": topology.Mongos, "RSPrimary": topology.RSPrimary, "RSSecondary": topology.RSSecondary,
	}
	d := &topology.Description{Type: kinds[spec.Topology.Type]}
	s := &Snapshot{Description: d}
	busy := make(map[string]int64)
	for _, state := range spec.State {
		busy[state.Address] = state.Operations
	}
	for _, server := range spec.Topology.Servers {
		if d.Type == 0 || roles[server.Type] == 0 {
			t.Fatalf("a %s in a topology %s is not supported", server.Type, spec.Topology.Type)
		}
		d.Servers = append(d.Servers, &topology.Server{
			Address: server.Address, Type: roles[server.Type],
			RTT: time.Duration(server.RTT) * time.Millisecond, HasRTT: true, MaxWireVersion: topology.MaxWireVersion,
		})
		next := &Server{address: server.Address}
		next.inFlight.Store(busy[server.Address])
		s.servers = append(s.servers, next)
	}
	return s
}

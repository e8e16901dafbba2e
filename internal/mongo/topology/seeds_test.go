package topology

import (
	"slices"
	"testing"
)

// Polling SRV Records for mongos Discovery.
func TestReplaceSeeds(t *testing.T) {
	for _, c := range []struct {
		name  string
		kind  Type
		seeds []string
		want  []string
		same  bool
	}{
		{"a host that the record does not name any more is removed", Sharded, []string{"a:1"}, []string{"a:1"}, false},
		{"a new host is added", Sharded, []string{"a:1", "b:1", "c:1"}, []string{"a:1", "b:1", "c:1"}, false},
		{"one host is removed and one is added", Sharded, []string{"C:1", "b:1"}, []string{"b:1", "c:1"}, false},
		{"seeds are also replaced before the first check", UnknownTopology, []string{"c:1"}, []string{"c:1"}, false},
		{"the same hosts in another order change nothing", Sharded, []string{"b:1", "a:1"}, []string{"a:1", "b:1"}, true},
		{"a record without hosts changes nothing", Sharded, nil, []string{"a:1", "b:1"}, true},
		{"a replica set names its own members", ReplicaSetWithPrimary, []string{"c:1"}, []string{"a:1", "b:1"}, true},
		{"a replica set without primary names its members", ReplicaSetNoPrimary, []string{"c:1"}, []string{"a:1", "b:1"}, true},
		{"a direct connection keeps its seed", Single, []string{"c:1"}, []string{"a:1", "b:1"}, true},
		{"a load balancer keeps its seed", LoadBalanced, []string{"c:1"}, []string{"a:1", "b:1"}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			known := &Server{Address: "b:1", Type: Mongos, MaxWireVersion: 25}
			d := &Description{Type: c.kind, Servers: []*Server{NewUnknown("a:1", nil, nil), known}, seeds: 2}
			next := ReplaceSeeds(d, c.seeds)
			var got []string
			for _, s := range next.Servers {
				got = append(got, s.Address)
			}
			slices.Sort(got)
			if !slices.Equal(got, c.want) || (next == d) != c.same {
				t.Errorf("servers %v, the same description: %v", got, next == d)
			}
			if slices.Contains(got, "b:1") && next.Server("b:1") != known {
				t.Error("a host that stays lost its description")
			}
			if len(d.Servers) != 2 {
				t.Error("the old description was changed")
			}
		})
	}
}

// Server Discovery and Monitoring, "updateUnknownWithStandalone": a standalone may be the only seed, and is removed from several. The seeds
// are those of the last poll.
func TestAStandaloneAmongReplacedSeeds(t *testing.T) {
	for _, c := range []struct {
		name         string
		first, found []string
		kind         Type
	}{
		{"one of two is left", []string{"a:1", "b:1"}, []string{"a:1"}, Single},
		{"another one takes the place of two", []string{"b:1", "c:1"}, []string{"a:1"}, Single},
		{"one becomes two", []string{"a:1"}, []string{"a:1", "b:1"}, UnknownTopology},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := ReplaceSeeds(start(t, Config{Seeds: c.first}), c.found)
			d = Apply(d, &Server{Address: "a:1", Type: Standalone, MaxWireVersion: 25})
			if d.Type != c.kind || (d.Server("a:1") != nil) != (c.kind == Single) {
				t.Errorf("the topology is %v with the servers %v", d.Type, addresses(d.Servers))
			}
		})
	}
}

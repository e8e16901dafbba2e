package cluster

import (
	"slices"
	"testing"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// Polling SRV Records for mongos Discovery, "srvMaxHosts".
func TestAPollTakesAtMostMaxHosts(t *testing.T) {
	d, err := topology.New(topology.Config{Seeds: []string{"a:27017", "b:27017"}})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name  string
		most  int
		hosts []string
		count int
		kept  []string
	}{
		{"no limit", 0, []string{"a:27017", "c:27017", "d:27017"}, 3, []string{"a:27017"}},
		{"fewer hosts than the limit", 5, []string{"b:27017", "c:27017"}, 2, []string{"b:27017"}},
		{"as many hosts as the limit", 2, []string{"c:27017", "d:27017"}, 2, nil},
		{"more hosts than the limit", 2, []string{"c:27017", "d:27017", "e:27017"}, 2, nil},
		{"hosts of the topology are kept", 2, []string{"c:27017", "d:27017", "b:27017", "a:27017"}, 2, []string{"a:27017", "b:27017"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := SRVPolling{MaxHosts: c.most}
			got := p.choose(d, slices.Clone(c.hosts))
			slices.Sort(got)
			if len(slices.Compact(got)) != c.count {
				t.Errorf("chosen: %q, want %d hosts", got, c.count)
			}
			for _, host := range got {
				if !slices.Contains(c.hosts, host) {
					t.Errorf("%s was not among the hosts", host)
				}
			}
			for _, host := range c.kept {
				if !slices.Contains(got, host) {
					t.Errorf("%s is not in %q", host, got)
				}
			}
		})
	}
}

package topology

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

// CRUD specification, "Read preferences and server selection".
func TestWhereAnAggregationThatWritesIsSelected(t *testing.T) {
	old, current := int32(12), int32(13)
	versions := func(a, b, c int32) []*Server {
		members := []*Server{timed("a", RSPrimary, 5), timed("b", RSSecondary, 5), timed("c", RSSecondary, 5)}
		for i, version := range []int32{a, b, c} {
			members[i].MaxWireVersion = version
		}
		return members
	}
	unknown := versions(current, current, old)
	unknown[2].Type = Unknown
	for name, c := range map[string]struct {
		kind    Type
		servers []*Server
		want    []string
	}{
		"all servers are 5.0 or later":         {ReplicaSetWithPrimary, versions(current, current, current), []string{"b", "c"}},
		"one of the servers is older":          {ReplicaSetWithPrimary, versions(current, current, old), []string{"a"}},
		"an older server that is not known":    {ReplicaSetWithPrimary, unknown, []string{"b"}},
		"an old server behind a load balancer": {LoadBalanced, []*Server{timed("a", LoadBalancer, 5)}, []string{"a"}},
	} {
		d := &Description{Type: c.kind, Servers: c.servers}
		s := reading(readpref.Secondary())
		s.WritesOutput = true
		sameAddresses(t, name, mustSelect(t, d, s), c.want)
		if s.WritesOutput = false; s.ForcesPrimary(d) {
			t.Errorf("%s: a read is forced to the primary", name)
		}
	}
}

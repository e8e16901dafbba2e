package router

import (
	"testing"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// hello has the least wire version of the members that have data, at most ours; while none is known, that of before.
func TestTheWireVersion(t *testing.T) {
	r := new(Router)
	for i, step := range []struct {
		members []*topology.Server
		want    int32
	}{
		{nil, 0},
		{[]*topology.Server{{Type: topology.RSPrimary, MaxWireVersion: 99}}, topology.MaxWireVersion},
		{[]*topology.Server{
			{Type: topology.RSPrimary, MaxWireVersion: 17}, {Type: topology.RSSecondary, MaxWireVersion: 21}, {Type: topology.RSArbiter, MaxWireVersion: 9},
		}, 17},
		{[]*topology.Server{{Type: topology.Unknown}}, 17},
	} {
		if got := r.maxWire(&topology.Description{Servers: step.members}); got != step.want {
			t.Errorf("step %d: %d, want %d", i, got, step.want)
		}
	}
}

package cluster

import (
	"fmt"
	"testing"
	"testing/synctest"
)

// A server that has left the topology is remembered only while it is used: SRV records may name new hosts for ever.
func TestServersThatLeftTheTopologyAreForgotten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, network{}, nil)
		for i := range 20 {
			c.ReplaceSeeds([]string{fmt.Sprintf("m%d:27017", i)})
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		if len(c.servers) != 1 || len(c.removed) > 1 {
			t.Errorf("%d servers, and %d that are removed", len(c.servers), len(c.removed))
		}
	})
}

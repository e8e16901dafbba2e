package cluster

import (
	"context"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/panicked"
	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// SRVInterval is the time between two scans of the SRV records of a sharded cluster. Package net does not return the TTL of a
// record; without it the specification asks for a scan every 60 seconds.
const SRVInterval = time.Minute

// SRVPolling describes the SRV records from which the hosts came (Polling SRV Records for mongos Discovery).
type SRVPolling struct {
	// LookUp returns the "host:port" of each record that is verified, in lower case, or an error if there is none.
	LookUp   func(ctx context.Context) ([]string, error)
	MaxHosts int // srvMaxHosts; 0 means no limit
}

// pollSRV scans the SRV records until ctx ends, or until the topology is one whose servers do not come from SRV records.
// After a scan that found nothing the next one comes after the heartbeat interval.
func (c *Cluster) pollSRV(ctx context.Context, p *SRVPolling) {
	for interval := SRVInterval; sleep(ctx, interval, nil); {
		description := c.snapshot.Load().Description
		if description.Type != topology.UnknownTopology && description.Type != topology.Sharded {
			return
		}
		hosts, err := p.lookUp(ctx, c.cfg.ConnectTimeout)
		if err != nil {
			interval = c.cfg.HeartbeatInterval
			continue
		}
		interval = SRVInterval
		c.ReplaceSeeds(p.choose(description, hosts))
	}
}

func (p *SRVPolling) lookUp(ctx context.Context, limit time.Duration) (hosts []string, err error) {
	defer panicked.Recovered("the Resolver", &err)
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	return p.LookUp(ctx)
}

// choose returns the hosts that the topology is to have: all or, if there are more than MaxHosts, those that it has already and
// others picked at random.
func (p *SRVPolling) choose(d *topology.Description, hosts []string) []string {
	if p.MaxHosts == 0 || p.MaxHosts >= len(hosts) {
		return hosts
	}
	hosts = slices.Clone(hosts)
	rand.Shuffle(len(hosts), func(i, j int) { hosts[i], hosts[j] = hosts[j], hosts[i] })
	slices.SortStableFunc(hosts, func(a, b string) int { return added(d, a) - added(d, b) })
	return hosts[:p.MaxHosts]
}

// added returns 0 for a host that the topology has, and 1 for another one.
func added(d *topology.Description, host string) int {
	if d.Server(host) != nil {
		return 0
	}
	return 1
}

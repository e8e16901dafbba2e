package topology

import (
	"errors"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Description is a topology description. It is immutable; Apply returns the next one.
type Description struct {
	Type    Type
	SetName string    // the required name of the replica set, or the one that a member reported
	Servers []*Server // in the order in which they were added

	MaxSetVersion *int64
	MaxElectionID bson.ObjectID // zero if no primary reported one

	// CompatibilityError, if not nil, is an *IncompatibleError: no operation can be sent.
	CompatibilityError error
	// SessionTimeoutMinutes is the least value of the data-bearing servers, nil if one of them has none or there are
	// none. It has no meaning in a LoadBalanced topology, which always supports sessions.
	SessionTimeoutMinutes *int64

	// seeds is the number of servers that the topology started with. A standalone among several seeds is removed.
	seeds int
}

// Config is the initial configuration of a topology.
type Config struct {
	Seeds        []string // at least one "host:port"
	SetName      string   // "" if none is required
	Direct       *bool    // the directConnection option; nil if not given
	LoadBalanced bool
}

// New returns the initial topology description, with every server Unknown: SDAM, "Initial TopologyType" and "Allowed
// configuration combinations". With directConnection it is Single, else with a replica set's name
// ReplicaSetNoPrimary, else Unknown. The caller of New must apply a server of the kind LoadBalancer to a LoadBalanced
// topology, as its first and only change, because the Load Balancer specification wants an event for each of the two
// steps.
func New(cfg Config) (*Description, error) {
	direct := cfg.Direct != nil && *cfg.Direct
	if err := cfg.check(direct); err != nil {
		return nil, err
	}
	d := &Description{SetName: cfg.SetName}
	switch {
	case cfg.LoadBalanced:
		d.Type = LoadBalanced
	case direct:
		d.Type = Single
	case cfg.SetName != "":
		d.Type = ReplicaSetNoPrimary
	}
	d.add(cfg.Seeds)
	d.seeds = len(d.Servers)
	return d, nil
}

func (cfg Config) check(direct bool) error {
	switch {
	case len(cfg.Seeds) == 0:
		return errors.New("no seeds: at least one server's address is required")
	case slices.Contains(cfg.Seeds, ""):
		return errors.New("seeds: an address is empty")
	case direct && len(cfg.Seeds) > 1:
		return fmt.Errorf("directConnection=true cannot be used with multiple seeds, there are %d", len(cfg.Seeds))
	case cfg.LoadBalanced && direct:
		return errors.New("loadBalanced=true cannot be used with directConnection=true")
	case cfg.LoadBalanced && cfg.SetName != "":
		return errors.New("loadBalanced=true cannot be used with replicaSet")
	case cfg.LoadBalanced && len(cfg.Seeds) > 1:
		return fmt.Errorf("loadBalanced=true cannot be used with multiple seeds, there are %d", len(cfg.Seeds))
	}
	return nil
}

// Discovering reports whether there is a server that has not been checked yet.
func (d *Description) Discovering() bool {
	for _, s := range d.Servers {
		if s.Type == Unknown && s.Error == nil {
			return true
		}
	}
	return false
}

// Server returns the description of the server at addr, or nil if it is not in the topology.
func (d *Description) Server(addr string) *Server {
	if i := d.index(addr); i >= 0 {
		return d.Servers[i]
	}
	return nil
}

func (d *Description) index(addr string) int {
	return slices.IndexFunc(d.Servers, func(s *Server) bool { return s.Address == addr })
}

// add and remove change a description that is not published yet.
func (d *Description) add(addrs []string) {
	servers := searchServers(d.Servers)
	for _, addr := range addrs {
		addr = canonical(addr)
		if !servers.has(addr) {
			d.Servers = append(d.Servers, NewUnknown(addr, nil, nil))
			servers.list = d.Servers
		}
	}
}

func (d *Description) remove(addr string) {
	d.Servers = slices.DeleteFunc(d.Servers, func(s *Server) bool { return s.Address == addr })
}

func (d *Description) clone() *Description {
	next := *d
	next.Servers = slices.Clone(d.Servers)
	return &next
}

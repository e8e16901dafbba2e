package topology

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Description is a topology description. It is immutable; Apply returns the next one.
type Description struct {
	Kind    Kind
	SetName string    // required or learned replica set name
	Servers []*Server // in the order in which they were learned

	MaxSetVersion *int64
	MaxElectionID bson.ObjectID // zero if no primary reported one

	// CompatibilityError, if not nil, is why no operation can be sent.
	CompatibilityError error
	// SessionTimeoutMinutes is the least of the data-bearing servers', nil if one has none or there is no such server.
	// It says nothing in a LoadBalanced topology, which always supports sessions.
	SessionTimeoutMinutes *int64

	// seeds is how many servers the topology started from: a standalone among several seeds is no part of it.
	seeds int
}

// Config is what a topology starts from.
type Config struct {
	Seeds        []string // at least one "host:port"
	SetName      string   // "" if none is required
	Direct       *bool    // the directConnection option; nil if not given
	LoadBalanced bool
}

// New returns the description a client starts with, every server Unknown. The rules are those of SDAM, "Initial
// TopologyType" and "Allowed configuration combinations": directConnection makes it Single, else a replica set's name
// ReplicaSetNoPrimary, else it is Unknown, whatever the number of seeds.
//
// A LoadBalanced topology is complete only when the caller has applied a server of the kind LoadBalancer to it, as the
// first and only change: the Load Balancer specification has both steps seen as events.
func New(cfg Config) (*Description, error) {
	direct := cfg.Direct != nil && *cfg.Direct
	if err := cfg.check(direct); err != nil {
		return nil, err
	}
	d := &Description{SetName: cfg.SetName}
	switch {
	case cfg.LoadBalanced:
		d.Kind = LoadBalanced
	case direct:
		d.Kind = Single
	case cfg.SetName != "":
		d.Kind = ReplicaSetNoPrimary
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

// Server returns the description of the server at addr, nil if it is no part of the topology.
func (d *Description) Server(addr string) *Server {
	if i := d.index(addr); i >= 0 {
		return d.Servers[i]
	}
	return nil
}

func (d *Description) index(addr string) int {
	return slices.IndexFunc(d.Servers, func(s *Server) bool { return s.Address == addr })
}

// add, remove and clone are for descriptions that are not published yet.
func (d *Description) add(addrs []string) {
	for _, addr := range addrs {
		addr = strings.ToLower(addr)
		if d.index(addr) < 0 {
			d.Servers = append(d.Servers, NewUnknown(addr, nil, nil))
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

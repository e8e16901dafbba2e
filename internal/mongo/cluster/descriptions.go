package cluster

import (
	"go.mongodb.org/mongo-driver/v2/event"
	"go.mongodb.org/mongo-driver/v2/mongo/address"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

// serverDescription returns a server description in the type of the official events.
func serverDescription(s *topology.Server) event.ServerDescription {
	d := event.ServerDescription{
		Addr: address.Address(s.Address), CanonicalAddr: address.Address(s.Address), Kind: s.Type.String(),
		Arbiters: s.Arbiters, Hosts: s.Hosts, Passives: s.Passives, Members: members(s), Primary: address.Address(s.Primary),
		Compression: s.Compression, ElectionID: s.ElectionID, HelloOK: s.HelloOK, LastWriteTime: s.LastWriteDate,
		MaxBatchCount: uint32(s.MaxBatchCount), MaxDocumentSize: uint32(s.MaxDocumentSize), MaxMessageSize: uint32(s.MaxMessageSize),
		MaxWireVersion: s.MaxWireVersion, MinWireVersion: s.MinWireVersion, ReadOnly: s.ReadOnly,
		SessionTimeoutMinutes: s.SessionTimeoutMinutes, SetName: s.SetName, Tags: s.Tags,
	}
	if s.Me != "" {
		d.CanonicalAddr = address.Address(s.Me)
	}
	if s.SetVersion != nil {
		d.SetVersion = uint32(*s.SetVersion)
	}
	if v := s.TopologyVersion; v != nil {
		d.TopologyVersionProcessID, d.TopologyVersionCounter = v.ProcessID, v.Counter
	}
	if !s.ServiceID.IsZero() {
		d.ServiceID = &s.ServiceID
	}
	return d
}

func members(s *topology.Server) []address.Address {
	var all []address.Address
	for _, list := range [][]string{s.Hosts, s.Passives, s.Arbiters} {
		for _, host := range list {
			all = append(all, address.Address(host))
		}
	}
	return all
}

// topologyDescription returns a topology description in the type of the official events.
func topologyDescription(d *topology.Description) event.TopologyDescription {
	servers := make([]event.ServerDescription, len(d.Servers))
	for i, s := range d.Servers {
		servers[i] = serverDescription(s)
	}
	return event.TopologyDescription{
		Servers: servers, SetName: d.SetName, Kind: d.Type.String(),
		SessionTimeoutMinutes: d.SessionTimeoutMinutes, CompatibilityErr: d.CompatibilityError,
	}
}

// noTopology is the description before the first one and after the last one.
var noTopology = new(topology.Description)

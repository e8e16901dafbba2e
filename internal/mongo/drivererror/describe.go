package drivererror

import (
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/address"
	"go.mongodb.org/mongo-driver/v2/x/mongo/driver/description"

	"github.com/holdfast-db/holdfast/internal/mongo/topology"
)

var topologyKinds = map[topology.Type]description.TopologyKind{
	topology.Single:                description.TopologyKindSingle,
	topology.ReplicaSetNoPrimary:   description.TopologyKindReplicaSetNoPrimary,
	topology.ReplicaSetWithPrimary: description.TopologyKindReplicaSetWithPrimary,
	topology.Sharded:               description.TopologyKindSharded,
	topology.LoadBalanced:          description.TopologyKindLoadBalanced,
}

var serverKinds = map[topology.ServerType]description.ServerKind{
	topology.Standalone:   description.ServerKindStandalone,
	topology.Mongos:       description.ServerKindMongos,
	topology.RSPrimary:    description.ServerKindRSPrimary,
	topology.RSSecondary:  description.ServerKindRSSecondary,
	topology.RSArbiter:    description.ServerKindRSArbiter,
	topology.RSOther:      description.ServerKindRSMember,
	topology.RSGhost:      description.ServerKindRSGhost,
	topology.LoadBalancer: description.ServerKindLoadBalancer,
}

// describe returns a topology description as the official driver has it.
func describe(d *topology.Description) description.Topology {
	if d == nil {
		return description.Topology{}
	}
	t := description.Topology{
		SetName: d.SetName, Kind: topologyKinds[d.Type], SessionTimeoutMinutes: d.SessionTimeoutMinutes, CompatibilityErr: d.CompatibilityError,
	}
	for _, s := range d.Servers {
		t.Servers = append(t.Servers, describeServer(s))
	}
	return t
}

func describeServer(s *topology.Server) description.Server {
	is := description.Server{
		Addr: address.Address(s.Address), CanonicalAddr: address.Address(s.Me), Primary: address.Address(s.Primary), Kind: serverKinds[s.Type],
		LastError: s.Error, AverageRTT: s.RTT, AverageRTTSet: s.HasRTT,
		Hosts: s.Hosts, Passives: s.Passives, Arbiters: s.Arbiters, SetName: s.SetName, ElectionID: s.ElectionID, Tags: s.Tags,
		SessionTimeoutMinutes: s.SessionTimeoutMinutes, LastWriteTime: s.LastWriteDate, LastUpdateTime: s.LastUpdateTime,
		MaxBatchCount: unsigned(s.MaxBatchCount), MaxDocumentSize: unsigned(s.MaxDocumentSize), MaxMessageSize: unsigned(s.MaxMessageSize),
		HelloOK: s.HelloOK, ReadOnly: s.ReadOnly, Compression: s.Compression,
	}
	for _, member := range slices.Concat(s.Hosts, s.Passives, s.Arbiters) {
		is.Members = append(is.Members, address.Address(member))
	}
	if s.SetVersion != nil {
		is.SetVersion = unsigned(int32(*s.SetVersion)) //nolint:gosec // the server's field is an int32
	}
	if s.ServiceID != (bson.ObjectID{}) {
		is.ServiceID = &s.ServiceID
	}
	if v := s.TopologyVersion; v != nil {
		is.TopologyVersion = &description.TopologyVersion{ProcessID: v.ProcessID, Counter: v.Counter}
	}
	if s.Known() {
		is.WireVersion = &description.VersionRange{Min: s.MinWireVersion, Max: s.MaxWireVersion}
	}
	return is
}

func unsigned(n int32) uint32 { return uint32(max(n, 0)) } //nolint:gosec // not negative

// versionOf returns the topologyVersion of an error reply, nil if it has none.
func versionOf(reply bson.Raw) *description.TopologyVersion {
	id, isID := reply.Lookup("topologyVersion", "processId").ObjectIDOK()
	counter, isCounter := reply.Lookup("topologyVersion", "counter").AsInt64OK()
	if !isID || !isCounter {
		return nil
	}
	return &description.TopologyVersion{ProcessID: id, Counter: counter}
}

// backoffOf returns the baseBackoffMS of an error reply, 0 if it has none.
func backoffOf(reply bson.Raw) time.Duration {
	ms, _ := reply.Lookup("baseBackoffMS").AsInt64OK()
	return time.Duration(ms) * time.Millisecond
}

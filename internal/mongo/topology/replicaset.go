package topology

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// ErrNewerPrimary is the Error of a former primary that became Unknown because a newer primary was found. The server
// is checked immediately, and its pool is not cleared (SDAM, "updateRSFromPrimary").
var ErrNewerPrimary = errors.New("primary marked stale due to discovery of newer primary")

// wireVersion60 belongs to MongoDB 6.0. Since 6.0 electionId is compared before setVersion.
const wireVersion60 = 17

func (d *Description) updateNoPrimary(s *Server) {
	switch s.Type {
	case Standalone, Mongos:
		d.remove(s.Address)
	case RSPrimary:
		d.updateRSFromPrimary(s)
	case RSSecondary, RSArbiter, RSOther:
		d.updateRSWithoutPrimary(s)
	case Unknown, PossiblePrimary, RSGhost, LoadBalancer:
	}
}

func (d *Description) updateWithPrimary(s *Server) {
	switch s.Type {
	case Standalone, Mongos:
		d.remove(s.Address)
		d.checkIfHasPrimary()
	case RSPrimary:
		d.updateRSFromPrimary(s)
	case RSSecondary, RSArbiter, RSOther:
		d.updateRSWithPrimaryFromMember(s)
	case Unknown, PossiblePrimary, RSGhost, LoadBalancer:
		d.checkIfHasPrimary()
	}
}

// updateRSWithoutPrimary adds the members that any member lists. It removes no others, because only a primary's list
// is complete.
func (d *Description) updateRSWithoutPrimary(s *Server) {
	if d.SetName == "" {
		d.SetName = s.SetName
	}
	if d.SetName != s.SetName {
		d.remove(s.Address)
		return
	}
	d.add(s.members())
	if s.addressDiffersFromMe() {
		d.remove(s.Address)
	}
}

// updateRSWithPrimaryFromMember adds no members: the primary's list is the authoritative one.
func (d *Description) updateRSWithPrimaryFromMember(s *Server) {
	if d.SetName != s.SetName || s.addressDiffersFromMe() {
		d.remove(s.Address)
	}
	d.checkIfHasPrimary()
}

// updateRSFromPrimary makes the primary's list the members of the topology, unless that primary is stale.
func (d *Description) updateRSFromPrimary(s *Server) {
	defer d.checkIfHasPrimary()
	if d.SetName == "" {
		d.SetName = s.SetName
	}
	if d.SetName != s.SetName {
		d.remove(s.Address)
		return
	}
	if d.stalePrimary(s) {
		err := fmt.Errorf("primary marked stale due to electionId/setVersion mismatch, %s is stale compared to %s",
			electionTuple(s.ElectionID, s.SetVersion), electionTuple(d.MaxElectionID, d.MaxSetVersion))
		d.Servers[d.index(s.Address)] = NewUnknown(s.Address, err, nil)
		return
	}
	d.advanceElection(s)
	d.invalidateOtherPrimaries(s)
	d.add(s.members())
	listed := searchAddresses(s.members())
	d.Servers = slices.DeleteFunc(d.Servers, func(member *Server) bool { return !listed.has(member.Address) })
}

// stalePrimary reports whether a newer primary has been seen: SDAM, "Using electionId and setVersion to detect stale
// primaries". A missing value is less than any other. Before 6.0 a pair with a missing value is not compared.
func (d *Description) stalePrimary(s *Server) bool {
	election := bytes.Compare(s.ElectionID[:], d.MaxElectionID[:])
	version := compareOptional(s.SetVersion, d.MaxSetVersion)
	if s.MaxWireVersion >= wireVersion60 {
		return election < 0 || election == 0 && version < 0
	}
	if s.SetVersion == nil || s.ElectionID.IsZero() || d.MaxSetVersion == nil || d.MaxElectionID.IsZero() {
		return false
	}
	return version < 0 || version == 0 && election < 0
}

// advanceElection stores the greatest pair of electionId and setVersion. Since 6.0 it is that of the newest primary.
func (d *Description) advanceElection(s *Server) {
	if s.MaxWireVersion >= wireVersion60 {
		d.MaxElectionID, d.MaxSetVersion = s.ElectionID, s.SetVersion
		return
	}
	if s.SetVersion == nil {
		return
	}
	if !s.ElectionID.IsZero() {
		d.MaxElectionID = s.ElectionID
	}
	if compareOptional(s.SetVersion, d.MaxSetVersion) > 0 {
		d.MaxSetVersion = s.SetVersion
	}
}

func (d *Description) invalidateOtherPrimaries(primary *Server) {
	for i, s := range d.Servers {
		if s.Type == RSPrimary && s.Address != primary.Address {
			d.Servers[i] = NewUnknown(s.Address, ErrNewerPrimary, nil)
		}
	}
}

func (d *Description) checkIfHasPrimary() {
	d.Type = ReplicaSetNoPrimary
	if slices.ContainsFunc(d.Servers, func(s *Server) bool { return s.Type == RSPrimary }) {
		d.Type = ReplicaSetWithPrimary
	}
}

// addressDiffersFromMe reports whether the replica set's configuration has another address for the server than the
// client. A server without "me" is not removed.
func (s *Server) addressDiffersFromMe() bool {
	return s.Me != "" && s.Me != s.Address
}

// members returns the addresses of all members that the server lists.
func (s *Server) members() []string { return slices.Concat(s.Hosts, s.Passives, s.Arbiters) }

// compareOptional compares two numbers. nil is less than any number.
func compareOptional(a, b *int64) int {
	switch {
	case a != nil && b != nil:
		return cmp.Compare(*a, *b)
	case a != nil:
		return 1
	case b != nil:
		return -1
	}
	return 0
}

func electionTuple(id bson.ObjectID, version *int64) string {
	election, set := "null", "null"
	if !id.IsZero() {
		election = id.Hex()
	}
	if version != nil {
		set = fmt.Sprint(*version)
	}
	return fmt.Sprintf("(electionId %s, setVersion %s)", election, set)
}

package topology

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// ErrNewerPrimary is the Error of a former primary that became Unknown because another server is the primary now. Its
// server is to be checked at once, and its pool is not to be cleared (SDAM, "updateRSFromPrimary").
var ErrNewerPrimary = errors.New("primary marked stale due to discovery of newer primary")

// wireVersion60 is MongoDB 6.0, from which on electionId is compared before setVersion.
const wireVersion60 = 17

func (d *Description) updateNoPrimary(s *Server) {
	switch s.Kind {
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
	switch s.Kind {
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

// updateRSWithoutPrimary takes new members from any member while nobody knows better, but drops none of the others.
func (d *Description) updateRSWithoutPrimary(s *Server) {
	if d.SetName == "" {
		d.SetName = s.SetName
	}
	if d.SetName != s.SetName {
		d.remove(s.Address)
		return
	}
	d.addMembers(s)
	if s.misnamed() {
		d.remove(s.Address)
	}
}

// updateRSWithPrimaryFromMember learns no members: the primary's list is the authority.
func (d *Description) updateRSWithPrimaryFromMember(s *Server) {
	if d.SetName != s.SetName || s.misnamed() {
		d.remove(s.Address)
	}
	d.checkIfHasPrimary()
}

// updateRSFromPrimary makes the members of the topology those that the primary names, unless it is a stale one.
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
	d.addMembers(s)
	d.Servers = slices.DeleteFunc(d.Servers, func(member *Server) bool { return !s.names(member.Address) })
}

// stalePrimary reports whether a newer primary has been seen: SDAM, "Using electionId and setVersion to detect stale
// primaries". A missing value is less than any other; before 6.0 incomplete pairs are not compared at all.
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

// advanceElection remembers the greatest pair, which since 6.0 is that of the newest primary.
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
		if s.Kind == RSPrimary && s.Address != primary.Address {
			d.Servers[i] = NewUnknown(s.Address, ErrNewerPrimary, nil)
		}
	}
}

func (d *Description) addMembers(s *Server) {
	d.add(s.Hosts)
	d.add(s.Passives)
	d.add(s.Arbiters)
}

func (d *Description) checkIfHasPrimary() {
	d.Kind = ReplicaSetNoPrimary
	if slices.ContainsFunc(d.Servers, func(s *Server) bool { return s.Kind == RSPrimary }) {
		d.Kind = ReplicaSetWithPrimary
	}
}

// misnamed reports whether the set knows the server by another address than the client. A server that does not say what
// the set calls it gets the benefit of the doubt.
func (s *Server) misnamed() bool {
	return s.Me != "" && s.Me != s.Address
}

// names reports whether addr is in one of the server's lists of members.
func (s *Server) names(addr string) bool {
	return slices.Contains(s.Hosts, addr) || slices.Contains(s.Passives, addr) || slices.Contains(s.Arbiters, addr)
}

// compareOptional orders numbers, nil before all of them.
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

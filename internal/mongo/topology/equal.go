package topology

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/tag"
)

// Equal reports whether no event is published for a change from s to other: SDAM, "Server Description Equality". It
// ignores round trip times, update times, limits, and the order of members and tags.
func (s *Server) Equal(other *Server) bool {
	return s.Address == other.Address && s.Type == other.Type && sameError(s.Error, other.Error) &&
		s.MinWireVersion == other.MinWireVersion && s.MaxWireVersion == other.MaxWireVersion &&
		s.sameMembership(other) && sameTags(s.Tags, other.Tags) &&
		samePointee(s.SessionTimeoutMinutes, other.SessionTimeoutMinutes) &&
		samePointee(s.TopologyVersion, other.TopologyVersion)
}

func (s *Server) sameMembership(other *Server) bool {
	return s.Me == other.Me && s.SetName == other.SetName && s.Primary == other.Primary &&
		s.ElectionID == other.ElectionID && samePointee(s.SetVersion, other.SetVersion) &&
		sameSet(s.Hosts, other.Hosts) && sameSet(s.Passives, other.Passives) && sameSet(s.Arbiters, other.Arbiters)
}

// Equal reports whether no event is published for a change from d to other.
func (d *Description) Equal(other *Description) bool {
	return d.Type == other.Type && d.SetName == other.SetName && d.MaxElectionID == other.MaxElectionID &&
		samePointee(d.MaxSetVersion, other.MaxSetVersion) &&
		samePointee(d.SessionTimeoutMinutes, other.SessionTimeoutMinutes) &&
		sameError(d.CompatibilityError, other.CompatibilityError) && d.sameServers(other)
}

func (d *Description) sameServers(other *Description) bool {
	others := searchServers(other.Servers)
	return len(d.Servers) == len(other.Servers) && !slices.ContainsFunc(d.Servers, func(s *Server) bool {
		i := others.find(s.Address)
		return i < 0 || s != other.Servers[i] && !s.Equal(other.Servers[i])
	})
}

func sameError(a, b error) bool {
	return (a == nil) == (b == nil) && (a == nil || a.Error() == b.Error())
}

func samePointee[T comparable](a, b *T) bool {
	return a == b || a != nil && b != nil && *a == *b
}

func sameSet(a, b []string) bool {
	return isSubset(a, b) && isSubset(b, a)
}

func isSubset(a, b []string) bool {
	in := searchAddresses(b)
	return !slices.ContainsFunc(a, func(addr string) bool { return !in.has(addr) })
}

func sameTags(a, b tag.Set) bool {
	return a.ContainsAll(b) && b.ContainsAll(a)
}

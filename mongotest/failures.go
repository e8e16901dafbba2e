package mongotest

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/holdfast-db/holdfast/mongotest/internal/call"
)

// StepDown makes the primary step down in favour of a secondary, once that has caught up, for which it waits up to ten
// seconds. When it returns the old primary takes no writes; the new one is elected two milliseconds later, and the
// old one does not stand for that election. [Deployment.WaitPrimary] waits for the new one.
func (rs *Deployment) StepDown() error {
	return rs.set.StepDown()
}

// Kill ends a member as the death of its process does: its connections are closed, new ones refused (on TCP: accepted
// and reset), and what it was executing gets no reply. Its data stays for Restart. Killing a dead member does nothing.
func (rs *Deployment) Kill(member int) {
	for _, c := range rs.connections(orPanic(rs.memberAt("Kill", member)), true) {
		c.abort()
	}
}

// DropConnections closes the connections of a member to its clients, as a firewall does that has lost its state. The member runs on, and
// accepts new ones; what it is executing gets no reply.
func (rs *Deployment) DropConnections(member int) {
	for _, c := range rs.connections(orPanic(rs.memberAt("DropConnections", member)), false) {
		c.abort()
	}
}

// connections returns the connections of a member, which are to be aborted; none if it is dead. If it is to die, it has ended then.
func (rs *Deployment) connections(m *call.Member, dies bool) []*conn {
	rs.set.Lock()
	defer rs.set.Unlock()
	s := rs.serverOf(m)
	if !m.Up || !dies {
		return slices.Collect(maps.Keys(s.conns))
	}
	conns := s.shutLocked()
	m.LeaveLocked()
	return conns
}

// Restart starts a killed member with the data it had; the only one of its set is primary again at once. Restarting a member
// that runs does nothing.
func (rs *Deployment) Restart(member int) {
	m := orPanic(rs.memberAt("Restart", member))
	rs.set.Lock()
	defer rs.set.Unlock()
	if m.Up || rs.set.Closed {
		return
	}
	m.RunLocked()
	rs.serverOf(m).openLocked()
	m.RejoinLocked()
}

// Isolate cuts a member off from the other members and from its clients: bytes stop flowing, connections stay open and
// silent, new dials (by the set's Dialer) wait. Heal ends it.
func (rs *Deployment) Isolate(member int) {
	orPanic(rs.memberAt("Isolate", member)).Isolate()
}

// Partition cuts the members into groups between which nothing passes; clients reach them all. Members that are in no
// group form one together. A new partition replaces the old one. It panics if a member is in two groups.
func (rs *Deployment) Partition(groups ...[]int) {
	group := make(map[int]int) // of a member, counted from 1
	for g, members := range groups {
		for _, m := range members {
			orPanic(rs.memberAt("Partition", m))
			if group[m] != 0 && group[m] != g+1 {
				panic(fmt.Sprintf("mongotest: Partition: member %d is in two groups", m))
			}
			group[m] = g + 1
		}
	}
	rs.set.Partition(func(member int) int { return group[member] })
}

// PartitionOneWay loses the messages of one member to another; those in the other direction and clients' are not concerned.
// As heartbeats, votes and fetching the oplog are requests with a response, the two members do not see each other: neither
// counts the other towards a majority, votes for it or replicates from it. But a request that gets through is read: a term
// that it carries is learned, so that an outdated primary steps down at once. A secondary cut off from the primary replicates
// from another one that both reach. It adds to the partition there is.
func (rs *Deployment) PartitionOneWay(from, to int) {
	orPanic(rs.memberAt("PartitionOneWay", from))
	orPanic(rs.memberAt("PartitionOneWay", to))
	rs.set.Cut(from, to)
}

// SetLag sets how long after a write a member fetches it, beside the set's ReplicationDelay; a negative lag counts as none.
// Earlier writes that are due by the new lag are fetched at once.
func (rs *Deployment) SetLag(member int, lag time.Duration) {
	orPanic(rs.memberAt("SetLag", member)).SetLag(lag)
}

// Heal ends every isolation and partition. It does not restart killed members.
func (rs *Deployment) Heal() { rs.set.Heal() }

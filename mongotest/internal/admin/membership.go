package admin

import (
	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// AppendMembership writes what only a member of a set says.
func AppendMembership(x call.Locked, dst []byte, writable string) []byte {
	rs, m := x.Client.Cluster, x.Client.Member
	dst = wire.AppendBool(dst, writable, m.Role == replica.Primary)
	dst = wire.AppendBool(dst, "secondary", m.Role == replica.Secondary && m.Config.BearsData() && !m.Stale)
	if m.Config.Removed {
		dst = wire.AppendString(dst, "info", "Does not have a valid replica set config")
		return wire.AppendBool(dst, "isreplicaset", true)
	}
	dst = appendHosts(rs, dst)
	dst = wire.AppendString(dst, "setName", rs.SetName)
	dst = wire.AppendInt32(dst, "setVersion", int32(rs.Set.ConfigVersion))
	dst = m.Config.AppendShown(dst, rs.Set.Version)
	if p := m.PrimaryLocked(); p != nil {
		dst = wire.AppendString(dst, "primary", rs.MemberOf(p).Addr)
	}
	dst = wire.AppendString(dst, "me", m.Addr)
	if m.Role == replica.Primary {
		dst = wire.AppendObjectID(dst, "electionId", replica.ElectionID(m.Term))
	}
	return appendLastWrite(x, dst)
}

// appendHosts writes who can be elected, who cannot and who only votes, but for those that are hidden.
func appendHosts(rs *call.Cluster, dst []byte) []byte {
	var hosts, passives, arbiters []string
	for _, m := range rs.Members {
		switch {
		case m.Config.Hidden || m.Config.Removed:
		case m.Config.Arbiter:
			arbiters = append(arbiters, m.Addr)
		case m.Config.Priority == 0:
			passives = append(passives, m.Addr)
		default:
			hosts = append(hosts, m.Addr)
		}
	}
	dst = wire.AppendStrings(dst, "hosts", hosts)
	if len(passives) > 0 {
		dst = wire.AppendStrings(dst, "passives", passives)
	}
	if len(arbiters) > 0 {
		dst = wire.AppendStrings(dst, "arbiters", arbiters)
	}
	return dst
}

func appendLastWrite(x call.Locked, dst []byte) []byte {
	at, dst := wire.BeginEmbedded(dst, "lastWrite")
	last, committed := opTimes(x.Client.Member)
	dst = call.AppendOpTime(dst, "opTime", last)
	dst = wire.AppendDateTime(dst, "lastWriteDate", last.Wall())
	dst = call.AppendOpTime(dst, "majorityOpTime", committed)
	dst = wire.AppendDateTime(dst, "majorityWriteDate", committed.Wall())
	return wire.EndDocument(dst, at)
}

// opTimes returns the newest entry that the member has, and the newest of which it knows that a majority has it.
func opTimes(m *call.Member) (last, committed *store.Entry) {
	last, committed = m.Data.Log.Tail(), m.Data.Log.At(m.Commit)
	if last == nil {
		last = &store.Entry{}
	}
	if committed == nil {
		committed = last
	}
	return last, committed
}

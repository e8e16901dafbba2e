package admin

import (
	"errors"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/command/replSetGetStatus/

func cmdReplSetGetStatus(x *call.Call) error {
	if err := errors.Join(OfSet(x), x.NoArgs()); err != nil {
		return err
	}
	rs, m := x.Client.Cluster, x.Client.Member
	return call.WithLock(x, func(x call.Locked) error {
		if err := configured(x, "no replset config has been received"); err != nil {
			return err
		}
		dst := wire.AppendString(x.Result.Out, "set", rs.SetName)
		dst = wire.AppendDateTime(dst, "date", time.Now().UnixMilli())
		dst = wire.AppendInt32(dst, "myState", int32(m.StateLocked()))
		dst = wire.AppendInt64(dst, "term", m.Term)
		source, _ := m.SourceLocked()
		dst = appendSource(rs, dst, source)
		dst = wire.AppendInt64(dst, "heartbeatIntervalMillis", heartbeats.Milliseconds())
		dst = wire.AppendInt32(dst, "majorityVoteCount", int32(rs.Set.VoteMajority))
		dst = wire.AppendInt32(dst, "writeMajorityCount", int32(rs.Set.WriteMajority))
		dst = wire.AppendInt32(dst, "votingMembersCount", int32(rs.Set.Votes))
		dst = wire.AppendInt32(dst, "writableVotingMembersCount", int32(rs.Set.Votes-rs.Set.ArbitersLocked()))
		dst = appendOpTimes(m, dst)
		at, dst := wire.BeginArray(dst, "members")
		n := 0
		for _, other := range rs.Members {
			if !other.Config.Removed {
				dst = appendStatus(x, dst, wire.ArrayKey(n), other)
				n++
			}
		}
		x.Result.Out = wire.EndDocument(dst, at)
		return nil
	})
}

// appendSource writes whom a member fetches from, nil for nobody.
func appendSource(rs *call.Cluster, dst []byte, from *replica.Member) []byte {
	host, id := "", int64(-1)
	if from != nil {
		host, id = rs.MemberOf(from).Addr, from.Config.ID
	}
	dst = wire.AppendString(dst, "syncSourceHost", host)
	return wire.AppendInt32(dst, "syncSourceId", int32(id))
}

// appendOpTimes writes how far the member and, as far as it knows, a majority are.
func appendOpTimes(m *call.Member, dst []byte) []byte {
	last, committed := opTimes(m)
	at, dst := wire.BeginEmbedded(dst, "optimes")
	dst = call.AppendOpTime(dst, "lastCommittedOpTime", committed)
	dst = wire.AppendDateTime(dst, "lastCommittedWallTime", committed.Wall())
	dst = call.AppendOpTime(dst, "readConcernMajorityOpTime", committed)
	dst = call.AppendOpTime(dst, "appliedOpTime", last)
	dst = call.AppendOpTime(dst, "durableOpTime", last)
	dst = wire.AppendDateTime(dst, "lastAppliedWallTime", last.Wall())
	dst = wire.AppendDateTime(dst, "lastDurableWallTime", last.Wall())
	return wire.EndDocument(dst, at)
}

// appendStatus writes what the call's member knows of a member of the set, itself perhaps.
func appendStatus(x call.Locked, dst []byte, key string, other *call.Member) []byte {
	m := x.Client.Member
	at, dst := wire.BeginEmbedded(dst, key)
	dst = wire.AppendInt32(dst, "_id", int32(other.Config.ID))
	dst = wire.AppendString(dst, "name", other.Addr)
	health, state, uptime := 1.0, other.StateLocked(), time.Since(other.Started)
	heard := m.Reaches(other.Member)
	if !heard {
		health, state, uptime = 0, replica.StateDown, 0
	}
	dst = wire.AppendDouble(dst, "health", health)
	dst = wire.AppendInt32(dst, "state", int32(state))
	dst = wire.AppendString(dst, "stateStr", state.String())
	dst = wire.AppendInt32(dst, "uptime", int32(uptime.Seconds()))
	dst = appendProgress(m, dst, other, heard)
	if other != m {
		dst = appendHeartbeat(dst, other, heard)
	}
	var source *replica.Member
	if heard {
		source, _ = other.SourceLocked()
	}
	dst = wire.AppendString(appendSource(m.Cluster, dst, source), "infoMessage", "")
	if heard && other.Role == replica.Primary {
		seconds := other.Elected.Unix()
		dst = wire.AppendTimestamp(dst, "electionTime", uint32(seconds), 1)
		dst = wire.AppendDateTime(dst, "electionDate", seconds*1000)
	}
	dst = appendConfigTerm(x, dst, heard)
	if other == m {
		dst = wire.AppendBool(dst, "self", true)
		dst = wire.AppendString(dst, "lastHeartbeatMessage", "")
	}
	return wire.EndDocument(dst, at)
}

// appendProgress writes how far a member is that has data: of one that is not heard of nothing is known.
func appendProgress(m *call.Member, dst []byte, other *call.Member, heard bool) []byte {
	if !other.Config.BearsData() {
		return dst
	}
	last := &store.Entry{Term: -1}
	if heard {
		last, _ = opTimes(other)
	}
	dst = call.AppendOpTime(dst, "optime", last)
	if other != m {
		dst = call.AppendOpTime(dst, "optimeDurable", last)
	}
	dst = wire.AppendDateTime(dst, "optimeDate", last.Wall())
	if other != m {
		dst = wire.AppendDateTime(dst, "optimeDurableDate", last.Wall())
	}
	return dst
}

// heartbeats is how often the real members of a set ask for each other.
const heartbeats = 2 * time.Second

// appendHeartbeat writes when another member was heard of last, as if there were heartbeats from its start on. It is not
// known when one that is lost was.
func appendHeartbeat(dst []byte, other *call.Member, heard bool) []byte {
	last := other.Started.Add(time.Since(other.Started).Truncate(heartbeats))
	received, message := last, ""
	if !heard {
		received, message = other.Started, "Error connecting to "+other.Addr
	}
	dst = wire.AppendDateTime(dst, "lastHeartbeat", last.UnixMilli())
	dst = wire.AppendDateTime(dst, "lastHeartbeatRecv", received.UnixMilli())
	dst = wire.AppendInt64(dst, "pingMs", 0)
	return wire.AppendString(dst, "lastHeartbeatMessage", message)
}

// appendConfigTerm writes which configuration a member has, if it is heard of. The term is known since 4.4.
func appendConfigTerm(x call.Locked, dst []byte, heard bool) []byte {
	rs := x.Client.Cluster
	version, term := rs.Set.ConfigVersion, rs.Set.TermLocked()
	if !heard {
		version, term = -1, -1
	}
	dst = wire.AppendInt32(dst, "configVersion", int32(version))
	if rs.Set.Version.AtLeast(4, 4) {
		dst = query.AppendSmallest(dst, "configTerm", term)
	}
	return dst
}

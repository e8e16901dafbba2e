package call

import (
	"slices"
	"strings"
	"time"

	"github.com/holdfast-db/holdfast/mongotest/internal/profiling"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// Router is a mongos without its connections: who holds what was begun through it. Its fields are guarded by the set's mutex but for those
// that never change.
type Router struct {
	Cluster      *Cluster
	Index        int
	turn         int               // of the members that may answer a read
	Cursors      map[int64]*Member // who holds the cursors that were opened through it
	Profiling    profiling.Settings
	Transactions map[string]int64 // the newest transaction of each session that began through it
}

// pick returns the member that a command is for, nil if there is none now.
func pick(x Locked) *Member {
	c := &x.Command
	p := x.Client.Cluster.MemberOf(x.Client.Set.NewestPrimaryLocked())
	if p != nil && p.Gate.IsShut() {
		p = nil
	}
	if !c.secondaryOk || c.writes() || c.autocommit == autocommitOff {
		return p
	}
	switch c.readMode {
	case "primaryPreferred":
		if p != nil {
			return p
		}
		return reader(x, nil)
	case "secondaryPreferred":
		if m := reader(x, nil); m != nil {
			return m
		}
		return p
	case "secondary":
		return reader(x, nil)
	}
	return reader(x, p)
}

// reader returns one of the secondaries, or the given member besides, that a command's tags and staleness admit: each
// in its turn.
func reader(x Locked, besides *Member) *Member {
	c, r := &x.Command, x.Client.Router
	var able []*Member
	for _, m := range x.Client.Cluster.Members {
		if m.Up && !m.Gate.IsShut() && m.Config.BearsData() && (m.Role == replica.Secondary || m == besides) && freshEnough(x, m, c.staleness) {
			able = append(able, m)
		}
	}
	sets := c.readTags
	if len(sets) == 0 {
		sets = []query.Value{query.Document(query.EmptyDocument)}
	}
	for _, tags := range sets {
		suitable := slices.DeleteFunc(slices.Clone(able), func(m *Member) bool { return !tags.IsDocument() || !m.Config.HasTags(tags.Data) })
		if len(suitable) > 0 {
			r.turn++
			return suitable[r.turn%len(suitable)]
		}
	}
	return nil
}

// freshEnough reports whether a member is no further behind the newest entry than a limit, 0 for none.
func freshEnough(x Locked, m *Member, limit time.Duration) bool {
	newest, mine := store.Timestamp(x.Client.Set.Clock.Load()), m.Data.Log.Tail()
	return limit == 0 || mine != nil && time.Duration(newest.Seconds()-mine.TS.Seconds())*time.Second <= limit
}

// ShardLocked is how the shard is named to clients: the set's name and its members.
func (rs *Cluster) ShardLocked() string {
	var hosts []string
	for _, m := range rs.Members {
		if m.Config.BearsData() && !m.Config.Hidden {
			hosts = append(hosts, m.Addr)
		}
	}
	return rs.SetName + "/" + strings.Join(hosts, ",")
}

// destination returns who executes the command: who holds the cursor of a getMore, or who the read preference selects.
func destination(x Locked) *Member {
	r := x.Client.Router
	if x.Command.Name != "getMore" {
		return pick(x)
	}
	id, _ := x.Command.First.Integer()
	if m := r.Cursors[id]; m != nil && m.Up && !m.Gate.IsShut() {
		return m
	}
	delete(r.Cursors, id) // it is lost with its member, if it was there
	return r.Cluster.Members[0]
}

package mongotest

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// mongos is a server that has no data: it executes commands at the shard's members. Its fields are guarded by the set's
// mutex but for those that never change.
type mongos struct {
	server
	index        int
	turn         int               // of the members that may answer a read
	cursors      map[int64]*member // who holds the cursors that were opened through it
	transactions map[string]int64  // the newest transaction of each session that began through it
}

func newMongos(set *Deployment, index int) *mongos {
	r := &mongos{index: index}
	r.server = server{deployment: set, process: new(replica.Process), mongos: r, listening: listening{name: fmt.Sprintf("mongos %d", index), host: fmt.Sprintf("mongos%d", index)}}
	r.conns, r.tally = make(map[*conn]struct{}), newTally()
	r.runLocked()
	return r
}

// runLocked makes the mongos run; it remembers nothing.
func (r *mongos) runLocked() {
	r.process.StartLocked(r.deployment.set.NewParameters())
	r.openLocked()
	r.cursors, r.transactions = make(map[int64]*member), make(map[string]int64)
}

// Mongos returns how many mongos there are, running or not.
func (rs *Deployment) Mongos() int { return len(rs.mongos) }

// MongosAddr returns the address of a mongos, "host:port".
func (rs *Deployment) MongosAddr(mongos int) string {
	return orPanic(nth("MongosAddr", "mongos", rs.mongos, mongos)).addr
}

// KillMongos ends a mongos as Kill does a member. Killing a dead one does nothing.
func (rs *Deployment) KillMongos(mongos int) {
	for _, c := range orPanic(nth("KillMongos", "mongos", rs.mongos, mongos)).kill() {
		c.abort()
	}
}

// kill ends the mongos, unless it is dead, and returns its connections, which are to be aborted.
func (r *mongos) kill() []*conn {
	r.deployment.set.Lock()
	defer r.deployment.set.Unlock()
	if !r.process.Up {
		return nil
	}
	r.process.StopLocked()
	return r.shutLocked()
}

// RestartMongos starts a killed mongos. Restarting one that runs does nothing.
func (rs *Deployment) RestartMongos(mongos int) {
	r := orPanic(nth("RestartMongos", "mongos", rs.mongos, mongos))
	rs.set.Lock()
	defer rs.set.Unlock()
	if !r.process.Up && !rs.set.Closed {
		r.runLocked()
	}
}

// appendMongos writes what a mongos says of itself.
func appendMongos(dst []byte, writable string) []byte {
	return wire.AppendString(wire.AppendBool(dst, writable, true), "msg", "isdbgrid")
}

// pickLocked returns the member that a command is for, nil if there is none now.
func (r *mongos) pickLocked(c *command) *member {
	p := r.deployment.memberOf(r.deployment.set.NewestPrimaryLocked())
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
		return r.readerLocked(c, nil)
	case "secondaryPreferred":
		if m := r.readerLocked(c, nil); m != nil {
			return m
		}
		return p
	case "secondary":
		return r.readerLocked(c, nil)
	}
	return r.readerLocked(c, p)
}

// readerLocked returns one of the secondaries, or the given member besides, that a command's tags and staleness admit: each
// in its turn.
func (r *mongos) readerLocked(c *command, besides *member) *member {
	var able []*member
	for _, m := range r.deployment.members {
		if m.Up && !m.Gate.IsShut() && m.Config.BearsData() && (m.Role == replica.Secondary || m == besides) && r.deployment.freshEnoughLocked(m, c.staleness) {
			able = append(able, m)
		}
	}
	sets := c.readTags
	if len(sets) == 0 {
		sets = []query.Value{{Data: query.EmptyDocument}}
	}
	for _, tags := range sets {
		suitable := slices.DeleteFunc(slices.Clone(able), func(m *member) bool { return !m.Config.HasTags(tags.Data) })
		if len(suitable) > 0 {
			r.turn++
			return suitable[r.turn%len(suitable)]
		}
	}
	return nil
}

// freshEnoughLocked reports whether a member is no further behind the newest entry than a limit, 0 for none.
func (rs *Deployment) freshEnoughLocked(m *member, limit time.Duration) bool {
	newest, mine := store.Timestamp(rs.set.Clock.Load()), m.Data.Log.Tail()
	return limit == 0 || mine != nil && time.Duration(newest.Seconds()-mine.TS.Seconds())*time.Second <= limit
}

// shardLocked is how the shard is named to clients: the set's name and its members.
func (rs *Deployment) shardLocked() string {
	var hosts []string
	for _, m := range rs.members {
		if m.Config.BearsData() && !m.Config.Hidden {
			hosts = append(hosts, m.addr)
		}
	}
	return rs.config.setName + "/" + strings.Join(hosts, ",")
}

// describeShardLocked writes config.shards, which every mongos reads.
func (rs *Deployment) describeShardLocked(p *replica.Member) {
	const ns = "config.shards"
	at, doc := wire.BeginDocument(nil)
	doc = wire.AppendString(doc, "_id", rs.config.setName)
	doc = wire.AppendString(doc, "host", rs.shardLocked())
	doc, key, _ := store.Prepared(wire.EndDocument(wire.AppendInt32(doc, "state", 1), at))
	p.AppendLocked(&store.Entry{Kind: store.Create, NS: ns, Change: &store.Change{After: store.NewDefinition()}})
	p.AppendLocked(&store.Entry{Kind: store.Put, NS: ns, Key: key, After: doc})
}

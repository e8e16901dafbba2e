package mongotest

import (
	"fmt"
	"maps"
	"slices"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// mongos is a server that has no data: it executes commands at the shard's members. Its fields are guarded by the set's
// mutex but for those that never change.
type mongos struct {
	server
	call.Router
}

func newMongos(set *Deployment, index int) *mongos {
	r := &mongos{Router: call.Router{Cluster: set.cluster, Index: index}}
	r.server = server{deployment: set, process: new(replica.Process), mongos: r, listening: listening{name: fmt.Sprintf("mongos %d", index), host: fmt.Sprintf("mongos%d", index)}}
	r.conns, r.tally = make(map[*conn]struct{}), newTally()
	r.runLocked()
	return r
}

// runLocked makes the mongos run; it remembers nothing.
func (r *mongos) runLocked() {
	r.process.StartLocked(r.deployment.set.NewParameters())
	r.points.Clear()
	r.Profiling.Reset()
	r.openLocked()
	r.Cursors, r.Transactions = make(map[int64]*call.Member), make(map[string]int64)
}

// Mongos returns how many mongos there are, running or not.
func (rs *Deployment) Mongos() int { return len(rs.mongos) }

// MongosAddr returns the address of a mongos, "host:port".
func (rs *Deployment) MongosAddr(mongos int) string {
	return orPanic(nth("MongosAddr", "mongos", rs.mongos, mongos)).process.Addr
}

// KillMongos ends a mongos as Kill does a member. Killing a dead one does nothing.
func (rs *Deployment) KillMongos(mongos int) {
	for _, c := range orPanic(nth("KillMongos", "mongos", rs.mongos, mongos)).connections(true) {
		c.abort()
	}
}

// DropMongosConnections closes the connections of a mongos to its clients, as DropConnections does those of a member.
func (rs *Deployment) DropMongosConnections(mongos int) {
	for _, c := range orPanic(nth("DropMongosConnections", "mongos", rs.mongos, mongos)).connections(false) {
		c.abort()
	}
}

// connections returns the connections of the mongos, which are to be aborted; none if it is dead. If it is to die, it has ended then.
func (r *mongos) connections(dies bool) []*conn {
	r.deployment.set.Lock()
	defer r.deployment.set.Unlock()
	switch {
	case !r.process.Up:
		return nil
	case dies:
		r.process.StopLocked()
		return r.shutLocked()
	}
	return slices.Collect(maps.Keys(r.conns))
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

// describeShardLocked writes config.shards, which every mongos reads.
func (rs *Deployment) describeShardLocked(p *replica.Member) {
	const ns = "config.shards"
	at, doc := wire.BeginDocument(nil)
	doc = wire.AppendString(doc, "_id", rs.config.setName)
	doc = wire.AppendString(doc, "host", rs.cluster.ShardLocked())
	doc, key, _ := store.Prepared(wire.EndDocument(wire.AppendInt32(doc, "state", 1), at))
	p.AppendLocked(&store.Entry{Op: store.Create, NS: ns, Change: &store.Change{After: store.NewDefinition()}})
	p.AppendLocked(&store.Entry{Op: store.Put, NS: ns, Key: key, After: doc})
}

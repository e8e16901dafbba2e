package mongotest

import (
	"encoding/binary"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/replica"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
	"github.com/holdfast-db/holdfast/mongotest/internal/writeconcern"
)

// https://www.mongodb.com/docs/manual/reference/read-concern/

const (
	majorityConcern     = "majority"
	snapshotConcern     = "snapshot"
	linearizableConcern = "linearizable"
)

func (c *command) parseReadConcern(e *wire.Element) error {
	doc, err := c.genericDocument(e)
	if doc == nil {
		return err
	}
	c.concerned = true
	var after, at bool
	err = fields.ReadConcern.Document(doc, func(e *wire.Element) (err error) {
		switch string(e.Key) {
		case "level":
			return c.readConcernLevel(string(e.Text()))
		case "provenance":
			return writeconcern.CheckProvenance("readConcern", e)
		case "afterClusterTime":
			after = true
			c.after, err = readConcernTime(e)
		case "atClusterTime":
			at = true
			c.atTime, err = readConcernTime(e)
		}
		return err
	})
	if err != nil {
		return err
	}
	return c.checkTimes(after, at)
}

func (c *command) readConcernLevel(level string) error {
	switch level {
	case "local", "available", majorityConcern, snapshotConcern, linearizableConcern:
		c.readConcern = level
		return nil
	}
	return fields.NotEnumerated("readConcern.level", level)
}

func readConcernTime(e *wire.Element) (store.Timestamp, error) {
	if e.Type != bson.TypeTimestamp {
		return 0, mongoerr.Errorf(mongoerr.TypeMismatch, "\"%s\" had the wrong type. Expected 17, found %s", e.Key, query.TypeName(e.Type))
	}
	return store.Timestamp(binary.LittleEndian.Uint64(e.Value)), nil
}

// checkTimes refuses times, given or not, that do not go with one another or with the level.
func (c *command) checkTimes(after, at bool) error {
	switch {
	case after && at:
		return mongoerr.Errorf(mongoerr.InvalidOptions,
			"Specifying a timestamp for readConcern snapshot in a causally consistent session is not allowed. "+
				"See https://docs.mongodb.com/manual/core/read-isolation-consistency-recency/#causal-consistency")
	case after && (c.readConcern == "available" || c.readConcern == linearizableConcern):
		return mongoerr.Errorf(mongoerr.InvalidOptions, "afterClusterTime field can be set only if level is equal to majority, local, or snapshot")
	case after && c.after == 0:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "afterClusterTime cannot be a null timestamp")
	case at && c.readConcern != snapshotConcern:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "atClusterTime field can be set only if level is equal to snapshot")
	case at && c.atTime == 0:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "atClusterTime cannot be a null timestamp")
	}
	return nil
}

// clusterTimeField takes the newest time that the client has heard of.
func (c *command) clusterTimeField(e *wire.Element) error {
	doc, err := c.genericDocument(e)
	if doc == nil {
		return err
	}
	it := wire.Elements(doc)
	for it.Next() {
		switch {
		case string(it.Key) == "signature" && it.Document() == nil:
			return fields.WrongType(c.name+".$clusterTime", "signature", it.Type, "object")
		case string(it.Key) != "clusterTime":
		case it.Type != bson.TypeTimestamp:
			return fields.WrongType(c.name+".$clusterTime", "clusterTime", it.Type, "timestamp")
		default:
			c.clusterTime = store.Timestamp(binary.LittleEndian.Uint64(it.Value))
		}
	}
	if it.Err == nil && c.clusterTime == 0 {
		return fields.Missing(c.name+".$clusterTime", "clusterTime")
	}
	return it.Err
}

// aheadOfClock is by how much a client's time may be ahead of the server's clock, in seconds: a year.
const aheadOfClock = 365 * 24 * 60 * 60

// advanceClusterTime takes over a cluster time that the client knows from elsewhere: later writes are later than that.
func (x *call) advanceClusterTime() error {
	rs := x.client.cluster
	if x.command.clusterTime <= rs.set.ClusterTime() || rs.set.Standalone {
		return nil
	}
	if now := replica.Now(); x.command.clusterTime.Seconds() > now.Seconds()+aheadOfClock {
		return mongoerr.Errorf(mongoerr.ClusterTimeFailsRateLimiter, "New cluster time, %d, is too far from this node's wall clock time, %d.",
			x.command.clusterTime.Seconds(), now.Seconds())
	}
	rs.set.Lock()
	defer rs.set.Unlock()
	rs.set.ClientClusterTime.Store(max(rs.set.ClientClusterTime.Load(), uint64(x.command.clusterTime)))
	return nil
}

// awaitTimesLocked waits until the member has reached the read concern's times; if it reads a
// majority's data, until a majority of the members has.
func (x *call) awaitTimesLocked() error {
	rs, m := x.client.cluster, x.client.member
	name, wanted := "afterClusterTime", x.command.after
	if x.command.atTime > wanted {
		name, wanted = "atClusterTime", x.command.atTime
	}
	if wanted == 0 || rs.set.Standalone {
		return nil
	}
	if known := rs.set.ClusterTime(); wanted > known {
		return mongoerr.Errorf(mongoerr.InvalidOptions,
			"readConcern %s value must not be greater than the current clusterTime. Requested clusterTime: "+
				"%s; current clusterTime: %s", name, wanted.Text(), known.Text())
	}
	if x.readTimeLocked() >= wanted {
		return nil
	}
	m.AdvanceLocked(wanted)
	w := replica.NewWaiter(func() bool { return x.client.epoch != m.Epoch || x.readTimeLocked() >= wanted })
	if err := x.inTime(rs.set.AwaitLocked(w, x.client.done, x.limit())); err != nil {
		return err
	}
	return x.readableLocked()
}

// readTimeLocked is the time of the newest entry that a read of the command would see.
func (x *call) readTimeLocked() store.Timestamp {
	m := x.client.member
	if x.inTransaction() || x.command.readConcern != majorityConcern && x.command.readConcern != snapshotConcern {
		return m.Data.Newest()
	}
	if e := m.Data.Log.At(m.Commit); e != nil {
		return e.TS
	}
	return 0
}

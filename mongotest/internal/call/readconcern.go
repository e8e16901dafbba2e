package call

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

// The levels of read concern that are more than the default.
const (
	MajorityConcern     = "majority"
	SnapshotConcern     = "snapshot"
	LinearizableConcern = "linearizable"
)

// ParseReadConcern reads the field readConcern.
func (c *Command) ParseReadConcern(e *wire.Element) error {
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
			c.AtTime, err = readConcernTime(e)
		}
		return err
	})
	if err != nil {
		return err
	}
	return c.checkTimes(after, at)
}

func (c *Command) readConcernLevel(level string) error {
	switch level {
	case "local", "available", MajorityConcern, SnapshotConcern, LinearizableConcern:
		c.ReadConcern = level
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
func (c *Command) checkTimes(after, at bool) error {
	switch {
	case after && at:
		return mongoerr.Errorf(mongoerr.InvalidOptions,
			"Specifying a timestamp for readConcern snapshot in a causally consistent session is not allowed. "+
				"See https://docs.mongodb.com/manual/core/read-isolation-consistency-recency/#causal-consistency")
	case after && (c.ReadConcern == "available" || c.ReadConcern == LinearizableConcern):
		return mongoerr.Errorf(mongoerr.InvalidOptions, "afterClusterTime field can be set only if level is equal to majority, local, or snapshot")
	case after && c.after == 0:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "afterClusterTime cannot be a null timestamp")
	case at && c.ReadConcern != SnapshotConcern:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "atClusterTime field can be set only if level is equal to snapshot")
	case at && c.AtTime == 0:
		return mongoerr.Errorf(mongoerr.InvalidOptions, "atClusterTime cannot be a null timestamp")
	}
	return nil
}

// clusterTimeField takes the newest time that the client has heard of.
func (c *Command) clusterTimeField(e *wire.Element) error {
	doc, err := c.genericDocument(e)
	if doc == nil {
		return err
	}
	it := wire.Elements(doc)
	for it.Next() {
		switch {
		case string(it.Key) == "signature" && it.Document() == nil:
			return fields.WrongType(c.Name+".$clusterTime", "signature", it.Type, "object")
		case string(it.Key) != "clusterTime":
		case it.Type != bson.TypeTimestamp:
			return fields.WrongType(c.Name+".$clusterTime", "clusterTime", it.Type, "timestamp")
		default:
			c.clusterTime = store.Timestamp(binary.LittleEndian.Uint64(it.Value))
		}
	}
	if it.Err == nil && c.clusterTime == 0 {
		return fields.Missing(c.Name+".$clusterTime", "clusterTime")
	}
	return it.Err
}

// aheadOfClock is by how much a client's time may be ahead of the server's clock, in seconds: a year.
const aheadOfClock = 365 * 24 * 60 * 60

// advanceClusterTime takes over a cluster time that the client knows from elsewhere: later writes are later than that.
func advanceClusterTime(x *Call) error {
	rs := x.Client.Cluster
	if x.Command.clusterTime <= rs.Set.ClusterTime() || rs.Set.Standalone {
		return nil
	}
	if now := replica.Now(); x.Command.clusterTime.Seconds() > now.Seconds()+aheadOfClock {
		return mongoerr.Errorf(mongoerr.ClusterTimeFailsRateLimiter, "New cluster time, %d, is too far from this node's wall clock time, %d.",
			x.Command.clusterTime.Seconds(), now.Seconds())
	}
	rs.Set.AdvanceClusterTime(x.Command.clusterTime)
	return nil
}

// awaitTimes waits until the member has reached the read concern's times; if it reads a
// majority's data, until a majority of the members has.
func awaitTimes(x Locked) error {
	rs, m := x.Client.Cluster, x.Client.Member
	name, wanted := "afterClusterTime", x.Command.after
	if x.Command.AtTime > wanted {
		name, wanted = "atClusterTime", x.Command.AtTime
	}
	if wanted == 0 || rs.Set.Standalone {
		return nil
	}
	if known := rs.Set.ClusterTime(); wanted > known {
		return mongoerr.Errorf(mongoerr.InvalidOptions,
			"readConcern %s value must not be greater than the current clusterTime. Requested clusterTime: "+
				"%s; current clusterTime: %s", name, wanted.Text(), known.Text())
	}
	if readTime(x) >= wanted {
		return nil
	}
	m.AdvanceLocked(wanted)
	w := replica.NewWaiter(func() bool { return x.Client.Epoch != m.Epoch || readTime(x) >= wanted })
	if err := inTime(rs.Set.AwaitLocked(w, x.Client.Done, limit(x.Call))); err != nil {
		return err
	}
	return checkReadable(x)
}

// readTime is the time of the newest entry that a read of the command would see.
func readTime(x Locked) store.Timestamp {
	m := x.Client.Member
	if x.InTransaction() || x.Command.ReadConcern != MajorityConcern && x.Command.ReadConcern != SnapshotConcern {
		return m.Data.Newest()
	}
	if e := m.Data.Log.At(m.Commit); e != nil {
		return e.TS
	}
	return 0
}

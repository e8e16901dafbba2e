package mongotest

import (
	"errors"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/command/listShards/

func cmdListShards(x *call) error {
	if err := x.adminOnly(); err != nil {
		return err
	}
	rs := x.client.cluster
	rs.set.Lock()
	defer rs.set.Unlock()
	list, dst := wire.BeginArray(x.result.out, "shards")
	at, dst := wire.BeginEmbedded(dst, "0")
	dst = wire.AppendString(dst, "_id", rs.setName)
	dst = wire.AppendString(dst, "host", rs.shardLocked())
	dst = wire.AppendInt32(dst, "state", 1)
	x.result.out = wire.EndDocument(wire.EndDocument(dst, at), list)
	return nil
}

// getShardMap returns the shards that the mongos knows; it is not in the manual.
func cmdGetShardMap(x *call) error {
	rs := x.client.cluster
	rs.set.Lock()
	defer rs.set.Unlock()
	at, dst := wire.BeginEmbedded(x.result.out, "map")
	dst = wire.EndDocument(wire.AppendString(dst, rs.setName, rs.shardLocked()), at)
	at, dst = wire.BeginEmbedded(dst, "hosts")
	for _, m := range rs.members {
		if m.Config.BearsData() && !m.Config.Hidden {
			dst = wire.AppendString(dst, m.Addr, rs.setName)
		}
	}
	x.result.out = wire.EndDocument(dst, at)
	return nil
}

// https://www.mongodb.com/docs/manual/reference/command/isdbgrid/

func cmdIsDBGrid(x *call) error {
	x.result.out = wire.AppendInt32(x.result.out, "isdbgrid", 1)
	x.result.out = wire.AppendString(x.result.out, "hostname", x.client.process.Addr)
	return nil
}

// https://www.mongodb.com/docs/manual/reference/command/balancerStart/
//
// balancerStart, balancerStop and flushRouterConfig have nothing to do: there is one shard, and a mongos that knows it.

func cmdRouting(x *call) error { return x.adminOnly() }

// https://www.mongodb.com/docs/manual/reference/command/checkMetadataConsistency/

// With one shard nothing can be inconsistent.
func cmdCheckMetadataConsistency(x *call) error {
	x.command.full = x.command.db + ".$cmd.aggregate"
	return x.replyCursor(nil, nil, cursorReply{single: true})
}

// https://www.mongodb.com/docs/manual/reference/command/enableSharding/

func cmdEnableSharding(x *call) error {
	if err := x.adminOnly(); err != nil {
		return err
	}
	name := string(x.command.first.Text())
	if x.command.first.Type != bson.TypeString || checkNamespace(name, "c") != nil {
		return mongoerr.Errorf(mongoerr.InvalidNamespace, "invalid db name specified: %s", x.command.first)
	}
	return x.describe("databases", name, bson.D{{Key: "primary", Value: x.client.cluster.setName}, {Key: "partitioned", Value: true}})
}

// describe writes into one of the collections of config that describe a cluster.
func (x *call) describe(coll, id string, fields bson.D) error {
	return x.atShard("config", bson.D{{Key: "update", Value: coll}, {Key: "updates", Value: bson.A{bson.D{
		{Key: "q", Value: bson.D{{Key: "_id", Value: id}}}, {Key: "u", Value: bson.D{{Key: "$set", Value: fields}}}, {Key: "upsert", Value: true},
	}}}})
}

// atShard executes a command of the mongos' own at the shard's primary.
func (x *call) atShard(db string, command bson.D) error {
	if err := x.chooseMember(); err != nil {
		return err
	}
	return x.client.cluster.execute(x.client.member.Index, db, command)
}

// https://www.mongodb.com/docs/manual/reference/command/shardCollection/

func cmdShardCollection(x *call) error {
	if err := x.adminOnly(); err != nil {
		return err
	}
	ns := string(x.command.first.Text())
	db, coll, _ := strings.Cut(ns, ".")
	if err := checkNamespace(db, coll); err != nil {
		return err
	}
	var key bson.Raw
	unique := false
	for i := range x.command.args {
		switch e := &x.command.args[i]; string(e.Key) {
		case "key":
			key = bson.Raw(slices.Clone(e.Document())) // the definition keeps it
		case "unique":
			unique = e.True()
		case "numInitialChunks", "presplitHashedZones":
		case "collation", "timeseries":
			return fields.Unsupported(x.command.name, string(e.Key))
		default:
			return fields.Unknown(x.command.name, string(e.Key))
		}
	}
	if len(key) <= len(query.EmptyDocument) {
		return mongoerr.Errorf(mongoerr.MissingField, "BSON field 'shardCollection.key' is missing but a required field")
	}
	if err := x.shard(db, coll, key, unique); err != nil {
		return err
	}
	x.result.out = wire.AppendString(x.result.out, "collectionsharded", ns)
	return nil
}

// shard creates a collection with an index of the shard key, and describes it.
func (x *call) shard(db, coll string, key bson.Raw, unique bool) error {
	elements, err := key.Elements()
	if err != nil {
		return err
	}
	var name []string
	for _, e := range elements {
		kind, hashed := e.Value().StringValueOK()
		if n, ok := e.Value().AsInt64OK(); !hashed && (!ok || n != 1) || hashed && kind != "hashed" {
			return mongoerr.Errorf(mongoerr.BadValue, "Unsupported shard key pattern %s. Pattern must either be a single hashed field, or a list of "+
				"ascending fields", key)
		}
		if !hashed {
			kind = "1"
		}
		name = append(name, e.Key(), kind)
	}
	index := bson.D{{Key: "key", Value: key}, {Key: "name", Value: strings.Join(name, "_")}}
	if unique {
		index = append(index, bson.E{Key: "unique", Value: true})
	}
	exists := new(mongoerr.Error)
	if err := x.atShard(db, bson.D{{Key: "create", Value: coll}}); err != nil && (!errors.As(err, &exists) || exists.Code != mongoerr.NamespaceExists) {
		return err
	}
	if elements[0].Key() != "_id" || len(elements) > 1 {
		if err := x.atShard(db, bson.D{{Key: "createIndexes", Value: coll}, {Key: "indexes", Value: bson.A{index}}}); err != nil {
			return err
		}
	}
	if err := x.describe("collections", db+"."+coll, bson.D{{Key: "key", Value: key}, {Key: "unique", Value: unique}}); err != nil {
		return err
	}
	return x.client.cluster.noteSharding(db+"."+coll, key, unique)
}

// noteSharding writes into the oplog that a collection was sharded, of which change streams tell.
func (rs *cluster) noteSharding(ns string, key bson.Raw, unique bool) error {
	at, about := wire.BeginDocument(nil)
	about = wire.AppendDocument(about, "shardKey", key)
	about = wire.EndDocument(wire.AppendBool(about, "unique", unique), at)
	rs.set.Lock()
	defer rs.set.Unlock()
	m := rs.set.NewestPrimaryLocked()
	if m == nil || m.Data.Collections[ns] == nil {
		return mongoerr.Errorf(mongoerr.NotWritablePrimary, "not primary")
	}
	def := m.Data.Collections[ns].Def
	after := *def
	after.ShardKey = key
	e := &store.Entry{Kind: store.Alter, NS: ns, Change: &store.Change{Before: def, After: &after, Sharded: about}}
	e.Concern(def)
	m.AppendLocked(e)
	m.PublishLocked()
	return nil
}

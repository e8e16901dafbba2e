package admin

import (
	"errors"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/store"
)

// https://www.mongodb.com/docs/manual/reference/command/listShards/

func cmdListShards(x *call.Call) error {
	if err := x.AdminOnly(); err != nil {
		return err
	}
	rs := x.Client.Cluster
	return call.WithLock(x, func(x call.Locked) error {
		list, dst := wire.BeginArray(x.Result.Out, "shards")
		at, dst := wire.BeginEmbedded(dst, "0")
		dst = wire.AppendString(dst, "_id", rs.SetName)
		dst = wire.AppendString(dst, "host", rs.ShardLocked())
		dst = wire.AppendInt32(dst, "state", 1)
		x.Result.Out = wire.EndDocument(wire.EndDocument(dst, at), list)
		return nil
	})
}

// getShardMap returns the shards that the mongos knows; it is not in the manual.
func cmdGetShardMap(x *call.Call) error {
	rs := x.Client.Cluster
	return call.WithLock(x, func(x call.Locked) error {
		at, dst := wire.BeginEmbedded(x.Result.Out, "map")
		dst = wire.EndDocument(wire.AppendString(dst, rs.SetName, rs.ShardLocked()), at)
		at, dst = wire.BeginEmbedded(dst, "hosts")
		for _, m := range rs.Members {
			if m.Config.BearsData() && !m.Config.Hidden {
				dst = wire.AppendString(dst, m.Addr, rs.SetName)
			}
		}
		x.Result.Out = wire.EndDocument(dst, at)
		return nil
	})
}

// https://www.mongodb.com/docs/manual/reference/command/isdbgrid/

func cmdIsDBGrid(x *call.Call) error {
	x.Result.Out = wire.AppendInt32(x.Result.Out, "isdbgrid", 1)
	x.Result.Out = wire.AppendString(x.Result.Out, "hostname", x.Client.Process.Addr)
	return nil
}

// https://www.mongodb.com/docs/manual/reference/command/balancerStart/
//
// balancerStart, balancerStop and flushRouterConfig have nothing to do: there is one shard, and a mongos that knows it.

func cmdRouting(x *call.Call) error { return x.AdminOnly() }

// https://www.mongodb.com/docs/manual/reference/command/checkMetadataConsistency/

// With one shard nothing can be inconsistent.
func cmdCheckMetadataConsistency(x *call.Call) error {
	x.Command.Full = x.Command.DB + ".$cmd.aggregate"
	return x.ReplyCursor(nil, nil, call.CursorReply{Single: true})
}

// https://www.mongodb.com/docs/manual/reference/command/enableSharding/

func cmdEnableSharding(x *call.Call) error {
	if err := x.AdminOnly(); err != nil {
		return err
	}
	name := string(x.Command.First.Text())
	if x.Command.First.Type != bson.TypeString || call.CheckNamespace(name, "c") != nil {
		return mongoerr.Errorf(mongoerr.InvalidNamespace, "invalid db name specified: %s", x.Command.First)
	}
	return describeSharding(x, "databases", name, bson.D{{Key: "primary", Value: x.Client.Cluster.SetName}, {Key: "partitioned", Value: true}})
}

// describeSharding writes into one of the collections of config that describe a cluster.
func describeSharding(x *call.Call, coll, id string, fields bson.D) error {
	return executeAtShard(x, "config", bson.D{{Key: "update", Value: coll}, {Key: "updates", Value: bson.A{bson.D{
		{Key: "q", Value: bson.D{{Key: "_id", Value: id}}}, {Key: "u", Value: bson.D{{Key: "$set", Value: fields}}}, {Key: "upsert", Value: true},
	}}}})
}

// executeAtShard executes a command of the mongos' own at the shard's primary.
func executeAtShard(x *call.Call, db string, command bson.D) error {
	if err := x.ChooseMember(); err != nil {
		return err
	}
	return x.Client.Cluster.Execute(x.Client.Member.Index, db, command)
}

// https://www.mongodb.com/docs/manual/reference/command/shardCollection/

func cmdShardCollection(x *call.Call) error {
	if err := x.AdminOnly(); err != nil {
		return err
	}
	ns := string(x.Command.First.Text())
	db, coll, _ := strings.Cut(ns, ".")
	if err := call.CheckNamespace(db, coll); err != nil {
		return err
	}
	var key bson.Raw
	unique := false
	for i := range x.Command.Args {
		switch e := &x.Command.Args[i]; string(e.Key) {
		case "key":
			key = bson.Raw(slices.Clone(e.Document())) // the definition keeps it
		case "unique":
			unique = e.True()
		case "numInitialChunks", "presplitHashedZones":
		case "collation", "timeseries":
			return fields.Unsupported(x.Command.Name, string(e.Key))
		default:
			return fields.Unknown(x.Command.Name, string(e.Key))
		}
	}
	if len(key) <= len(query.EmptyDocument) {
		return mongoerr.Errorf(mongoerr.MissingField, "BSON field 'shardCollection.key' is missing but a required field")
	}
	if err := shard(x, db, coll, key, unique); err != nil {
		return err
	}
	x.Result.Out = wire.AppendString(x.Result.Out, "collectionsharded", ns)
	return nil
}

// shard creates a collection with an index of the shard key, and describes it.
func shard(x *call.Call, db, coll string, key bson.Raw, unique bool) error {
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
	if err := executeAtShard(x, db, bson.D{{Key: "create", Value: coll}}); err != nil && (!errors.As(err, &exists) || exists.Code != mongoerr.NamespaceExists) {
		return err
	}
	if elements[0].Key() != "_id" || len(elements) > 1 {
		if err := executeAtShard(x, db, bson.D{{Key: "createIndexes", Value: coll}, {Key: "indexes", Value: bson.A{index}}}); err != nil {
			return err
		}
	}
	if err := describeSharding(x, "collections", db+"."+coll, bson.D{{Key: "key", Value: key}, {Key: "unique", Value: unique}}); err != nil {
		return err
	}
	return noteSharding(x, db+"."+coll, key, unique)
}

// noteSharding writes into the oplog that a collection was sharded, of which change streams tell.
func noteSharding(x *call.Call, ns string, key bson.Raw, unique bool) error {
	at, about := wire.BeginDocument(nil)
	about = wire.AppendDocument(about, "shardKey", key)
	about = wire.EndDocument(wire.AppendBool(about, "unique", unique), at)
	return call.WithLock(x, func(x call.Locked) error {
		m := x.Client.Set.NewestPrimaryLocked()
		if m == nil || m.Data.Collections[ns] == nil {
			return mongoerr.Errorf(mongoerr.NotWritablePrimary, "not primary")
		}
		def := m.Data.Collections[ns].Def
		after := *def
		after.ShardKey = key
		e := &store.Entry{Op: store.Alter, NS: ns, Change: &store.Change{Before: def, After: &after, Sharded: about}}
		e.Concern(def)
		m.AppendLocked(e)
		m.PublishLocked()
		return nil
	})
}

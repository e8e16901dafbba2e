package mongotest

import (
	"errors"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/internal/mongo/wire"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
)

// https://www.mongodb.com/docs/manual/reference/command/listShards/

func cmdListShards(x *exec) error {
	if err := x.adminOnly(); err != nil {
		return err
	}
	rs := x.set
	rs.mu.Lock()
	defer rs.mu.Unlock()
	list, dst := wire.BeginArray(x.out, "shards")
	at, dst := wire.BeginEmbedded(dst, "0")
	dst = wire.AppendString(dst, "_id", rs.config.setName)
	dst = wire.AppendString(dst, "host", rs.shardLocked())
	dst = wire.AppendInt32(dst, "state", 1)
	x.out = wire.EndDocument(wire.EndDocument(dst, at), list)
	return nil
}

// getShardMap tells what the mongos knows of the shards; it is not in the manual.
func cmdGetShardMap(x *exec) error {
	rs := x.set
	rs.mu.Lock()
	defer rs.mu.Unlock()
	at, dst := wire.BeginEmbedded(x.out, "map")
	dst = wire.EndDocument(wire.AppendString(dst, rs.config.setName, rs.shardLocked()), at)
	at, dst = wire.BeginEmbedded(dst, "hosts")
	for _, m := range rs.members {
		if m.config.bearsData() && !m.config.hidden {
			dst = wire.AppendString(dst, m.addr, rs.config.setName)
		}
	}
	x.out = wire.EndDocument(dst, at)
	return nil
}

// https://www.mongodb.com/docs/manual/reference/command/isdbgrid/

func cmdIsDBGrid(x *exec) error {
	x.out = wire.AppendInt32(x.out, "isdbgrid", 1)
	x.out = wire.AppendString(x.out, "hostname", x.server.addr)
	return nil
}

// https://www.mongodb.com/docs/manual/reference/command/balancerStart/
//
// balancerStart, balancerStop and flushRouterConfig have nothing to do: there is one shard, and a mongos that knows it.

func cmdRouting(x *exec) error { return x.adminOnly() }

// https://www.mongodb.com/docs/manual/reference/command/checkMetadataConsistency/

// With one shard nothing can be inconsistent.
func cmdCheckMetadataConsistency(x *exec) error {
	x.full = x.db + ".$cmd.aggregate"
	return x.replyCursor(nil, nil, cursorReply{single: true})
}

// https://www.mongodb.com/docs/manual/reference/command/enableSharding/

func cmdEnableSharding(x *exec) error {
	if err := x.adminOnly(); err != nil {
		return err
	}
	name := string(x.first.Text())
	if x.first.Type != bson.TypeString || checkNamespace(name, "c") != nil {
		return mongoerr.Errorf(mongoerr.InvalidNamespace, "invalid db name specified: %s", x.first)
	}
	return x.describe("databases", name, bson.D{{Key: "primary", Value: x.set.config.setName}, {Key: "partitioned", Value: true}})
}

// describe writes into one of the collections of config that describe a cluster.
func (x *exec) describe(coll, id string, fields bson.D) error {
	return x.atShard("config", bson.D{{Key: "update", Value: coll}, {Key: "updates", Value: bson.A{bson.D{
		{Key: "q", Value: bson.D{{Key: "_id", Value: id}}}, {Key: "u", Value: bson.D{{Key: "$set", Value: fields}}}, {Key: "upsert", Value: true},
	}}}})
}

// atShard executes a command of the mongos' own at the shard's primary.
func (x *exec) atShard(db string, command bson.D) error {
	if err := x.approach(); err != nil {
		return err
	}
	_, err := x.set.Command(x.member.index, db, command)
	var refused *CommandError
	if errors.As(err, &refused) {
		return refused.answered()
	}
	return err
}

// https://www.mongodb.com/docs/manual/reference/command/shardCollection/

func cmdShardCollection(x *exec) error {
	if err := x.adminOnly(); err != nil {
		return err
	}
	ns := string(x.first.Text())
	db, coll, _ := strings.Cut(ns, ".")
	if err := checkNamespace(db, coll); err != nil {
		return err
	}
	var key bson.Raw
	unique := false
	for i := range x.args {
		switch e := &x.args[i]; string(e.Key) {
		case "key":
			key = bson.Raw(slices.Clone(e.Document())) // the definition keeps it
		case "unique":
			unique = e.True()
		case "numInitialChunks", "presplitHashedZones":
		case "collation", "timeseries":
			return unsupportedField(x.name, string(e.Key))
		default:
			return unknownField(x.name, string(e.Key))
		}
	}
	if len(key) <= len(emptyDocument) {
		return mongoerr.Errorf(mongoerr.MissingField, "BSON field 'shardCollection.key' is missing but a required field")
	}
	if err := x.shard(db, coll, key, unique); err != nil {
		return err
	}
	x.out = wire.AppendString(x.out, "collectionsharded", ns)
	return nil
}

// shard creates a collection with an index of the shard key, and describes it.
func (x *exec) shard(db, coll string, key bson.Raw, unique bool) error {
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
	return x.set.noteSharding(db+"."+coll, key, unique)
}

// noteSharding writes into the oplog that a collection was sharded, of which change streams tell.
func (rs *Deployment) noteSharding(ns string, key bson.Raw, unique bool) error {
	at, about := wire.BeginDocument(nil)
	about = wire.AppendDocument(about, "shardKey", key)
	about = wire.EndDocument(wire.AppendBool(about, "unique", unique), at)
	rs.mu.Lock()
	defer rs.mu.Unlock()
	m := rs.newestPrimaryLocked()
	if m == nil || m.collections[ns] == nil {
		return mongoerr.Errorf(mongoerr.NotWritablePrimary, "not primary")
	}
	def := m.collections[ns].def
	after := *def
	after.shardKey = key
	e := &entry{kind: alter, ns: ns, change: &change{before: def, after: &after, sharded: about}}
	e.concern(def)
	m.appendLocked(e)
	m.publishLocked()
	return nil
}

package permission

import (
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/account"
	"github.com/holdfast-db/holdfast/mongotest/internal/fields"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// https://www.mongodb.com/docs/manual/reference/privilege-actions/

// Need is actions that a command does on a resource.
type Need struct {
	On      account.Resource
	Actions []string
}

// rule returns what a command needs.
type rule func(c *Command) []Need

// Of returns what a command needs; nothing, if there is no such command.
func Of(c *Command) []Need {
	if may := rules[fields.NewestName(c.Name)]; may != nil {
		return may(c)
	}
	return nil
}

// anybody needs nothing.
func anybody(*Command) []Need { return nil }

// onCluster needs actions on the deployment.
func onCluster(actions ...string) rule {
	return func(*Command) []Need { return []Need{{account.Cluster, actions}} }
}

// onCollection needs actions on the collection that the command names.
func onCollection(actions ...string) rule {
	return func(c *Command) []Need { return []Need{{c.named(), actions}} }
}

// onDatabase needs actions on the command's database.
func onDatabase(actions ...string) rule {
	return func(c *Command) []Need { return []Need{{account.Resource{DB: c.DB}, actions}} }
}

// rules are those of the commands by their newest names. It is never written to after init.
var rules map[string]rule

// init fills the table; it is no initializer, because explain looks other commands up.
func init() {
	rules = dataRules()
	maps.Copy(rules, userRules())
	maps.Copy(rules, serverRules())
}

// dataRules are those of the commands on data.
func dataRules() map[string]rule {
	return map[string]rule{
		"insert":            needsOfInsert,
		"update":            needsOfUpdate,
		"delete":            onCollection("find", "remove"),
		"bulkWrite":         needsOfBulkWrite,
		"findAndModify":     needsOfFindAndModify,
		"commitTransaction": anybody,
		"abortTransaction":  anybody,
		"find":              onCollection("find"),
		"getMore":           anybody, // who opened the cursor
		"killCursors":       anybody, // the same; of others' cursors the server asks itself
		"count":             onCollection("find"),
		"distinct":          onCollection("find"),
		"aggregate":         needsOfAggregate,
		"mapReduce":         needsOfMapReduce,
		"explain":           needsOfExplain,

		"create":                needsOfCreate,
		"collMod":               needsOfCollMod,
		"drop":                  onCollection("dropCollection"),
		"dropDatabase":          onDatabase("dropDatabase"),
		"renameCollection":      needsOfRename,
		"createIndexes":         onCollection("createIndex"),
		"listIndexes":           onCollection("listIndexes"),
		"dropIndexes":           onCollection("dropIndex"),
		"listCollections":       needsOfListCollections,
		"listDatabases":         anybody, // the others' databases are not in its answer
		"collStats":             onCollection("collStats"),
		"dbStats":               onDatabase("dbStats"),
		"dataSize":              needsOfDataSize,
		"validate":              onCollection("validate"),
		"planCacheClear":        onCollection("planCacheWrite"),
		"planCacheListFilters":  onCollection("planCacheIndexFilter"),
		"planCacheSetFilter":    onCollection("planCacheIndexFilter"),
		"planCacheClearFilters": onCollection("planCacheIndexFilter"),

		"createSearchIndexes": onCollection("createSearchIndexes"),
		"updateSearchIndex":   onCollection("updateSearchIndex"),
		"dropSearchIndex":     onCollection("dropSearchIndex"),
		"listSearchIndexes":   onCollection("listSearchIndexes"),
	}
}

// userRules are those of the commands on users and roles.
func userRules() map[string]rule {
	return map[string]rule{
		"createUser":               needsOfCreateUser,
		"updateUser":               needsOfUpdateUser,
		"dropUser":                 onDatabase("dropUser"),
		"dropAllUsersFromDatabase": onDatabase("dropUser"),
		"grantRolesToUser":         onNamedRoles("grantRole"),
		"revokeRolesFromUser":      onNamedRoles("revokeRole"),
		"usersInfo":                needsOfUsersInfo,

		"createRole":               needsOfCreateRole,
		"updateRole":               needsOfUpdateRole,
		"dropRole":                 onDatabase("dropRole"),
		"dropAllRolesFromDatabase": onDatabase("dropRole"),
		"grantPrivilegesToRole":    onNamedPrivileges("grantRole"),
		"revokePrivilegesFromRole": onNamedPrivileges("revokeRole"),
		"grantRolesToRole":         onNamedRoles("grantRole"),
		"revokeRolesFromRole":      onNamedRoles("revokeRole"),
		"rolesInfo":                needsOfRolesInfo,
	}
}

// serverRules are those of the commands on servers, sets and clusters.
func serverRules() map[string]rule {
	return map[string]rule{
		"getDefaultRWConcern": onCluster("getDefaultRWConcern"),
		"setDefaultRWConcern": onCluster("setDefaultRWConcern"),
		"appendOplogNote":     onCluster("appendOplogNote"),

		"hello": anybody, "isMaster": anybody, "ping": anybody, "buildInfo": anybody, "getnonce": anybody, "saslStart": anybody, "saslContinue": anybody,
		"authenticate": anybody, "logout": anybody, "connectionStatus": anybody, "startSession": anybody, "endSessions": anybody,
		"refreshSessions": anybody, "whatsmyuri": anybody, "listCommands": anybody, "configureFailPoint": anybody,
		"testVersion2": anybody, "testDeprecation": anybody,

		"killSessions":    anybody, // one's own; of all sessions and those of others the server asks itself
		"killAllSessions": onCluster("killAnySession"),
		"serverStatus":    onCluster("serverStatus"),
		"getParameter":    onCluster("getParameter"),
		"setParameter":    onCluster("setParameter"),
		"getCmdLineOpts":  onCluster("getCmdLineOpts"),
		"currentOp":       needsOfCurrentOp,
		"killOp":          onCluster("killop"),
		"hostInfo":        onCluster("hostInfo"),
		"top":             onCluster("top"),
		"getLog":          onCluster("getLog"),
		"fsync":           onCluster("fsync"),
		"fsyncUnlock":     onCluster("unlock"),
		"profile":         needsOfProfile,

		"replSetStepDown":  onCluster("replSetStateChange"),
		"replSetFreeze":    onCluster("replSetStateChange"),
		"replSetInitiate":  onCluster("replSetConfigure"),
		"replSetReconfig":  onCluster("replSetConfigure"),
		"replSetGetConfig": onCluster("replSetGetConfig"),
		"replSetGetStatus": onCluster("replSetGetStatus"),
		"shutdown":         onCluster("shutdown"),

		"listShards":               onCluster("listShards"),
		"getShardMap":              onCluster("getShardMap"),
		"isdbgrid":                 anybody,
		"balancerStart":            onSettings("update"),
		"balancerStop":             onSettings("update"),
		"flushRouterConfig":        onCluster("flushRouterConfig"),
		"checkMetadataConsistency": onCluster("checkMetadataConsistency"),
		"enableSharding":           onSharded("enableSharding"),
		"shardCollection":          onSharded("enableSharding"),
	}
}

// onSettings needs actions on the collection of the cluster's settings.
func onSettings(actions ...string) rule {
	return func(*Command) []Need {
		return []Need{{account.Resource{DB: "config", Collection: "settings"}, actions}}
	}
}

// onSharded needs actions on the database or the collection that the command's first field names in full.
func onSharded(actions ...string) rule {
	return func(c *Command) []Need { return []Need{{InFull(string(c.first().Text())), actions}} }
}

func needsOfInsert(c *Command) []Need {
	return []Need{{c.named(), c.withBypass("insert")}}
}

// withBypass adds to actions what the command needs so that documents are not validated.
func (c *Command) withBypass(actions ...string) []string {
	if c.arg("bypassDocumentValidation").True() {
		return append(actions, "bypassDocumentValidation")
	}
	return actions
}

func needsOfUpdate(c *Command) []Need {
	actions := []string{"find", "update"}
	if slices.ContainsFunc(c.Documents("updates"), func(doc []byte) bool { return query.Lookup(doc, "upsert").True() }) {
		actions = append(actions, "insert")
	}
	return []Need{{c.named(), c.withBypass(actions...)}}
}

func needsOfFindAndModify(c *Command) []Need {
	actions := []string{"find"}
	if c.arg("remove").True() {
		actions = append(actions, "remove")
	} else {
		actions = append(actions, "update")
	}
	if c.arg("upsert").True() {
		actions = append(actions, "insert")
	}
	return []Need{{c.named(), c.withBypass(actions...)}}
}

// needsOfBulkWrite are those of its operations.
func needsOfBulkWrite(c *Command) []Need {
	names := c.Documents("nsInfo")
	var list []Need
	for _, op := range c.Documents("ops") {
		for kind, actions := range map[string][]string{"insert": {"insert"}, "update": {"find", "update"}, "delete": {"find", "remove"}} {
			n, ok := query.Lookup(op, kind).Integer()
			if !ok || n < 0 || n >= int64(len(names)) {
				continue
			}
			if query.Lookup(op, "upsert").True() {
				actions = append(actions, "insert")
			}
			ns := query.Lookup(names[n], "ns")
			list = append(list, Need{InFull(string(ns.Text())), c.withBypass(actions...)})
		}
	}
	return list
}

func needsOfMapReduce(c *Command) []Need {
	list := []Need{{c.named(), []string{"find"}}}
	out := c.arg("out")
	if out.Type == bson.TypeString {
		return append(list, Need{account.Resource{DB: c.DB, Collection: string(out.Text())}, []string{"insert", "remove"}})
	}
	for mode, actions := range map[string][]string{"replace": {"insert", "remove"}, "merge": {"insert", "update"}, "reduce": {"find", "insert", "update"}} {
		if coll := query.Lookup(out.Data, mode); out.IsDocument() && coll.Type == bson.TypeString {
			db := query.Lookup(out.Data, "db")
			list = append(list, Need{c.inDatabase(db, string(coll.Text())), actions})
		}
	}
	return list
}

// inDatabase is a collection of the database that a value names, or of the command's.
func (c *Command) inDatabase(db query.Value, coll string) account.Resource {
	if db.Type == bson.TypeString {
		return account.Resource{DB: string(db.Text()), Collection: coll}
	}
	return account.Resource{DB: c.DB, Collection: coll}
}

func needsOfDataSize(c *Command) []Need {
	return []Need{{InFull(string(c.first().Text())), []string{"find"}}}
}

func needsOfRename(c *Command) []Need {
	to := c.arg("to")
	from, target := InFull(string(c.first().Text())), InFull(string(to.Text()))
	if from.DB == target.DB && !c.arg("dropTarget").True() {
		return []Need{{account.Resource{DB: from.DB}, []string{"renameCollectionSameDB"}}}
	}
	list := []Need{{from, []string{"find", "dropCollection"}}, {target, []string{"insert", "createIndex"}}}
	if c.arg("dropTarget").True() {
		list = append(list, Need{target, []string{"dropCollection"}})
	}
	return list
}

// needsOfCreate: who may insert may create a collection, and a view only who may find what it shows.
func needsOfCreate(c *Command) []Need {
	if on := c.arg("viewOn"); on.Type == bson.TypeString {
		return append([]Need{{c.named(), []string{"createCollection"}}}, c.needsOfView(on)...)
	}
	if c.allows(c.named(), "insert") {
		return nil
	}
	return []Need{{c.named(), []string{"createCollection"}}}
}

func needsOfCollMod(c *Command) []Need {
	list := []Need{{c.named(), []string{"collMod"}}}
	if on := c.arg("viewOn"); on.Type == bson.TypeString {
		list = append(list, c.needsOfView(on)...)
	}
	return list
}

// needsOfView are those of the aggregation that a view is.
func (c *Command) needsOfView(on query.Value) []Need {
	source := account.Resource{DB: c.DB, Collection: string(on.Text())}
	return c.needsOfPipeline(source, c.arg("pipeline"))
}

// needsOfListCollections: who asks only for the names of the own collections may do so.
func needsOfListCollections(c *Command) []Need {
	if c.arg("nameOnly").True() && c.arg("authorizedCollections").True() && account.Touches(c.Privileges, c.DB) {
		return nil
	}
	return []Need{{account.Resource{DB: c.DB}, []string{"listCollections"}}}
}

// needsOfCurrentOp: everybody may see the own operations.
func needsOfCurrentOp(c *Command) []Need {
	if c.arg("$ownOps").True() {
		return nil
	}
	return []Need{{account.Cluster, []string{"inprog"}}}
}

// needsOfProfile: a negative level only tells what holds, unless it changes the limits.
func needsOfProfile(c *Command) []Need {
	profile := account.Resource{DB: c.DB, Collection: "system.profile"}
	if n, ok := c.first().Integer(); ok && n < 0 && c.arg("slowms").Missing() && c.arg("sampleRate").Missing() && c.allows(profile, "find") {
		return nil
	}
	return []Need{{account.Resource{DB: c.DB}, []string{"enableProfiler"}}}
}

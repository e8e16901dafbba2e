package mongotest

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/account"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/stableapi"
)

// https://www.mongodb.com/docs/manual/reference/privilege-actions/

// need is actions that a command does on a resource.
type need struct {
	on      account.Resource
	actions []string
}

// permission returns what the right to run a command is made of: all needs of one alternative at least.
type permission func(x *exec) []need

// anybody needs nothing.
func anybody(*exec) []need { return nil }

// onCluster needs actions on the deployment.
func onCluster(actions ...string) permission {
	return func(*exec) []need { return []need{{account.Cluster, actions}} }
}

// onCollection needs actions on the collection that the command names.
func onCollection(actions ...string) permission {
	return func(x *exec) []need { return []need{{x.named(), actions}} }
}

// onDatabase needs actions on the command's database.
func onDatabase(actions ...string) permission {
	return func(x *exec) []need { return []need{{account.Resource{DB: x.command.db}, actions}} }
}

// named is the collection that the command names, or its database.
func (x *exec) named() account.Resource {
	r := account.Resource{DB: x.command.db}
	if x.command.first.Type == bson.TypeString {
		r.Collection = string(x.command.first.Text())
	}
	return r
}

// permissions returns those of the commands by their names. A command has a row, or its newest name has.
func permissions() map[string]permission {
	return map[string]permission{
		"insert":            needsOfInsert,
		"update":            needsOfUpdate,
		"delete":            onCollection("find", "remove"),
		"bulkWrite":         needsOfBulkWrite,
		"findAndModify":     needsOfFindAndModify,
		"commitTransaction": anybody,
		"abortTransaction":  anybody,
		"find":              onCollection("find"),
		"getMore":           anybody, // who opened the cursor
		"killCursors":       anybody, // the same; of others' cursors see mayKill
		"count":             onCollection("find"),
		"distinct":          onCollection("find"),
		"aggregate":         needsOfAggregate,
		"mapReduce":         needsOfMapReduce,
		"explain":           needsOfExplain,

		"create":           needsOfCreate,
		"collMod":          needsOfCollMod,
		"drop":             onCollection("dropCollection"),
		"dropDatabase":     onDatabase("dropDatabase"),
		"renameCollection": needsOfRename,
		"createIndexes":    onCollection("createIndex"),
		"listIndexes":      onCollection("listIndexes"),
		"dropIndexes":      onCollection("dropIndex"),
		"listCollections":  needsOfListCollections,
		"listDatabases":    anybody, // the others' databases are not in its answer
		"collStats":        onCollection("collStats"),
		"dbStats":          onDatabase("dbStats"),
		"dataSize":         needsOfDataSize,
		"validate":         onCollection("validate"),

		"createSearchIndexes": onCollection("createSearchIndexes"),
		"updateSearchIndex":   onCollection("updateSearchIndex"),
		"dropSearchIndex":     onCollection("dropSearchIndex"),
		"listSearchIndexes":   onCollection("listSearchIndexes"),

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

		"getDefaultRWConcern": onCluster("getDefaultRWConcern"),
		"setDefaultRWConcern": onCluster("setDefaultRWConcern"),
		"appendOplogNote":     onCluster("appendOplogNote"),

		"hello": anybody, "isMaster": anybody, "ping": anybody, "buildInfo": anybody, "getnonce": anybody, "saslStart": anybody, "saslContinue": anybody,
		"authenticate": anybody, "logout": anybody, "connectionStatus": anybody, "startSession": anybody, "endSessions": anybody,
		"refreshSessions": anybody, "whatsmyuri": anybody, "listCommands": anybody, "configureFailPoint": anybody,
		stableapi.TestVersion2: anybody, stableapi.TestDeprecation: anybody,

		"killSessions":    anybody, // one's own; of all sessions and those of others see mayKill
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
func onSettings(actions ...string) permission {
	return func(*exec) []need { return []need{{account.Resource{DB: "config", Collection: "settings"}, actions}} }
}

// onSharded needs actions on the database or the collection that the command's first field names in full.
func onSharded(actions ...string) permission {
	return func(x *exec) []need { return []need{{inFull(string(x.command.first.Text())), actions}} }
}

func needsOfInsert(x *exec) []need {
	return []need{{x.named(), x.withBypass("insert")}}
}

// withBypass adds to actions what the command needs so that documents are not validated.
func (x *exec) withBypass(actions ...string) []string {
	if x.arg("bypassDocumentValidation").True() {
		return append(actions, "bypassDocumentValidation")
	}
	return actions
}

func needsOfUpdate(x *exec) []need {
	actions := []string{"find", "update"}
	if docs, err := x.documents("updates"); err == nil {
		for _, doc := range docs {
			if query.Lookup(doc, "upsert").True() {
				actions = append(actions, "insert")
				break
			}
		}
	}
	return []need{{x.named(), x.withBypass(actions...)}}
}

func needsOfFindAndModify(x *exec) []need {
	actions := []string{"find"}
	if x.arg("remove").True() {
		actions = append(actions, "remove")
	} else {
		actions = append(actions, "update")
	}
	if x.arg("upsert").True() {
		actions = append(actions, "insert")
	}
	return []need{{x.named(), x.withBypass(actions...)}}
}

// needsOfBulkWrite are those of its operations.
func needsOfBulkWrite(x *exec) []need {
	names, _ := x.documents("nsInfo")
	ops, _ := x.documents("ops")
	var list []need
	for _, op := range ops {
		for kind, actions := range map[string][]string{"insert": {"insert"}, "update": {"find", "update"}, "delete": {"find", "remove"}} {
			n, ok := query.Lookup(op, kind).Integer()
			if !ok || n < 0 || n >= int64(len(names)) {
				continue
			}
			if query.Lookup(op, "upsert").True() {
				actions = append(actions, "insert")
			}
			ns := query.Lookup(names[n], "ns")
			list = append(list, need{inFull(string(ns.Text())), x.withBypass(actions...)})
		}
	}
	return list
}

func needsOfMapReduce(x *exec) []need {
	list := []need{{x.named(), []string{"find"}}}
	out := x.arg("out")
	if out.Type == bson.TypeString {
		return append(list, need{account.Resource{DB: x.command.db, Collection: string(out.Text())}, []string{"insert", "remove"}})
	}
	for mode, actions := range map[string][]string{"replace": {"insert", "remove"}, "merge": {"insert", "update"}, "reduce": {"find", "insert", "update"}} {
		if coll := query.Lookup(out.Data, mode); out.IsDocument() && coll.Type == bson.TypeString {
			db := query.Lookup(out.Data, "db")
			list = append(list, need{x.inDatabase(db, string(coll.Text())), actions})
		}
	}
	return list
}

// inDatabase is a collection of the database that a value names, or of the command's.
func (x *exec) inDatabase(db query.Value, coll string) account.Resource {
	if db.Type == bson.TypeString {
		return account.Resource{DB: string(db.Text()), Collection: coll}
	}
	return account.Resource{DB: x.command.db, Collection: coll}
}

func needsOfDataSize(x *exec) []need {
	return []need{{inFull(string(x.command.first.Text())), []string{"find"}}}
}

func needsOfRename(x *exec) []need {
	to := x.arg("to")
	from, target := inFull(string(x.command.first.Text())), inFull(string(to.Text()))
	if from.DB == target.DB && !x.arg("dropTarget").True() {
		return []need{{account.Resource{DB: from.DB}, []string{"renameCollectionSameDB"}}}
	}
	list := []need{{from, []string{"find", "dropCollection"}}, {target, []string{"insert", "createIndex"}}}
	if x.arg("dropTarget").True() {
		list = append(list, need{target, []string{"dropCollection"}})
	}
	return list
}

// needsOfCreate: who may insert may create a collection, and a view only who may find what it shows.
func needsOfCreate(x *exec) []need {
	if on := x.arg("viewOn"); on.Type == bson.TypeString {
		return append([]need{{x.named(), []string{"createCollection"}}}, x.needsOfView(on)...)
	}
	if x.allows(x.named(), "insert") {
		return nil
	}
	return []need{{x.named(), []string{"createCollection"}}}
}

func needsOfCollMod(x *exec) []need {
	list := []need{{x.named(), []string{"collMod"}}}
	if on := x.arg("viewOn"); on.Type == bson.TypeString {
		list = append(list, x.needsOfView(on)...)
	}
	return list
}

// needsOfView are those of the aggregation that a view is.
func (x *exec) needsOfView(on query.Value) []need {
	source := account.Resource{DB: x.command.db, Collection: string(on.Text())}
	return x.needsOfPipeline(source, x.arg("pipeline"))
}

// needsOfListCollections: who asks only for the names of the own collections may do so.
func needsOfListCollections(x *exec) []need {
	if x.arg("nameOnly").True() && x.arg("authorizedCollections").True() && account.Touches(x.privileges(), x.command.db) {
		return nil
	}
	return []need{{account.Resource{DB: x.command.db}, []string{"listCollections"}}}
}

// needsOfCurrentOp: everybody may see the own operations.
func needsOfCurrentOp(x *exec) []need {
	if x.arg("$ownOps").True() {
		return nil
	}
	return []need{{account.Cluster, []string{"inprog"}}}
}

// needsOfProfile: with level -1 profile only tells the level.
func needsOfProfile(x *exec) []need {
	profile := account.Resource{DB: x.command.db, Collection: "system.profile"}
	if n, ok := x.command.first.Integer(); ok && n == -1 && x.allows(profile, "find") {
		return nil
	}
	return []need{{account.Resource{DB: x.command.db}, []string{"enableProfiler"}}}
}

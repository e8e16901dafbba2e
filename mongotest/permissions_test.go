package mongotest_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest"
)

// guardedSet runs a set with access control, and returns a connection of root and one of the user u, who has no role yet.
func guardedSet(t *testing.T, run func(...mongotest.Option) *mongotest.Deployment) (root, u *rawClient) {
	t.Helper()
	rs := run(mongotest.InMemory(), mongotest.Version("8.0"), mongotest.Users(
		mongotest.User{Name: "root", Password: "x", Database: "$external", Mechanisms: []string{"PLAIN"}},
	))
	addr := rs.Addr(0)
	if mongos := rs.Mongos(); mongos > 0 {
		addr = rs.MongosAddr(0)
	}
	login := func(name string) *rawClient {
		c := dialAt(t, rs.Dialer().DialContext, addr)
		payload := base64.StdEncoding.EncodeToString([]byte("\x00" + name + "\x00x"))
		c.ok(`{"saslStart": 1, "mechanism": "PLAIN", "payload": {"$binary": {"base64": "%s", "subType": "00"}}, "$db": "$external"}`, payload)
		return c
	}
	root = login("root")
	root.ok(`{"createUser": "u", "pwd": "x", "mechanisms": ["PLAIN"], "roles": [], "$db": "$external"}`)
	root.ok(`{"createRole": "r", "privileges": [], "roles": [], "$db": "admin"}`)
	root.ok(`{"insert": "c", "documents": [{"_id": 1}, {"_id": 2}], "$db": "app"}`)
	return root, login("u")
}

func replicaSet(t *testing.T) func(...mongotest.Option) *mongotest.Deployment {
	return func(o ...mongotest.Option) *mongotest.Deployment { return mongotest.RunReplicaSetT(t, 1, o...) }
}

func sharded(t *testing.T) func(...mongotest.Option) *mongotest.Deployment {
	return func(o ...mongotest.Option) *mongotest.Deployment { return mongotest.RunShardedT(t, 1, 1, o...) }
}

// refused reports whether a reply is that a user may not run a command.
func refused(reply bson.Raw) bool {
	text, _ := reply.Lookup("errmsg").StringValueOK()
	return number(reply, "code") == 13 && strings.HasPrefix(text, "not authorized on ")
}

// on writes a privilege: actions on a collection, a database ("app."), every database (".") or, with "", the cluster.
func on(where, actions string) string {
	resource := `{"cluster": true}`
	if db, coll, found := strings.Cut(where, "."); found {
		resource = fmt.Sprintf(`{"db": "%s", "collection": "%s"}`, db, coll)
	}
	return fmt.Sprintf(`{"resource": %s, "actions": ["%s"]}`, resource, strings.Join(strings.Fields(actions), `", "`))
}

// permission is a command, and what must be permitted so that a user may run it.
type permission struct {
	command string
	needs   []string // as on takes them: a resource, its actions
}

// check tries the command without privileges, with all that it needs, and with all but one action.
func (p permission) check(t *testing.T, root, u *rawClient) {
	t.Helper()
	try := func(privileges []string) bool {
		root.ok(`{"updateRole": "r", "privileges": [%s], "roles": [], "$db": "admin"}`, strings.Join(privileges, ", "))
		return !refused(u.run("%s", p.command))
	}
	root.ok(`{"updateUser": "u", "roles": [{"role": "r", "db": "admin"}], "$db": "$external"}`)
	if may := try(nil); may != (len(p.needs) == 0) {
		t.Errorf("%s: without a privilege the user may run it: %t", p.command, may)
	}
	var all []string
	for i := 0; i < len(p.needs); i += 2 {
		for action := range strings.FieldsSeq(p.needs[i+1]) {
			all = append(all, on(p.needs[i], action))
		}
	}
	for i := range all {
		if try(slices.Delete(slices.Clone(all), i, i+1)) {
			t.Errorf("%s: the user may run it without %s", p.command, all[i])
		}
	}
	if !try(all) {
		t.Errorf("%s: the user may not run it with %s: %s", p.command, all, u.run("%s", p.command))
	}
}

func TestWhatEachCommandNeeds(t *testing.T) {
	needs := func(list ...string) []string { return list }
	const id = `{"id": {"$binary": {"base64": "AAAAAAAAAAAAAAAAAAAAAA==", "subType": "04"}}}`
	rows := []permission{
		{`{"insert": "c", "documents": [{}], "$db": "app"}`, needs("app.c", "insert")},
		{`{"insert": "c", "documents": [{}], "bypassDocumentValidation": true, "$db": "app"}`, needs("app.c", "insert bypassDocumentValidation")},
		{`{"update": "c", "updates": [{"q": {}, "u": {"$set": {"a": 1}}}], "$db": "app"}`, needs("app.c", "find update")},
		{`{"update": "c", "updates": [{"q": {}, "u": {"$set": {"a": 1}}, "upsert": true}], "$db": "app"}`, needs("app.c", "find update insert")},
		{`{"delete": "c", "deletes": [{"q": {"x": 1}, "limit": 1}], "$db": "app"}`, needs("app.c", "find remove")},
		{`{"bulkWrite": 1, "ops": [{"insert": 0, "document": {}}, {"delete": 1, "filter": {}}], "nsInfo": [{"ns": "app.c"}, {"ns": "app.d"}], "$db": "admin"}`, needs("app.c", "insert", "app.d", "find remove")},
		{`{"findAndModify": "c", "remove": true, "query": {"x": 1}, "$db": "app"}`, needs("app.c", "find remove")},
		{`{"findandmodify": "c", "update": {"$set": {"a": 1}}, "query": {"x": 1}, "upsert": true, "$db": "app"}`, needs("app.c", "find update insert")},
		{`{"commitTransaction": 1, "$db": "admin"}`, nil},
		{`{"abortTransaction": 1, "$db": "admin"}`, nil},
		{`{"find": "c", "$db": "app"}`, needs("app.c", "find")},
		{`{"getMore": {"$numberLong": "1"}, "collection": "c", "$db": "app"}`, nil},
		{`{"killCursors": "c", "cursors": [{"$numberLong": "1"}], "$db": "app"}`, nil},
		{`{"count": "c", "$db": "app"}`, needs("app.c", "find")},
		{`{"distinct": "c", "key": "a", "$db": "app"}`, needs("app.c", "find")},
		{`{"mapReduce": "c", "map": "function(){}", "reduce": "function(){}", "out": {"inline": 1}, "$db": "app"}`, needs("app.c", "find")},
		{`{"mapReduce": "c", "map": "function(){}", "reduce": "function(){}", "out": {"merge": "d", "db": "other"}, "$db": "app"}`, needs("app.c", "find", "other.d", "insert update")},
		{`{"explain": {"delete": "c", "deletes": [{"q": {}, "limit": 1}]}, "$db": "app"}`, needs("app.c", "find remove")},
		{`{"create": "n", "$db": "app"}`, needs("app.n", "createCollection")},
		{`{"create": "n", "$db": "app"}`, needs("app.n", "insert")},
		{`{"create": "v", "viewOn": "c", "pipeline": [{"$lookup": {"from": "d", "localField": "a", "foreignField": "a", "as": "x"}}], "$db": "app"}`, needs("app.v", "createCollection", "app.c", "find", "app.d", "find")},
		{`{"collMod": "c", "validator": {}, "$db": "app"}`, needs("app.c", "collMod")},
		{`{"drop": "none", "$db": "app"}`, needs("app.none", "dropCollection")},
		{`{"dropDatabase": 1, "$db": "none"}`, needs("none.", "dropDatabase")},
		{`{"renameCollection": "app.none", "to": "app.x", "$db": "admin"}`, needs("app.", "renameCollectionSameDB")},
		{`{"renameCollection": "app.none", "to": "other.x", "dropTarget": true, "$db": "admin"}`, needs("app.none", "find dropCollection", "other.x", "insert createIndex dropCollection")},
		{`{"createIndexes": "c", "indexes": [{"key": {"a": 1}, "name": "a"}], "$db": "app"}`, needs("app.c", "createIndex")},
		{`{"listIndexes": "c", "$db": "app"}`, needs("app.c", "listIndexes")},
		{`{"dropIndexes": "c", "index": "a", "$db": "app"}`, needs("app.c", "dropIndex")},
		{`{"deleteIndexes": "c", "index": "a", "$db": "app"}`, needs("app.c", "dropIndex")},
		{`{"createSearchIndexes": "c", "indexes": [], "$db": "app"}`, needs("app.c", "createSearchIndexes")},
		{`{"updateSearchIndex": "c", "$db": "app"}`, needs("app.c", "updateSearchIndex")},
		{`{"dropSearchIndex": "c", "$db": "app"}`, needs("app.c", "dropSearchIndex")},
		{`{"listSearchIndexes": "c", "$db": "app"}`, needs("app.c", "listSearchIndexes")},
		{`{"listCollections": 1, "$db": "app"}`, needs("app.", "listCollections")},
		{`{"listCollections": 1, "nameOnly": true, "authorizedCollections": true, "$db": "app"}`, needs("app.c", "find")},
		{`{"listDatabases": 1, "$db": "admin"}`, nil},
		{`{"listDatabases": 1, "authorizedDatabases": false, "$db": "admin"}`, needs("", "listDatabases")},
		{`{"collStats": "c", "$db": "app"}`, needs("app.c", "collStats")},
		{`{"collstats": "c", "$db": "app"}`, needs("app.c", "collStats")},
		{`{"dbStats": 1, "$db": "app"}`, needs("app.", "dbStats")},
		{`{"dbstats": 1, "$db": "app"}`, needs("app.", "dbStats")},
		{`{"dataSize": "app.c", "$db": "app"}`, needs("app.c", "find")},
		{`{"datasize": "app.c", "$db": "app"}`, needs("app.c", "find")},
		{`{"validate": "c", "$db": "app"}`, needs("app.c", "validate")},
		{`{"planCacheClear": "c", "$db": "app"}`, needs("app.c", "planCacheWrite")},
		{`{"planCacheListFilters": "c", "$db": "app"}`, needs("app.c", "planCacheIndexFilter")},
		{`{"planCacheSetFilter": "c", "query": {}, "indexes": ["a"], "$db": "app"}`, needs("app.c", "planCacheIndexFilter")},
		{`{"planCacheClearFilters": "c", "$db": "app"}`, needs("app.c", "planCacheIndexFilter")},
		{`{"createUser": "n", "pwd": "x", "roles": ["none", {"role": "none", "db": "other"}], "$db": "app"}`, needs("app.", "createUser grantRole", "other.", "grantRole")},
		{`{"updateUser": "n", "pwd": "x", "$db": "app"}`, needs("app.", "changePassword")},
		{`{"updateUser": "n", "customData": {}, "$db": "app"}`, needs("app.", "changeCustomData")},
		{`{"updateUser": "n", "roles": ["none"], "$db": "app"}`, needs(".", "revokeRole", "app.", "grantRole")},
		{`{"dropUser": "n", "$db": "app"}`, needs("app.", "dropUser")},
		{`{"dropAllUsersFromDatabase": 1, "$db": "app"}`, needs("app.", "dropUser")},
		{`{"grantRolesToUser": "n", "roles": [{"role": "none", "db": "other"}], "$db": "app"}`, needs("other.", "grantRole")},
		{`{"revokeRolesFromUser": "n", "roles": ["none"], "$db": "app"}`, needs("app.", "revokeRole")},
		{`{"usersInfo": 1, "$db": "app"}`, needs("app.", "viewUser")},
		{`{"usersInfo": "u", "$db": "$external"}`, nil},
		{`{"usersInfo": 1, "showCredentials": true, "$db": "app"}`, needs("app.", "viewUser")},
		{`{"usersInfo": "u", "showCredentials": true, "$db": "$external"}`, nil},
		{`{"createRole": "n", "privileges": [{"resource": {"db": "app", "collection": ""}, "actions": ["find"]}], "roles": [{"role": "none", "db": "other"}], "$db": "app"}`, needs("app.", "createRole grantRole", "other.", "grantRole")},
		{`{"updateRole": "n", "roles": ["none"], "$db": "app"}`, needs(".", "revokeRole", "app.", "grantRole")},
		{`{"dropRole": "n", "$db": "app"}`, needs("app.", "dropRole")},
		{`{"dropAllRolesFromDatabase": 1, "$db": "app"}`, needs("app.", "dropRole")},
		{`{"grantPrivilegesToRole": "n", "privileges": [{"resource": {"cluster": true}, "actions": ["inprog"]}], "$db": "admin"}`, needs("admin.", "grantRole")},
		{`{"revokePrivilegesFromRole": "n", "privileges": [{"resource": {"db": "app", "collection": "c"}, "actions": ["find"]}], "$db": "app"}`, needs("app.", "revokeRole")},
		{`{"grantRolesToRole": "n", "roles": ["none"], "$db": "app"}`, needs("app.", "grantRole")},
		{`{"revokeRolesFromRole": "n", "roles": ["none"], "$db": "app"}`, needs("app.", "revokeRole")},
		{`{"rolesInfo": 1, "$db": "app"}`, needs("app.", "viewRole")},
		{`{"rolesInfo": "r", "$db": "admin"}`, nil},
		{`{"getDefaultRWConcern": 1, "$db": "admin"}`, needs("", "getDefaultRWConcern")},
		{`{"setDefaultRWConcern": 1, "$db": "admin"}`, needs("", "setDefaultRWConcern")},
		{`{"appendOplogNote": 1, "data": {}, "$db": "admin"}`, needs("", "appendOplogNote")},
		{`{"hello": 1, "$db": "admin"}`, nil},
		{`{"isMaster": 1, "$db": "admin"}`, nil},
		{`{"ismaster": 1, "$db": "admin"}`, nil},
		{`{"ping": 1, "$db": "admin"}`, nil},
		{`{"buildInfo": 1, "$db": "admin"}`, nil},
		{`{"buildinfo": 1, "$db": "admin"}`, nil},
		{`{"saslStart": 1, "$db": "admin"}`, nil},
		{`{"saslContinue": 1, "$db": "admin"}`, nil},
		{`{"authenticate": 1, "$db": "admin"}`, nil},
		{`{"connectionStatus": 1, "$db": "admin"}`, nil},
		{`{"startSession": 1, "$db": "admin"}`, nil},
		{`{"endSessions": [], "$db": "admin"}`, nil},
		{`{"refreshSessions": [], "$db": "admin"}`, nil},
		{`{"killSessions": [` + id + `], "$db": "admin"}`, nil},
		{`{"killSessions": [], "$db": "admin"}`, needs("", "killAnySession")},
		{`{"killAllSessions": [], "$db": "admin"}`, needs("", "killAnySession")},
		{`{"serverStatus": 1, "$db": "admin"}`, needs("", "serverStatus")},
		{`{"getParameter": 1, "logLevel": 1, "$db": "admin"}`, needs("", "getParameter")},
		{`{"setParameter": 1, "logLevel": 0, "$db": "admin"}`, needs("", "setParameter")},
		{`{"getCmdLineOpts": 1, "$db": "admin"}`, needs("", "getCmdLineOpts")},
		{`{"currentOp": 1, "$db": "admin"}`, needs("", "inprog")},
		{`{"currentOp": 1, "$ownOps": true, "$db": "admin"}`, nil},
		{`{"killOp": 1, "op": 1, "$db": "admin"}`, needs("", "killop")},
		{`{"hostInfo": 1, "$db": "admin"}`, needs("", "hostInfo")},
		{`{"top": 1, "$db": "admin"}`, needs("", "top")},
		{`{"getLog": "*", "$db": "admin"}`, needs("", "getLog")},
		{`{"whatsmyuri": 1, "$db": "admin"}`, nil},
		{`{"fsync": 1, "$db": "admin"}`, needs("", "fsync")},
		{`{"fsyncUnlock": 1, "$db": "admin"}`, needs("", "unlock")},
		{`{"profile": 0, "$db": "app"}`, needs("app.", "enableProfiler")},
		{`{"profile": -1, "$db": "app"}`, needs("app.system.profile", "find")},
		{`{"profile": -1, "slowms": 5, "$db": "app"}`, needs("app.", "enableProfiler")},
		{`{"configureFailPoint": "failCommand", "mode": "off", "$db": "admin"}`, nil},
		{`{"listCommands": 1, "$db": "admin"}`, nil},
		{`{"testVersion2": 1, "$db": "admin"}`, nil},
		{`{"testDeprecation": 1, "$db": "admin"}`, nil},
		{`{"replSetStepDown": -1, "$db": "admin"}`, needs("", "replSetStateChange")},
		{`{"replSetInitiate": {}, "$db": "admin"}`, needs("", "replSetConfigure")},
		{`{"replSetGetConfig": 1, "$db": "admin"}`, needs("", "replSetGetConfig")},
		{`{"replSetReconfig": {}, "$db": "admin"}`, needs("", "replSetConfigure")},
		{`{"replSetFreeze": 0, "$db": "admin"}`, needs("", "replSetStateChange")},
		{`{"replSetGetStatus": 1, "$db": "admin"}`, needs("", "replSetGetStatus")},
		{`{"logout": 1, "$db": "admin"}`, nil},
	}
	root, u := guardedSet(t, replicaSet(t))
	tried := make(map[string]bool)
	for _, row := range rows {
		row.check(t, root, u)
		tried[fieldNames(raw(t, row.command))[0]] = true
	}
	for _, name := range fieldNames(root.ok(`{"listCommands": 1, "$db": "admin"}`).Lookup("commands").Document()) {
		if !tried[name] && name != "shutdown" && name != "aggregate" { // these have tests of their own
			t.Errorf("there is no row for %s", name)
		}
	}
}

func TestWhatStagesNeed(t *testing.T) {
	needs := func(list ...string) []string { return list }
	root, u := guardedSet(t, replicaSet(t))
	for _, row := range []struct {
		on, stages string
		needs      []string
	}{
		{`"c"`, `{"$match": {}}`, needs("app.c", "find")},
		{`"c"`, `{"$lookup": {"from": "d", "pipeline": [{"$unionWith": "e"}], "as": "x"}}`, needs("app.c", "find", "app.d", "find", "app.e", "find")},
		{`"c"`, `{"$graphLookup": {"from": "d", "startWith": "$a", "connectFromField": "a", "connectToField": "b", "as": "x"}}`, needs("app.c", "find", "app.d", "find")},
		{`"c"`, `{"$unionWith": {"coll": "d", "pipeline": []}}`, needs("app.c", "find", "app.d", "find")},
		{`"c"`, `{"$facet": {"a": [{"$lookup": {"from": "d", "localField": "a", "foreignField": "b", "as": "x"}}]}}`, needs("app.c", "find", "app.d", "find")},
		{`"c"`, `{"$out": "d"}`, needs("app.c", "find", "app.d", "insert remove")},
		{`"c"`, `{"$out": {"db": "other", "coll": "d"}}`, needs("app.c", "find", "other.d", "insert remove")},
		{`"c"`, `{"$merge": "d"}`, needs("app.c", "find", "app.d", "insert update")},
		{`"c"`, `{"$merge": {"into": {"db": "other", "coll": "d"}, "whenMatched": "fail"}}`, needs("app.c", "find", "other.d", "insert")},
		{`"c"`, `{"$merge": {"into": "d", "whenNotMatched": "discard"}}`, needs("app.c", "find", "app.d", "update")},
		{`"c"`, `{"$collStats": {}}`, needs("app.c", "collStats")},
		{`"c"`, `{"$indexStats": {}}`, needs("app.c", "indexStats")},
		{`"c"`, `{"$changeStream": {}}`, needs("app.c", "find changeStream")},
		{`1`, `{"$changeStream": {}}`, needs("app.", "find changeStream")},
		{`1`, `{"$documents": [{}]}`, nil},
		{`1`, `{"$listLocalSessions": {}}`, nil},
		{`1`, `{"$listLocalSessions": {"allUsers": true}}`, needs("", "listSessions")},
	} {
		permission{fmt.Sprintf(`{"aggregate": %s, "pipeline": [%s], "cursor": {}, "$db": "app"}`, row.on, row.stages), row.needs}.check(t, root, u)
	}
	permission{`{"aggregate": 1, "pipeline": [{"$changeStream": {"allChangesForCluster": true}}], "cursor": {}, "$db": "admin"}`, needs(".", "find changeStream")}.check(t, root, u)
	permission{`{"aggregate": 1, "pipeline": [{"$currentOp": {}}], "cursor": {}, "$db": "admin"}`, nil}.check(t, root, u)
	permission{`{"aggregate": 1, "pipeline": [{"$currentOp": {"allUsers": true}}], "cursor": {}, "$db": "admin"}`, needs("", "inprog")}.check(t, root, u)
}

func TestWhatCommandsOfAMongosNeed(t *testing.T) {
	needs := func(list ...string) []string { return list }
	root, u := guardedSet(t, sharded(t))
	for _, row := range []permission{
		{`{"listShards": 1, "$db": "admin"}`, needs("", "listShards")},
		{`{"getShardMap": 1, "$db": "admin"}`, needs("", "getShardMap")},
		{`{"isdbgrid": 1, "$db": "admin"}`, nil},
		{`{"balancerStart": 1, "$db": "admin"}`, needs("config.settings", "update")},
		{`{"balancerStop": 1, "$db": "admin"}`, needs("config.settings", "update")},
		{`{"flushRouterConfig": 1, "$db": "admin"}`, needs("", "flushRouterConfig")},
		{`{"checkMetadataConsistency": 1, "$db": "admin"}`, needs("", "checkMetadataConsistency")},
		{`{"enableSharding": "app", "$db": "admin"}`, needs("app.", "enableSharding")},
		{`{"shardCollection": "app.s", "key": {"a": 1}, "$db": "admin"}`, needs("app.s", "enableSharding")},
		{`{"find": "c", "$db": "app"}`, needs("app.c", "find")},
	} {
		row.check(t, root, u)
	}
}

func TestShutdownNeedsTheAction(t *testing.T) {
	_, u := guardedSet(t, replicaSet(t))
	if reply := u.run(`{"shutdown": 1, "$db": "admin"}`); !refused(reply) {
		t.Errorf("the reply is %s", reply)
	}
}

package account

import (
	"slices"
	"strings"
)

// https://www.mongodb.com/docs/manual/reference/built-in-roles/

func words(text string) []string { return strings.Fields(text) }

// The actions that roles have in common.
var (
	readActions = words("changeStream collStats dbHash dbStats find killCursors listCollections listIndexes listSearchIndexes planCacheRead")

	writeActions = words("convertToCapped createCollection createIndex createSearchIndexes dropCollection dropIndex dropSearchIndex insert remove " +
		"renameCollectionSameDB update updateSearchIndex")

	adminActions = words("analyze bypassDocumentValidation collMod collStats compact convertToCapped createCollection createIndex createSearchIndexes " +
		"dbStats dropCollection dropDatabase dropIndex dropSearchIndex enableProfiler listCollections listIndexes listSearchIndexes planCacheIndexFilter " +
		"planCacheRead planCacheWrite reIndex renameCollectionSameDB storageDetails updateSearchIndex validate")

	userActions = words("changeCustomData changePassword createRole createUser dropRole dropUser grantRole revokeRole setAuthenticationRestriction " +
		"viewRole viewUser")

	monitorActions = words("checkFreeMonitoringStatus checkMetadataConsistency connPoolStats getCmdLineOpts getDefaultRWConcern getLog getParameter " +
		"getShardMap hostInfo inprog listDatabases listSessions listShards netstat operationMetrics replSetGetConfig replSetGetStatus serverStatus " +
		"setFreeMonitoring shardingState top")

	managerActions = words("addShard appendOplogNote applyOps checkMetadataConsistency cleanupOrphaned flushRouterConfig getClusterParameter " +
		"getDefaultRWConcern listSessions listShards removeShard replSetConfigure replSetGetConfig replSetGetStatus replSetStateChange resync " +
		"setClusterParameter setDefaultRWConcern setFeatureCompatibilityVersion setFreeMonitoring")

	hostActions = words("applicationMessage closeAllDatabases connPoolSync flushRouterConfig fsync invalidateUserCache killAnyCursor killAnySession " +
		"killop logRotate resync rotateCertificates setParameter shutdown touch unlock")

	shardingActions = words("analyzeShardKey clearJumboFlag enableSharding getDatabaseVersion getShardVersion moveChunk refineCollectionShardKey " +
		"reshardCollection splitChunk splitVector")
)

// systemCollections are those of which some roles may read or write.
var systemCollections = words("system.js system.profile system.views")

// builtin is a role that every server has.
type builtin struct {
	everywhere bool // each database has one; otherwise only admin
	privileges func(db string) []Privilege
}

// builtins are the roles by name. It is never written to.
var builtins = map[string]builtin{
	"read":      {true, readPrivileges},
	"readWrite": {true, readWritePrivileges},
	"dbAdmin":   {true, adminPrivileges},
	"userAdmin": {true, userAdminPrivileges},
	"dbOwner":   {true, together(readWritePrivileges, adminPrivileges, userAdminPrivileges)},
	"enableSharding": {true, func(string) []Privilege {
		return []Privilege{{Resource{}, words("enableSharding refineCollectionShardKey reshardCollection")}}
	}},
	"readAnyDatabase":      {false, inAll(readPrivileges, listing)},
	"readWriteAnyDatabase": {false, inAll(readWritePrivileges, listing)},
	"dbAdminAnyDatabase":   {false, inAll(adminPrivileges, listing)},
	"userAdminAnyDatabase": {false, inAll(userAdminPrivileges, listing, userCollections)},
	"clusterMonitor":       {false, monitorPrivileges},
	"clusterManager":       {false, managerPrivileges},
	"hostManager":          {false, hostPrivileges},
	"clusterAdmin":         {false, together(monitorPrivileges, managerPrivileges, hostPrivileges, dropping)},
	"backup":               {false, backupPrivileges},
	"restore":              {false, restorePrivileges},
	"root": {false, together(inAll(readWritePrivileges, adminPrivileges, userAdminPrivileges, listing, userCollections), monitorPrivileges, managerPrivileges,
		hostPrivileges, dropping, backupPrivileges, restorePrivileges)},
	"__system": {false, func(string) []Privilege { return []Privilege{{Resource{Any: true}, []string{anyAction}}} }},
}

// together returns what several roles may.
func together(parts ...func(string) []Privilege) func(string) []Privilege {
	return func(db string) []Privilege {
		var list []Privilege
		for _, part := range parts {
			list = append(list, part(db)...)
		}
		return list
	}
}

// inAll returns what several roles of a database may, in every database.
func inAll(parts ...func(string) []Privilege) func(string) []Privilege {
	return func(string) []Privilege { return together(parts...)("") }
}

func readPrivileges(db string) []Privilege {
	return []Privilege{{Resource{DB: db}, readActions}, {Resource{DB: db, Collection: "system.js"}, readActions}}
}

func readWritePrivileges(db string) []Privilege {
	actions := slices.Concat(readActions, writeActions)
	return []Privilege{{Resource{DB: db}, actions}, {Resource{DB: db, Collection: "system.js"}, actions}}
}

func adminPrivileges(db string) []Privilege {
	list := []Privilege{{Resource{DB: db}, adminActions}}
	for _, name := range systemCollections {
		list = append(list, Privilege{Resource{DB: db, Collection: name}, slices.Concat(readActions, words("convertToCapped createCollection dropCollection"))})
	}
	return list
}

func userAdminPrivileges(db string) []Privilege { return []Privilege{{Resource{DB: db}, userActions}} }

func listing(string) []Privilege { return []Privilege{{Cluster, []string{"listDatabases"}}} }

// userCollections are the collections in which real servers keep users and roles.
func userCollections(string) []Privilege {
	return []Privilege{
		{Cluster, words("authSchemaUpgrade invalidateUserCache")},
		{Resource{DB: "admin", Collection: "system.users"}, slices.Concat(readActions, words("createIndex dropIndex"))},
		{Resource{DB: "admin", Collection: "system.roles"}, slices.Concat(readActions, words("createIndex dropIndex"))},
	}
}

func dropping(string) []Privilege { return []Privilege{{Resource{}, []string{"dropDatabase"}}} }

func monitorPrivileges(string) []Privilege {
	return []Privilege{
		{Cluster, monitorActions},
		{Resource{}, words("collStats dbStats getDatabaseVersion getShardVersion indexStats")},
		{Resource{Collection: "system.profile"}, []string{"find"}},
		{Resource{DB: "config"}, slices.Concat(readActions, words("getShardVersion indexStats"))},
		{Resource{DB: "local"}, slices.Concat(readActions, words("getShardVersion indexStats"))},
	}
}

func managerPrivileges(string) []Privilege {
	return []Privilege{
		{Cluster, managerActions},
		{Resource{}, shardingActions},
		{Resource{DB: "config"}, slices.Concat(readActions, words("enableSharding insert moveChunk remove splitChunk splitVector update"))},
		{Resource{DB: "local"}, slices.Concat(readActions, words("enableSharding insert moveChunk remove splitChunk splitVector update"))},
	}
}

func hostPrivileges(string) []Privilege {
	return []Privilege{{Cluster, hostActions}, {Resource{}, []string{"killCursors"}}}
}

func backupPrivileges(string) []Privilege {
	return []Privilege{
		{Cluster, words("appendOplogNote getParameter listDatabases serverStatus setUserWriteBlockMode")},
		{Resource{Any: true}, words("collStats find listCollections listIndexes listSearchIndexes")},
		{Resource{DB: "config", Collection: "settings"}, words("find insert update")},
	}
}

func restorePrivileges(string) []Privilege {
	actions := words("bypassDocumentValidation collMod convertToCapped createCollection createIndex createSearchIndexes dropCollection " +
		"forceUUID insert")
	users := Resource{DB: "admin", Collection: "system.users"}
	return []Privilege{
		{Cluster, words("bypassWriteBlockingMode getParameter setUserWriteBlockMode useUUID")},
		{Resource{}, slices.Concat(actions, words("changeCustomData changePassword createRole createUser dropRole dropUser grantRole revokeRole viewRole viewUser"))},
		{Resource{Collection: "system.js"}, actions},
		{Resource{DB: "config"}, actions},
		{Resource{DB: "local"}, actions},
		{Resource{Any: true}, []string{"listCollections"}},
		{users, words("find insert remove update")},
		{Resource{DB: "admin", Collection: "system.roles"}, words("find insert remove update")},
		{Resource{DB: "admin", Collection: "system.version"}, words("find insert remove update")},
	}
}

// isAction reports whether a built-in role has an action, or everybody may be given it.
func isAction(name string) bool {
	if name == anyAction || name == "internal" || slices.Contains(otherActions, name) {
		return true
	}
	for _, b := range builtins {
		for _, p := range b.privileges("") {
			if slices.Contains(p.Actions, name) {
				return true
			}
		}
	}
	return false
}

// otherActions are those that no built-in role needs to have by name.
var otherActions = words("changeOwnPassword changeOwnCustomData cpuProfiler impersonate renameCollection internal useTenant dropConnections killAnyCursor " +
	"oidReset viewUser bypassDefaultMaxTimeMS")

// builtinsOf returns the names of the built-in roles of a database.
func builtinsOf(db string) []string {
	var names []string
	for name, b := range builtins {
		if b.everywhere || db == "admin" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

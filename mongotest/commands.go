package mongotest

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/stableapi"
	"github.com/holdfast-db/holdfast/mongotest/internal/version"
)

func init() {
	for p, list := range [][]*spec{atShard: append(dataSpecs(), accountSpecs()...), atServer: serverSpecs(), atMember: memberSpecs(), atMongos: mongosSpecs()} {
		register(place(p), list)
	}
}

// dataSpecs are the commands on data.
func dataSpecs() []*spec {
	return []*spec{
		{name: "insert", run: cmdInsert, write: true, retryable: true, statements: "documents", inTxn: version.Of(4, 0, 0)},
		{name: "update", run: cmdUpdate, write: true, retryable: true, statements: "updates", inTxn: version.Of(4, 0, 0)},
		{name: "delete", run: cmdDelete, write: true, retryable: true, statements: "deletes", inTxn: version.Of(4, 0, 0)},
		{name: "bulkWrite", since: version.Of(8, 0, 0), run: cmdBulkWrite, write: true, retryable: true, statements: "ops", inTxn: version.Of(8, 0, 0)},
		{name: "findAndModify", run: cmdFindAndModify, write: true, retryable: true, inTxn: version.Of(4, 0, 0)},
		{name: "findandmodify", run: cmdFindAndModify, write: true, retryable: true, inTxn: version.Of(4, 0, 0)},
		{name: "commitTransaction", since: version.Of(4, 0, 0), run: cmdCommitTransaction, write: true, ends: true},
		{name: "abortTransaction", since: version.Of(4, 0, 0), run: cmdAbortTransaction, write: true, ends: true},
		{name: "find", run: cmdFind, linearizes: true, snapshots: true, inTxn: version.Of(4, 0, 0)},
		{name: "getMore", run: cmdGetMore, inTxn: version.Of(4, 0, 0)},
		{name: "killCursors", run: cmdKillCursors, service: true, inTxn: version.Of(4, 0, 0)},
		{name: "count", run: cmdCount, linearizes: true, bare: true},
		{name: "distinct", run: cmdDistinct, linearizes: true, bare: true, snapshots: true, inTxn: version.Of(4, 0, 0)},
		{name: "aggregate", run: cmdAggregate, linearizes: true, write: true, snapshots: true, inTxn: version.Of(4, 0, 0)},
		{name: "mapReduce", run: cmdMapReduce, write: true},
		{name: "explain", run: cmdExplain},
		{name: "create", run: cmdCreate, write: true, inTxn: version.Of(4, 4, 0)},
		{name: "collMod", run: cmdCollMod, write: true},
		{name: "drop", run: cmdDrop, write: true},
		{name: "dropDatabase", run: cmdDropDatabase, write: true},
		{name: "renameCollection", run: cmdRenameCollection, write: true},
		{name: "createIndexes", run: cmdCreateIndexes, write: true, inTxn: version.Of(4, 4, 0)},
		{name: "listIndexes", run: cmdListIndexes},
		{name: "createSearchIndexes", since: version.Of(7, 0, 0), run: cmdSearchIndexes},
		{name: "updateSearchIndex", since: version.Of(7, 0, 0), run: cmdSearchIndexes},
		{name: "dropSearchIndex", since: version.Of(7, 0, 0), run: cmdSearchIndexes},
		{name: "listSearchIndexes", since: version.Of(7, 0, 0), run: cmdSearchIndexes},
		{name: "dropIndexes", run: cmdDropIndexes, write: true},
		{name: "deleteIndexes", run: cmdDropIndexes, write: true},
		{name: "listCollections", run: cmdListCollections},
		{name: "listDatabases", run: cmdListDatabases},
		{name: "collStats", run: cmdCollStats},
		{name: "collstats", run: cmdCollStats},
		{name: "dbStats", run: cmdDBStats},
		{name: "dbstats", run: cmdDBStats},
		{name: "dataSize", run: cmdDataSize},
		{name: "datasize", run: cmdDataSize},
		{name: "validate", run: cmdValidate},
		{name: "planCacheClear", run: cmdPlanCacheClear, service: true},
		{name: "planCacheListFilters", run: cmdPlanCacheListFilters, service: true},
		{name: "planCacheSetFilter", run: cmdPlanCacheSetFilter, service: true},
		{name: "planCacheClearFilters", run: cmdPlanCacheClearFilters, service: true},
		{name: "getDefaultRWConcern", since: version.Of(4, 4, 0), run: cmdGetDefaultRWConcern, service: true},
		{name: "setDefaultRWConcern", since: version.Of(4, 4, 0), run: cmdSetDefaultRWConcern, write: true, service: true},
		{name: "appendOplogNote", run: cmdAppendOplogNote, write: true},
	}
}

// accountSpecs are the commands on users and roles, which are data.
func accountSpecs() []*spec {
	return []*spec{
		{name: "createUser", run: cmdCreateUser, service: true},
		{name: "updateUser", run: cmdUpdateUser, service: true},
		{name: "dropUser", run: cmdDropUser, service: true},
		{name: "dropAllUsersFromDatabase", run: cmdDropAllUsersFromDatabase, service: true},
		{name: "grantRolesToUser", run: cmdGrantRolesToUser, service: true},
		{name: "revokeRolesFromUser", run: cmdRevokeRolesFromUser, service: true},
		{name: "usersInfo", run: cmdUsersInfo, service: true},
		{name: "createRole", run: cmdCreateRole, service: true},
		{name: "updateRole", run: cmdUpdateRole, service: true},
		{name: "dropRole", run: cmdDropRole, service: true},
		{name: "dropAllRolesFromDatabase", run: cmdDropAllRolesFromDatabase, service: true},
		{name: "grantPrivilegesToRole", run: cmdGrantPrivilegesToRole, service: true},
		{name: "revokePrivilegesFromRole", run: cmdRevokePrivilegesFromRole, service: true},
		{name: "grantRolesToRole", run: cmdGrantRolesToRole, service: true},
		{name: "revokeRolesFromRole", run: cmdRevokeRolesFromRole, service: true},
		{name: "rolesInfo", run: cmdRolesInfo, service: true},
	}
}

// serverSpecs are the commands on the server itself.
func serverSpecs() []*spec {
	return []*spec{
		{name: "hello", since: version.Of(4, 4, 2), run: cmdHello, greeting: true, service: true},
		{name: "isMaster", run: cmdHello, greeting: true, service: true},
		{name: "ismaster", run: cmdHello, greeting: true, service: true},
		{name: "ping", run: cmdPing, open: true, service: true},
		{name: "buildInfo", run: cmdBuildInfo, open: true, service: true},
		{name: "buildinfo", run: cmdBuildInfo, open: true, service: true},
		{name: "getnonce", gone: version.Of(6, 2, 0), run: cmdGetNonce, open: true, service: true},
		{name: "saslStart", run: cmdSaslStart, open: true, service: true},
		{name: "saslContinue", run: cmdSaslContinue, open: true, service: true},
		{name: "authenticate", run: cmdAuthenticate, open: true, service: true},
		{name: "logout", run: cmdLogout, open: true, service: true},
		{name: "connectionStatus", run: cmdConnectionStatus, open: true, service: true},
		{name: "startSession", run: cmdStartSession, service: true},
		{name: "endSessions", run: cmdSessions, open: true, service: true},
		{name: "refreshSessions", run: cmdSessions, service: true},
		{name: "killSessions", run: cmdSessions, service: true},
		{name: "killAllSessions", run: cmdKillAllSessions, service: true},
		{name: "serverStatus", run: cmdServerStatus, service: true},
		{name: "getParameter", run: cmdGetParameter, service: true},
		{name: "setParameter", run: cmdSetParameter, service: true},
		{name: "getCmdLineOpts", run: cmdGetCmdLineOpts, service: true},
		{name: "currentOp", run: cmdCurrentOp, service: true},
		{name: "killOp", run: cmdKillOp, service: true},
		{name: "hostInfo", run: cmdHostInfo, service: true},
		{name: "top", run: cmdTop, service: true},
		{name: "getLog", run: cmdGetLog, service: true},
		{name: "whatsmyuri", run: cmdWhatsMyURI, open: true, service: true},
		{name: "fsync", run: cmdFsync, service: true},
		{name: "fsyncUnlock", run: cmdFsyncUnlock, service: true},
		{name: "profile", run: cmdProfile, service: true},
		{name: "configureFailPoint", run: cmdConfigureFailPoint, service: true},
		{name: "listCommands", run: cmdListCommands, service: true},
		{name: stableapi.TestVersion2, since: version.Of(5, 0, 0), run: cmdPing, service: true},
		{name: stableapi.TestDeprecation, since: version.Of(5, 0, 0), run: cmdPing, service: true},
	}
}

// memberSpecs are the commands on a replica set and its members.
func memberSpecs() []*spec {
	return []*spec{
		{name: "replSetStepDown", run: cmdReplSetStepDown, service: true},
		{name: "replSetInitiate", run: cmdReplSetInitiate, service: true},
		{name: "replSetGetConfig", run: cmdReplSetGetConfig, service: true},
		{name: "replSetReconfig", run: cmdReplSetReconfig, service: true},
		{name: "replSetFreeze", run: cmdReplSetFreeze, service: true},
		{name: "replSetGetStatus", run: cmdReplSetGetStatus, service: true},
		{name: "shutdown", run: cmdShutdown, service: true},
	}
}

// mongosSpecs are the commands on a sharded cluster.
func mongosSpecs() []*spec {
	return []*spec{
		{name: "listShards", run: cmdListShards, service: true},
		{name: "getShardMap", run: cmdGetShardMap, service: true},
		{name: "isdbgrid", run: cmdIsDBGrid, service: true},
		{name: "balancerStart", run: cmdRouting, service: true},
		{name: "balancerStop", run: cmdRouting, service: true},
		{name: "flushRouterConfig", run: cmdRouting, service: true},
		{name: "checkMetadataConsistency", since: version.Of(7, 0, 0), run: cmdCheckMetadataConsistency, service: true},
		{name: "enableSharding", run: cmdEnableSharding, service: true},
		{name: "shardCollection", run: cmdShardCollection, service: true},
	}
}

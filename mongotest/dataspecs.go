package mongotest

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/version"
)

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

package command

import (
	"github.com/holdfast-db/holdfast/mongotest/internal/call"
	"github.com/holdfast-db/holdfast/mongotest/internal/version"
)

func init() {
	call.Register(call.AtShard, dataSpecs())
	call.Register(call.AtServer, operationSpecs())
}

// dataSpecs are the commands on data.
func dataSpecs() []*call.Spec {
	return []*call.Spec{
		{Name: "insert", Run: cmdInsert, Write: true, Retryable: true, Statements: "documents", InTxn: version.Of(4, 0, 0)},
		{Name: "update", Run: cmdUpdate, Plans: plansOf, Write: true, Retryable: true, Statements: "updates", InTxn: version.Of(4, 0, 0)},
		{Name: "delete", Run: cmdDelete, Plans: plansOf, Write: true, Retryable: true, Statements: "deletes", InTxn: version.Of(4, 0, 0)},
		{Name: "bulkWrite", Since: version.Of(8, 0, 0), Run: cmdBulkWrite, Write: true, Retryable: true, Statements: "ops", InTxn: version.Of(8, 0, 0)},
		{Name: "findAndModify", Run: cmdFindAndModify, Plans: plansOf, Write: true, Retryable: true, InTxn: version.Of(4, 0, 0)},
		{Name: "findandmodify", Run: cmdFindAndModify, Plans: plansOf, Write: true, Retryable: true, InTxn: version.Of(4, 0, 0)},
		{Name: "commitTransaction", Since: version.Of(4, 0, 0), Run: cmdCommitTransaction, Write: true, Ends: true},
		{Name: "abortTransaction", Since: version.Of(4, 0, 0), Run: cmdAbortTransaction, Write: true, Ends: true},
		{Name: "find", Run: cmdFind, Plans: plansOf, Linearizes: true, Snapshots: true, InTxn: version.Of(4, 0, 0)},
		{Name: "getMore", Run: cmdGetMore, OfCursor: true, InTxn: version.Of(4, 0, 0)},
		{Name: "killCursors", Run: cmdKillCursors, Service: true, OfCursor: true, InTxn: version.Of(4, 0, 0)},
		{Name: "count", Run: cmdCount, Plans: plansOf, Linearizes: true, Bare: true},
		{Name: "distinct", Run: cmdDistinct, Plans: plansOf, Linearizes: true, Bare: true, Snapshots: true, InTxn: version.Of(4, 0, 0)},
		{Name: "aggregate", Run: cmdAggregate, Plans: plansOf, Linearizes: true, Write: true, Snapshots: true, InTxn: version.Of(4, 0, 0)},
		{Name: "mapReduce", Run: cmdMapReduce, Write: true},
		{Name: "explain", Run: cmdExplain},
		{Name: "create", Run: cmdCreate, Write: true, InTxn: version.Of(4, 4, 0)},
		{Name: "collMod", Run: cmdCollMod, Write: true},
		{Name: "drop", Run: cmdDrop, Write: true},
		{Name: "dropDatabase", Run: cmdDropDatabase, Write: true},
		{Name: "renameCollection", Run: cmdRenameCollection, Write: true},
		{Name: "createIndexes", Run: cmdCreateIndexes, Write: true, InTxn: version.Of(4, 4, 0)},
		{Name: "listIndexes", Run: cmdListIndexes},
		{Name: "createSearchIndexes", Since: version.Of(7, 0, 0), Run: cmdSearchIndexes},
		{Name: "updateSearchIndex", Since: version.Of(7, 0, 0), Run: cmdSearchIndexes},
		{Name: "dropSearchIndex", Since: version.Of(7, 0, 0), Run: cmdSearchIndexes},
		{Name: "listSearchIndexes", Since: version.Of(7, 0, 0), Run: cmdSearchIndexes},
		{Name: "dropIndexes", Run: cmdDropIndexes, Write: true},
		{Name: "deleteIndexes", Run: cmdDropIndexes, Write: true},
		{Name: "listCollections", Run: cmdListCollections},
		{Name: "listDatabases", Run: cmdListDatabases},
		{Name: "collStats", Run: cmdCollStats},
		{Name: "collstats", Run: cmdCollStats},
		{Name: "dbStats", Run: cmdDBStats},
		{Name: "dbstats", Run: cmdDBStats},
		{Name: "dataSize", Run: cmdDataSize},
		{Name: "datasize", Run: cmdDataSize},
		{Name: "validate", Run: cmdValidate},
		{Name: "planCacheClear", Run: cmdPlanCacheClear, Service: true},
		{Name: "planCacheListFilters", Run: cmdPlanCacheListFilters, Service: true},
		{Name: "planCacheSetFilter", Run: cmdPlanCacheSetFilter, Service: true},
		{Name: "planCacheClearFilters", Run: cmdPlanCacheClearFilters, Service: true},
		{Name: "getDefaultRWConcern", Since: version.Of(4, 4, 0), Run: cmdGetDefaultRWConcern, Service: true},
		{Name: "setDefaultRWConcern", Since: version.Of(4, 4, 0), Run: cmdSetDefaultRWConcern, Write: true, Service: true},
	}
}

// operationSpecs are the commands on commands that are being executed.
func operationSpecs() []*call.Spec {
	return []*call.Spec{
		{Name: "currentOp", Run: cmdCurrentOp, Service: true},
		{Name: "killOp", Run: cmdKillOp, Service: true},
	}
}

package fields

// sets are the fields of commands, by the commands' names.
var sets = map[string]*Set{
	"find": {
		name: "find", numbers: "long, double, decimal, int",
		kinds: kindsOf(map[Type]string{
			aHint:       "hint",
			anything:    "oplogReplay",
			anObject:    "let",
			aNumber:     "term",
			aCount:      "skip limit batchSize",
			plainObject: "filter sort projection collation min max",
			plainBool:   "singleBatch returnKey showRecordId tailable awaitData noCursorTimeout allowPartialResults allowDiskUse readOnce",
		}),
	},
	"aggregate": {
		name: "aggregate", required: []string{"pipeline"}, numbers: "double, int, long, decimal", truths: "double, int, long, bool, decimal",
		kinds: kindsOf(map[Type]string{
			anything: "pipeline cursor explain", aHint: "hint", anObject: "collation let", aTruth: "bypassDocumentValidation", plainBool: "allowDiskUse",
		}),
	},
	"profile": {
		name: "profile", numbers: "long, int, decimal, double",
		kinds: kindsOf(map[Type]string{anything: "sampleRate filter", aNumber: "slowms"}),
	},
	"count": {
		name: "count", numbers: "decimal, int, double, long",
		kinds: kindsOf(map[Type]string{anything: "limit fields", aHint: "hint", anObject: "query collation", aCount: "skip"}),
	},
	"distinct": {
		name: "distinct", required: []string{"key"}, numbers: "decimal, long, double, int",
		kinds: kindsOf(map[Type]string{aHint: "hint", anObject: "query collation", aText: "key"}),
	},
	"mapReduce": {
		name: "mapReduce", required: []string{"map", "reduce", "out"}, numbers: "long, int, double, decimal", truths: "bool, long, int, decimal, double",
		kinds: kindsOf(map[Type]string{
			anything: "map reduce finalize out", anObject: "query sort scope collation", aCount: "limit", aBool: "jsMode verbose",
			aTruth: "bypassDocumentValidation",
		}),
	},
	"insert": {
		name: "insert", numbers: "long, int, double, decimal", truths: "bool, long, int, decimal, double",
		kinds: kindsOf(map[Type]string{objects: "documents", aBool: "ordered", aTruth: "bypassDocumentValidation", plainBool: "bypassEmptyTsReplacement"}),
	},
	"update": {
		name: "update", numbers: "long, int, double, decimal", truths: "bool, long, int, decimal, double",
		kinds: kindsOf(map[Type]string{objects: "updates", aBool: "ordered", anObject: "let", aTruth: "bypassDocumentValidation", plainBool: "bypassEmptyTsReplacement"}),
	},
	"delete": {
		name: "delete", numbers: "long, int, double, decimal", truths: "bool, long, int, decimal, double",
		kinds: kindsOf(map[Type]string{objects: "deletes", aBool: "ordered", anObject: "let", aTruth: "bypassDocumentValidation"}),
	},
	"findAndModify": {
		name: "findAndModify", numbers: "long, int, double, decimal", truths: "bool, long, int, decimal, double",
		kinds: kindsOf(map[Type]string{
			anUpdate: "update", aHint: "hint", anObject: "query sort fields collation let", objects: "arrayFilters",
			aTruth: "remove new upsert bypassDocumentValidation", plainBool: "bypassEmptyTsReplacement",
		}),
	},
	"bulkWrite": {
		name: "bulkWrite", numbers: "decimal, int, long, double", truths: "int, long, double, decimal, bool",
		kinds: kindsOf(map[Type]string{
			objects: "ops nsInfo", aBool: "ordered errorsOnly", anObject: "let cursor", aTruth: "bypassDocumentValidation",
			plainBool: "bypassEmptyTsReplacement",
		}),
	},
	"getMore": {
		name: "getMore", required: []string{"collection"}, numbers: "decimal, double, int, long",
		kinds: kindsOf(map[Type]string{aText: "collection", aCount: "batchSize", aLong: "term"}),
	},
	"killCursors": {
		name: "killCursors", required: []string{"cursors"}, numbers: "decimal, double, long, int",
		kinds: kindsOf(map[Type]string{longs: "cursors"}),
	},
	"create": {
		name: "create", numbers: "long, double, decimal, int", truths: "bool, int, double, long, decimal",
		kinds: kindsOf(map[Type]string{
			anything: "clusteredIndex",
			anObject: "idIndex storageEngine validator indexOptionDefaults collation changeStreamPreAndPostImages timeseries encryptedFields",
			objects:  "pipeline",
			aText:    "viewOn validationLevel validationAction",
			aNumber:  "size max expireAfterSeconds flags",
			aTruth:   "capped temp autoIndexId",
		}),
	},
	"listDatabases": {
		name: "listDatabases", numbers: "long, int, double, decimal", truths: "long, int, decimal, bool, double",
		kinds: kindsOf(map[Type]string{anObject: "filter", aTruth: "nameOnly", aBool: "authorizedDatabases"}),
	},
	"getDefaultRWConcern": {
		name: "getDefaultRWConcern", numbers: "long, int, double, decimal", kinds: kindsOf(map[Type]string{aBool: "inMemory"}),
	},
	"setDefaultRWConcern": {
		name: "setDefaultRWConcern", numbers: "long, int, double, decimal",
		kinds: kindsOf(map[Type]string{anObject: "defaultReadConcern defaultWriteConcern"}),
	},
	"fsync": {
		name: "fsync", truths: "decimal, double, int, long, bool", numbers: "decimal, double, int, long",
		kinds: kindsOf(map[Type]string{aTruth: "lock allowFsyncFailure", exactInt: "fsyncLockAcquisitionTimeoutMillis"}),
	},
	"fsyncUnlock": {name: "fsyncUnlock", lenient: true, numbers: "decimal, double, int, long"},
	"planCacheClear": {
		name:  "planCacheClear",
		kinds: kindsOf(map[Type]string{anObject: "query sort projection collation"}),
	},
	"planCacheListFilters": {name: "planCacheListFilters", lenient: true},
	"planCacheSetFilter": {
		name: "planCacheSetFilter", lenient: true,
		kinds: kindsOf(map[Type]string{anything: "query sort projection collation indexes"}),
	},
	"planCacheClearFilters": {
		name: "planCacheClearFilters", lenient: true,
		kinds: kindsOf(map[Type]string{anything: "query sort projection collation"}),
	},
	"ping":         {name: "ping", numbers: "double, int, long, decimal"},
	"buildInfo":    {name: "buildInfo", numbers: "decimal, int, double, long"},
	"logout":       {name: "logout", numbers: "int, long, decimal, double"},
	"drop":         {name: "drop", numbers: "int, decimal, long, double"},
	"dropDatabase": {name: "dropDatabase", numbers: "int, double, decimal, long"},
	"createIndexes": {
		name: "createIndexes", required: []string{"indexes"}, numbers: "double, decimal, long, int", truths: "bool, decimal, int, double, long",
		kinds: kindsOf(map[Type]string{objects: "indexes", aTruth: "ignoreUnknownIndexOptions", anything: "commitQuorum"}),
	},
	"dropIndexes": {
		name: "dropIndexes", required: []string{"index"}, numbers: "int, long, double, decimal",
		kinds: kindsOf(map[Type]string{anything: "index"}),
	},
	"listIndexes": {
		name: "listIndexes", numbers: "decimal, int, double, long", truths: "decimal, bool, double, long, int",
		kinds: kindsOf(map[Type]string{anObject: "cursor", aTruth: "includeBuildUUIDs includeIndexBuildInfo"}),
	},
	"listCollections": {
		name: "listCollections", numbers: "long, int, double, decimal",
		kinds: kindsOf(map[Type]string{anObject: "filter cursor", aBool: "nameOnly authorizedCollections"}),
	},
	"renameCollection": {
		name: "renameCollection", required: []string{"to"}, numbers: "decimal, int, long, double",
		kinds: kindsOf(map[Type]string{aText: "to", aBool: "stayTemp", anything: "dropTarget", aBinary: "collectionUUID"}),
	},
	"collStats": {
		name: "collStats", numbers: "double, int, decimal, long", kinds: kindsOf(map[Type]string{anInt: "scale"}),
	},
	"dbStats": {
		name: "dbStats", numbers: "double, int, decimal, long", truths: "bool, decimal, long, int, double",
		kinds: kindsOf(map[Type]string{aNumber: "scale", aTruth: "freeStorage"}),
	},
	"dataSize": {
		name: "dataSize", numbers: "double, int, decimal, long", truths: "bool, decimal, long, int, double",
		kinds: kindsOf(map[Type]string{anObject: "keyPattern min max", aTruth: "estimate"}),
	},
}

// The fields of what the commands' fields hold.
var (
	Update = &Set{
		name: "update.updates", required: []string{"q", "u"},
		kinds: kindsOf(map[Type]string{
			anUpdate: "u", aHint: "hint", anObject: "q c collation sort", objects: "arrayFilters", aBool: "multi upsert", plainBool: "upsertSupplied",
			aText: "sampleId",
		}),
	}
	Delete = &Set{
		name: "delete.deletes", required: []string{"q", "limit"},
		kinds: kindsOf(map[Type]string{aHint: "hint", anything: "limit sampleId", anObject: "q collation"}),
	}
	bulkInsertFields = &Set{
		name: "bulkWrite.ops", required: []string{"insert", "document"}, numbers: "decimal, int, long, double",
		kinds: kindsOf(map[Type]string{anInt: "insert", anObject: "document"}),
	}
	bulkUpdateFields = &Set{
		name: "bulkWrite.ops", required: []string{"update", "filter", "updateMods"}, numbers: "decimal, int, long, double",
		kinds: kindsOf(map[Type]string{
			anInt: "update", anUpdate: "updateMods", aHint: "hint", anything: "sampleId", anObject: "filter constants collation sort", objects: "arrayFilters",
			aBool: "multi upsert", plainBool: "upsertSupplied",
		}),
	}
	bulkDeleteFields = &Set{
		name: "bulkWrite.ops", required: []string{"delete", "filter"}, numbers: "decimal, int, long, double",
		kinds: kindsOf(map[Type]string{anInt: "delete", aHint: "hint", anything: "sampleId", anObject: "filter collation", aBool: "multi"}),
	}
	BulkOps = map[string]*Set{"insert": bulkInsertFields, "update": bulkUpdateFields, "delete": bulkDeleteFields}
	NSInfo  = &Set{
		name: "bulkWrite.nsInfo", required: []string{"ns"},
		kinds: kindsOf(map[Type]string{aText: "ns", refusable: "collectionUUID", anObject: "encryptionInformation"}),
	}
	GetParameter = &Set{
		name: "getParameter", truths: "long, int, double, decimal, bool",
		kinds: kindsOf(map[Type]string{aTruth: "showDetails allParameters", aText: "setAt"}),
	}
	Timeseries = &Set{
		name: "create.timeseries", required: []string{"timeField"}, numbers: "long, int, double, decimal",
		kinds: kindsOf(map[Type]string{aText: "timeField metaField granularity", plainBool: "fixedBucketing", anInt: "bucketMaxSpanSeconds bucketRoundingSeconds"}),
	}
	Clustered = &Set{
		name: "create.clusteredIndex", required: []string{"key", "unique"},
		numbers: "long, decimal, int, double", truths: "long, int, bool, double, decimal",
		kinds: kindsOf(map[Type]string{anObject: "key", aText: "name", aTruth: "unique", anInt: "v"}),
	}
	Cursor = map[string]*Set{
		"aggregate":       newCursor("cursor"),
		"listCollections": newCursor("listCollections.cursor"),
		"listIndexes":     newCursor("listIndexes.cursor"),
		"bulkWrite":       newCursor("bulkWrite.cursor"),
	}
	ReadConcern = &Set{
		name:  "readConcern",
		kinds: kindsOf(map[Type]string{aText: "level provenance", anything: "afterClusterTime atClusterTime"}),
	}
	WriteConcern = &Set{
		name: "WriteConcernOptions", truths: "double, bool, decimal, int, long",
		kinds: kindsOf(map[Type]string{anything: "w wtimeout getLastError", aTruth: "j fsync", aText: "provenance"}),
	}
	ReadPreference = &Set{
		name: "readPreference", required: []string{"mode"}, lenient: true, numbers: "decimal, double, int, long",
		kinds: kindsOf(map[Type]string{aText: "mode", anArray: "tags", aNumber: "maxStalenessSeconds", anObject: "hedge"}),
	}
	Hedge = &Set{name: "readPreference.hedge", kinds: kindsOf(map[Type]string{aBool: "enabled"})}
)

// newCursor are those of {batchSize: n}, which errors call by different names.
func newCursor(name string) *Set {
	return &Set{name: name, numbers: "decimal, double, long, int", kinds: kindsOf(map[Type]string{aCount: "batchSize"})}
}

// otherNames are older names of commands.
var otherNames = map[string]string{
	"findandmodify": "findAndModify", "deleteIndexes": "dropIndexes", "collstats": "collStats", "dbstats": "dbStats", "datasize": "dataSize",
	"buildinfo": "buildInfo", "ismaster": "isMaster",
}

// NewestName returns the name of a command that has several.
func NewestName(command string) string {
	if name := otherNames[command]; name != "" {
		return name
	}
	return command
}

// Of returns the fields of a command, nil if they are not told here.
func Of(command string) *Set { return sets[NewestName(command)] }

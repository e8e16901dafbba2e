package mongotest

// fieldSets are the fields of commands, by the commands' names.
var fieldSets = map[string]*fieldSet{
	"find": {
		name: "find", numbers: "long, double, decimal, int",
		kinds: kinds(map[fieldKind]string{
			aHint:       "hint",
			anything:    "oplogReplay",
			anObject:    "let",
			aNumber:     "term",
			aCount:      "skip limit batchSize",
			plainObject: "filter sort projection collation min max",
			plainBool:   "singleBatch returnKey showRecordId tailable awaitData noCursorTimeout allowPartialResults allowDiskUse readOnce exhaust",
		}),
	},
	"aggregate": {
		name: "aggregate", numbers: "double, int, long, decimal", truths: "double, int, long, bool, decimal",
		kinds: kinds(map[fieldKind]string{
			anything: "pipeline cursor explain", aHint: "hint", anObject: "collation let", aTruth: "bypassDocumentValidation", plainBool: "allowDiskUse",
		}),
	},
	"count": {
		name: "count", numbers: "decimal, int, double, long",
		kinds: kinds(map[fieldKind]string{anything: "limit fields", aHint: "hint", anObject: "query collation", aCount: "skip"}),
	},
	"distinct": {
		name: "distinct", required: []string{"key"}, numbers: "decimal, long, double, int",
		kinds: kinds(map[fieldKind]string{aHint: "hint", anObject: "query collation", aText: "key"}),
	},
	"insert": {
		name: "insert", numbers: "long, int, double, decimal", truths: "bool, long, int, decimal, double",
		kinds: kinds(map[fieldKind]string{objects: "documents", aBool: "ordered", aTruth: "bypassDocumentValidation"}),
	},
	"update": {
		name: "update", numbers: "long, int, double, decimal", truths: "bool, long, int, decimal, double",
		kinds: kinds(map[fieldKind]string{objects: "updates", aBool: "ordered", anObject: "let", aTruth: "bypassDocumentValidation"}),
	},
	"delete": {
		name: "delete", numbers: "long, int, double, decimal", truths: "bool, long, int, decimal, double",
		kinds: kinds(map[fieldKind]string{objects: "deletes", aBool: "ordered", anObject: "let", aTruth: "bypassDocumentValidation"}),
	},
	"findAndModify": {
		name: "findAndModify", numbers: "long, int, double, decimal", truths: "bool, long, int, decimal, double",
		kinds: kinds(map[fieldKind]string{
			anUpdate: "update", aHint: "hint", anObject: "query sort fields collation let", objects: "arrayFilters",
			aTruth: "remove new upsert bypassDocumentValidation",
		}),
	},
	"bulkWrite": {
		name: "bulkWrite", numbers: "decimal, int, long, double", truths: "int, long, double, decimal, bool",
		kinds: kinds(map[fieldKind]string{
			objects: "ops nsInfo", aBool: "ordered errorsOnly", anObject: "let cursor", aTruth: "bypassDocumentValidation",
		}),
	},
	"getMore": {
		name: "getMore", required: []string{"collection"}, numbers: "decimal, double, int, long",
		kinds: kinds(map[fieldKind]string{aText: "collection", aCount: "batchSize", aLong: "term"}),
	},
	"killCursors": {
		name: "killCursors", required: []string{"cursors"}, numbers: "decimal, double, long, int",
		kinds: kinds(map[fieldKind]string{longs: "cursors"}),
	},
	"create": {
		name: "create", numbers: "long, double, decimal, int", truths: "bool, int, double, long, decimal",
		kinds: kinds(map[fieldKind]string{
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
		kinds: kinds(map[fieldKind]string{anObject: "filter", aTruth: "nameOnly", aBool: "authorizedDatabases"}),
	},
	"getDefaultRWConcern": {
		name: "getDefaultRWConcern", numbers: "long, int, double, decimal", kinds: kinds(map[fieldKind]string{aBool: "inMemory"}),
	},
	"setDefaultRWConcern": {
		name: "setDefaultRWConcern", numbers: "long, int, double, decimal",
		kinds: kinds(map[fieldKind]string{anObject: readDefault + " " + writeDefault}),
	},
	"ping":         {name: "ping", numbers: "double, int, long, decimal"},
	"buildInfo":    {name: "buildInfo", numbers: "decimal, int, double, long"},
	"logout":       {name: "logout", numbers: "int, long, decimal, double"},
	"drop":         {name: "drop", numbers: "int, decimal, long, double"},
	"dropDatabase": {name: "dropDatabase", numbers: "int, double, decimal, long"},
	"createIndexes": {
		name: "createIndexes", required: []string{"indexes"}, numbers: "double, decimal, long, int", truths: "bool, decimal, int, double, long",
		kinds: kinds(map[fieldKind]string{objects: "indexes", aTruth: "ignoreUnknownIndexOptions", anything: "commitQuorum"}),
	},
	"dropIndexes": {
		name: "dropIndexes", required: []string{"index"}, numbers: "int, long, double, decimal",
		kinds: kinds(map[fieldKind]string{anything: "index"}),
	},
	"listIndexes": {
		name: "listIndexes", numbers: "decimal, int, double, long", truths: "decimal, bool, double, long, int",
		kinds: kinds(map[fieldKind]string{anObject: "cursor", aTruth: "includeBuildUUIDs includeIndexBuildInfo"}),
	},
	"listCollections": {
		name: "listCollections", numbers: "long, int, double, decimal",
		kinds: kinds(map[fieldKind]string{anObject: "filter cursor", aBool: "nameOnly authorizedCollections"}),
	},
	"renameCollection": {
		name: "renameCollection", required: []string{"to"}, numbers: "decimal, int, long, double",
		kinds: kinds(map[fieldKind]string{aText: "to", aBool: "stayTemp", anything: "dropTarget"}),
	},
	"collStats": {
		name: "collStats", numbers: "double, int, decimal, long", kinds: kinds(map[fieldKind]string{anInt: "scale"}),
	},
	"dbStats": {
		name: "dbStats", numbers: "double, int, decimal, long", truths: "bool, decimal, long, int, double",
		kinds: kinds(map[fieldKind]string{aNumber: "scale", aTruth: "freeStorage"}),
	},
	"dataSize": {
		name: "dataSize", numbers: "double, int, decimal, long", truths: "bool, decimal, long, int, double",
		kinds: kinds(map[fieldKind]string{anObject: "keyPattern min max", aTruth: "estimate"}),
	},
}

// The fields of what the commands' fields hold.
var (
	updateFields = &fieldSet{
		name: "update.updates", required: []string{"q", "u"},
		kinds: kinds(map[fieldKind]string{
			anUpdate: "u", aHint: "hint", anObject: "q c collation sort", objects: "arrayFilters", aBool: "multi upsert", plainBool: "upsertSupplied",
			aText: "sampleId",
		}),
	}
	deleteFields = &fieldSet{
		name: "delete.deletes", required: []string{"q", "limit"},
		kinds: kinds(map[fieldKind]string{aHint: "hint", anything: "limit sampleId", anObject: "q collation"}),
	}
	bulkInsertFields = &fieldSet{
		name: "bulkWrite.ops", required: []string{"insert", "document"}, numbers: "decimal, int, long, double",
		kinds: kinds(map[fieldKind]string{anInt: "insert", anObject: "document"}),
	}
	bulkUpdateFields = &fieldSet{
		name: "bulkWrite.ops", required: []string{"update", "filter", "updateMods"}, numbers: "decimal, int, long, double",
		kinds: kinds(map[fieldKind]string{
			anInt: "update", anUpdate: "updateMods", aHint: "hint", anything: "sampleId", anObject: "filter constants collation sort", objects: "arrayFilters",
			aBool: "multi upsert", plainBool: "upsertSupplied",
		}),
	}
	bulkDeleteFields = &fieldSet{
		name: "bulkWrite.ops", required: []string{"delete", "filter"}, numbers: "decimal, int, long, double",
		kinds: kinds(map[fieldKind]string{anInt: "delete", aHint: "hint", anything: "sampleId", anObject: "filter collation", aBool: "multi"}),
	}
	bulkOpFields = map[string]*fieldSet{"insert": bulkInsertFields, "update": bulkUpdateFields, "delete": bulkDeleteFields}
	nsInfoFields = &fieldSet{
		name: "bulkWrite.nsInfo", required: []string{"ns"},
		kinds: kinds(map[fieldKind]string{aText: "ns", anything: "collectionUUID", anObject: "encryptionInformation"}),
	}
	timeseriesFields = &fieldSet{
		name: "create.timeseries", required: []string{"timeField"}, numbers: "long, int, double, decimal",
		kinds: kinds(map[fieldKind]string{aText: "timeField metaField granularity", anInt: "bucketMaxSpanSeconds bucketRoundingSeconds"}),
	}
	clusteredFields = &fieldSet{
		name: "create.clusteredIndex", required: []string{"key", "unique"},
		numbers: "long, decimal, int, double", truths: "long, int, bool, double, decimal",
		kinds: kinds(map[fieldKind]string{anObject: "key", aText: "name", aTruth: "unique", anInt: "v"}),
	}
	cursorFields = map[string]*fieldSet{
		"aggregate":       newCursorFields("cursor"),
		"listCollections": newCursorFields("listCollections.cursor"),
		"listIndexes":     newCursorFields("listIndexes.cursor"),
		"bulkWrite":       newCursorFields("bulkWrite.cursor"),
	}
	readConcernFields = &fieldSet{
		name:  "readConcern",
		kinds: kinds(map[fieldKind]string{aText: "level provenance", anything: "afterClusterTime atClusterTime"}),
	}
	writeConcernFields = &fieldSet{
		name: "WriteConcernOptions", truths: "double, bool, decimal, int, long",
		kinds: kinds(map[fieldKind]string{anything: "w wtimeout getLastError", aTruth: "j fsync", aText: "provenance"}),
	}
	readPreferenceFields = &fieldSet{
		name: "readPreference", required: []string{"mode"}, lenient: true, numbers: "decimal, double, int, long",
		kinds: kinds(map[fieldKind]string{aText: "mode", objects: "tags", aNumber: "maxStalenessSeconds"}),
	}
)

// newCursorFields are those of {batchSize: n}, which errors call by different names.
func newCursorFields(name string) *fieldSet {
	return &fieldSet{name: name, numbers: "decimal, double, long, int", kinds: kinds(map[fieldKind]string{aCount: "batchSize"})}
}

// otherNames are older names of commands.
var otherNames = map[string]string{
	"findandmodify": "findAndModify", "deleteIndexes": "dropIndexes", "collstats": "collStats", "dbstats": "dbStats", "datasize": "dataSize",
	"buildinfo": "buildInfo", "ismaster": "isMaster",
}

// newestName returns the name of a command that has several.
func newestName(command string) string {
	if name := otherNames[command]; name != "" {
		return name
	}
	return command
}

// fieldsOf returns the fields of a command, nil if they are not told here.
func fieldsOf(command string) *fieldSet { return fieldSets[newestName(command)] }

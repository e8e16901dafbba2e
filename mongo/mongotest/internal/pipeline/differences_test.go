package pipeline

// difference is a case in which this package does not answer as the real server does.
type difference struct {
	ours   []string
	reason string
}

// differences are all that are known, by case. One that is none any more fails TestCases.
var differences = map[string]difference{
	`[{"$bucketAuto":{"groupBy":"$a","buckets":2,"granularity":"R5"}}]`: {
		ours:   []string{"error 238 mongotest: the granularity R5 of $bucketAuto is not supported"},
		reason: "the numbers of the granularities are not in this package",
	},
	`[{"$bucketAuto":{"groupBy":"$a","buckets":2,"granularity":"POWERSOF2"}}]`: {
		ours:   []string{"error 238 mongotest: the granularity POWERSOF2 of $bucketAuto is not supported"},
		reason: "the numbers of the granularities are not in this package",
	},
	`[{"$bucketAuto":{"groupBy":"$g","buckets":2,"granularity":"R5"}}]`: {
		ours:   []string{"error 238 mongotest: the granularity R5 of $bucketAuto is not supported"},
		reason: "the numbers of the granularities are not in this package",
	},
	`[{"$facet":{"a":[{"$changeStream":{}}]}}]`: {
		ours:   []string{"error 40600 $changeStream is not allowed to be used within a $facet stage"},
		reason: "the real server compared with is no replica set; the server behind this package is",
	},
	`[{"$facet":{"a":[{"$geoNear":{}}]}}]`: {
		ours:   []string{"error 238 mongotest: the stage $geoNear is not supported"},
		reason: "there are no geospatial indexes",
	},
	`[{"$lookup":{"from":"c","as":"z","pipeline":[{"$changeStream":{}}]}}]`: {
		ours:   []string{"error 51047 $changeStream is not allowed within a $lookup's sub-pipeline"},
		reason: "the real server compared with is no replica set; the server behind this package is",
	},
	`[{"$unionWith":{"coll":"c","pipeline":[{"$changeStream":{}}]}}]`: {
		ours:   []string{"error 31441 $changeStream is not allowed within a $unionWith's sub-pipeline"},
		reason: "the real server compared with is no replica set; the server behind this package is",
	},
	`[{"$changeStream":{}}]`: {
		ours:   []string{"error 238 mongotest: the stage $changeStream is not supported"},
		reason: "the real server compared with is no replica set; the server behind this package is",
	},
	`[{"$limit":1},{"$changeStream":{}}]`: {
		ours:   []string{"error 40602 $changeStream is only valid as the first stage in a pipeline"},
		reason: "the real server compared with is no replica set; the server behind this package is",
	},
	`[{"$geoNear":{}}]`: {
		ours:   []string{"error 238 mongotest: the stage $geoNear is not supported"},
		reason: "there are no geospatial indexes",
	},
	`[{"$limit":1},{"$geoNear":{}}]`: {
		ours:   []string{"error 238 mongotest: the stage $geoNear is not supported"},
		reason: "there are no geospatial indexes",
	},
	`[{"$match":{"$text":{"$search":"a"}}}]`: {
		ours:   []string{"error 238 mongotest: the query operator $text is not supported"},
		reason: "there are no text indexes, and no text search",
	},
	`[{"$match":{"a":{"$near":[1,2]}}}]`: {
		ours:   []string{"error 238 mongotest: the query operator $near is not supported"},
		reason: "there are no geospatial queries",
	},
	`[{"$out":"a$b"}]`: {
		ours:   []string{},
		reason: "the name is checked by who writes",
	},
	`[{"$out":"$b"}]`: {
		ours:   []string{},
		reason: "the name is checked by who writes",
	},
	`[{"$merge":{"into":"x","on":"a"}}]`: {
		ours:   []string{},
		reason: "the unique index is looked for by who writes",
	},
	`[{"$project":{"z":{"$meta":"textScore"}}}]`: {
		ours:   []string{"error 238 Invalid $project :: caused by :: mongotest: the expression $meta is not supported"},
		reason: "documents carry no metadata",
	},
	`[{"$setWindowFields":{"sortBy":{"a":1},"output":{"z":{"$first":"$nope"},"y":{"$last":"$a"},"m":{"$minMaxScaler":{"input":"$a"}}}}},{"$project":{"z":1,"y":1,"m":1}}]`: {
		ours:   []string{"error 238 mongotest: the window function $minMaxScaler is not supported"},
		reason: "the function is not in this package",
	},
	`[{"$sort":{"a":{"$meta":"textScore"}}}]`: {
		ours:   []string{"error 238 mongotest: the $sort by $meta is not supported"},
		reason: "documents carry no metadata",
	},
	`![{"$set":{"_id":9}}]`: {
		ours:   []string{`{"_id": {"$numberInt":"9"},"a": {"$numberInt":"1"},"b": {"x": {"$numberInt":"1"},"y": {"$numberInt":"2"}},"c": [{"$numberInt":"1"},{"$numberInt":"2"},{"$numberInt":"3"}],"g": "p"}`},
		reason: "the _id is checked by who applies the update",
	},
	`[{"$set":{"b":"$nope"}},{"$set":{"b":1}}]`: {
		ours: []string{
			`{"_id": {"$numberInt":"1"},"a": {"$numberInt":"1"},"c": [{"x": {"$numberInt":"1"},"y": {"$numberInt":"1"}},{"x": {"$numberInt":"2"}},{"$numberInt":"5"},[{"x": {"$numberInt":"3"}}]],"b": {"$numberInt":"1"}}`,
			`{"_id": {"$numberInt":"2"},"a": "s","c": [],"b": {"$numberInt":"1"}}`,
		},
		reason: "to the real server a field that a stage took away and a later one sets again has kept its place",
	},
}

package pipeline

// init fills the table of stages, which nothing needs by their names.
func init() {
	for _, k := range []kind{
		{name: "$match", parse: parseMatch, events: true},
		{name: "$limit", parse: parseLimit},
		{name: "$skip", parse: parseSkip},
		{name: "$count", parse: parseCount},
		{name: "$sort", parse: parseSort},
		{name: "$sample", parse: parseSample},
		{name: "$unwind", parse: parseUnwind},
		{name: "$project", parse: parseProject, update: true, events: true},
		{name: "$addFields", parse: parseAddFields, update: true, events: true},
		{name: "$set", parse: parseAddFields, update: true, events: true},
		{name: "$unset", parse: parseUnset, update: true, events: true},
		{name: "$replaceRoot", parse: parseReplaceRoot, update: true, events: true},
		{name: "$replaceWith", parse: parseReplaceWith, update: true, events: true},
		{name: "$redact", parse: parseRedact, events: true},
		{name: "$facet", parse: parseFacet, survey: surveyFacet, alone: true},
		{name: "$unionWith", parse: parseUnionWith, survey: surveyUnionWith},
		{name: "$lookup", parse: parseLookup, survey: surveyLookup},
		{name: "$graphLookup", parse: parseGraphLookup, survey: surveyGraphLookup},
		{name: "$geoNear", parse: parseGeoNear, alone: true},
		{name: "$documents", parse: parseDocuments, first: true, source: true, alone: true},
		{name: "$group", parse: parseGroup},
		{name: "$sortByCount", parse: parseSortByCount},
		{name: "$bucket", parse: parseBucket},
		{name: "$bucketAuto", parse: parseBucketAuto},
		{name: "$densify", parse: parseDensify},
		{name: "$setWindowFields", parse: parseSetWindowFields},
		{name: "$fill", parse: parseFill},
		{name: "$out", parse: parseOut, survey: surveyOut, last: true, alone: true},
		{name: "$merge", parse: parseMerge, survey: surveyMerge, last: true, alone: true},
	} {
		stageKinds[k.name] = &k
	}
	for _, k := range serverKinds() {
		stageKinds[k.name] = &k
	}
}

package pipeline

// describing is a stage that describes the server, or whose documents come from it: the Source knows them.
type describing struct {
	name     string
	db, coll string
	spec     Value
}

func (s *describing) run(r *runner, _ stream) stream {
	return deferred(func() ([][]byte, error) { return r.Source.Stage(s.db, s.coll, s.name, s.spec) })
}

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/collStats/

var collStatsOptions = []option{
	{name: "count", types: ofObject},
	{name: "latencyStats", types: ofObject},
	{name: "operationStats"},
	{name: "queryExecStats", types: ofObject},
	{name: "storageStats", types: ofObject},
	{name: "targetAllNodes"},
}

func surveyCollStats(_ *parser, name string, spec Value) error {
	if !spec.IsDocument() {
		return fail(5447000, "$collStats must take a nested object but found: %s", written(name, spec))
	}
	_, err := parseOptions(name, spec.Data, collStatsOptions)
	return err
}

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/indexStats/

func parseIndexStats(p *parser, name string, spec Value) (stage, error) {
	if !spec.IsDocument() || len(fieldsOf(spec.Data)) > 0 {
		return nil, fail(28803, "The $indexStats stage specification must be an empty object")
	}
	return parseDescribing(p, name, spec)
}

func parseDescribing(p *parser, name string, spec Value) (stage, error) {
	return &describing{name, p.DB, p.Coll, spec}, nil
}

const searchRefused = "Using $search and $vectorSearch aggregation stages requires additional configuration. Please connect to Atlas " +
	"or an AtlasCLI local deployment to enable.For more information on how to connect, see " +
	"https://dochub.mongodb.org/core/atlas-cli-deploy-local-reqs."

const searchIndexesRefused = "Using Atlas Search Database Commands and the $listSearchIndexes aggregation stage requires additional " +
	"configuration. Please connect to Atlas or an AtlasCLI local deployment to enable. For more information on how to connect, see " +
	"https://dochub.mongodb.org/core/atlas-cli-deploy-local-reqs."

// serverKinds are the stages that the Source answers, and those that the real server knows and this one refuses.
func serverKinds() []kind {
	kinds := []kind{
		{name: "$collStats", survey: surveyCollStats, parse: parseDescribing},
		{name: "$indexStats", parse: parseIndexStats},
	}
	for _, name := range []string{"$changeStream", "$currentOp", "$listSessions", "$listLocalSessions", "$planCacheStats", "$listCatalog"} {
		kinds = append(kinds, kind{name: name, parse: parseDescribing})
	}
	for i := range kinds {
		kinds[i].first, kinds[i].source, kinds[i].alone = true, true, true
	}
	for _, name := range []string{"$search", "$searchMeta", "$vectorSearch"} {
		kinds = append(kinds, kind{name: name, parse: refusing(fail(31082, searchRefused))})
	}
	kinds = append(kinds, kind{name: "$listSearchIndexes", parse: refusing(fail(31082, searchIndexesRefused))})
	for _, name := range []string{
		"$geoNear", "$changeStreamSplitLargeEvent", "$rankFusion", "$scoreFusion", "$score", "$setMetadata", "$queryStats",
		"$listSampledQueries", "$listClusterCatalog", "$shardedDataDistribution",
	} {
		kinds = append(kinds, kind{name: name, parse: refusing(unsupported("the stage " + name))})
	}
	return kinds
}

func refusing(err error) func(*parser, string, Value) (stage, error) {
	return func(*parser, string, Value) (stage, error) { return nil, err }
}

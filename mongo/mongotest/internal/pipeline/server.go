package pipeline

import (
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

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
		return mongoerr.Errorf(5447000, "$collStats must take a nested object but found: %s", written(name, spec))
	}
	_, err := parseOptions(name, spec.Data, collStatsOptions)
	return err
}

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/indexStats/

func parseIndexStats(p *parser, name string, spec Value) (stage, error) {
	if !spec.IsDocument() || len(query.ObjectOf(spec.Data)) > 0 {
		return nil, mongoerr.Errorf(28803, "The $indexStats stage specification must be an empty object")
	}
	return parseDescribing(p, name, spec)
}

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/changeStream/

// changeStream is the stage whose documents are events, which the Source has one by one.
const changeStream = "$changeStream"

func surveyChangeStream(_ *parser, name string, spec Value) error {
	if !spec.IsDocument() {
		return mongoerr.Errorf(6188500, "$changeStream must take a nested object but found: %s", written(name, spec))
	}
	return nil
}

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/changeStreamSplitLargeEvent/

// splitEvents is the stage that splits events which are too large. Smaller ones pass.
const splitEvents = "$changeStreamSplitLargeEvent"

func parseSplitEvents(_ *parser, name string, spec Value) (stage, error) {
	if !spec.IsDocument() || len(query.ObjectOf(spec.Data)) > 0 {
		return nil, mongoerr.Errorf(7182800, "$changeStreamSplitLargeEvent spec should be an empty object")
	}
	return perDocument(func(_ *runner, event []byte) ([]byte, error) {
		if len(event) > query.MaxDocumentSize {
			return nil, unsupported(name + " of an event of more than 16 MB")
		}
		return event, nil
	}), nil
}

func parseDescribing(p *parser, name string, spec Value) (stage, error) {
	return &describing{name, p.DB, p.Coll, spec}, nil
}

const searchRefused = "Using $search and $vectorSearch aggregation stages requires additional configuration. Please connect to Atlas " +
	"or an AtlasCLI local deployment to enable.For more information on how to connect, see " +
	"https://dochub.mongodb.org/core/atlas-cli-deploy-local-reqs."

// SearchIndexesRefused is how a server without a search engine beside it refuses stages and commands about search indexes.
const SearchIndexesRefused = "Using Atlas Search Database Commands and the $listSearchIndexes aggregation stage requires additional " +
	"configuration. Please connect to Atlas or an AtlasCLI local deployment to enable. For more information on how to connect, see " +
	"https://dochub.mongodb.org/core/atlas-cli-deploy-local-reqs."

// serverKinds are the stages that the Source answers, and those that the real server knows and this one refuses.
func serverKinds() []kind {
	kinds := []kind{
		{name: "$collStats", survey: surveyCollStats, parse: parseDescribing},
		{name: "$indexStats", parse: parseIndexStats},
		{name: changeStream, survey: surveyChangeStream, parse: parseDescribing},
	}
	for _, name := range []string{"$currentOp", "$listSessions", "$listLocalSessions", "$planCacheStats", "$listCatalog"} {
		kinds = append(kinds, kind{name: name, parse: parseDescribing})
	}
	for i := range kinds {
		kinds[i].first, kinds[i].source, kinds[i].alone = true, true, true
	}
	for _, name := range []string{"$search", "$searchMeta", "$vectorSearch"} {
		kinds = append(kinds, kind{name: name, parse: refusing(mongoerr.Errorf(31082, searchRefused))})
	}
	kinds = append(kinds, kind{name: splitEvents, parse: parseSplitEvents, alone: true, events: true})
	kinds = append(kinds, kind{name: "$listSearchIndexes", parse: refusing(mongoerr.Errorf(31082, SearchIndexesRefused))})
	for _, name := range []string{
		"$geoNear", "$rankFusion", "$scoreFusion", "$score", "$setMetadata", "$queryStats",
		"$listSampledQueries", "$listClusterCatalog", "$shardedDataDistribution",
	} {
		kinds = append(kinds, kind{name: name, parse: refusing(unsupported("the stage " + name))})
	}
	return kinds
}

func refusing(err error) func(*parser, string, Value) (stage, error) {
	return func(*parser, string, Value) (stage, error) { return nil, err }
}

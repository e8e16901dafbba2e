package pipeline

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"github.com/holdfast-db/holdfast/mongotest/internal/mongoerr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
	"github.com/holdfast-db/holdfast/mongotest/internal/version"
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
	{name: "targetAllNodes", plain: true},
}

func surveyCollStats(_ *parser, name string, spec Value) error {
	if !spec.IsDocument() {
		return mongoerr.Errorf(5447000, "$collStats must take a nested object but found: %s", written(name, spec))
	}
	given, err := parseOptions(name, spec.Data, collStatsOptions)
	if err != nil {
		return err
	}
	if v := given.Get("count"); len(query.ObjectOf(orEmpty(v))) > 0 {
		return mongoerr.Errorf(31170, "expected an empty object, but got %s", v)
	}
	scale := query.Lookup(orEmpty(given.Get("storageStats")), "scale")
	switch {
	case scale.Missing() || scale.Type == bson.TypeNull:
		return nil
	case scale.IsNumber() && scale.Clamped32() < 1:
		return mongoerr.Errorf(mongoerr.BadValue, "BSON field 'scale' value must be >= 1, actual value '%d'", scale.Clamped32())
	}
	return option{name: "scale", types: []string{"long", "int", "decimal", "double"}}.check(name+".storageStats", scale)
}

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/indexStats/

func parseIndexStats(p *parser, name string, spec Value) (stage, error) {
	if !spec.IsDocument() || len(query.ObjectOf(spec.Data)) > 0 {
		return nil, mongoerr.Errorf(28803, "The $indexStats stage specification must be an empty object")
	}
	return parseDescribing(p, name, spec)
}

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/planCacheStats/

func parsePlanCacheStats(p *parser, name string, spec Value) (stage, error) {
	if !spec.IsDocument() {
		return nil, mongoerr.Errorf(mongoerr.FailedToParse, "%s value must be an object. Found: %s", name, typeName(spec))
	}
	for _, f := range query.ObjectOf(spec.Data) {
		switch {
		case f.Name != "allHosts":
			return nil, mongoerr.Errorf(mongoerr.FailedToParse, "%s parameters object may contain only 'allHosts' field. Found: %s", name, f.Name)
		case f.Value.Type != bson.TypeBoolean:
			return nil, mongoerr.Errorf(13111, "wrong type for field (allHosts) %s != bool", typeName(f.Value))
		case f.Value.True():
			return nil, mongoerr.Errorf(4503200, "%s stage supports allHosts parameter only for sharded clusters", name)
		}
	}
	if p.Coll == "" {
		return nil, mongoerr.Errorf(mongoerr.InvalidNamespace, "{aggregate: 1} is not valid for '%s'; a collection is required.", name)
	}
	return parseDescribing(p, name, spec)
}

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/currentOp/

var currentOpOptions = []string{"allUsers", "idleConnections", "idleCursors", "idleSessions", "localOps", "targetAllNodes", "truncateOps"}

func parseCurrentOp(p *parser, name string, spec Value) (stage, error) {
	if !spec.IsDocument() {
		return nil, mongoerr.Errorf(mongoerr.TypeMismatch, "%s options must be specified in an object, but found: %s", name, typeName(spec))
	}
	if p.DB != "admin" || p.Coll != "" {
		return nil, mongoerr.Errorf(mongoerr.InvalidNamespace, "$currentOp must be run against the 'admin' database with {aggregate: 1}")
	}
	for _, f := range query.ObjectOf(spec.Data) {
		if err := checkCurrentOp(f); err != nil {
			return nil, err
		}
	}
	return parseDescribing(p, name, spec)
}

func checkCurrentOp(f field) error {
	switch {
	case !slices.Contains(currentOpOptions, f.Name):
		return mongoerr.Errorf(mongoerr.UnknownField, "BSON field '$currentOp.%s' is an unknown field.", f.Name)
	case !isBool(f.Value) && (f.Name == "allUsers" || f.Name == "localOps"):
		return mongoerr.Errorf(mongoerr.TypeMismatch, "The '%s' parameter of the $currentOp stage must be a boolean value, but found: %s", f.Name,
			typeName(f.Value))
	case !isBool(f.Value):
		return mongoerr.Errorf(mongoerr.TypeMismatch, "Field '%s' should be a boolean value, but found: %s", f.Name, typeName(f.Value))
	case f.Name == "targetAllNodes" && f.Value.True():
		return mongoerr.Errorf(mongoerr.FailedToParse, "$currentOp supports targetAllNodes parameter only for sharded clusters")
	}
	return nil
}

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/listLocalSessions/

var (
	sessionOptions = []option{
		{name: "allUsers", types: []string{"bool"}}, {name: "users", types: ofArray}, {name: "$_internalPredicate", types: ofObject},
	}
	sessionUser = []option{{name: "user", types: ofString, required: true}, {name: "db", types: ofString, required: true}}
)

func parseListLocalSessions(p *parser, name string, spec Value) (stage, error) {
	if !spec.IsDocument() {
		return nil, mongoerr.Errorf(mongoerr.TypeMismatch, "%s options must be specified in an object, but found: %s", name, typeName(spec))
	}
	options, err := parseOptions(name, spec.Data, sessionOptions)
	if err != nil {
		return nil, err
	}
	users := options.Get("users")
	for i, v := range elementsOf(users) {
		if !v.IsDocument() {
			return nil, mongoerr.Errorf(mongoerr.TypeMismatch, "BSON field '%s.users.%d' is the wrong type '%s', expected type 'object'", name, i,
				typeName(v))
		}
		if _, err := parseOptions(name+".users", v.Data, sessionUser); err != nil {
			return nil, err
		}
	}
	if !users.Missing() && options.Get("allUsers").True() {
		return nil, mongoerr.Errorf(mongoerr.UnsupportedFormat, "%s may not specify {allUsers:true} and {users:[...]} at the same time", name)
	}
	if p.Coll != "" {
		return nil, mongoerr.Errorf(mongoerr.InvalidNamespace, "%s must be run against the database with {aggregate: 1}, not a collection", name)
	}
	return parseDescribing(p, name, spec)
}

// elementsOf returns the elements of an array, none of a missing value.
func elementsOf(v Value) []Value {
	if v.Missing() {
		return nil
	}
	return query.Elements(v.Data)
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

// Selection returns the pipeline as far as it only selects events of the change stream: its $match stages before any other stage.
func (p *Pipeline) Selection() *Pipeline {
	selection := *p
	end := 1
	for end < len(p.steps) && p.steps[end].name == "$match" {
		end++
	}
	selection.steps = p.steps[:end]
	return &selection
}

// https://www.mongodb.com/docs/manual/reference/operator/aggregation/changeStreamSplitLargeEvent/

// splitEvents is the stage that splits events which are too large. The stream does it: only the stream has their resume tokens.
const splitEvents = "$changeStreamSplitLargeEvent"

// SplitsEvents reports whether large events of the change stream are to be split.
func (p *Pipeline) SplitsEvents() bool {
	return len(p.steps) > 0 && p.steps[len(p.steps)-1].name == splitEvents
}

func parseSplitEvents(_ *parser, _ string, spec Value) (stage, error) {
	if !spec.IsDocument() || len(query.ObjectOf(spec.Data)) > 0 {
		return nil, mongoerr.Errorf(7182800, "$changeStreamSplitLargeEvent spec should be an empty object")
	}
	return perDocument(func(_ *runner, event []byte) ([]byte, error) { return event, nil }), nil
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
	kinds = append(kinds, kind{name: "$currentOp", parse: parseCurrentOp}, kind{name: "$listLocalSessions", parse: parseListLocalSessions},
		kind{name: "$planCacheStats", parse: parsePlanCacheStats})
	for _, name := range []string{"$listSessions", "$listCatalog"} {
		kinds = append(kinds, kind{name: name, parse: parseDescribing})
	}
	for i := range kinds {
		kinds[i].first, kinds[i].source, kinds[i].alone = true, true, true
	}
	for _, name := range []string{"$search", "$searchMeta", "$vectorSearch"} {
		kinds = append(kinds, kind{name: name, parse: refusing(mongoerr.Errorf(31082, searchRefused))})
	}
	kinds = append(kinds, kind{name: splitEvents, parse: parseSplitEvents, alone: true, events: true, since: version.Of(6, 0, 9)})
	kinds = append(kinds, kind{name: "$listSearchIndexes", parse: refusing(mongoerr.Errorf(31082, SearchIndexesRefused))})
	for _, name := range []string{
		"$rankFusion", "$scoreFusion", "$score", "$setMetadata", "$queryStats",
		"$listSampledQueries", "$listClusterCatalog", "$shardedDataDistribution",
	} {
		kinds = append(kinds, kind{name: name, parse: refusing(unsupported("the stage " + name))})
	}
	return kinds
}

func refusing(err error) func(*parser, string, Value) (stage, error) {
	return func(*parser, string, Value) (stage, error) { return nil, err }
}

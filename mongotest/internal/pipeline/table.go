package pipeline

import (
	"maps"
	"slices"

	"github.com/holdfast-db/holdfast/mongotest/internal/version"
)

// kind is one row of the table of stages.
type kind struct {
	name   string
	parse  func(p *parser, name string, spec Value) (stage, error)
	survey func(p *parser, name string, spec Value) error // the check before any stage is compiled
	first  bool                                           // only at the start
	last   bool                                           // only at the end
	source bool                                           // makes documents of its own
	update bool                                           // may be in an update
	alone  bool                                           // not in a $facet
	events bool                                           // may follow $changeStream
	since  version.Version                                // the first that has it; zero: all have
}

// stageKinds are the stages by name. It is never written to after init.
var stageKinds = make(map[string]*kind)

// init fills the table; it is no initializer, because stages with pipelines inside look stages up.
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

// Names returns the names of all stages.
func Names() []string { return slices.Sorted(maps.Keys(stageKinds)) }

package differential

import (
	"fmt"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// notCompared are the fields of a plan that depend on the machine, its settings, its memory and the limits of its planner, or are hashes that no
// document describes. Of the command that is explained only what the server understood, the parsed query, is compared.
var notCompared = []string{
	"executionTimeMillis", "executionTimeMicros", "executionTimeMillisEstimate", "optimizationTimeMillis", "optimizationTimeMicros",
	"queryHash", "maxIndexedOrSolutionsReached", "maxIndexedAndSolutionsReached", "planCacheShapeHash", "planCacheKey", "needYield", "saveState", "restoreState", "peakTrackedMemBytes", "totalDataSizeSorted",
	"maxAccumulatorMemoryUsageBytes", "totalOutputDataSizeBytes", "expressionEvaluationPeakMemoryBytes", "command", "serverInfo", "serverParameters",
}

// asExplained takes out of a plan what is not compared. Plans that were not chosen come in any order.
func asExplained(command, reply bson.D) bson.D {
	explained := command[0].Key == "explain" || command[0].Key == "aggregate" && slices.ContainsFunc(command, func(e bson.E) bool { return e.Key == "explain" })
	if !explained {
		return reply
	}
	reply = comparedPart(without(reply, notCompared)).(bson.D)
	text := fmt.Sprint(reply)
	if strings.Contains(text, "GEO_NEAR_") {
		return without(reply, ofRings).(bson.D)
	}
	if strings.Contains(text, `"2d"`) || strings.Contains(text, `"2dsphere"`) {
		return without(reply, ofCells).(bson.D)
	}
	return reply
}

// ofRings are the figures that tell how the real server searches ring by ring around the point of a $near.
var ofRings = []string{"works", "needTime", "totalKeysExamined", "totalDocsExamined", "searchIntervals", "inputStages"}

// ofCells are the figures that tell by which squares, or cells, the real server covers the shape of a $geoWithin or $geoIntersects.
var ofCells = []string{
	"works", "needTime", "totalKeysExamined", "totalDocsExamined", "keysExamined", "docsExamined", "seeks", "dupsTested", "dupsDropped", "indexBounds",
}

// without takes fields of some names out of a value.
func without(v any, names []string) any {
	switch v := v.(type) {
	case bson.D:
		near := slices.ContainsFunc(v, func(e bson.E) bool { return e.Key == "stage" && strings.HasPrefix(fmt.Sprint(e.Value), "GEO_NEAR_") })
		v = slices.DeleteFunc(v, func(e bson.E) bool { return slices.Contains(names, e.Key) || near && e.Key == "inputStage" })
		for i := range v {
			v[i].Value = without(v[i].Value, names)
		}
		return v
	case bson.A:
		for i := range v {
			v[i] = without(v[i], names)
		}
	}
	return v
}

func comparedPart(v any) any {
	switch v := v.(type) {
	case bson.D:
		for i := range v {
			v[i].Value = comparedPart(v[i].Value)
			if list, ok := v[i].Value.(bson.A); ok && (v[i].Key == "rejectedPlans" || v[i].Key == "allPlansExecution") {
				sortByText(list)
			}
		}
		return v
	case bson.A:
		for i := range v {
			v[i] = comparedPart(v[i])
		}
	}
	return v
}

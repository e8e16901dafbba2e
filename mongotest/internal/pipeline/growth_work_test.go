package pipeline

import (
	"errors"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/holdfast-db/holdfast/internal/base/threadtime"
	"github.com/holdfast-db/holdfast/mongotest/internal/expr"
	"github.com/holdfast-db/holdfast/mongotest/internal/query"
)

// longCases are evaluations that take long with 1 MiB of input, so that a check must end them.
var longCases = []string{
	`[{"$project": {"r": {"$sortArray": {"input": "$texts", "sortBy": 1}}}}]`,
	`[{"$project": {"r": {"$setUnion": ["$ints", "$more"]}}}]`,
	`[{"$project": {"r": {"$setDifference": ["$ints", "$more"]}}}]`,
	`[{"$project": {"r": {"$regexFindAll": {"input": "$same", "regex": "a"}}}}]`,
	`[{"$project": {"r": {"$regexFindAll": {"input": "$same", "regex": "[^x]*x|a"}}}}]`,
	`[{"$project": {"r": {"$regexMatch": {"input": "$same", "regex": "(a*)*b"}}}}]`,
	`[{"$project": {"r": {"$replaceAll": {"input": "$same", "find": {"$regularExpression": {"pattern": "a", "options": ""}}, "replacement": "bc"}}}}]`,
	`[{"$project": {"r": {"$map": {"input": "$ints", "in": {"$map": {"input": "$ints", "in": {"$add": ["$$this", 1]}}}}}}}]`,
	`[{"$project": {"r": {"$reduce": {"input": "$ints", "initialValue": [], "in": {"$concatArrays": ["$$value", ["$$this"]]}}}}}]`,
	`[{"$unwind": "$ints"}, {"$group": {"_id": "$ints", "n": {"$sum": 1}}}]`,
	`[{"$unwind": "$ints"}, {"$sort": {"ints": 1}}]`,
	`[{"$unwind": "$ints"}, {"$setWindowFields": {"sortBy": {"ints": 1}, "output": {"n": {"$sum": "$ints", "window": {"documents": ["current", "unbounded"]}}}}}]`,
	`[{"$unwind": "$ints"}, {"$lookup": {"from": "c", "localField": "ints", "foreignField": "a", "as": "r"}}]`,
	`[{"$unwind": "$ints"}, {"$match": {"ints": {"$gt": 5}}}, {"$count": "n"}]`,
	`[{"$densify": {"field": "_id", "range": {"step": 1, "bounds": [0, 400000]}}}]`,
	`[{"$graphLookup": {"from": "c", "startWith": 1, "connectFromField": "next", "connectToField": "_id", "as": "r"}}]`,
	`[{"$bucketAuto": {"groupBy": "$_id", "buckets": 3}}, {"$unionWith": "c"}, {"$facet": {"a": [{"$sort": {"a": 1}}]}}]`,
}

var errStopped = errors.New("stopped")

func TestEvaluationAsksOftenAndEndsAtOnce(t *testing.T) {
	const input = 1 << 20
	defer debug.SetGCPercent(debug.SetGCPercent(400))
	source := memory{"c": growthDocuments(input)}
	for _, text := range longCases {
		t.Run(text, func(t *testing.T) {
			runtime.LockOSThread()
			defer runtime.UnlockOSThread()
			stages, docs := growthValue(t, input, text).Data, [][]byte{growthDocument(input, text)}
			if strings.Contains(text, "densify") || strings.Contains(text, "bucketAuto") {
				docs = growthDocuments(input)
			}
			p, err := Parse(stages, Options{DB: "db", Coll: "c"})
			if err != nil {
				t.Fatal(err)
			}
			for _, k := range []int{1, 2, 5} {
				asked, gap, stopped := 0, time.Duration(0), time.Duration(0)
				last := threadtime.Now()
				c := source.context()
				c.Work = query.NewWork(func() error {
					now := threadtime.Now()
					asked, gap = asked+1, max(gap, now-last)
					if last = now; asked < k {
						return nil
					}
					stopped = now
					return errStopped
				})
				_, err := p.Run(c, &expr.Env{}, func(yield func([]byte) bool) {
					for _, doc := range docs {
						if !yield(doc) {
							return
						}
					}
				})
				if !errors.Is(err, errStopped) || asked != k {
					t.Fatalf("it ended with %v and asked %d times; want %v after %d", err, asked, errStopped, k)
				}
				if after := threadtime.Now() - stopped; !raceEnabled && after > 10*time.Millisecond {
					t.Errorf("it ended %v after the check had failed", after)
				}
				t.Logf("%d: at most %v between two checks", k, gap)
			}
		})
	}
}

package pipeline

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/holdfast-db/holdfast/mongo/mongotest/internal/query"
)

// refused are the stages that have no case without error, since this package only names them.
var refused = []string{
	"$changeStream", "$changeStreamSplitLargeEvent", "$currentOp", "$geoNear", "$listCatalog", "$listClusterCatalog", "$listLocalSessions",
	"$listSampledQueries", "$listSearchIndexes", "$listSessions", "$planCacheStats", "$queryStats", "$rankFusion", "$score", "$scoreFusion",
	"$search", "$searchMeta", "$setMetadata", "$shardedDataDistribution", "$vectorSearch",
}

// TestEveryStageHasCases counts the cases in which a stage comes first, or after others of the same kind.
func TestEveryStageHasCases(t *testing.T) {
	cases, succeed := make(map[string]int), make(map[string]int)
	for _, f := range caseFiles(t) {
		for _, line := range f.lines {
			if line.text[0] == '@' || len(line.answer) == 0 && !writes(line.text) {
				continue
			}
			seen := make(map[string]bool)
			for _, v := range query.Elements(parseJSON(t, strings.TrimPrefix(line.text, "!"))) {
				for _, f := range fieldsOf(orEmpty(documentOnly(v))) {
					seen[f.name] = true
				}
			}
			for name := range seen {
				cases[name]++
				if len(line.answer) == 0 || !strings.HasPrefix(line.answer[0], "error ") {
					succeed[name]++
				}
			}
		}
	}
	for _, name := range Names() {
		if slices.Contains(refused, name) {
			continue
		}
		if cases[name] < 3 || succeed[name] < 1 {
			t.Errorf("%s has %d cases, %d without error", name, cases[name], succeed[name])
		}
	}
	if n := len(Names()) - len(refused); n < 22 {
		t.Errorf("only %d stages work", n)
	}
}

func documentOnly(v Value) Value {
	if v.IsDocument() {
		return v
	}
	return missing
}

// TestRefusedStagesAreNamed checks that what is only refused says so.
func TestRefusedStagesAreNamed(t *testing.T) {
	for _, name := range refused {
		if name == splitEvents {
			continue // it is allowed behind $changeStream
		}
		m := memory{}
		answer := m.ours(t, `[{"`+name+`": {}}]`)
		if len(answer) != 1 || !strings.HasPrefix(answer[0], "error 238 mongotest: the stage "+name) && !strings.HasPrefix(answer[0], "error 31082 ") {
			t.Errorf("%s: %s", name, answer)
		}
	}
}

// TestFuzzCorpusIsThere keeps the committed corpus from being lost unnoticed.
func TestFuzzCorpusIsThere(t *testing.T) {
	paths, err := filepath.Glob("testdata/fuzz/FuzzPipeline/*")
	if err != nil || len(paths) < 5 {
		t.Errorf("%d seeds of FuzzPipeline: %v", len(paths), err)
	}
}
